"""Charts drawn for print with matplotlib, in the house style: SVG, PDF, PNG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from crosswind.figures.charts import DASHES, Chart, Matrix, Series
from crosswind.figures.plotting import plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GRID = "#16191f", "#d5d9e0"
SIZE_IN = (4.9, 3.1)
PANEL_IN = (2.9, 2.2)
COLUMNS_MAX = 3
LEGEND_MAX = 8
#: How many letters the legend over one panel holds in a line, and how many a line or mark before a label takes.
LEGEND_LETTERS, HANDLE_LETTERS = 76, 5
RASTER_ABOVE = 4000
#: The dashes of the palette as matplotlib takes them.
LINESTYLES: tuple[Any, ...] = tuple((0, d) if d else "-" for d in DASHES)

STYLE: Any = {
    "figure.figsize": SIZE_IN,
    "figure.constrained_layout.use": True,
    "figure.max_open_warning": 0,
    "savefig.transparent": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "crosswind",
    "pdf.fonttype": 42,
}

# While a finished figure is written: matplotlib would give it a layout engine again, and lay it out anew.
WRITING: Any = STYLE | {"figure.constrained_layout.use": False}

P = ParamSpec("P")
T = TypeVar("T")


def styled(make: Callable[P, T]) -> Callable[P, T]:
    """Draws in the house style without touching matplotlib's global settings."""

    @wraps(make)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        with plt.rc_context(STYLE):
            return make(*args, **kwargs)

    return inside


def panel_grid(count: int, x_axes: Literal["shared", "own"] = "shared") -> tuple[Any, list[Any]]:
    """A figure with `count` panels in rows of at most three, with equal y axes."""
    if count == 1:
        fig, ax = plt.subplots()
        return fig, [ax]
    columns = min(COLUMNS_MAX, count)
    rows = math.ceil(count / columns)
    size = (max(4.4, PANEL_IN[0] * columns), PANEL_IN[1] * rows + 0.7)
    fig, axes = plt.subplots(rows, columns, figsize=size, sharex=x_axes == "shared", sharey=True, squeeze=False)
    flat = [a for row in axes for a in row]
    for spare in flat[count:]:
        spare.set_visible(False)
    for a in flat[max(0, count - columns) : count]:
        a.tick_params(labelbottom=True)
    return fig, flat[:count]


@styled
def draw(charts: Sequence[Chart]) -> Figure:
    """The charts as one figure; panels share their y axis, and their x axis where it is the same."""
    own = len({c.x for c in charts}) > 1
    fig, axes = panel_grid(len(charts), "own" if own else "shared")
    for ax, chart in zip(axes, charts, strict=True):
        for s in chart.series:
            _draw_series(ax, s)
        said: set[str] = set()
        for v in chart.verticals:
            label = None if v.label in said else v.label or None
            said.add(v.label)
            ax.axvline(v.x, color=v.colour, linewidth=0.7, linestyle=(0, (2, 2)), alpha=0.6, label=label)
        _axes(ax, chart)
    if len(charts) == 1:
        axes[0].set_xlabel(charts[0].x)
        axes[0].set_ylabel(charts[0].y)
    else:
        for ax, chart in zip(axes, charts, strict=True) if own else ():
            ax.set_xlabel(chart.x)
        if not own:
            fig.supxlabel(charts[0].x, fontsize=9)
        fig.supylabel(charts[0].y, fontsize=9)
    found = {label: h for a in axes for h, label in zip(*a.get_legend_handles_labels(), strict=True)}
    if 1 < len(found) <= LEGEND_MAX:
        beside = LEGEND_LETTERS * len(axes) // (max(map(len, found)) + HANDLE_LETTERS)
        fig.legend(
            list(found.values()), list(found), loc="outside upper center", ncols=max(1, min(4, len(found), beside))
        )
    return fig


def _axes(ax: Any, chart: Chart) -> None:
    if chart.title:
        ax.set_title(chart.title, loc="left")
    if chart.xlog:
        ax.set_xscale("log")
    if chart.ylog:
        ax.set_yscale("log")
    elif chart.floor and ax.get_ylim()[0] > 0:
        ax.set_ylim(bottom=0)
    if chart.names:
        turned = 20 if max(map(len, chart.names)) > 8 and len(chart.names) > 2 else 0
        ax.set_xticks(range(len(chart.names)), chart.names, rotation=turned)
        ax.set_xlim(-0.6, len(chart.names) - 0.4)
        ax.grid(axis="x", visible=False)


def _draw_series(ax: Any, s: Series) -> None:
    """One series: few artists, since each one costs about as much as all of its lines."""
    colour, dashes, marker = s.look
    if s.least.size:
        for bottom, top in ((s.least, s.low), (s.high, s.most)):
            ax.vlines(s.x, bottom, top, color=colour, linestyle=(0, (1, 1.6)), linewidth=1.2)
        for end in (s.least, s.most):
            ax.hlines(end, s.x - 0.05, s.x + 0.05, color=colour, linewidth=1)
        ax.vlines(s.x, s.low, s.high, color=colour, linewidth=5, alpha=0.45, capstyle="butt")
    elif s.low.size:
        ax.vlines(s.x, s.low, s.high, color=colour, linewidth=0.9)
    label = s.label or None
    if s.kind == "points":
        edge = {} if marker in "x." else {"markeredgecolor": "white", "markeredgewidth": 0.4}
        raster = s.x.size > RASTER_ABOVE
        ax.plot(
            s.x, s.y, linestyle="", marker=marker, color=colour, markersize=s.size, label=label, rasterized=raster,
            zorder=3, **edge,
        )  # fmt: skip
        return
    marks = {"marker": marker} if s.low.size else {}
    style = "steps-post" if s.kind == "steps" else "default"
    dashing: Any = (0, dashes) if dashes else "-"
    ax.plot(s.x, s.y, color=colour, linestyle=dashing, drawstyle=style, linewidth=1.1, label=label, **marks)


@styled
def draw_matrix(matrix: Matrix) -> Figure:
    """Values over two axes, written into their cells."""
    a, rows, columns = matrix.values, matrix.rows, matrix.columns
    size = (max(4.0, 0.75 * len(columns) + 2.0), max(2.2, 0.42 * len(rows) + 1.3))
    fig, ax = plt.subplots(figsize=size)
    image = ax.imshow(a, cmap="cividis", aspect="auto")
    ax.set_xticks(range(len(columns)), columns, rotation=25 if max(map(len, columns)) > 7 else 0)
    ax.set_yticks(range(len(rows)), rows)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(matrix.labels[1])
    ax.set_ylabel(matrix.labels[0])
    low, high = np.nanmin(a), np.nanmax(a)
    for i, j in np.ndindex(a.shape):
        if len(columns) <= 12 and len(rows) <= 14 and np.isfinite(a[i, j]):
            dark = (a[i, j] - low) / (high - low or 1.0) < 0.5
            ax.text(j, i, f"{a[i, j]:.3g}", ha="center", va="center", fontsize=7.5, color="white" if dark else "black")
    bar = fig.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(matrix.labels[2])
    bar.outline.set_visible(False)
    return fig
