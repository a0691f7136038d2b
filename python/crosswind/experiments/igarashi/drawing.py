"""Figures in the form of the source.

Curves against a limit, causes in stacks; traces of data and ACKs, of a few milliseconds (`ack_trace`) and around a
moment (`acknowledged`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.igarashi.paths import MSS_BYTES
from crosswind.figures import INK, PALETTE, RASTER_ABOVE, bars, styled
from crosswind.figures.plotting import plt
from crosswind.figures.sweeps import small_multiples
from crosswind.reproduce import Picture, needed


def against(name: str, caption: str, panels: Mapping[str, Mapping[str, Any]], xlabel: str, ylabel: str) -> Picture:
    """Curves with intervals, one panel for each case: panel -> series -> [(x, estimate)]."""
    return small_multiples(name, caption, panels, xlabel, ylabel, "linear")


def stacks(
    name: str,
    caption: str,
    parts: Mapping[str, Mapping[str, float]],
    ylabel: str,
    *,
    totals: Mapping[str, float] = {},
    printed: Mapping[str, Mapping[str, float]] = {},
) -> Picture:
    """One bar for each case, divided by cause: case -> cause -> value.

    `totals`: published heights of whole bars; `printed`: published parts, each marked at the height where it ends.
    """
    causes = dict.fromkeys(c for part in parts.values() for c in part)
    series = {cause: {case: part.get(cause, 0.0) for case, part in parts.items()} for cause in causes}
    marks = {next(iter(series)): totals} if totals else {}
    for n, cause in enumerate(causes if printed else (), start=1):
        marks[cause] = {case: sum(part.get(c, 0.0) for c in list(causes)[:n]) for case, part in printed.items()}
    return bars(name, caption, series, ylabel, marks, arranged="stacked")


@styled
def ack_trace(name: str, caption: str, events: pl.DataFrame, segments: int = 40) -> Picture:
    """Segments as they come to the receiver and the ACKs that it answers with: the densest row of so many segments.

    It is looked for in the second half of what was kept and acknowledged. ACKs are noted when they reach the sender.
    They are drawn earlier by the shortest time that any of them took from the arrival of the last segment that it
    acknowledges: the way back, which is always the same.
    """
    acks = _acks(events)
    data = events.filter((pl.col("end") == "receiver") & (pl.col("kind") == "receive") & (pl.col("len") > 0))
    data = data.with_columns(to=pl.col("seq") + pl.col("len")).filter(pl.col("to") <= acks["seq"].max())
    needed(data.height >= 2 * segments, f"{data.height} acknowledged segments were kept, {2 * segments} are needed")
    came = data.select(seq="to", came_ns="time_ns").unique("seq", keep="first")
    back_ns = acks.join(came, on="seq").select((pl.col("time_ns") - pl.col("came_ns")).min()).item()
    shown = _densest(data[data.height // 2 :], segments)
    start_ns, base = shown["time_ns"][0], shown["seq"][0]
    to_ms, to_segments = (pl.col("time_ns") - start_ns) / 1e6, 1 / MSS_BYTES
    shown = shown.select(x=to_ms, y=(pl.col("to") - base) * to_segments)
    acks = acks.with_columns(
        x=to_ms - back_ns / 1e6, y=(pl.col("seq") - base) * to_segments, again=pl.col("seq") == pl.col("seq").shift()
    ).filter(pl.col("x").is_between(-1e-3, shown["x"][-1] + 5e-3))
    new, again = acks.filter(~pl.col("again")), acks.filter(pl.col("again"))
    fig, ax = plt.subplots()
    data_style = {"linestyle": "", "marker": ".", "color": "#56B4E9", "markersize": 7}
    ax.plot(shown["x"], shown["y"], **data_style, label=f"data ({shown.height})")
    line = {"color": PALETTE[0], "drawstyle": "steps-post", "linewidth": 0.9, "marker": "s", "markersize": 3.2}
    ax.plot(new["x"], new["y"], **line, label=f"ACKs ({new.height})")
    if again.height:
        mark = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "color": PALETTE[1]}
        ax.plot(again["x"], again["y"], linestyle="", **mark, label=f"ACKs of nothing new ({again.height})")
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("sequence number (segments)")
    ax.set_ylim(bottom=0)
    fig.legend(loc="outside upper center", ncols=3)
    said = f"{shown.height} segments, {new.height} ACKs of new data, {again.height} of nothing new"
    return Picture(name, caption, f"{caption} Sequence numbers over time at the receiver: {said}.", fig)


def _acks(events: pl.DataFrame) -> pl.DataFrame:
    """What reached the sender of the data; at the other end data segments are ACKs too."""
    acks = events.filter((pl.col("end") == "sender") & (pl.col("kind") == "ack") & (pl.col("seq") > 1))
    needed(acks, "no ACKs were kept")
    return acks


def _densest(rows: pl.DataFrame, count: int) -> pl.DataFrame:
    """So many rows that took the shortest time."""
    at = rows["time_ns"].to_numpy()
    first = int(np.argmin(at[count - 1 :] - at[: len(at) - count + 1]))
    return rows[first : first + count]


@styled
def acknowledged(name: str, caption: str, events: pl.DataFrame, at_s: float, until_s: float) -> Picture:
    """What ACKs acknowledge around a moment; those that say no more than the ones before stand out."""
    top = pl.col("seq").cum_max().shift(1, fill_value=0)
    acks = _acks(events).with_columns(x=pl.col("time_ns") / 1e9 - at_s, new=pl.col("seq") > top)
    acks = acks.filter(pl.col("x").is_between(-until_s / 4, until_s))
    needed(acks, f"no ACKs around {at_s:g} s were kept")
    acks = acks.with_columns(y=(pl.col("seq") - pl.col("seq").first()) / MSS_BYTES)
    new, again = acks.filter(pl.col("new")), acks.filter(~pl.col("new"))
    fig, ax = plt.subplots()
    shape = {"linestyle": "", "rasterized": acks.height > RASTER_ABOVE}
    blue = {"marker": ".", "color": PALETTE[0], "markersize": 2.4, "zorder": 3}
    ax.plot(new["x"], new["y"], **blue, **shape, label=f"new data ({new.height})")
    if again.height:
        red = {"marker": "D", "color": PALETTE[1], "markersize": 3.6}
        ax.plot(again["x"], again["y"], **red, **shape, label=f"the same again ({again.height})")
    ax.axvline(0, color=INK, linewidth=0.7, linestyle=(0, (2, 2)), alpha=0.6)
    ax.set_xlabel("time after the change (s)")
    ax.set_ylabel("acknowledged (segments)")
    fig.legend(loc="outside upper center", ncols=2, markerscale=1.5)
    said = f"{new.height} ACKs of new data, {again.height} that say the same again"
    return Picture(name, caption, f"{caption} {said}.", fig)
