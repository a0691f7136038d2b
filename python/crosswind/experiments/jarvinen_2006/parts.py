"""Parts of claims that recur: medians against printed numbers, changes between configurations, orders, counts.

A configuration of another experiment is written `w1-e0/BL`; the experiment must name the other one in `uses`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.claims import Band, Claim, Part, above, below, near, within
from crosswind.experiments.base import Results
from crosswind.stats import Estimate

Statistic = Callable[..., Any]
FREE = Band()
# Orders whose printed gap is below 2 % are only tested as not contradicted by more than that.
LEVEL = 0.02


def lower(x: Any, axis: int = -1) -> Any:
    """The lower quartile along an axis."""
    return np.quantile(x, 0.25, axis=axis)


def upper(x: Any, axis: int = -1) -> Any:
    """The upper quartile along an axis."""
    return np.quantile(x, 0.75, axis=axis)


def text_of(printed: float | None, unit: str) -> str:
    """A printed value with its unit."""
    if printed is None:
        return ""
    return f"{printed * 100:g} %" if unit == "%" else f"{printed:g} {unit}".rstrip()


def value_part(
    label: str,
    configuration: str,
    column: str,
    accept: Band = FREE,
    printed: float | None = None,
    *,
    of: Statistic = np.median,
    where: pl.Expr | None = None,
    unit: str = "",
    digits: int = 1,
) -> Part:
    """A statistic (median unless said otherwise) of a column of the repetition table."""
    return Part(
        label,
        lambda r: stats.estimate(of, r.of(configuration, column, where)),
        accept,
        text_of(printed, unit),
        unit,
        digits,
    )


def change_part(
    label: str,
    new: str,
    old: str,
    column: str,
    accept: Band = FREE,
    printed: float | None = None,
    *,
    of: Statistic = np.median,
    where: pl.Expr | None = None,
) -> Part:
    """The relative change of a statistic between two configurations, repetition by repetition."""
    text = "" if printed is None else f"{printed * 100:+g} %"
    return Part(
        label, lambda r: stats.change(r.of(new, column, where), r.of(old, column, where), of=of), accept, text, "%"
    )


def difference_part(
    label: str,
    new: str,
    old: str,
    column: str,
    accept: Band = FREE,
    published: str = "",
    *,
    of: Statistic = np.median,
    unit: str = "",
    digits: int = 1,
) -> Part:
    """The difference of a statistic between two configurations, repetition by repetition."""
    return Part(
        label, lambda r: stats.difference(r.of(new, column), r.of(old, column), of=of), accept, published, unit, digits
    )


def apart_part(
    label: str, new: str, old: str, column: str, accept: Band = FREE, published: str = "", *, unit: str = ""
) -> Part:
    """The difference of medians between configurations of different experiments, whose repetitions do not pair."""
    return Part(
        label,
        lambda r: stats.estimate(
            lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis), r.of(new, column), r.of(old, column)
        ),
        accept,
        published,
        unit,
    )


def rank_correlation(x: Any, y: Any) -> float:
    """Spearman's coefficient of two samples of repetitions."""
    keep = np.isfinite(x) & np.isfinite(y)
    rank = [np.argsort(np.argsort(v[keep])).astype(float) for v in (np.asarray(x), np.asarray(y))]
    return float(np.corrcoef(np.vstack(rank))[0, 1])


def share_part(
    label: str,
    configuration: str,
    hit: Callable[[Results], Any],
    accept: Band = FREE,
    published: str = "",
) -> Part:
    """The share of repetitions of which something is true; `hit` gives one truth value per repetition."""
    return Part(
        f"{label}, {configuration}" if configuration else label, lambda r: stats.share(hit(r)), accept, published, "%"
    )


def identity_part(configuration: str, accept: Band, printed: str, size: Callable[[Results], Any] | None = None) -> Part:
    """Overall throughput times the elapsed time of the slower flow, repetition by repetition: the size of all objects.

    `size` gives the size of each repetition where it varies: then the relative deviation from it is measured.
    """

    def measure(r: Results) -> Estimate:
        product = r.of(configuration, "overall_throughput") * r.of(configuration, "slower_elapsed_s")
        return stats.median(product if size is None else product / size(r) - 1.0)

    return Part(configuration, measure, accept, printed, "B" if size is None else "%", 0 if size is None else 2)


