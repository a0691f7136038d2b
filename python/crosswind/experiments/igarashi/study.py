"""How the experiments of [Igarashi 2007] are declared, and the parts of claims that recur in them.

The source shows single runs and prints no intervals: an experiment here has ten seeds, and claims judge the median.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.claims import Band, Claim, MissingDataError, Part
from crosswind.experiments.base import Results, Study
from crosswind.stats import Estimate

STUDY = Study("igarashi", "[Igarashi 2007]", reps=10, quick_reps=2)
experiment = STUDY.experiment
FREE = Band()


def of_seeds(
    label: str, measure: Callable[[Results], Any], accept: Band = FREE, published: str = "", unit: str = "", digits=2
) -> Part:
    """The median over the seeds of something that each seed gives one value of."""
    return Part(label, lambda r: stats.median(measure(r)), accept, published, unit, digits)


def value(
    label: str, configuration: str, column: str, accept: Band = FREE, published: str = "", unit: str = "", digits=2
) -> Part:
    """The median over the seeds of a column of the repetition table."""
    return of_seeds(label, lambda r: r.of(configuration, column), accept, published, unit, digits)


def _ratio(a: Any, b: Any, axis: int = -1) -> Any:
    return np.median(a, axis=axis) / np.median(b, axis=axis)


def ratio(
    label: str,
    new: tuple[str, str],
    old: tuple[str, str],
    accept: Band = FREE,
    published: str = "",
    unit: str = "",
    digits: int = 2,
) -> Part:
    """The median of one (configuration, column) over that of another, resampled seed by seed."""

    def measure(r: Results) -> Estimate:
        return stats.estimate(_ratio, r.of(*new), r.of(*old), pairing="paired")

    return Part(label, measure, accept, published, unit, digits)


def all_seeds(label: str, holds: Callable[[Results], Any], accept: Band, published: str = "") -> Part:
    """How many seeds something is true of."""

    def measure(r: Results) -> Estimate:
        truth = np.asarray(holds(r))
        return stats.exact(float(truth.mean()), truth.size)

    return Part(label, measure, accept, published, "%", 0)


def at_full_size(part: Part) -> Part:
    """A number that a smaller or shorter run says nothing about: it is judged at full size only."""

    def measure(r: Results) -> Estimate:
        found = part.measure(r)
        if r.runs.manifest.get("size") == "quick":
            raise MissingDataError(f"{part.show(found.value)} in a first look: judged at full size only")
        return found

    return replace(part, measure=measure)


def over_seeds(part: Part, least: int = 5) -> Part:
    """A number that scatters from seed to seed: it is judged at full size and over at least so many seeds."""

    def measure(r: Results) -> Estimate:
        found = part.measure(r)
        seeds = int(r.runs.manifest["reps"])
        if seeds < least:
            raise MissingDataError(f"{part.show(found.value)} with seeds: {seeds}; judged with at least {least}")
        return found

    return at_full_size(replace(part, measure=measure))


def withheld(id: str, statement: str, parts: Sequence[Part]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(id, statement, "withheld", parts, withheld="yes")
