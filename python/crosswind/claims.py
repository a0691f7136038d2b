"""Claims: published statements, each checked as a function of result tables.

A claim consists of parts; each part measures one quantity and has an acceptance band, taken from the specification of
the experiment and never widened.

| verdict | when |
|---|---|
| pass | the measured value of every part lies in its band |
| fail | some part's value lies outside its band, and so does its whole interval |
| unclear | no part fails, but a value lies outside while its interval reaches into the band; or nothing to measure |
| withheld | the published value is not known here: the measurement is reported |
| not yet | the claim needs a part of the laboratory that does not exist yet; it says which |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from crosswind.stats import NOTHING, Estimate, exact

if TYPE_CHECKING:
    from crosswind.experiments.base import Results

Verdict = Literal["pass", "fail", "unclear", "withheld", "not yet"]
VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "unclear", "withheld", "not yet")


@dataclass(frozen=True)
class Band:
    """The values that a claim accepts: low <= value <= high, or low < value < high when the ends are open."""

    low: float = -math.inf
    high: float = math.inf
    ends: Literal["closed", "open"] = "closed"

    def holds(self, value: float) -> bool:
        if self.ends == "open":
            return self.low < value < self.high
        return self.low <= value <= self.high

    def touches(self, e: Estimate) -> bool:
        """Whether the interval of an estimate reaches into the band."""
        if self.ends == "open":
            return e.low < self.high and e.high > self.low
        return e.low <= self.high and e.high >= self.low


def within(value: float, tolerance: float) -> Band:
    """value * (1 -+ tolerance): "7817 B/s (+-1 %)" is within(7817, 0.01)."""
    return Band(value - abs(value) * tolerance, value + abs(value) * tolerance)


def near(value: float, tolerance: float) -> Band:
    """value -+ tolerance in the unit of the value: "-27 % +-10 points" is near(-0.27, 0.10)."""
    return Band(value - tolerance, value + tolerance)


def at_most(value: float) -> Band:
    return Band(high=value)


def at_least(value: float) -> Band:
    return Band(low=value)


def between(low: float, high: float) -> Band:
    return Band(low, high)


def above(value: float) -> Band:
    """Strictly above `value`."""
    return Band(low=value, ends="open")


def below(value: float) -> Band:
    """Strictly below `value`."""
    return Band(high=value, ends="open")


@dataclass(frozen=True)
class Part:
    """One measured quantity of a claim with its published value (if a number was printed) and acceptance band."""

    label: str
    measure: Callable[[Results], Estimate]
    accept: Band = field(default_factory=Band)
    published: str = ""
    unit: str = ""
    digits: int = 1

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
        return f"+{text}" if self.unit == "%" and value > 0 and self.published[:1] in "+-" else text

    def show_band(self) -> str:
        low, high = self.accept.low, self.accept.high
        equal = "" if self.accept.ends == "open" else "="
        if math.isinf(low) and math.isinf(high):
            return "reported"
        if math.isinf(low):
            return f"<{equal} {self.show(high)}"
        if math.isinf(high):
            return f">{equal} {self.show(low)}"
        return f"{self.show(low)} to {self.show(high)}"


@dataclass(frozen=True)
class MeasuredPart:
    """A part with what was measured and what that means."""

    part: Part
    estimate: Estimate
    verdict: Verdict
    problem: str = ""

    def text(self) -> str:
        return f"{self.part.label}: {self.problem or self.part.show_change(self.estimate.value)}"

    def interval(self) -> str:
        e, show = self.estimate, self.part.show
        return "-" if math.isnan(e.value) or e.low == e.high else f"{show(e.low)} to {show(e.high)}"


@dataclass(frozen=True)
class Claim:
    """A published statement. `needs` names what is missing when it cannot be checked yet."""

    id: str
    statement: str
    published: str
    parts: Sequence[Part] = ()
    needs: str = ""
    withheld: Literal["no", "yes"] = "no"

    def check(self, results: Results) -> Checked:
        """Measures every part and decides. A part whose data is missing is unclear and says why."""
        if self.needs:
            return Checked(self, (), "not yet")
        measured = tuple(_measure(p, results) for p in self.parts)
        return Checked(self, measured, "withheld" if self.withheld == "yes" else overall([m.verdict for m in measured]))


@dataclass(frozen=True)
class Checked:
    """A claim with its verdict."""

    claim: Claim
    parts: tuple[MeasuredPart, ...]
    verdict: Verdict

    def measured(self) -> str:
        if self.claim.needs:
            return f"needs {self.claim.needs}"
        return "; ".join(m.text() for m in self.parts)

    def row(self, experiment: str, seconds: float) -> dict[str, Any]:
        """The row of the claim table: texts for people, numbers in `parts`."""
        return {
            "experiment": experiment,
            "claim": self.claim.id,
            "statement": self.claim.statement,
            "published": self.claim.published,
            "measured": self.measured(),
            "ci": "; ".join(f"{m.part.label}: {m.interval()}" for m in self.parts),
            "accept": "; ".join(f"{m.part.label}: {m.part.show_band()}" for m in self.parts),
            "verdict": self.verdict,
            "n": max((m.estimate.n for m in self.parts), default=0),
            "seconds": round(seconds, 2),
            "parts": [_numbers(m) for m in self.parts],
        }


def judge(e: Estimate, accept: Band) -> Verdict:
    """pass, fail or unclear, by the rule at the top of this file."""
    if math.isnan(e.value):
        return "unclear"
    if accept.holds(e.value):
        return "pass"
    return "unclear" if accept.touches(e) else "fail"


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """A claim passes only when all its parts pass."""
    if not verdicts:
        return "unclear"
    for worst in ("fail", "unclear"):
        if worst in verdicts:
            return worst  # type: ignore[return-value]
    return "pass"


class MissingDataError(Exception):
    """A measurement cannot be made from these tables; the text says what is missing."""


def _measure(part: Part, results: Results) -> MeasuredPart:
    try:
        e = part.measure(results)
    except MissingDataError as problem:
        return MeasuredPart(part, NOTHING, "unclear", str(problem))
    except Exception as mistake:  # One claim's mistake must not cost the results of all others.
        return MeasuredPart(part, NOTHING, "unclear", f"not measured: {type(mistake).__name__}: {mistake}")
    return MeasuredPart(part, e, judge(e, part.accept))


def yes(holds: object) -> Estimate:
    """A statement that is true (1) or false (0) of every run looked at."""
    return exact(1.0 if holds else 0.0)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _numbers(m: MeasuredPart) -> dict[str, Any]:
    e, accept = m.estimate, m.part.accept
    return {
        "label": m.part.label,
        "unit": m.part.unit,
        "published": m.part.published,
        "value": _finite(e.value),
        "low": _finite(e.low),
        "high": _finite(e.high),
        "n": e.n,
        "accept_low": _finite(accept.low),
        "accept_high": _finite(accept.high),
        "verdict": m.verdict,
        "text": m.text() + ("" if m.verdict == "pass" else f" (accepted {m.part.show_band()})"),
    }


def count(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many rows have each verdict."""
    return {v: sum(1 for r in rows if r["verdict"] == v) for v in VERDICTS}
