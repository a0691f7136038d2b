"""Measures of this study that the common vocabulary does not have, and the numbers by which readings are compared."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.reproduce import Measure, Measures, Results, measured, measures
from crosswind.reproduce.claims.measures import Statistic
from crosswind.stats import Estimate


@measured
def identity(r: Results, configuration: str, size: Callable[[Results], Any] | None = None) -> Estimate:
    """Overall throughput times the elapsed time of the slower flow, repetition by repetition: the size of all objects.

    `size` gives the size of each repetition where it varies: then the relative deviation from it is measured.
    """
    product = r.of(configuration, "overall_throughput") * r.of(configuration, "slower_elapsed_s")
    return stats.median(product if size is None else product / size(r) - 1.0)


def changes(names: Iterable[str], old: str, column: str, of: Statistic = np.median) -> Measures:
    """The change of every configuration against one of them."""
    return measures.changes(((c, old) for c in names if c != old), column, of)


def against(ones: Iterable[str], others: Iterable[str], column: str, of: Statistic = np.median) -> Measures:
    """The change of each of some configurations against every other."""
    rest = list(others)
    return measures.changes(((one, c) for one in ones for c in rest if c != one), column, of)


def spread_of_medians(names: Sequence[str], column: str) -> Measure:
    """How far the medians of several configurations lie apart, relative to the largest."""
    return measures.across(names, column, lambda m: 1.0 - m.min(axis=0) / m.max(axis=0), pairing="paired")


def best(one: str, others: Iterable[str], column: str) -> Measures:
    """The median of one configuration against the highest of the others."""
    return {f"{one} against the highest of the others": measures.against_rest(one, others, column, np.max)}


def least(one: str, others: Iterable[str], column: str) -> Measures:
    """The median of one configuration against the lowest of the others."""
    return {f"{one} against the lowest of the others": measures.against_rest(one, others, column, np.min)}


@measured
def headline(r: Results, column: str, unit: str, names: Sequence[str], digits: int = 1) -> dict[str, str]:
    """The median of a column in every configuration, as the numbers by which readings are compared."""
    return {c: f"{np.nanmedian(r.of(c, column)):.{digits}f} {unit}".rstrip() for c in names}
