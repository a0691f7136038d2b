"""Measures of this study alone: what the transfers retransmit, and the numbers by which readings are compared."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.riva_2003.measures import LONG
from crosswind.reproduce import Measure, Results
from crosswind.reproduce.claims.measures import joined


def _retx(c: str, roles: Sequence[str]) -> list[tuple[str, str]]:
    return [(c, f"{role}_retx") for role in roles]


def _per_third(m: Any) -> Any:
    return (m[0] + m[1]) / 2.0 / m[2]


def long_over_third(c: str) -> Measure:
    """Packets retransmitted: the mean of the two long transfers' medians over the third's median (section 4)."""
    return joined(_retx(c, (*LONG, "third")), _per_third)


def more_per_third(new: str, old: str) -> Measure:
    """How much larger that ratio is in one cell than in another."""
    both = [*_retx(new, (*LONG, "third")), *_retx(old, (*LONG, "third"))]
    return joined(both, lambda m: _per_third(m[:3]) - _per_third(m[3:]))


def long_again(new: str, old: str) -> Measure:
    """Packets that the long transfers retransmit (mean of the two medians) in one cell over another."""
    return joined([*_retx(new, LONG), *_retx(old, LONG)], lambda m: (m[0] + m[1]) / (m[2] + m[3]))


def of_long(column: str, cells: Sequence[str], word: str = "") -> dict[str, Measure]:
    """The medians of both long transfers in some cells."""
    return {f"{c}, {role}{word}": joined([(c, f"{role}_{column}")], lambda m: m[0]) for c in cells for role in LONG}


def near_grid(times: Any, step_s: float = 0.010, within_s: float = 0.0015) -> stats.Estimate:
    """The share of times that lie near a multiple of a clock's step."""
    return stats.share(np.abs(times - np.round(times / step_s) * step_s) <= within_s)


def headline(column: str, unit: str, names: Sequence[str]) -> Callable[[Results], dict[str, str]]:
    """The median of a column in every cell, as the numbers by which readings are compared."""
    return lambda r: {c: f"{np.nanmedian(r.of(c, column)):.1f} {unit}" for c in names}
