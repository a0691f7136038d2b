"""Panels side by side: statistics against a start time, sequence graphs side by side, distributions.

Sequence graphs have segments, the line of ACKs, a tick for every duplicate ACK and a 3 for the third, what was sent
again, SYN and FIN.

Their margins are fixed, in inches: all panels carry labels of one size, and laying out dozens of figures by what is in
them would cost more than to draw them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crosswind.figures.charts import MARKERS, PALETTE
from crosswind.figures.drawing import INK, styled
from crosswind.figures.drawing import LINESTYLES as DASHES
from crosswind.figures.pictures import Picture
from crosswind.figures.plotting import plt
from crosswind.stats import clean

# label -> (start times, values of the repetitions at each)
Curves = Mapping[str, tuple[Sequence[float], Sequence[Any]]]


# Inches beside each panel (label and numbers), below it (the same), above it (its title), and for the legend.
LEFT_in, BELOW_in, TITLE_in, LEGEND_in = 0.62, 0.5, 0.26, 0.3


def _panels(count: int, across: int, panel_in: tuple[float, float], *, titled: float = TITLE_in) -> tuple[Any, Any]:
    """A figure with so many panels, so many side by side, each of that size."""
    rows = -(-count // across)
    wide, high = (LEFT_in + panel_in[0]) * across + 0.1, (BELOW_in + panel_in[1] + titled) * rows + LEGEND_in
    fig, axes = plt.subplots(rows, across, squeeze=False, figsize=(wide, high), layout="none")
    fig.subplots_adjust(
        left=LEFT_in / wide,
        right=1 - 0.1 / wide,
        bottom=BELOW_in / high,
        top=1 - (LEGEND_in + titled) / high,
        wspace=LEFT_in / panel_in[0],
        hspace=(BELOW_in + titled) / panel_in[1],
    )
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return fig, list(axes.flat[:count])


def _legend(fig: Any, handles: Mapping[str, Any]) -> None:
    """One line of labels at the top."""
    fig.legend(handles.values(), handles.keys(), loc="upper center", ncols=len(handles), borderaxespad=0.2)


@styled
def against_start(
    name: str,
    caption: str,
    panels: Mapping[str, Curves],
    xlabel: str,
    ends: Collection[str] = (),
    marks: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]] = {},
) -> Picture:
    """Medians with their quartiles against a start time, one panel for each quantity (its label is the axis).

    In the panels named in `ends` the least and the largest value are drawn, too. `marks`: panel -> curve -> printed
    medians, drawn as crosses in the colour of the curve.
    """
    fig, axes = _panels(len(panels), min(2, len(panels)), (2.85, 2.1) if len(panels) > 1 else (4.1, 2.2), titled=0.06)
    handles: dict[str, Any] = {}
    for ax, (ylabel, curves) in zip(axes, panels.items(), strict=True):
        for j, (label, (x, samples)) in enumerate(curves.items()):
            low, middle, high = np.array([np.quantile(clean(s), [0.25, 0.5, 0.75]) for s in samples]).T
            look: Any = {"color": PALETTE[j % 6], "marker": MARKERS[j % 6], "linestyle": DASHES[j % 6]}
            (handles[label],) = ax.plot(x, middle, label=label, **look)
            ax.fill_between(x, low, high, color=PALETTE[j % 6], alpha=0.15, linewidth=0)
            if (known := marks.get(ylabel, {}).get(label)) and known[0]:
                cross: Any = {"color": PALETTE[j % 6], "marker": "x", "markersize": 7, "markeredgewidth": 1.6}
                ax.plot(*known, linestyle="", label="_printed", zorder=5, **cross)
            if ylabel in ends:
                least, most = np.array([[np.nanmin(s), np.nanmax(s)] for s in samples]).T
                bars: Any = {"color": PALETTE[j % 6], "linewidth": 0.8, "capsize": 2.0}
                ax.errorbar(x, middle, [middle - least, most - middle], fmt="none", label="_ends", **bars)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
    if len(handles) > 1:
        _legend(fig, handles)
    caption += " Crosses: printed medians." if marks else ""
    return Picture(name, caption, f"{caption} Panels: {', '.join(panels)}. Series: {', '.join(handles)}.", fig)


SEGMENTS = (
    ("send", "sent", ".", PALETTE[5], 2.4),
    ("retransmit", "retransmitted", "D", PALETTE[4], 4.5),
    ("drop", "dropped", "x", PALETTE[1], 4.5),
)


def duplicates(events: pl.DataFrame) -> pl.DataFrame:
    """The duplicate ACKs among the events of a sender, and how many in a row each of them is.

    One that repeats the ACK before it while data is outstanding; anything that acknowledges more starts afresh.
    """
    e = events.filter(pl.col("end") == "sender")
    sent = pl.when(pl.col("kind").is_in(["send", "retransmit"])).then(pl.col("seq") + pl.col("len"))
    acks = e.with_columns(sent.cum_max().forward_fill().alias("edge")).filter(pl.col("kind") == "ack")
    row = pl.int_range(pl.len()).over(pl.col("seq").rle_id())
    return acks.with_columns(row.alias("in_a_row")).filter((pl.col("in_a_row") > 0) & (pl.col("edge") > pl.col("seq")))


def _open_and_close(ax: Any, e: pl.DataFrame) -> None:
    """An S for each SYN and an F for the FIN, as far as this part of the events has them."""
    syn = e.filter((pl.col("kind") == "open") | ((pl.col("kind") == "timeout") & (pl.col("seq") == 0)))
    fin = e.filter(pl.col("kind").is_in(["send", "retransmit"]) & (pl.col("aux") % 2 == 1))
    for found, letter in ((syn, "S"), (fin, "F")):
        look: Any = {"linestyle": "", "marker": f"${letter}$", "color": INK, "markersize": 5.0}
        look["markeredgewidth"] = 0.0
        ax.plot(found["time_ns"] / 1e9, found["seq"] / 1e3, label="_letters", **look)


def _ack_line(ax: Any, e: pl.DataFrame) -> dict[str, Any]:
    """The line of cumulative ACKs, ticks on it for duplicates, a 3 for every third in a row."""
    acks, again = e.filter(pl.col("kind") == "ack"), duplicates(e)
    style: Any = {"drawstyle": "steps-post", "linewidth": 0.9, "color": PALETTE[2]}
    (line,) = ax.plot(acks["time_ns"] / 1e9, acks["seq"] / 1e3, **style)
    handles = {"acknowledged": line}
    below = 0.04 / 1e3 * float(acks["seq"].to_numpy().max(initial=0))
    third = again.filter(pl.col("in_a_row") == 3)
    for found, label, marker, size in ((again, "duplicate ACK", "|", 4.0), (third, "third duplicate", "$3$", 5.5)):
        if not found.is_empty():
            look: Any = {"linestyle": "", "marker": marker, "color": PALETTE[2], "markersize": size}
            look["markeredgewidth"] = 0.8 if marker == "|" else 0.0
            y = found["seq"] / 1e3 - below * (marker == "$3$")
            (handles[label],) = ax.plot(found["time_ns"] / 1e9, y, label=label, **look)
    return handles


@styled
def sequences(name: str, caption: str, flows: Mapping[str, pl.DataFrame], until_s: float = np.inf) -> Picture:
    """Sequence graphs of several flows side by side: segments sent and retransmitted, drops, ACKs and duplicates."""
    fig, axes = _panels(len(flows), len(flows), (max(1.75, 5.6 / len(flows)), 1.8))
    handles: dict[str, Any] = {}
    for ax, (title, events) in zip(axes, flows.items(), strict=True):
        e = events.filter((pl.col("end") == "sender") & (pl.col("time_ns") <= min(until_s, 1e9) * 1e9))
        handles |= _ack_line(ax, e)
        for kind, label, marker, colour, size in SEGMENTS:
            k = e.filter((pl.col("kind") == kind) & (pl.col("len") > 0))
            if not k.is_empty():
                dots: Any = {"linestyle": "", "marker": marker, "color": colour, "markersize": size}
                (handles[label],) = ax.plot(k["time_ns"] / 1e9, k["seq"] / 1e3, label=label, **dots)
        _open_and_close(ax, e)
        for t in e.filter((pl.col("kind") == "timeout") & (pl.col("seq") > 0))["time_ns"]:
            ax.axvline(t / 1e9, color=INK, linewidth=0.7, linestyle=(0, (2, 2)), alpha=0.6)
        ax.set_title(title, loc="left")
        ax.set_xlabel("time (s)")
    axes[0].set_ylabel("sequence number (kB)")
    _legend(fig, handles)
    alt = f"{caption} One panel for each of {', '.join(flows)}; S: SYN, F: FIN, dashed: timeouts."
    return Picture(name, caption, alt, fig)


SHARES = np.linspace(0.05, 0.95, 19)


def quantile_band(sample: Any, shares: Any) -> tuple[Any, Any]:
    """Between which values 95 % of the bootstrap samples have their quantiles (type 7) at the given shares."""
    rng = np.random.default_rng(0)
    draws = np.quantile(rng.choice(sample, (1999, len(sample))), shares, axis=1)
    low, high = np.quantile(draws, [0.025, 0.975], axis=1)
    return low, high


@styled
def agreement(name: str, caption: str, table: pl.DataFrame, columns: Sequence[str], rows: Sequence[str]) -> Picture:
    """Kolmogorov-Smirnov distances as a table of cells: `row`, `column`, `ks`, `p_value`, `quartiles_inside`.

    Shaded where the test tells the samples apart; below each distance, how many of the three quartiles agree.
    """
    fig, ax = plt.subplots(figsize=(0.62 * len(columns) + 1.3, 0.42 * len(rows) + 0.9))
    at = {(r["row"], r["column"]): r for r in table.iter_rows(named=True)}
    told_apart = np.array([[float(at[y, x]["p_value"] < 0.05) for x in columns] for y in rows])
    ax.imshow(told_apart, cmap="Oranges", vmin=0.0, vmax=2.5, aspect="auto")
    for i, y in enumerate(rows):
        for j, x in enumerate(columns):
            one = at[y, x]
            ax.annotate(f"{one['ks']:.2f}\n{one['quartiles_inside']}/3", (j, i), ha="center", va="center", fontsize=7)
    ax.set_xticks(range(len(columns)), [c.replace(", ", "\n") for c in columns], fontsize=7)
    ax.set_yticks(range(len(rows)), rows, fontsize=7)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    return Picture(name, caption, f"{caption} Rows: {', '.join(rows)}. Columns: {', '.join(columns)}.", fig)


@styled
def distributions(name: str, caption: str, pairs: Mapping[str, tuple[Any, Any]], xlabel: str) -> Picture:
    """Cumulative distributions of printed and measured values, one panel for each pair.

    Shaded is the band in which 95 % of the samples of as many runs as were printed have their quantiles (bootstrap).
    """
    fig, axes = _panels(len(pairs), len(pairs), (max(1.75, 4.2 / len(pairs)), 1.8))
    handles: dict[str, Any] = {}
    for ax, (title, both) in zip(axes, pairs.items(), strict=True):
        for j, (label, values) in enumerate(zip(("printed", "measured"), both, strict=True)):
            x = np.sort(clean(values))
            y = np.arange(1, x.size + 1) / max(1, x.size)
            look: Any = {"color": PALETTE[j], "linestyle": DASHES[j], "drawstyle": "steps-post"}
            (handles[label],) = ax.plot(x, y, label=label, **look)
        low, high = quantile_band(clean(both[0]), SHARES)
        ax.fill_betweenx(SHARES, low, high, color=PALETTE[0], alpha=0.15, linewidth=0)
        ax.set_title(title, loc="left")
        ax.set_xlabel(xlabel)
    axes[0].set_ylabel("share at or below")
    _legend(fig, handles)
    return Picture(name, caption, f"{caption} Panels: {', '.join(pairs)}.", fig)
