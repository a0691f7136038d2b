"""Figures for print and for reports: axes with units, colours that colour-blind readers can tell apart.

Every function returns a `Picture`: a matplotlib figure with a name, a caption and a text alternative. Series differ by
colour, marker and line style together, so that a grey print stays readable.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import drawn
from crosswind.plotting import plt
from crosswind.stats import quartiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow: tells apart under the common colour deficiencies. One more than dashes,
# so that no two of many series have both alike.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (2, 2)))
INK, GRID = "#16191f", "#d5d9e0"
SIZE_IN = (4.9, 3.1)
PANEL_IN = (2.9, 2.2)
COLUMNS_MAX = 3
RASTER_ABOVE = 4000
QUARTILES = ("min", "q1", "median", "q3", "max")

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

Format = Literal["svg", "pdf", "png"]
FORMATS: tuple[Format, ...] = ("svg", "pdf", "png")

P = ParamSpec("P")
Sample = npt.ArrayLike | pl.Series


@dataclass
class Picture:
    """A figure with its file name (no suffix), caption and text alternative; `data` is what is drawn, as a table."""

    name: str
    caption: str
    alt: str
    figure: Figure
    data: pl.DataFrame | None = None
    _svg: str = field(default="", init=False, repr=False)

    def svg(self) -> str:
        """The figure as inline SVG that scales with its container and follows the text colour of the page."""
        text = self._drawn()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
        text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
        text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
        text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{self.name}-", text)
        text = text.replace(INK, "currentColor").replace(GRID, "var(--grid, #d5d9e0)")
        label = f'role="img" aria-label="{_attribute(self.alt)}"'
        return text.replace("<svg ", f"<svg {label} ", 1).strip()

    def save(self, folder: Path, command: str = "", formats: Sequence[Format] = FORMATS) -> None:
        """Writes `<name>.svg`, `.pdf`, `.png` (200 dpi, white ground), as asked, and `.csv` with what is drawn.

        The files carry the caption and the command that made them.
        """
        folder.mkdir(parents=True, exist_ok=True)
        said = f"{self.caption} Made by: {command}" if command else self.caption
        if "svg" in formats:
            told = f"<title>{_attribute(self.name)}</title>\n <desc>{_attribute(said)}</desc>\n <defs>"
            (folder / f"{self.name}.svg").write_text(self._drawn().replace("<defs>", told, 1), encoding="utf-8")
        with plt.rc_context(WRITING):
            self._settle()
            if "pdf" in formats:
                pdf = {"Title": self.name, "Subject": said, "Creator": "crosswind", "CreationDate": None}
                self.figure.savefig(folder / f"{self.name}.pdf", metadata=pdf)
            if "png" in formats:
                png: Any = {"dpi": 200, "metadata": {"Title": self.name, "Description": said}}
                self.figure.savefig(folder / f"{self.name}.png", transparent=False, facecolor="white", **png)
        table = self.table()
        if table is not None:
            table.write_csv(folder / f"{self.name}.csv")

    def _drawn(self) -> str:
        """The figure as an SVG document; drawn once for the page and the file."""
        if not self._svg:
            raw = io.StringIO()
            with plt.rc_context(WRITING):
                self._settle()
                self.figure.savefig(raw, format="svg", metadata={"Date": None, "Creator": "crosswind"})
            self._svg = raw.getvalue()
        return self._svg

    def _settle(self) -> None:
        """Lays the figure out, once for all formats: with an engine, each would do it again and be drawn twice.

        To be called with the settings for writing.
        """
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        engine = self.figure.get_layout_engine()
        if isinstance(engine, ConstrainedLayoutEngine):
            engine.execute(self.figure)
            self.figure.set_layout_engine(None)

    def table(self) -> pl.DataFrame | None:
        """What is drawn, as a table; None when it cannot be read back."""
        return self.data if self.data is not None else drawn.table(self.figure)

    def _repr_html_(self) -> str:
        return (
            f"<figure style='max-width:640px'>{self.svg()}<figcaption>{_attribute(self.caption)}</figcaption></figure>"
        )

    def close(self) -> None:
        plt.close(self.figure)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def styled(make: Callable[P, Picture]) -> Callable[P, Picture]:
    """Draws in the house style without touching matplotlib's global settings."""

    @wraps(make)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Picture:
        with plt.rc_context(STYLE):
            return make(*args, **kwargs)

    return drawn


