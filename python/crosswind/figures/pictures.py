"""Figures for reports and for print: axes with units, colours that colour-blind readers can tell apart.

Every function returns a `Picture`: a name, a caption, a text alternative and what is drawn, as charts. Nothing is
drawn with matplotlib before SVG, PDF or PNG is asked for. Series differ by colour, marker and line style together, so
that a grey print stays readable.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.figures import charts, drawing, drawn
from crosswind.figures.charts import FORMATS, PALETTE, Chart, Format, Matrix, Series, Vertical, places
from crosswind.figures.drawing import GRID, INK, STYLE, WRITING
from crosswind.figures.plotting import plt
from crosswind.scenario.quantity import fitting
from crosswind.stats import quartiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Sample = npt.ArrayLike | pl.Series
Points = tuple[Sample, Sample]
Shape = Literal["steps", "lines"]


class Picture:
    """A figure with its file name (no suffix), caption and text alternative; `data` is what is drawn, as a table.

    What it shows is given as charts, as a matrix, or as a matplotlib figure that was drawn by hand.
    """

    def __init__(
        self,
        name: str,
        caption: str,
        alt: str,
        figure: Figure | None = None,
        data: pl.DataFrame | None = None,
        *,
        shown: Sequence[Chart] | Matrix = (),
        draw: Callable[[], Figure] | None = None,
    ) -> None:
        self.name, self.caption, self.alt, self.data = name, caption, alt, data
        self._given, self._shown, self._draw = figure, shown, draw
        self._svg = ""

    @cached_property
    def figure(self) -> Figure:
        """The figure of matplotlib, drawn when it is first asked for."""
        if self._given is not None:
            return self._given
        if self._draw is not None:
            with plt.rc_context(STYLE):
                return self._draw()
        return drawing.draw_matrix(self._shown) if isinstance(self._shown, Matrix) else drawing.draw(self._shown)

    @property
    def matrix(self) -> Matrix | None:
        """What it shows, where that is a matrix."""
        return self._shown if isinstance(self._shown, Matrix) else None

    @cached_property
    def charts(self) -> Sequence[Chart]:
        """What it shows, as charts; empty where a page could not draw it."""
        if isinstance(self._shown, Matrix):
            return ()
        if self._shown:
            return self._shown if all(c.can_be_told() for c in self._shown) else ()
        return drawn.charts_of(self.figure) if self._given is not None else ()

    @property
    def is_wide(self) -> bool:
        """Whether a page should give it a whole row."""
        if self._given is None:
            return not isinstance(self._shown, Matrix) and len(self._shown) > 1
        width, height = self._given.get_size_inches()
        return bool(width > 6.5 and width > 1.3 * height)

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

    def save(self, folder: Path, command: str = "", formats: Sequence[Format] = FORMATS) -> list[Path]:
        """Writes `<name>.svg`, `.pdf`, `.png` (200 dpi, white ground), as asked, and `.csv` with what is drawn.

        The files carry the caption and the command that made them. Returns their paths.
        """
        folder.mkdir(parents=True, exist_ok=True)
        said = f"{self.caption} Made by: {command}" if command else self.caption
        if "svg" in formats:
            told = f"<title>{_attribute(self.name)}</title>\n <desc>{_attribute(said)}</desc>\n <defs>"
            (folder / f"{self.name}.svg").write_text(self._drawn().replace("<defs>", told, 1), encoding="utf-8")
        if {"pdf", "png"} & set(formats):
            self._write(folder, said, formats)
        table = self.table()
        if table is not None:
            table.write_csv(folder / f"{self.name}.csv")
        kinds = [f for f in ("svg", "pdf", "png") if f in formats] + (["csv"] if table is not None else [])
        return [folder / f"{self.name}.{kind}" for kind in kinds]

    def _write(self, folder: Path, said: str, formats: Sequence[Format]) -> None:
        with plt.rc_context(WRITING):
            self._settle()
            if "pdf" in formats:
                pdf = {"Title": self.name, "Subject": said, "Creator": "crosswind", "CreationDate": None}
                self.figure.savefig(folder / f"{self.name}.pdf", metadata=pdf)
            if "png" in formats:
                png: Any = {"dpi": 200, "metadata": {"Title": self.name, "Description": said}}
                self.figure.savefig(folder / f"{self.name}.png", transparent=False, facecolor="white", **png)

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
        if self.data is not None:
            return self.data
        if isinstance(self._shown, Matrix):
            return self._shown.table()
        return charts.table(self._shown) if self._shown else drawn.table(self.figure)

    def _repr_html_(self) -> str:
        return (
            f"<figure style='max-width:640px'>{self.svg()}<figcaption>{_attribute(self.caption)}</figcaption></figure>"
        )

    def close(self) -> None:
        if "figure" in self.__dict__:
            plt.close(self.figure)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def finish(ax: Axes, xlabel: str, ylabel: str, floor: float | None = 0.0) -> None:
    """Names of the axes; the y axis begins at `floor` unless values lie below it."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if floor is not None and ax.get_ylim()[0] > 0:
        ax.set_ylim(bottom=floor)