def falling(column: str, order: Sequence[str], slack: Mapping[str, float] | None = None) -> list[Part]:
    """Medians that fall along `order`: one part per neighbouring pair, strict unless `slack` allows some for it."""
    allowed = slack or {}
    return [
        change_part(f"{b} against {a}", b, a, column, Band(high=allowed[b]) if b in allowed else below(0.0))
        for a, b in itertools.pairwise(order)
    ]


def rising(column: str, order: Sequence[str], slack: Mapping[str, float] | None = None) -> list[Part]:
    """Medians that rise along `order`, strictly unless `slack` allows a fall for some."""
    allowed = slack or {}
    return [
        change_part(f"{b} against {a}", b, a, column, Band(low=-allowed[b]) if b in allowed else above(0.0))
        for a, b in itertools.pairwise(order)
    ]


def table_parts(
    column: str,
    quantity: str,
    printed: Mapping[tuple[str, str], float],
    tolerance: float,
    *,
    unit: str,
    digits: int = 1,
    absolute: bool = False,
    prefix: str = "",
) -> list[Part]:
    """One part per configuration with a printed median, each within the tolerance (relative unless `absolute`).

    `prefix` stands before the configuration's label in this experiment, such as the link.
    """
    out = []
    for (what, c), value in printed.items():
        if what == quantity:
            band = near(value, tolerance) if absolute else within(value, tolerance)
            out.append(value_part(prefix + c, prefix + c, column, band, value, unit=unit, digits=digits))
    return out


def highest(best: str, others: Iterable[str], column: str, slack: float = 0.0) -> Part:
    """The median of one configuration against the highest of the others."""
    return _extreme(best, list(others), column, np.max, Band(low=-slack) if slack else above(0.0), "highest")


def lowest(least: str, others: Iterable[str], column: str, slack: float = 0.0) -> Part:
    """The median of one configuration against the lowest of the others."""
    return _extreme(least, list(others), column, np.min, Band(high=slack) if slack else below(0.0), "lowest")


def _extreme(one: str, others: list[str], column: str, pick: Any, accept: Band, word: str) -> Part:
    rest = [c for c in others if c != one]

    def statistic(*samples: Any, axis: int) -> Any:
        first, *more = (np.median(s, axis=axis) for s in samples)
        return first / pick(more, axis=0) - 1.0

    def measure(r: Results) -> Estimate:
        return stats.estimate(statistic, *(r.of(c, column) for c in [one, *rest]), pairing="paired")

    return Part(f"{one} against the {word} of the others", measure, accept, word, "%")


def spread_of_medians(label: str, names: Sequence[str], column: str, accept: Band, published: str) -> Part:
    """How far the medians of several configurations lie apart, relative to the largest."""

    def statistic(*samples: Any, axis: int) -> Any:
        medians = np.array([np.median(s, axis=axis) for s in samples])
        return 1.0 - medians.min(axis=0) / medians.max(axis=0)

    return Part(
        label,
        lambda r: stats.estimate(statistic, *(r.of(c, column) for c in names), pairing="paired"),
        accept,
        published,
        "%",
    )


def report_parts(
    names: Sequence[str], column: str, *, of: Statistic = np.median, unit: str = "", digits: int = 1, word: str = ""
) -> list[Part]:
    """What a withheld claim reports: a statistic of every configuration, without a band."""
    return [value_part(f"{c}{word}", c, column, of=of, unit=unit, digits=digits) for c in names]


def report_changes(
    names: Sequence[str], old: str, column: str, *, of: Statistic = np.median, word: str = ""
) -> list[Part]:
    """What a withheld claim reports: changes against one configuration, without a band."""
    return [change_part(f"{c} against {old}{word}", c, old, column, of=of) for c in names if c != old]


def withheld(number: int, statement: str, parts: Sequence[Part]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"J{number}", statement, "withheld", parts, withheld="yes")


def headline(column: str, unit: str, names: Sequence[str], digits: int = 1) -> Callable[[Results], dict[str, str]]:
    """The median of a column in every configuration, as the numbers by which readings are compared."""

    def numbers(r: Results) -> dict[str, str]:
        return {c: f"{np.nanmedian(r.of(c, column)):.{digits}f} {unit}".rstrip() for c in names}

    return numbers