def _finish(ax: Axes, xlabel: str, ylabel: str, floor: float | None = 0.0) -> None:
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if floor is not None and ax.get_ylim()[0] > 0:
        ax.set_ylim(bottom=floor)


def _quartile_bars(ax: Axes, x: npt.NDArray[np.float64], table: pl.DataFrame, number: int) -> None:
    """One series at the places `x`: few artists, since each one costs about as much as all of its lines."""
    colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
    low, q1, middle, q3, high = (table[c].to_numpy() for c in QUARTILES)
    for bottom, top in ((low, q1), (q3, high)):
        ax.vlines(x, bottom, top, color=colour, linestyle=(0, (1, 1.6)), linewidth=1.2)
    for end in (low, high):
        ax.hlines(end, x - 0.05, x + 0.05, color=colour, linewidth=1)
    ax.vlines(x, q1, q3, color=colour, linewidth=5, alpha=0.45, capstyle="butt")
    marks = {"marker": marker, "markersize": 6, "markeredgecolor": "white", "markeredgewidth": 0.6}
    label = str(table["series"][0])
    (line,) = ax.plot(x, middle, color=colour, linestyle="", label=label, zorder=3, **marks)  # type: ignore[arg-type]
    drawn.with_range(line, q1, q3)


@styled
def quartile_bars(
    name: str,
    caption: str,
    groups: Mapping[str, Mapping[str, Sample]],
    ylabel: str,
    floor: float | None = 0.0,
    colours: Mapping[str, int] | None = None,
) -> Picture:
    """Median (mark), quartiles (thick bar) and range (dotted) of each series in each configuration.

    `groups`: configuration -> series -> values in the unit that `ylabel` names.
    """
    fig, ax = plt.subplots()
    series = list(dict.fromkeys(s for g in groups.values() for s in g))
    step = 0.62 / max(1, len(series))
    rows = [(c, s, *quartiles(values)) for c, group in groups.items() for s, values in group.items()]
    data = pl.DataFrame(rows, schema=["configuration", "series", *QUARTILES], orient="row")
    drawable = data.filter(pl.col("median").is_not_nan())
    order = {c: i for i, c in enumerate(groups)}
    for j, label in enumerate(series):
        of_series = drawable.filter(pl.col("series") == label)
        if of_series.height:
            x = np.array([order[c] for c in of_series["configuration"]]) + (j - (len(series) - 1) / 2) * step
            _quartile_bars(ax, x, of_series, (colours or {}).get(label, j))
    ax.set_xticks(range(len(groups)), list(groups))
    ax.set_xlim(-0.6, len(groups) - 0.4)
    ax.grid(axis="x", visible=False)
    _finish(ax, "", ylabel, floor)
    if len(series) > 1:
        fig.legend(loc="outside upper center", ncols=len(series))
    medians = "; ".join(f"{c} {s} {m:.4g}" for c, s, m in data.select("configuration", "series", "median").iter_rows())
    return Picture(name, caption, f"{caption} Medians in {ylabel}: {medians}.", fig, data)


@styled
def bars(name: str, caption: str, series: Mapping[str, Mapping[str, float]], ylabel: str) -> Picture:
    """Bars side by side: series -> category -> value."""
    fig, ax = plt.subplots()
    categories = list(dict.fromkeys(c for inner in series.values() for c in inner))
    step = 0.8 / max(1, len(series))
    for j, (label, inner) in enumerate(series.items()):
        x = np.arange(len(categories)) + (j - (len(series) - 1) / 2) * step
        heights = [inner.get(c, 0.0) for c in categories]
        ax.bar(x, heights, step * 0.92, color=PALETTE[j % len(PALETTE)], hatch=("", "//", "..")[j % 3], label=label)
    ax.set_xticks(range(len(categories)), categories)
    ax.grid(axis="x", visible=False)
    _finish(ax, "", ylabel)
    if len(series) > 1:
        fig.legend(loc="outside upper center", ncols=len(series))
    values = "; ".join(f"{s} {c} {v:.4g}" for s, inner in series.items() for c, v in inner.items())
    return Picture(name, caption, f"{caption} {ylabel}: {values}.", fig)


