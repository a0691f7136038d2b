"""Claims: published statements, each checked as a function of result tables.

A claim consists of parts; each part measures one quantity and says what it accepts: a band, or a rule of
`crosswind.reproduce.claims.rules`. Neither is widened after the results are known.

| verdict | when |
|---|---|
| pass | every part has its value in its band, and the stated sign |
| consistent | none fails or is unclear, but a part's value lies in the band without the stated sign (S0, S9) |
| unclear | no part fails, but a value lies outside and its interval reaches into the band; or too little was seen |
| fail | some part's value lies outside its band, and so does its whole interval |
| withheld | the published value is not known here: the measurement is reported |
| not yet | the claim needs a part of the laboratory that does not exist yet; it says which |
| reported | nothing is accepted or refused: the values are shown |
| error | a measurement is broken: an unknown column or an exception. A defect of Crosswind, never a result |

| kind | |
|---|---|
| evidence | what a source measured: its verdict counts |
| calibration | a printed value that chose or tuned a reading: judged, and counted apart |
| by construction | a formula, the definition of a metric, a configured value: judged, and counted apart |
| again | the outcome of another claim, by another band: judged, and counted apart |
| reported | shown without a verdict |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar, get_args

from crosswind.reproduce.claims.bands import Band
from crosswind.reproduce.claims.rules import Criterion, Seeds, Verdict
from crosswind.stats import NOTHING, Estimate, exact

if TYPE_CHECKING:
    from crosswind.reproduce.experiment import Results

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: What verdicts and kinds mean, for readers of tables.
MEANING = (
    "Pass: the measured value lies in the band that was written down before, with the sign that the source states. "
    "Consistent: in the band without that sign, which chance can do. Unclear: outside, but its 95 % interval "
    "reaches into the band, or too few runs. Fail: value and interval outside. Only evidence counts; values that "
    "chose a reading (calibration), identities (by construction) and what is only shown (reported) are counted apart. "
    "Withheld: the printed number is kept back, so that ours is written down before it is known. Not yet: not run at "
    "full length. A bound marked *before the corrections only* belongs to the first reading and does not count."
)
Kind = Literal["evidence", "calibration", "by construction", "again", "reported"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: A number or a truth value (1 or 0) has no sampling error: a count, an identity, a single trace.
Measure = Callable[["Results"], Estimate | SupportsFloat]
Found = TypeVar("Found")
# From the worst on; what a whole claim is when one of its parts is that.
WORST_FIRST: tuple[Verdict, ...] = ("error", "fail", "unclear", "consistent")


@dataclass(frozen=True)
class Part:
    """One measured quantity of a claim with its published value (if a number was printed) and what it accepts.

    `rule` takes the place of the band `accept` where one of the rules judges. `first` is what was accepted before the
    corrections of the study, where that differs; a part of the set `first` counts only there, one of the set
    `corrected` only now. `agrees` is what sampling alone allows. `ours` is a value that the source does not print:
    derived, inferred, or of another program; `printed` is the published number, for figures. A part whose `kind` is not
    that of its claim is judged and shown, and the claim's verdict does not depend on it.
    """

    label: str
    measure: Measure
    accept: Band = field(default_factory=Band)
    published: str = ""
    unit: str = ""
    digits: int = 1
    rule: Criterion | None = None
    first: Criterion | None = None
    agrees: Band | None = None
    ours: str = ""
    printed: float | None = None
    kind: Kind | None = None
    set: Literal["both", "first", "corrected"] = "both"

    @property
    def criterion(self) -> Criterion:
        """What it is judged by now."""
        return self.rule if self.rule is not None else Criterion(self.accept)

    @property
    def before(self) -> Criterion:
        """What it was judged by before the corrections."""
        return self.first if self.first is not None else self.criterion

    def show(self, value: float) -> str:
        """A value in the unit of the part; shares and relative changes are shown in per cent."""
        if math.isnan(value):
            return "nothing"
        value = value + 0.0 if abs(value) > 0 else 0.0
        if self.unit == "%":
            return f"{value * 100:.{self.digits}f} %"
        return f"{value:.{self.digits}f} {self.unit}".rstrip()

    def show_change(self, value: float) -> str:
        text = self.show(value)
        return f"+{text}" if self.unit == "%" and value > 0 and self.published[:1] in ("+", "-") else text

    def show_band(self, e: Estimate | None = None) -> str:
        """What is accepted, in words; of some rules only with the estimate that is judged, and with its scatter s."""
        c = self.criterion
        if self.set == "first":
            return f"{c.accept.show(self.show)}, before the corrections only"
        text = (c.band(e) if e is not None and e.n else c.accept).show(self.show)
        scatter = f", s = {self.show(e.sd)}" if c.rule == "S11" and isinstance(e, Seeds) else ""
        return f"{text} ({c.rule}{scatter})" if c.rule else text


@dataclass(frozen=True)
class MeasuredPart:
    """A part with what was measured and what that means; `earlier` by the criterion before the corrections."""

    part: Part
    estimate: Estimate
    verdict: Verdict
    earlier: Verdict
    problem: str = ""

    def text(self) -> str:
        return f"{self.part.label}: {self.problem or self.part.show_change(self.estimate.value)}"

    def interval(self) -> str:
        e, show = self.estimate, self.part.show
        return "-" if math.isnan(e.value) or e.low == e.high else f"{show(e.low)} to {show(e.high)}"

    def show_band(self) -> str:
        return self.part.show_band(self.estimate)

    def agrees(self) -> bool | None:
        """Whether the value lies where sampling alone would put it; None where no spread was printed."""
        band = self.part.agrees
        return None if band is None or math.isnan(self.estimate.value) else band.holds(self.estimate.value)


@dataclass(frozen=True)
class Claim:
    """A published statement. `needs` names what is missing when it cannot be checked yet.

    `cause` says why it fails, as far as that is known: `model`, `set-up` (unknowable), `source` (it contradicts
    itself) or `reading` (ours); `because` is the sentence. `where` is the place in the source. `change` says what a
    correction did to it.
    """

    id: str
    statement: str
    published: str
    parts: Sequence[Part] = ()
    needs: str = ""
    withheld: Literal["no", "yes"] = "no"
    kind: Kind = "evidence"
    where: str = ""
    cause: str = ""
    because: str = ""
    change: str = ""
    set: Literal["both", "corrected"] = "both"

    def check(self, results: Results) -> Checked:
        """Measures every part and decides. A part that cannot be measured says why."""
        if self.needs:
            return Checked(self, (), "not yet", "not yet")
        measured = tuple(_measure(p, results) for p in self.parts)
        now = [m.verdict for m in measured if m.verdict == "error" or self.counts(m.part, "first")]
        before = [m.earlier for m in measured if m.earlier == "error" or self.counts(m.part, "corrected")]
        if self.withheld == "yes":
            broken: Verdict = "error" if "error" in now else "withheld"
            return Checked(self, measured, broken, broken)
        judged: Verdict = overall(now) if now or not measured else "reported"
        return Checked(self, measured, judged, overall(before) if before and self.set == "both" else "not yet")

    def counts(self, part: Part, other: str = "first") -> bool:
        """Whether the claim's verdict depends on a part: by the bands of now, or (`corrected`) by those of before."""
        return part.set != other and part.kind in (None, self.kind)


