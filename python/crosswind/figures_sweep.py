"""Figures over many configurations: small multiples with intervals, heat maps, scattered points of drawn designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind import drawn
from crosswind.figures import DASHES, INK, MARKERS, PALETTE, Picture, panel_grid, styled
from crosswind.plotting import plt
from crosswind.stats import Estimate

Line = Sequence[tuple[Any, Estimate]]
Scale = Literal["linear", "log", "names"]


@styled
def small_multiples(
    name: str, caption: str, panels: Mapping[str, Mapping[str, Line]], xlabel: str, ylabel: str, scale: Scale
) -> Picture:
    """One panel per facet, one line per series, each point with its 95 % interval."""
    fig, axes = panel_grid(len(panels))
    series = list(dict.fromkeys(s for p in panels.values() for s in p))
    ticks = list(dict.fromkeys(str(x) for p in panels.values() for line in p.values() for x, _ in line))
    rows: list[dict[str, Any]] = []
    for ax, (facet, lines) in zip(axes, panels.items(), strict=True):
        for label, line in lines.items():
            j = series.index(label)
            shift = (j - (len(series) - 1) / 2) * 0.08 if scale == "names" else 0.0
            x = np.array([ticks.index(str(v)) + shift if scale == "names" else float(v) for v, _ in line])
            y = np.array([e.value for _, e in line])
            below, above = y - np.array([e.low for _, e in line]), np.array([e.high for _, e in line]) - y
            bars = ax.errorbar(
                x, y, yerr=[np.maximum(below, 0), np.maximum(above, 0)], color=PALETTE[j % len(PALETTE)],
                marker=MARKERS[j % len(MARKERS)], linestyle=DASHES[j % len(DASHES)] if scale != "names" else "",
                elinewidth=0.9, capsize=2, label=label,
            )  # fmt: skip
            drawn.with_range(bars.lines[0], y - np.maximum(below, 0), y + np.maximum(above, 0))
            rows += [
                {"panel": facet, "series": label, "x": str(v), "y": e.value, "low": e.low, "high": e.high, "n": e.n}
                for v, e in line
            ]
        if facet:
            ax.set_title(facet, loc="left")
        if scale == "log":
            ax.set_xscale("log")
        if scale == "names":
            ax.set_xticks(range(len(ticks)), ticks, rotation=20 if max(map(len, ticks)) > 8 else 0)
            ax.set_xlim(-0.5, len(ticks) - 0.5)
    if axes and axes[0].get_ylim()[0] > 0:
        axes[0].set_ylim(bottom=0)
    fig.supxlabel(xlabel, fontsize=9)
    fig.supylabel(ylabel, fontsize=9)
    if len(series) > 1:
        handles, labels = _legend(axes)
        fig.legend(handles, labels, loc="outside upper center", ncols=min(5, len(series)))
    said = f"{caption} {ylabel} against {xlabel}, {len(panels)} panels, {len(series)} series; table with the figure."
    return Picture(name, caption, said, fig, data=pl.DataFrame(rows))


def _legend(axes: Sequence[Any]) -> tuple[list[Any], list[str]]:
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


@styled
def heat_map(
    name: str, caption: str, rows: Sequence[str], columns: Sequence[str], values: Any, labels: tuple[str, str, str]
) -> Picture:
    """Values over two axes, written into their cells; `labels`: of rows, of columns, of the value."""
    a = np.asarray(values, dtype=np.float64)
    size = (max(4.0, 0.75 * len(columns) + 2.0), max(2.2, 0.42 * len(rows) + 1.3))
    fig, ax = plt.subplots(figsize=size)
    image = ax.imshow(a, cmap="cividis", aspect="auto")
    ax.set_xticks(range(len(columns)), columns, rotation=25 if max(map(len, columns)) > 7 else 0)
    ax.set_yticks(range(len(rows)), rows)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(labels[1])
    ax.set_ylabel(labels[0])
    low, high = np.nanmin(a), np.nanmax(a)
    for i, j in np.ndindex(a.shape):
        if len(columns) <= 12 and len(rows) <= 14 and np.isfinite(a[i, j]):
            dark = (a[i, j] - low) / (high - low or 1.0) < 0.5
            ax.text(j, i, f"{a[i, j]:.3g}", ha="center", va="center", fontsize=7.5, color="white" if dark else "black")
    bar = fig.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(labels[2])
    bar.outline.set_visible(False)
    data = pl.DataFrame(
        [
            {labels[0]: r, labels[1]: c, labels[2]: float(a[i, j])}
            for i, r in enumerate(rows)
            for j, c in enumerate(columns)
        ]
    )
    return Picture(name, caption, f"{caption} From {low:.4g} to {high:.4g} ({labels[2]}).", fig, data=data)


@styled
def drawn_points(
    name: str,
    caption: str,
    columns: Mapping[str, Sequence[float]],
    values: Sequence[float],
    ylabel: str,
    log: Sequence[str],
) -> Picture:
    """One panel per axis of a drawn design: each configuration is a point."""
    fig, axes = panel_grid(len(columns), "own")
    for ax, (label, x) in zip(axes, columns.items(), strict=True):
        ax.plot(np.asarray(x), np.asarray(values), linestyle="", marker="o", color=PALETTE[0], alpha=0.75, markersize=4)
        ax.set_xlabel(label)
        if label in log:
            ax.set_xscale("log")
    fig.supylabel(ylabel, fontsize=9)
    data = pl.DataFrame({**{k: list(v) for k, v in columns.items()}, ylabel: list(values)})
    return Picture(name, caption, f"{caption} {ylabel} against {', '.join(columns)}.", fig, data=data)


@styled
def forest(name: str, caption: str, rows: Mapping[str, Estimate], xlabel: str, centre: float = 0.0) -> Picture:
    """Estimates with intervals, one below the other; `centre` is where there would be no difference."""
    lines = sum(1 + label.count("\n") for label in rows)
    fig, ax = plt.subplots(figsize=(5.4, 0.22 * lines + 0.1 * len(rows) + 0.9))
    for i, (_, e) in enumerate(rows.items()):
        y = len(rows) - 1 - i
        clear = e.low > centre or e.high < centre
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
