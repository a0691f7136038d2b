"""Figures in the source's form: statistics against a start time, sequence graphs side by side, distributions.

Their margins are fixed, in inches: all panels carry labels of one size, and laying out dozens of figures by what is in
them would cost more than to draw them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.base import Results
from crosswind.figures import DASHES, MARKERS, PALETTE, Picture
from crosswind.plotting import plt
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


def curve(r: Results, labels: Mapping[float, str], column: str) -> tuple[list[float], list[Any]]:
    """The values of a column by start time; `labels`: start -> cell."""
    return list(labels), [r.of(c, column) for c in labels.values()]


@figures.styled
def against_start(name: str, caption: str, panels: Mapping[str, Curves], xlabel: str) -> Picture:
    """Medians with their quartiles against a start time, one panel for each quantity (its label is the axis)."""
    fig, axes = _panels(len(panels), min(2, len(panels)), (2.85, 2.1) if len(panels) > 1 else (4.1, 2.2), titled=0.06)
    handles: dict[str, Any] = {}
    for ax, (ylabel, curves) in zip(axes, panels.items(), strict=True):
        for j, (label, (x, samples)) in enumerate(curves.items()):
            low, middle, high = np.array([np.quantile(clean(s), [0.25, 0.5, 0.75]) for s in samples]).T
            look: Any = {"color": PALETTE[j % 6], "marker": MARKERS[j % 6], "linestyle": DASHES[j % 6]}
            (handles[label],) = ax.plot(x, middle, label=label, **look)
            ax.fill_between(x, low, high, color=PALETTE[j % 6], alpha=0.15, linewidth=0)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
    if len(handles) > 1:
        _legend(fig, handles)
    return Picture(name, caption, f"{caption} Panels: {', '.join(panels)}. Series: {', '.join(handles)}.", fig)


@figures.styled
def sequences(name: str, caption: str, flows: Mapping[str, pl.DataFrame], until_s: float = np.inf) -> Picture:
    """Sequence graphs of several flows side by side: segments sent and sent again, drops, and the ACK line."""
    fig, axes = _panels(len(flows), len(flows), (max(1.75, 4.2 / len(flows)), 1.8))
    handles: dict[str, Any] = {}
    for ax, (title, events) in zip(axes, flows.items(), strict=True):
        e = events.filter((pl.col("end") == "sender") & (pl.col("time_ns") <= min(until_s, 1e9) * 1e9))
        acks = e.filter(pl.col("kind") == "ack")
        style: Any = {"drawstyle": "steps-post", "linewidth": 0.9, "color": PALETTE[2]}
        (handles["acknowledged"],) = ax.plot(acks["time_ns"] / 1e9, acks["seq"] / 1e3, **style)
        for kind, label, marker, colour in (
            ("send", "sent", ".", PALETTE[5]),
            ("resend", "sent again", "D", PALETTE[4]),
            ("drop", "dropped", "x", PALETTE[1]),
        ):
            k = e.filter((pl.col("kind") == kind) & (pl.col("len") > 0))
            if not k.is_empty():
                size = 2.4 if kind == "send" else 4.5
                dots: Any = {"linestyle": "", "marker": marker, "color": colour, "markersize": size}
                (handles[label],) = ax.plot(k["time_ns"] / 1e9, k["seq"] / 1e3, label=label, **dots)
        for t in e.filter((pl.col("kind") == "timeout") & (pl.col("seq") > 0))["time_ns"]:
            ax.axvline(t / 1e9, color=figures.INK, linewidth=0.7, linestyle=(0, (2, 2)), alpha=0.6)
        ax.set_title(title, loc="left")
        ax.set_xlabel("time (s)")
    axes[0].set_ylabel("sequence number (kB)")
    _legend(fig, handles)
    return Picture(name, caption, f"{caption} One panel for each of {', '.join(flows)}; dashed: timeouts.", fig)


@figures.styled
def distributions(name: str, caption: str, pairs: Mapping[str, tuple[Any, Any]], xlabel: str) -> Picture:
    """Cumulative distributions of printed and measured values, one panel for each pair."""
    fig, axes = _panels(len(pairs), len(pairs), (max(1.75, 4.2 / len(pairs)), 1.8))
    handles: dict[str, Any] = {}
    for ax, (title, both) in zip(axes, pairs.items(), strict=True):
        for j, (label, values) in enumerate(zip(("printed", "measured"), both, strict=True)):
            x = np.sort(clean(values))
            y = np.arange(1, x.size + 1) / max(1, x.size)
            look: Any = {"color": PALETTE[j], "linestyle": DASHES[j], "drawstyle": "steps-post"}
            (handles[label],) = ax.plot(x, y, label=label, **look)
        ax.set_title(title, loc="left")
        ax.set_xlabel(xlabel)
    axes[0].set_ylabel("share at or below")
    _legend(fig, handles)
    return Picture(name, caption, f"{caption} Panels: {', '.join(pairs)}.", fig)