@dataclass(frozen=True)
class Checked:
    """A claim with its verdict, and the one by the bands before the corrections (`not yet`: it was no claim then)."""

    claim: Claim
    parts: tuple[MeasuredPart, ...]
    verdict: Verdict
    earlier: Verdict

    def measured(self) -> str:
        if self.claim.needs:
            return f"needs {self.claim.needs}"
        return "; ".join(m.text() for m in self.parts)

    def agreement(self) -> str:
        """Whether all parts with a printed spread lie where sampling alone would put them: yes, no or nothing."""
        found = [a for m in self.parts if (a := m.agrees()) is not None]
        return "" if not found else "yes" if all(found) else "no"

    def row(self, experiment: str, seconds: float) -> dict[str, Any]:
        """The row of the claim table: texts for people, numbers in `parts`."""
        return {
            "experiment": experiment,
            "claim": self.claim.id,
            "kind": self.claim.kind,
            "statement": self.claim.statement,
            "where": self.claim.where,
            "published": self.claim.published,
            "ours": "; ".join(f"{m.part.label}: {m.part.ours}" for m in self.parts if m.part.ours),
            "measured": self.measured(),
            "ci": "; ".join(f"{m.part.label}: {m.interval()}" for m in self.parts),
            "accept": "; ".join(f"{m.part.label}: {m.show_band()}" for m in self.parts),
            "verdict": self.verdict,
            "earlier": self.earlier,
            "agreement": self.agreement(),
            "cause": self.claim.cause,
            "because": self.claim.because,
            "change": self.claim.change,
            "n": max((m.estimate.n for m in self.parts), default=0),
            "seconds": round(seconds, 2),
            "parts": [_numbers(m) for m in self.parts],
        }


