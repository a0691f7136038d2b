"""Parts of claims that recur in this study: medians of cells, and what is computed from the medians of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.claims import Band, Claim, Part, within
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006.parts import difference_part, lower, share_part, upper, value_part
from crosswind.stats import Estimate

__all__ = ["across", "difference_part", "lower", "medians", "report", "share_part", "upper", "value_part", "withheld"]
FREE = Band()


def median(values: Any, axis: int = 0) -> Any:
    """The median along an axis."""
    return np.median(values, axis=axis)


def medians(
    column: str, printed: Mapping[str, float], tolerance: float, *, unit: str = "s", digits: int = 2
) -> list[Part]:
    """One part per cell: its median within a relative tolerance of the printed one."""
    return [value_part(c, c, column, within(v, tolerance), v, unit=unit, digits=digits) for c, v in printed.items()]


def across(
    label: str,
    cells: Sequence[str] | Mapping[str, str],
    column: str,
    of: Callable[[Any], Any],
    accept: Band = FREE,
    published: str = "",
    *,
    each: Callable[..., Any] = np.median,
    unit: str = "",
    digits: int = 2,
) -> Part:
    """A number computed by `of` from the medians (or `each`) of several cells, which stand along the first axis.

    `cells` may give each cell a column of its own.
    """
    names = cells if isinstance(cells, Mapping) else dict.fromkeys(cells, column)

    def statistic(*samples: Any, axis: int) -> Any:
        return of(np.array([each(s, axis=axis) for s in samples]))

    def measure(r: Results) -> Estimate:
        return stats.estimate(statistic, *(r.of(c, k) for c, k in names.items()))

    return Part(label, measure, accept, published, unit, digits)


def ratio(label: str, top: tuple[str, str], bottom: tuple[str, str], accept: Band, published: str = "") -> Part:
    """The median of one (cell, column) over that of another."""

    def measure(r: Results) -> Estimate:
        return stats.estimate(
            lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis), r.of(*top), r.of(*bottom)
        )

    return Part(label, measure, accept, published, "", 2)


def report(cells: Sequence[str], column: str, *, unit: str = "s", digits: int = 2, word: str = "") -> list[Part]:
    """Medians without a band."""
    return [value_part(f"{c}{word}", c, column, unit=unit, digits=digits) for c in cells]


def withheld(number: int, statement: str, parts: Sequence[Part]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"R{number}", statement, "withheld", parts, withheld="yes")
