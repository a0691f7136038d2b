"""Parts of claims that recur in this study: medians of cells, and what is computed from the medians of several.

A band is the source page's. Where it gives no number and one had to be chosen, the claim says so in its statement
(`chosen`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.claims import Band, Claim, Part, between, within
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006.parts import headline, lower, share_part, upper, value_part
from crosswind.experiments.riva_2003.measures import LONG
from crosswind.stats import Estimate

__all__ = ["across", "headline", "lower", "medians", "report", "share_part", "upper", "value_part", "withheld"]
FREE = Band()
Statistic = Callable[..., Any]


def chosen(statement: str, what: str) -> str:
    """A statement whose source page gives no tolerance: what is accepted here."""
    return f"{statement} (tolerance chosen here: {what})"


def spread(m: Any) -> Any:
    """How far the values of several cells (first axis) lie apart."""
    return m.max(axis=0) - m.min(axis=0)


def pooled(r: Results, cells: Sequence[str], column: str) -> Any:
    """A column of several cells, one after the other."""
    return np.concatenate([r.of(c, column) for c in cells])


def medians(
    column: str, printed: Mapping[str, float], tolerance: float, *, unit: str = "s", digits: int = 2
) -> list[Part]:
    """One part per cell: its median within a relative tolerance of the printed one."""
    return [value_part(c, c, column, within(v, tolerance), v, unit=unit, digits=digits) for c, v in printed.items()]


def shown(column: str, printed: Mapping[str, float], *, unit: str = "s", digits: int = 2) -> list[Part]:
    """The medians beside the printed ones, without a band."""
    return [value_part(c, c, column, FREE, v, unit=unit, digits=digits) for c, v in printed.items()]


def across(
    label: str,
    cells: Sequence[str] | Mapping[str, str],
    column: str,
    of: Callable[[Any], Any],
    accept: Band = FREE,
    published: str = "",
    *,
    each: Statistic = np.median,
    where: pl.Expr | None = None,
    unit: str = "",
    digits: int = 2,
) -> Part:
    """A number computed by `of` from the medians (or `each`) of several cells, which stand along the first axis.

    `cells` may give each cell a column of its own; `where` chooses repetitions.
    """
    names = cells if isinstance(cells, Mapping) else dict.fromkeys(cells, column)

    def statistic(*samples: Any, axis: int) -> Any:
        return of(np.array([each(s, axis=axis) for s in samples]))

    def measure(r: Results) -> Estimate:
        return stats.estimate(statistic, *(r.of(c, k, where) for c, k in names.items()))

    return Part(label, measure, accept, published, unit, digits)


def range_of(
    cells: Sequence[str],
    column: str,
    printed: tuple[float, float],
    tolerance: float,
    *,
    each: Statistic = np.median,
    where: pl.Expr | None = None,
    unit: str = "s",
    digits: int = 2,
) -> list[Part]:
    """The smallest and the largest median of several cells, both in the printed range widened by the tolerance."""
    band = between(printed[0] * (1 - tolerance), printed[1] * (1 + tolerance))
    how: dict[str, Any] = {"each": each, "where": where, "unit": unit, "digits": digits}
    ends: tuple[tuple[str, Any, float], ...] = (("smallest", np.min, printed[0]), ("largest", np.max, printed[1]))
    return [
        across(f"{word} median", cells, column, lambda m, pick=pick: pick(m, axis=0), band, f"{v:g} {unit}", **how)
        for word, pick, v in ends
    ]


def mean_of(
    label: str,
    cells: Sequence[str],
    column: str,
    accept: Band,
    published: str,
    *,
    each: Statistic,
    unit: str = "s",
    digits: int = 2,
) -> Part:
    """The mean over some cells of what `each` makes of them."""
    how: Any = {"each": each, "unit": unit, "digits": digits}
    return across(label, cells, column, lambda m: m.mean(axis=0), accept, published, **how)


def minus(
    label: str,
    new: str,
    old: str,
    column: str,
    accept: Band = FREE,
    published: str = "",
    *,
    each: Statistic = np.median,
    unit: str = "s",
    digits: int = 2,
) -> Part:
    """The median (or `each`) of one cell minus that of another."""
    how: Any = {"each": each, "unit": unit, "digits": digits}
    return across(label, [new, old], column, lambda m: m[0] - m[1], accept, published, **how)


def differences(
    label: str,
    pairs: Sequence[tuple[str, str]],
    column: str,
    accept: Band = FREE,
    published: Sequence[str] = (),
    *,
    each: Statistic = np.median,
    unit: str = "s",
    digits: int = 2,
) -> list[Part]:
    """`minus` for pairs of cells; each part is named after the first of its pair."""
    texts = published or [""] * len(pairs)
    return [
        minus(f"{label}, {a}", a, b, column, accept, p, each=each, unit=unit, digits=digits)
        for (a, b), p in zip(pairs, texts, strict=True)
    ]


def ratio(
    label: str,
    top: tuple[str, str],
    bottom: tuple[str, str],
    accept: Band,
    published: str = "",
    *,
    of: Statistic = np.median,
    unit: str = "",
    digits: int = 2,
) -> Part:
    """The median (or `of`) of one (cell, column) over that of another."""

    def measure(r: Results) -> Estimate:
        return stats.estimate(lambda a, b, axis: of(a, axis=axis) / of(b, axis=axis), r.of(*top), r.of(*bottom))

    return Part(label, measure, accept, published, unit, digits)


def outlier(
    label: str,
    cells: Sequence[str],
    column: str,
    pick: Callable[[Any], Any],
    accept: Band,
    printed: str,
    *,
    unit: str = "s",
    digits: int = 2,
) -> Part:
    """A single run: the least or largest of all runs of some cells. It has no interval."""
    return Part(label, lambda r: stats.exact(float(pick(pooled(r, cells, column)))), accept, printed, unit, digits)


def of_long(column: str, cells: Sequence[str], accept: Band, printed: Sequence[tuple[float, float]] = ()) -> list[Part]:
    """The medians of both long transfers in some cells; `printed`: fastest and slowest, by cell."""
    texts: Any = printed or [(None, None)] * len(cells)
    return [
        value_part(f"{c}, {role}", c, f"{role}_{column}", accept, v)
        for c, both in zip(cells, texts, strict=True)
        for role, v in zip(LONG, both, strict=True)
    ]


def of_third(column: str, printed: Mapping[str, float], accept: Callable[[float], Band]) -> list[Part]:
    """The third transfer's medians against printed ones."""
    return [value_part(f"{c}, third", c, f"third_{column}", accept(v), v) for c, v in printed.items()]