QUARTILES = ("min", "q1", "median", "q3", "max")


def quartile_bars(
    name: str,
    caption: str,
    groups: Mapping[str, Mapping[str, Sample]],
    ylabel: str,
    floor: float | None = 0.0,
    colours: Mapping[str, int] | None = None,
    printed: Mapping[str, Mapping[str, float]] = {},
) -> Picture:
    """Median (mark), quartiles (thick bar) and range (dotted) of each series in each configuration.

    `groups`: configuration -> series -> values in the unit that `ylabel` names. `printed`: series -> configuration ->
    a published median, drawn as a cross beside the measured one; configurations that are not shown are left out.
    """
    known = places(groups, colours)
    step = 0.62 / max(1, len(known))
    rows = [(c, s, *quartiles(values)) for c, group in groups.items() for s, values in group.items()]
    data = pl.DataFrame(rows, schema=["configuration", "series", *QUARTILES], orient="row")
    drawable = data.filter(pl.col("median").is_not_nan())
    order = {c: i for i, c in enumerate(groups)}
    series = []
    for j, (label, place) in enumerate(known.items()):
        of_series = drawable.filter(pl.col("series") == label)
        x = np.array([order[c] for c in of_series["configuration"]]) + (j - (len(known) - 1) / 2) * step
        least, q1, middle, q3, most = (of_series[c].to_numpy() for c in QUARTILES)
        series.append(Series(label, x, middle, "points", place, size=6, low=q1, high=q3, least=least, most=most))
        shift = (j - (len(known) - 1) / 2) * step
        if marks := {order[c] + shift: v for c, v in printed.get(label, {}).items() if c in order}:
            said = f"{label}, published" if len(known) > 1 else "published"
            xs, ys = charts.vector(list(marks)), charts.vector(list(marks.values()))
            series.append(Series(said, xs, ys, "points", place, marker="x", size=8))
    chart = Chart("", ylabel, series, floor=floor is not None, names=list(groups))
    medians = "; ".join(f"{c} {s} {m:.4g}" for c, s, m in data.select("configuration", "series", "median").iter_rows())
    return Picture(name, caption, f"{caption} Medians in {ylabel}: {medians}.", data=data, shown=[chart])


def bars(
    name: str,
    caption: str,
    series: Mapping[str, Mapping[str, float]],
    ylabel: str,
    printed: Mapping[str, Mapping[str, float]] = {},
    *,
    xlabel: str = "",
    limits: Mapping[str, float] = {},
    arranged: Literal["side by side", "stacked"] = "side by side",
) -> Picture:
    """Bars of each category, side by side or stacked: series -> category -> value.

    `printed`: published values, drawn as crosses on their bars, or at that height on a stack. `limits`: category -> a
    line across its bars, such as a contract.
    """
    categories = list(dict.fromkeys(c for inner in series.values() for c in inner))
    stacked = arranged == "stacked"

    def draw() -> Figure:
        fig, ax = plt.subplots(figsize=(6.4, 3.1) if len(categories) * (1 if stacked else len(series)) > 18 else None)
        step = 0.7 if stacked else 0.8 / max(1, len(series))
        below = np.zeros(len(categories))
        for j, (label, inner) in enumerate(series.items()):
            x = np.arange(len(categories)) + (0 if stacked else (j - (len(series) - 1) / 2) * step)
            heights = np.array([inner.get(c, 0.0) for c in categories])
            look: Any = {"color": PALETTE[j % len(PALETTE)], "hatch": ("", "//", "..", "xx")[j % 4]}
            ax.bar(x, heights, step * (1 if stacked else 0.92), bottom=below, label=label, **look)
            below += heights if stacked else 0
            if marks := {x[i]: printed[label][c] for i, c in enumerate(categories) if c in printed.get(label, {})}:
                said = "_" if any(s in printed for s in list(series)[:j]) else "published"
                ax.plot(list(marks), list(marks.values()), "x", color=INK, markersize=8, label=said, zorder=5)
        for i, c in enumerate(categories):
            if c in limits:
                line = {"color": INK, "linewidth": 1.4, "label": "contract" if c == next(iter(limits)) else "_"}
                ax.plot([i - 0.45, i + 0.45], [limits[c]] * 2, **line)
        ax.set_xticks(
            range(len(categories)), categories, rotation=20 if stacked and max(map(len, categories)) > 8 else 0
        )
        ax.grid(axis="x", visible=False)
        finish(ax, xlabel, ylabel)
        if len(series) > 1 or printed or limits:
            fig.legend(loc="outside upper center", ncols=min(4, len(series) + bool(printed) + bool(limits)))
        return fig

    values = "; ".join(f"{s} {c} {v:.4g}" for s, inner in series.items() for c, v in inner.items())
    rows = [(s, c, v) for s, inner in series.items() for c, v in inner.items()]
    data = pl.DataFrame(rows, schema={"series": pl.String, "category": pl.String, ylabel: pl.Float64}, orient="row")
    return Picture(name, caption, f"{caption} {ylabel}: {values}.", data=data, draw=draw)