@styled
def scatter(
    name: str,
    caption: str,
    series: Mapping[str, tuple[Sample, Sample]],
    xlabel: str,
    ylabel: str,
    limits: Sequence[float] = (),
) -> Picture:
    """Points of several series, e.g. elapsed time against start time; `limits` draws vertical class boundaries."""
    fig, ax = plt.subplots()
    for j, (label, (x, y)) in enumerate(series.items()):
        ax.plot(
            np.asarray(x),
            np.asarray(y),
            linestyle="",
            marker=MARKERS[j % len(MARKERS)],
            color=PALETTE[j % len(PALETTE)],
            markersize=4.2,
            alpha=0.85,
            markeredgewidth=0.4,
            markeredgecolor="white",
            label=label,
        )
    for limit in limits:
        ax.axvline(limit, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.6)
    _finish(ax, xlabel, ylabel)
    if len(series) > 1:
        fig.legend(loc="outside upper center", ncols=min(4, len(series)))
    points = ", ".join(f"{label} {np.asarray(x).size} points" for label, (x, _) in series.items())
    return Picture(name, caption, f"{caption} {ylabel} against {xlabel}: {points}.", fig)


Points = tuple[Sample, Sample]
Shape = Literal["steps", "lines"]


def over_time(name: str, caption: str, lines: Mapping[str, Points], ylabel: str, shape: Shape = "steps") -> Picture:
    """Time series, time in seconds: label -> (times, values). Values that hold until the next one are steps."""
    return panels_over_time(name, caption, {"": lines}, ylabel, shape)


@styled
def panels_over_time(
    name: str,
    caption: str,
    panels: Mapping[str, Mapping[str, Points]],
    ylabel: str,
    shape: Shape = "steps",
    colours: Mapping[str, int] | None = None,
) -> Picture:
    """Time series in panels with equal axes: title -> label -> (times in s, values).

    `colours`: label -> number in the palette, for the same look in several figures.
    """
    fig, axes = panel_grid(len(panels))
    places = _places(panels, colours)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, (t, v) in lines.items():
            x, y = drawn.thinned(np.asarray(t, dtype=np.float64), np.asarray(v, dtype=np.float64))
            style = "steps-post" if shape == "steps" else "default"
            ax.plot(x, y, drawstyle=style, linewidth=1.1, label=label, **_look(places[label]))
        _finish(ax, "", "")
        ax.set_title(title, loc="left")
    _share_labels(fig, axes, "time (s)", ylabel, len(places))
    ends = "; ".join(
        f"{f'{title}, ' if title else ''}{label} highest {np.nanmax(np.asarray(v, dtype=float)):.4g}"
        for title, lines in panels.items()
        for label, (_, v) in lines.items()
        if np.asarray(v).size
    )
    return Picture(name, caption, f"{caption} {ylabel} over time: {ends}.", fig)


def cumulative(name: str, caption: str, hists: Mapping[str, pl.DataFrame], xlabel: str, scale: float) -> Picture:
    """Cumulative distributions out of histograms (low, high, count); values are multiplied by `scale`."""
    return panels_cumulative(name, caption, {"": hists}, xlabel, scale)


@styled
def panels_cumulative(
    name: str,
    caption: str,
    panels: Mapping[str, Mapping[str, pl.DataFrame]],
    xlabel: str,
    scale: float,
    colours: Mapping[str, int] | None = None,
) -> Picture:
    """Cumulative distributions in panels with equal axes: title -> label -> histogram (low, high, count)."""
    fig, axes = panel_grid(len(panels))
    places = _places(panels, colours)
    for ax, (title, hists) in zip(axes, panels.items(), strict=True):
        for label, h in hists.items():
            h = h.group_by("high").agg(pl.col("count").sum()).sort("high")
            share = h["count"].cum_sum().to_numpy() / max(float(h["count"].sum()), 1.0)
            x = h["high"].to_numpy() * scale
            ax.plot(np.concatenate([x[:1], x]), np.concatenate([[0.0], share]), label=label, **_look(places[label]))
        ax.set_ylim(0, 1.02)
        _finish(ax, "", "")
        ax.set_title(title, loc="left")
    _share_labels(fig, axes, xlabel, "share of packets at or below", len(places))
    return Picture(name, caption, f"{caption} Cumulative distribution of {xlabel}: {', '.join(places)}.", fig)


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