def _per_third(*samples: Any, axis: int) -> Any:
    fastest, slowest, third = (np.median(s, axis=axis) for s in samples[:3])
    return (fastest + slowest) / 2.0 / third


def _sent_again(r: Results, c: str, roles: Sequence[str]) -> list[Any]:
    return [r.of(c, f"{role}_retx") for role in roles]


def long_over_third(c: str, accept: Band, published: str) -> Part:
    """Packets sent again: the mean of the two long transfers' medians over the third's median (section 4)."""
    return Part(c, lambda r: stats.estimate(_per_third, *_sent_again(r, c, (*LONG, "third"))), accept, published, "", 2)


def more_per_third(new: str, old: str, accept: Band, published: str) -> Part:
    """How much larger that ratio is in one cell than in another."""

    def statistic(*samples: Any, axis: int) -> Any:
        return _per_third(*samples[:3], axis=axis) - _per_third(*samples[3:], axis=axis)

    def measure(r: Results) -> Estimate:
        return stats.estimate(statistic, *(s for c in (new, old) for s in _sent_again(r, c, (*LONG, "third"))))

    return Part(f"{new} minus {old.rpartition('/')[2]}", measure, accept, published, "", 2)


def long_again(label: str, new: str, old: str, accept: Band, published: str) -> Part:
    """Packets that the long transfers send again (mean of the two medians) in one cell over another."""

    def statistic(*samples: Any, axis: int) -> Any:
        m = [np.median(s, axis=axis) for s in samples]
        return (m[0] + m[1]) / (m[2] + m[3])

    def measure(r: Results) -> Estimate:
        return stats.estimate(statistic, *(s for c in (new, old) for s in _sent_again(r, c, LONG)))

    return Part(label, measure, accept, published, "", 2)


def report(cells: Sequence[str], column: str, *, unit: str = "s", digits: int = 2, word: str = "") -> list[Part]:
    """Medians without a band."""
    return [value_part(f"{c}{word}", c, column, unit=unit, digits=digits) for c in cells]


def withheld(number: int, statement: str, parts: Sequence[Part]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"R{number}", statement, "withheld", parts, withheld="yes")