def scatter(
    name: str,
    caption: str,
    series: Mapping[str, Points],
    xlabel: str,
    ylabel: str,
    limits: Sequence[float] = (),
) -> Picture:
    """Points of several series, e.g. elapsed time against start time; `limits` draws vertical class boundaries."""
    marks = [
        Series(label, charts.vector(x), charts.vector(y), "points", j, size=4.2)
        for j, (label, (x, y)) in enumerate(series.items())
    ]
    chart = Chart(xlabel, ylabel, marks, verticals=[Vertical(limit) for limit in limits])
    points = ", ".join(f"{label} {np.asarray(x).size} points" for label, (x, _) in series.items())
    return Picture(name, caption, f"{caption} {ylabel} against {xlabel}: {points}.", shown=[chart])


def over_time(
    name: str,
    caption: str,
    lines: Mapping[str, Points],
    ylabel: str,
    shape: Shape = "steps",
    printed: Mapping[str, float] = {},
) -> Picture:
    """Time series, time in seconds: label -> (times, values). Values that hold until the next one are steps.

    `printed`: what -> published time in seconds, a line over the whole height.
    """
    return panels_over_time(name, caption, {"": lines}, ylabel, shape, printed=printed)


def panels_over_time(
    name: str,
    caption: str,
    panels: Mapping[str, Mapping[str, Points]],
    ylabel: str,
    shape: Shape = "steps",
    colours: Mapping[str, int] | None = None,
    printed: Mapping[str, float] = {},
) -> Picture:
    """Time series in panels with equal axes: title -> label -> (times in s, values).

    `colours`: label -> number in the palette, for the same look in several figures. `printed` as in `over_time`.
    """
    known = places(panels, colours)
    kind: Literal["steps", "line"] = "steps" if shape == "steps" else "line"
    shown = [
        Chart(
            "time (s)",
            ylabel,
            [
                Series(label, *charts.thinned(charts.vector(t), charts.vector(v)), kind, known[label])
                for label, (t, v) in lines.items()
            ],
            title=title,
            verticals=_published(printed),
        )
        for title, lines in panels.items()
    ]
    ends = "; ".join(
        f"{f'{title}, ' if title else ''}{label} highest {np.nanmax(charts.vector(v)):.4g}"
        for title, lines in panels.items()
        for label, (_, v) in lines.items()
        if np.asarray(v).size
    )
    return Picture(name, caption, f"{caption} {ylabel} over time: {ends}.", shown=shown)


def cumulative(name: str, caption: str, hists: Mapping[str, pl.DataFrame], xlabel: str, scale: float) -> Picture:
    """Cumulative distributions out of histograms (low, high, count); values are multiplied by `scale`."""
    return panels_cumulative(name, caption, {"": hists}, xlabel, scale)


def panels_cumulative(
    name: str,
    caption: str,
    panels: Mapping[str, Mapping[str, pl.DataFrame]],
    xlabel: str,
    scale: float,
    colours: Mapping[str, int] | None = None,
) -> Picture:
    """Cumulative distributions in panels with equal axes: title -> label -> histogram (low, high, count)."""
    known = places(panels, colours)
    shown = [
        Chart(
            xlabel,
            "share of packets at or below",
            [_shares(label, h, scale, known[label]) for label, h in hists.items()],
            title=title,
        )
        for title, hists in panels.items()
    ]
    return Picture(name, caption, f"{caption} Cumulative distribution of {xlabel}: {', '.join(known)}.", shown=shown)