def judge(e: Estimate, accept: Band) -> Verdict:
    """pass, fail or unclear, by a band."""
    return Criterion(accept).judge(e)


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """A claim passes only when all its judged parts pass; without any part it is unclear."""
    if not verdicts:
        return "unclear"
    if set(verdicts) == {"reported"}:
        return "reported"
    return next((worst for worst in WORST_FIRST if worst in verdicts), "pass")


class MissingDataError(Exception):
    """These runs hold nothing to measure (no loss occurred, too few seeds); the text says what. The part is unclear."""


def needed(found: Found, why: str) -> Found:
    """What was found, or holds. Raises MissingDataError, which says why, when it is empty, zero or not so."""
    if not (len(found) if isinstance(found, Sized) else found):
        raise MissingDataError(why)
    return found


class BrokenClaimError(Exception):
    """A claim asks for what cannot exist (an unknown column, table or configuration): a defect, shown as `error`."""


def _measure(part: Part, results: Results) -> MeasuredPart:
    try:
        e = estimated(part.measure, results)
        now, before = part.criterion, part.before
        verdict: Verdict = "reported" if part.set == "first" else now.judge(e)
        earlier: Verdict = "reported" if part.set == "corrected" else before.judge(e)
        return MeasuredPart(part, e, verdict, earlier, _few(part, now.why(e), e))
    except MissingDataError as problem:
        return MeasuredPart(part, NOTHING, "unclear", "unclear", str(problem))
    except BrokenClaimError as mistake:
        return MeasuredPart(part, NOTHING, "error", "error", f"broken claim: {mistake}")
    except Exception as mistake:  # One claim's mistake is shown as such; it must not cost the results of all others.
        text = f"broken claim: {type(mistake).__name__}: {mistake}"
        return MeasuredPart(part, NOTHING, "error", "error", text)


def _few(part: Part, why: str, e: Estimate) -> str:
    return f"{part.show(e.value)} ({why})" if why else ""


def estimated(measure: Measure, results: Results) -> Estimate:
    """What a measure finds; a plain number is exact."""
    found = measure(results)
    return found if isinstance(found, Estimate) else exact(float(found))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _numbers(m: MeasuredPart) -> dict[str, Any]:
    e, before = m.estimate, m.part.before.accept
    accept = m.part.criterion.band(e) if e.n and m.verdict != "error" else m.part.criterion.accept
    return {
        "label": m.part.label,
        "unit": m.part.unit,
        "published": m.part.published,
        "ours": m.part.ours,
        "printed": m.part.printed,
        "value": _finite(e.value),
        "low": _finite(e.low),
        "high": _finite(e.high),
        "n": e.n,
        "sd": _finite(e.sd) if isinstance(e, Seeds) else None,
        "rule": m.part.criterion.rule,
        "kind": m.part.kind or "",
        "set": m.part.set,
        "accept_low": _finite(accept.low),
        "accept_high": _finite(accept.high),
        "earlier_low": _finite(before.low),
        "earlier_high": _finite(before.high),
        "verdict": m.verdict,
        "earlier": m.earlier,
        "agrees": m.agrees(),
        "shown": m.text(),
        "accept": m.show_band(),
        "text": m.text() + ("" if m.verdict == "pass" else f" (accepted {m.show_band()})"),
    }
