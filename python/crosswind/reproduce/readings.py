"""How the claims of an experiment come out under each reading of what its source leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crosswind.reproduce.claims import BrokenClaimError, Checked, MissingDataError
from crosswind.reproduce.experiment import Experiment, Results
from crosswind.table import Table

MAIN = "main"
#: The name of the reading that was the main one before a study was corrected.
FORMER = "former"
RANKS = ("error", "fail", "unclear", "consistent", "pass")
MAIN_TITLE = "the main reading of every open point"


@dataclass(frozen=True)
class Reading:
    """One reading: its numbers (label -> text) and the verdict of every claim that was checked.

    `measured` is what the claims measured, where the reading stands beside the main one in the table of claims.
    `apart` names claims that do not count (calibration, by construction); `earlier` has the verdicts by the bands
    before the corrections.
    """

    name: str
    title: str
    headline: Mapping[str, str]
    verdicts: Mapping[str, str]
    measured: Mapping[str, str] = field(default_factory=dict)
    apart: Sequence[str] = ()
    earlier: Mapping[str, str] = field(default_factory=dict)

    def evidence(self) -> dict[str, str]:
        """The verdicts that count."""
        return {c: v for c, v in self.verdicts.items() if c not in self.apart}

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `Reading(**d)` is the way back."""
        return asdict(self)


def reading(experiment: Experiment, variant: str, results: Results, checked: Sequence[Checked]) -> Reading:
    """The reading that finished runs belong to; `variant` is "" or "main" for the suggested one."""
    known = experiment.variants.get(variant)
    verdicts = {c.claim.id: c.verdict for c in checked if c.verdict != "not yet"}
    shown = {c.claim.id: c.measured() for c in checked} if variant in experiment.beside else {}
    apart = [c.claim.id for c in checked if c.claim.kind != "evidence"]
    earlier = {c.claim.id: c.earlier for c in checked if c.earlier != "not yet"}
    title = known.title if known else MAIN_TITLE
    try:
        headline = experiment.headline(results)
    except (MissingDataError, BrokenClaimError):  # the claims say what is missing
        headline = {}
    return Reading(variant or MAIN, title, headline, verdicts, shown, apart, earlier)


def beside(readings: Sequence[Reading]) -> list[Reading]:
    """Those that stand in the table of claims beside the one that the table is about."""
    return [r for r in readings[1:] if r.measured]


def tallies(readings: Sequence[Sequence[Reading]], grades: Mapping[str, str]) -> Table | None:
    """One row per reading: passed / failed / unclear of all claims of several experiments, and by grade.

    A reading that an experiment does not have changes nothing in it: there the main one counts. A claim that several
    experiments measure has the worst of their verdicts. None when there is nothing to compare.
    """
    names = list(dict.fromkeys(r.name for one in readings for r in one))
    if len(names) < 2:
        return None
    letters = [g for g in dict.fromkeys(grades.values()) if g]
    rows = []
    for name in names:
        verdicts = worst((next((r for r in one if r.name == name), one[0]) for one in readings), "verdicts")
        sets = [verdicts, *({c: v for c, v in verdicts.items() if grades.get(c) == g} for g in letters)]
        rows.append([name, *(passed_failed_unclear(s) for s in sets)])
    note = "Passed / failed / unclear." + (
        " By how firm a statement is: S strong, M moderate, W weak." if letters else ""
    )
    return Table("Verdicts by reading", ["reading", "all", *letters], rows, note)


def worst(readings: Iterable[Reading], of: str) -> dict[str, str]:
    """Claim -> the worst of its verdicts; withheld ones and what is counted apart left out."""
    found: dict[str, str] = {}
    for r in readings:
        for claim, verdict in getattr(r, of).items():
            if verdict in RANKS and claim not in r.apart:
                found[claim] = min(found.get(claim, verdict), verdict, key=RANKS.index)
    return found


def passed_failed_unclear(verdicts: Mapping[str, str]) -> str:
    """Passed / failed / unclear; what is only consistent counts as unclear."""
    found = ["unclear" if v == "consistent" else v for v in verdicts.values()]
    return " / ".join(str(found.count(v)) for v in ("pass", "fail", "unclear"))


def comparison(readings: Sequence[Reading]) -> Table | None:
    """One row per reading: its numbers, then the verdict of each claim. None when there is nothing to compare."""
    if len(readings) < 2:
        return None
    numbers = list(readings[0].headline)
    claims = list(readings[0].verdicts)
    rows = [
        [r.name, *(r.headline.get(n, "-") for n in numbers), *(r.verdicts.get(c, "-") for c in claims)]
        for r in readings
    ]
    return Table("Readings of the open points", ["reading", *numbers, *claims], rows)