def _shares(label: str, h: pl.DataFrame, scale: float, place: int) -> Series:
    h = h.group_by("high").agg(pl.col("count").sum()).sort("high")
    share = h["count"].cum_sum().to_numpy() / max(float(h["count"].sum()), 1.0)
    x = h["high"].to_numpy() * scale
    return Series(label, np.concatenate([x[:1], x]), np.concatenate([[0.0], share]), "line", place)


_MARKS: tuple[tuple[str, str, str, str, float], ...] = (
    ("send", "sent", ".", "#56B4E9", 2.6),
    ("retransmit", "retransmitted", "D", "#E69F00", 4.2),
    ("drop", "dropped by a queue", "x", "#D55E00", 5.5),
    ("lost", "lost on a link", "X", "#CC79A7", 5.5),
    ("mark", "marked (CE)", "^", "#009E73", 4.8),
)


def _published(times: Mapping[str, float]) -> list[Vertical]:
    return [Vertical(t, f"published: {what}", "#D55E00") for what, t in times.items()]


def time_sequence(name: str, caption: str, events: pl.DataFrame, printed: Mapping[str, float] = {}) -> Picture:
    """Time-sequence graph of one flow: segments sent and retransmitted, the ACK line, drops, losses, marks, timeouts.

    `printed`: what -> published time in seconds, a line over the whole height.
    """
    events = events.filter(pl.col("end") == "sender")
    series: list[Series] = []
    counts: list[str] = []
    acks = events.filter(pl.col("kind") == "ack")
    if not acks.is_empty():
        x, y = acks["time_ns"].to_numpy() / 1e9, acks["seq"].to_numpy() / 1e3
        series.append(Series("acknowledged", x, y, "steps", colour="#0072B2", dashes=()))
    for kind, label, marker, colour, size in _MARKS:
        e = events.filter((pl.col("kind") == kind) & (pl.col("len") > 0))
        if e.is_empty():
            continue
        x, y = e["time_ns"].to_numpy() / 1e9, e["seq"].to_numpy() / 1e3
        series.append(Series(f"{label} ({e.height})", x, y, "points", colour=colour, marker=marker, size=size))
        counts.append(f"{e.height} {label}")
    timeouts = events.filter((pl.col("kind") == "timeout") & (pl.col("seq") > 0))  # not those of the SYN
    verticals = [Vertical(t / 1e9, f"timeout ({timeouts.height})") for t in timeouts["time_ns"].to_list()]
    verticals += _published(printed)
    chart = Chart("time (s)", "sequence number (kB)", series, verticals=verticals)
    return Picture(name, caption, f"{caption} Time-sequence graph: {', '.join(counts)}.", shown=[chart])


def packet_delays(name: str, caption: str, events: pl.DataFrame, *, answered: bool) -> Picture:
    """Delay of each packet of a flow over the time it was sent, and which did not come.

    `events`: of one flow in one run. `answered`: round trips, from a question to its answer; else one way.
    """
    came = pl.col("end") == ("sender" if answered else "receiver")
    sent = events.filter((pl.col("kind") == "send") & (pl.col("end") == "sender")).select("seq", at="time_ns")
    there = events.filter((pl.col("kind") == "receive") & came).group_by("seq").agg(there=pl.col("time_ns").min())
    both = sent.join(there, on="seq", how="left", maintain_order="left")
    arrived, missing = both.drop_nulls("there"), both.filter(pl.col("there").is_null())
    delays = (arrived["there"] - arrived["at"]).to_numpy()
    unit, factor = fitting("rtt_ns", float(delays.max(initial=0)))
    what = "round-trip time" if answered else "one-way delay"
    series = [Series(what, arrived["at"].to_numpy() / 1e9, delays * factor, "points", marker=".", size=2.6)]
    if missing.height:
        label = f"not {'answered' if answered else 'received'} ({missing.height})"
        x = missing["at"].to_numpy() / 1e9
        series.append(Series(label, x, np.zeros(x.size), "points", colour="#D55E00", marker="x", size=5.5))
    chart = Chart("time (s)", f"{what} ({unit})", series)
    most = f"at most {delays.max(initial=0) * factor:.4g} {unit}"
    return Picture(name, caption, f"{caption} {arrived.height} of {both.height} came; {most}.", shown=[chart])


def close_all(pictures: Sequence[Picture]) -> None:
    """Frees the figures."""
    for p in pictures:
        p.close()