def _places(panels: Mapping[str, Mapping[str, Any]], colours: Mapping[str, int] | None) -> dict[str, int]:
    labels = dict.fromkeys(label for inner in panels.values() for label in inner)
    return {label: (colours or {}).get(label, i) for i, label in enumerate(labels)}


def _look(place: int) -> dict[str, Any]:
    return {"color": PALETTE[place % len(PALETTE)], "linestyle": DASHES[place % len(DASHES)]}


def _share_labels(fig: Any, axes: Sequence[Any], xlabel: str, ylabel: str, labels: int) -> None:
    if len(axes) == 1:
        axes[0].set_xlabel(xlabel)
        axes[0].set_ylabel(ylabel)
    else:
        fig.supxlabel(xlabel, fontsize=9)
        fig.supylabel(ylabel, fontsize=9)
    if 1 < labels <= 8:
        found = {label: h for a in axes for h, label in zip(*a.get_legend_handles_labels(), strict=True)}
        fig.legend(list(found.values()), list(found), loc="outside upper center", ncols=min(4, labels))


_MARKS: tuple[tuple[str, str, str, str, float], ...] = (
    ("send", "sent", ".", "#56B4E9", 2.6),
    ("resend", "sent again", "D", "#E69F00", 4.2),
    ("drop", "dropped by a queue", "x", "#D55E00", 5.5),
    ("lost", "lost on a link", "X", "#CC79A7", 5.5),
    ("mark", "marked (CE)", "^", "#009E73", 4.8),
)


@styled
def time_sequence(name: str, caption: str, events: pl.DataFrame) -> Picture:
    """Time-sequence graph of one flow: segments sent and resent, the ACK line, drops, losses, marks, timeouts."""
    fig, ax = plt.subplots()
    events = events.filter(pl.col("end") == "sender")
    counts: list[str] = []
    for kind, label, marker, colour, size in _MARKS:
        e = events.filter((pl.col("kind") == kind) & (pl.col("len") > 0))
        if e.is_empty():
            continue
        x, y = e["time_ns"].to_numpy() / 1e9, e["seq"].to_numpy() / 1e3
        ax.plot(
            x,
            y,
            linestyle="",
            marker=marker,
            color=colour,
            markersize=size,
            label=f"{label} ({e.height})",
            rasterized=e.height > RASTER_ABOVE,
            zorder=2 if kind == "send" else 3,
        )
        counts.append(f"{e.height} {label}")
    acks = events.filter(pl.col("kind") == "ack")
    if not acks.is_empty():
        ax.plot(
            acks["time_ns"].to_numpy() / 1e9,
            acks["seq"].to_numpy() / 1e3,
            color="#0072B2",
            drawstyle="steps-post",
            linewidth=0.9,
            label="acknowledged",
            zorder=1,
            rasterized=acks.height > RASTER_ABOVE,
        )
    timeouts = events.filter((pl.col("kind") == "timeout") & (pl.col("seq") > 0))  # not those of the SYN
    for i, t in enumerate(timeouts["time_ns"].to_numpy() / 1e9 if not timeouts.is_empty() else []):
        ax.axvline(
            t,
            color=INK,
            linewidth=0.7,
            linestyle=(0, (2, 2)),
            alpha=0.6,
            label=f"timeout ({timeouts.height})" if i == 0 else None,
        )
    _finish(ax, "time (s)", "sequence number (kB)")
    if ax.get_legend_handles_labels()[1]:
        fig.legend(loc="outside upper center", ncols=3, handletextpad=0.3, columnspacing=1.0)
    return Picture(name, caption, f"{caption} Time-sequence graph: {', '.join(counts)}.", fig)


def close_all(pictures: Sequence[Picture]) -> None:
    """Frees the figures."""
    for p in pictures:
        p.close()
