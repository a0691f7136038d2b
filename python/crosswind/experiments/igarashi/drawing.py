"""Figures in the form of the source.

Bars with a line at the contract, curves against a limit, causes in stacks; traces of data and ACKs, of a few
milliseconds (`ack_trace`) and around a moment (`acknowledged`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.igarashi.fast_paths import MSS_BYTES
from crosswind.figures import INK, PALETTE, RASTER_ABOVE, bars, styled
from crosswind.figures.plotting import plt
from crosswind.figures.sweeps import small_multiples
from crosswind.reproduce import MissingDataError, Picture

__all__ = ["ack_trace", "acknowledged", "against", "bars", "contract_bars", "stacks"]


def against(name: str, caption: str, panels: Mapping[str, Mapping[str, Any]], xlabel: str, ylabel: str) -> Picture:
    """Curves with intervals, one panel for each case: panel -> series -> [(x, estimate)]."""
    return small_multiples(name, caption, panels, xlabel, ylabel, "linear")


@styled
def contract_bars(
    name: str, caption: str, series: Mapping[str, Mapping[str, float]], contracts: Mapping[str, float], ylabel: str
) -> Picture:
    """Bars side by side for each flow, with a line at its contract: series -> flow -> value."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    flows = list(contracts)
    step = 0.8 / max(1, len(series))
    for j, (label, values) in enumerate(series.items()):
        x = np.arange(len(flows)) + (j - (len(series) - 1) / 2) * step
        heights = [values[f] for f in flows]
        ax.bar(
            x, heights, step * 0.92, color=PALETTE[j % len(PALETTE)], hatch=("", "//", "..", "xx")[j % 4], label=label
        )
    for i, f in enumerate(flows):
        line = ax.plot([i - 0.45, i + 0.45], [contracts[f]] * 2, color=INK, linewidth=1.4)
        line[0].set_label("contract" if i == 0 else "_")
    ax.set_xticks(range(len(flows)), flows)
    ax.grid(axis="x", visible=False)
    ax.set_xlabel("flow")
    ax.set_ylabel(ylabel)
    fig.legend(loc="outside upper center", ncols=min(4, len(series) + 1))
    rows = [{"flow": f, "contract": contracts[f], **{s: v[f] for s, v in series.items()}} for f in flows]
    said = "; ".join(f"{r['flow']}: {', '.join(f'{s} {r[s]:.3g}' for s in series)}" for r in rows)
    return Picture(name, caption, f"{caption} {ylabel} by flow, line at the contract. {said}.", fig, pl.DataFrame(rows))


@styled
def stacks(name: str, caption: str, bars: Mapping[str, Mapping[str, float]], ylabel: str) -> Picture:
    """One bar for each case, divided by cause: case -> cause -> value."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    causes = list(dict.fromkeys(c for b in bars.values() for c in b))
    below = np.zeros(len(bars))
    for j, cause in enumerate(causes):
        heights = np.array([b.get(cause, 0.0) for b in bars.values()])
        hatch = ("", "//", "..", "xx")[j % 4]
        ax.bar(range(len(bars)), heights, 0.7, bottom=below, color=PALETTE[j % len(PALETTE)], hatch=hatch, label=cause)
        below += heights
    ax.set_xticks(range(len(bars)), list(bars), rotation=20 if max(map(len, bars)) > 8 else 0)
    ax.grid(axis="x", visible=False)
    ax.set_ylabel(ylabel)
    fig.legend(loc="outside upper center", ncols=min(4, len(causes)))
    rows = [{"case": case, **{c: b.get(c, 0.0) for c in causes}} for case, b in bars.items()]
    said = "; ".join(f"{case}: {', '.join(f'{c} {v:.3g}' for c, v in b.items())}" for case, b in bars.items())
    return Picture(name, caption, f"{caption} {ylabel}: {said}.", fig, pl.DataFrame(rows))


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
    if data.height < 2 * segments:
        raise MissingDataError(f"{data.height} acknowledged segments were kept, {2 * segments} are needed")
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
    if acks.is_empty():
        raise MissingDataError("no ACKs were kept")
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
    if acks.is_empty():
        raise MissingDataError(f"no ACKs around {at_s:g} s were kept")
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
