"""Figures over many configurations: small multiples with intervals, heat maps, scattered points of drawn designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind.figures.charts import PALETTE, Chart, Matrix, Series, vector
from crosswind.figures.drawing import INK, styled
from crosswind.figures.pictures import Picture
from crosswind.figures.plotting import plt
from crosswind.stats import Estimate

Line = Sequence[tuple[Any, Estimate]]
Scale = Literal["linear", "log", "names"]


def small_multiples(
    name: str, caption: str, panels: Mapping[str, Mapping[str, Line]], xlabel: str, ylabel: str, scale: Scale
) -> Picture:
    """One panel per facet, one line per series, each point with its 95 % interval."""
    series = list(dict.fromkeys(s for p in panels.values() for s in p))
    ticks = list(dict.fromkeys(str(x) for p in panels.values() for line in p.values() for x, _ in line))

    def one(label: str, line: Line) -> Series:
        j = series.index(label)
        shift = (j - (len(series) - 1) / 2) * 0.08 if scale == "names" else 0.0
        x = vector([ticks.index(str(v)) + shift if scale == "names" else float(v) for v, _ in line])
        y, low, high = (vector([getattr(e, end) for _, e in line]) for end in ("value", "low", "high"))
        kind: Literal["points", "line"] = "points" if scale == "names" else "line"
        return Series(label, x, y, kind, j, low=np.minimum(low, y), high=np.maximum(high, y))

    shown = [
        Chart(
            xlabel, ylabel, [one(label, line) for label, line in lines.items()], title=facet,
            xlog=scale == "log", names=ticks if scale == "names" else (),
        )
        for facet, lines in panels.items()
    ]  # fmt: skip
    rows = [
        {"panel": facet, "series": label, "x": str(v), "y": e.value, "low": e.low, "high": e.high, "n": e.n}
        for facet, lines in panels.items()
        for label, line in lines.items()
        for v, e in line
    ]
    said = f"{caption} {ylabel} against {xlabel}, {len(panels)} panels, {len(series)} series; table with the figure."
    return Picture(name, caption, said, data=pl.DataFrame(rows), shown=shown)


def heat_map(
    name: str, caption: str, rows: Sequence[str], columns: Sequence[str], values: Any, labels: tuple[str, str, str]
) -> Picture:
    """Values over two axes, written into their cells; `labels`: of rows, of columns, of the value."""
    matrix = Matrix(rows, columns, vector(values), labels)
    low, high = np.nanmin(matrix.values), np.nanmax(matrix.values)
    return Picture(name, caption, f"{caption} From {low:.4g} to {high:.4g} ({labels[2]}).", shown=matrix)


def drawn_points(
    name: str,
    caption: str,
    columns: Mapping[str, Sequence[float]],
    values: Sequence[float],
    ylabel: str,
    log: Sequence[str],
) -> Picture:
    """One panel per axis of a drawn design: each configuration is a point."""
    shown = [
        Chart(label, ylabel, [Series("", vector(x), vector(values), "points")], xlog=label in log, floor=False)
        for label, x in columns.items()
    ]
    data = pl.DataFrame({**{k: list(v) for k, v in columns.items()}, ylabel: list(values)})
    return Picture(name, caption, f"{caption} {ylabel} against {', '.join(columns)}.", data=data, shown=shown)


@styled
def forest(name: str, caption: str, rows: Mapping[str, Estimate], xlabel: str, centre: float = 0.0) -> Picture:
    """Estimates with intervals, one below the other; `centre` is where there would be no difference."""
    lines = sum(1 + label.count("\n") for label in rows)
    fig, ax = plt.subplots(figsize=(5.4, 0.22 * lines + 0.1 * len(rows) + 0.9))
    for i, (_, e) in enumerate(rows.items()):
        y = len(rows) - 1 - i
        clear = e.is_clear(centre)
        colour = PALETTE[0] if clear else "#7a828e"
        ax.plot([e.low, e.high], [y, y], color=colour, linewidth=1.8, solid_capstyle="round")
        ax.plot([e.value], [y], marker="o" if clear else "D", color=colour, markersize=5)
    ax.axvline(centre, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(rows)), list(rows)[::-1])
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(xlabel)
    data = pl.DataFrame([{"what": k, **asdict(e)} for k, e in rows.items()])
    said = "; ".join(f"{k} {e.value:.3g} ({e.low:.3g} to {e.high:.3g})" for k, e in rows.items())
    return Picture(name, caption, f"{caption} {xlabel}: {said}.", fig, data=data)
