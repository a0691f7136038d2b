"""Which factor matters: shares of the variation that factors and their interactions explain in a full grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Effect:
    """A factor (or two together), and its share of all variation (0..1)."""

    factors: tuple[str, ...]
    share: float

    @property
    def name(self) -> str:
        return " x ".join(self.factors)


def shares(frame: pl.DataFrame, factors: Sequence[str], value: str) -> list[Effect]:
    """Decomposes the variation of `value` over a balanced grid: factors, their pairs, and what is left ("rest").

    Sums of squares of the analysis of variance. "rest" holds higher interactions and what differs between repetitions.
    Empty when the grid is not balanced or nothing varies.
    """
    frame = frame.select(*factors, pl.col(value).cast(pl.Float64).fill_nan(None)).drop_nulls()
    used = [f for f in factors if frame[f].n_unique() > 1]
    if frame.is_empty() or not used:
        return []
    cells = frame.group_by(used).len()
    full = 1
    for f in used:
        full *= frame[f].n_unique()
    if cells.height != full or cells["len"].n_unique() != 1:
        return []
    mean = pl.col(value).mean()
    total = float(((frame[value] - frame[value].mean()) ** 2).sum())
    if total <= 0:
        return []

    def between(names: Sequence[str]) -> float:
        grand = float(frame[value].mean())  # type: ignore[arg-type]
        means = frame.group_by(names).agg(mean.alias("m"), pl.len().alias("n"))
        return float(((means["m"] - grand) ** 2 * means["n"]).sum())

    single = {f: between([f]) for f in used}
    out = [Effect((f,), s / total) for f, s in single.items()]
    for a, b in itertools.combinations(used, 2):
        out.append(Effect((a, b), max(0.0, between([a, b]) - single[a] - single[b]) / total))
    rest = max(0.0, 1.0 - sum(e.share for e in out))
    return [*sorted(out, key=lambda e: -e.share), Effect(("rest",), rest)]
