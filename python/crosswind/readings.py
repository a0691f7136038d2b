"""How the claims of an experiment come out under each reading of what its source leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crosswind.claims import Checked
from crosswind.experiments.base import Experiment, Results
from crosswind.summary import Table

MAIN = "main"
MAIN_TITLE = "the suggested reading of every open point"


@dataclass(frozen=True)
class Reading:
    """One reading: its numbers (label -> text) and the verdict of every claim that was checked."""

    name: str
    title: str
    headline: Mapping[str, str]
    verdicts: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `Reading(**d)` is the way back."""
        return asdict(self)


def reading(experiment: Experiment, variant: str, results: Results, checked: Sequence[Checked]) -> Reading:
    """The reading that finished runs belong to; `variant` is "" or "main" for the suggested one."""
    known = experiment.variants.get(variant)
    verdicts = {c.claim.id: c.verdict for c in checked if c.verdict != "not yet"}
    return Reading(variant or MAIN, known.title if known else MAIN_TITLE, experiment.headline(results), verdicts)


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
