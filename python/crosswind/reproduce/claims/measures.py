"""What claims measure: one name for each kind of quantity, for all studies.

A measure is a function of the results that gives an `Estimate`, or a number or truth value that is exact. Experiments
give a claim its measures by label; what is accepted stands in the data file beside them (`book`). What is computed
first (`quantities`) becomes an estimate here. A configuration of another experiment is written `w1-e0/BL`; the
experiment must name the other one in `uses`. Statistics take an `axis` keyword, as those of NumPy do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.optional import load
from crosswind.reproduce.claims import rules
from crosswind.reproduce.claims.claim import Measure, MissingDataError, estimated
from crosswind.reproduce.claims.rules import Seeds
from crosswind.reproduce.experiment import Results
from crosswind.stats import Estimate, exact

Statistic = Callable[..., Any]
Pairing = Literal["independent", "paired"]
Cells = Sequence[str] | Mapping[str, str]
Measures = dict[str, Measure]


def lower(x: Any, axis: int = -1) -> Any:
    """The lower quartile along an axis."""
    return np.quantile(x, 0.25, axis=axis)


def upper(x: Any, axis: int = -1) -> Any:
    """The upper quartile along an axis."""
    return np.quantile(x, 0.75, axis=axis)


def spread(m: Any, axis: int = 0) -> Any:
    """How far values lie apart: those of several cells along the first axis."""
    return np.max(m, axis=axis) - np.min(m, axis=axis)


iqr = stats.iqr_of


# ---- one cell --------------------------------------------------------------------------------------------------------


def value(cell: str, column: str, of: Statistic = np.median, where: pl.Expr | None = None) -> Measure:
    """A statistic (median unless said otherwise) of a column of the repetition table."""
    return lambda r: stats.estimate(of, r.of(cell, column, where))


def each(
    cells: Cells, column: str, of: Statistic = np.median, where: pl.Expr | None = None, word: str = ""
) -> Measures:
    """`value` for several cells, labelled by their names and `word`; a mapping gives the labels."""
    named = cells if isinstance(cells, Mapping) else {c: c for c in cells}
    return {f"{label}{word}": value(c, column, of, where) for label, c in named.items()}


def share(hits: Callable[[Results], Any]) -> Measure:
    """The share of repetitions of which something is true; `hits` gives one truth value for each."""
    return lambda r: stats.share(hits(r))


def median(values: Callable[[Results], Any]) -> Measure:
    """The median of something that each repetition gives one value of."""
    return lambda r: stats.median(values(r))


def mean(values: Callable[[Results], Any]) -> Measure:
    """The mean of something that each repetition gives one value of, with its bootstrap interval."""
    return lambda r: stats.mean(values(r))


def number(hits: Callable[[Results], Any]) -> Measure:
    """How many repetitions something is true of: exceptions to "every" and "never" (rule S7)."""

    def measure(r: Results) -> Estimate:
        found = np.asarray(hits(r))
        return exact(float(found.sum()), found.size)

    return measure


def seeds(values: Callable[[Results], Any]) -> Measure:
    """The mean of something that each seed gives one value of, with its t interval and their standard deviation."""
    return lambda r: over_seeds(values(r))


def over_seeds(values: Any, confidence: float = stats.CONFIDENCE) -> Estimate:
    """Mean, t interval and standard deviation of one value per seed."""
    scipy_stats = load("scipy.stats", "this claim")

    v = stats.clean(values)
    if v.size < 2:
        return exact(float(v[0])) if v.size else stats.NOTHING
    mean, sd = float(v.mean()), float(v.std(ddof=1))
    half = float(scipy_stats.t.ppf((1 + confidence) / 2, v.size - 1)) * sd / v.size**0.5
    return Seeds(mean, mean - half, mean + half, int(v.size), sd=sd)


# ---- extremes --------------------------------------------------------------------------------------------------------


def pooled(r: Results, cells: Iterable[str], column: str) -> Any:
    """A column of several cells, one after the other."""
    return np.concatenate([r.of(c, column) for c in cells])


def extreme(cells: Sequence[str], column: str, pick: Callable[[Any], Any]) -> Measure:
    """The least or largest of all runs of some cells, as it is: without an interval."""
    return lambda r: exact(float(pick(pooled(r, cells, column))))


def blocks(cell: str, column: str, n: int, pick: Callable[[Any], Any]) -> Measure:
    """The extremes of blocks of n runs of one cell (rule S8)."""
    return lambda r: rules.extremes(r.of(cell, column), n, lambda b: float(pick(b)))


# ---- several cells ---------------------------------------------------------------------------------------------------


def across(
    cells: Cells,
    column: str,
    of: Callable[[Any], Any],
    *,
    each: Statistic = np.median,
    where: pl.Expr | None = None,
    pairing: Pairing = "independent",
) -> Measure:
    """A number computed by `of` from the medians (or `each`) of several cells, which stand along the first axis.

    A mapping gives each cell a column of its own; `where` chooses repetitions.
    """
    named = cells if isinstance(cells, Mapping) else dict.fromkeys(cells, column)
    return joined(list(named.items()), of, each=each, where=where, pairing=pairing)


def joined(
    samples: Sequence[tuple[str, str]],
    of: Callable[[Any], Any],
    *,
    each: Statistic = np.median,
    where: pl.Expr | None = None,
    pairing: Pairing = "independent",
) -> Measure:
    """`across` for any (cell, column) pairs."""

    def statistic(*found: Any, axis: int) -> Any:
        return of(np.array([each(s, axis=axis) for s in found]))

    return lambda r: stats.estimate(statistic, *(r.of(c, k, where) for c, k in samples), pairing=pairing)


def change(new: str, old: str, column: str, of: Statistic = np.median, where: pl.Expr | None = None) -> Measure:
    """The relative change of a statistic between two configurations, repetition by repetition."""
    return lambda r: stats.change(r.of(new, column, where), r.of(old, column, where), of=of)


def difference(
    new: str,
    old: str,
    column: str,
    of: Statistic = np.median,
    where: pl.Expr | None = None,
    pairing: Pairing = "independent",
) -> Measure:
    """The difference of a statistic between two configurations; `paired` where repetitions share their randomness."""
    return joined([(new, column), (old, column)], lambda m: m[0] - m[1], each=of, where=where, pairing=pairing)


def ratio(
    top: tuple[str, str], bottom: tuple[str, str], of: Statistic = np.median, pairing: Pairing = "independent"
) -> Measure:
    """The median (or `of`) of one (cell, column) over that of another."""
    return joined([top, bottom], lambda m: m[0] / m[1], each=of, pairing=pairing)


def changes(
    pairs: Iterable[tuple[str, str]],
    column: str,
    of: Statistic = np.median,
    *,
    front: str = "",
    before: str = "",
    word: str = "",
) -> Measures:
    """`change` for pairs of cells: `BL+ECN against BL`.

    `front` stands in front of the names of both cells and is no part of the label; `before` and `word` are the label's
    beginning and end.
    """
    return {f"{before}{new} against {old}{word}": change(front + new, front + old, column, of) for new, old in pairs}


def differences(
    pairs: Iterable[tuple[str, str]],
    column: str,
    of: Statistic = np.median,
    pairing: Pairing = "independent",
    *,
    front: str = "",
    before: str = "",
) -> Measures:
    """`difference` for pairs of cells: `RED 2 minus a/TD 2`; `front` and `before` as in `changes`."""
    return {
        f"{before}{new} minus {old}": difference(front + new, front + old, column, of, pairing=pairing)
        for new, old in pairs
    }


def ratios(pairs: Iterable[tuple[str, str]], column: str, of: Statistic = np.median) -> Measures:
    """`ratio` for pairs of cells: `RED 2 over a/TD 2`."""
    return {f"{top} over {bottom}": ratio((top, column), (bottom, column), of) for top, bottom in pairs}


def steps(order: Sequence[str], column: str, of: Statistic = np.median) -> Measures:
    """The change from each configuration to the next along an order: `BL+ECN against BL`."""
    return changes(((b, a) for a, b in itertools.pairwise(order)), column, of)


def ends(cells: Sequence[str], column: str, of: Statistic = np.median, where: pl.Expr | None = None) -> Measures:
    """The smallest and the largest median (or `of`) of several cells."""
    pick: dict[str, Callable[[Any], Any]] = {
        "smallest": lambda m: m.min(axis=0),
        "largest": lambda m: m.max(axis=0),
    }
    return {name: across(cells, column, f, each=of, where=where) for name, f in pick.items()}


def against_rest(one: str, others: Iterable[str], column: str, pick: Statistic, of: Statistic = np.median) -> Measure:
    """The median of one configuration over the highest or lowest (`pick`) of the others, less 1."""
    rest = [c for c in others if c != one]
    return across([one, *rest], column, lambda m: m[0] / pick(m[1:], axis=0) - 1.0, each=of, pairing="paired")


def rank_correlation(x: Callable[[Results], Any], y: Callable[[Results], Any]) -> Measure:
    """Spearman's coefficient of two columns over the repetitions; equal values share the mean of their ranks."""

    def statistic(a: Any, b: Any, axis: int) -> Any:
        a, b = (v - v.mean(axis, keepdims=True) for v in (a, b))
        with np.errstate(invalid="ignore"):  # Without any scatter there is no coefficient.
            return (a * b).mean(axis) / (a.std(axis) * b.std(axis))

    def measure(r: Results) -> Estimate:
        one, two = np.asarray(x(r), dtype=float), np.asarray(y(r), dtype=float)
        keep = np.isfinite(one) & np.isfinite(two)
        ranks = [pl.Series(v[keep]).rank("average") for v in (one, two)]
        return stats.estimate(statistic, *ranks, pairing="paired")

    return measure


# ---- when a run says something ---------------------------------------------------------------------------------------


def at_full_size(measure: Measure) -> Measure:
    """A number that a smaller or shorter run says nothing about: it is judged at full size only."""

    def guarded(r: Results) -> Estimate:
        found = estimated(measure, r)
        if r.runs.manifest.get("size") == "quick":
            raise MissingDataError(f"{found.value:.4g} in a first look: judged at full size only")
        return found

    return guarded


def with_seeds(measure: Measure, least: int = rules.SEEDS) -> Measure:
    """A number that scatters from seed to seed: it is judged at full size and over at least so many seeds."""

    def guarded(r: Results) -> Estimate:
        found = estimated(measure, r)
        if (n := int(r.runs.manifest["reps"])) < least:
            raise MissingDataError(f"{found.value:.4g} with seeds: {n}; judged with at least {least}")
        return found

    return at_full_size(guarded)
