"""What window laws do when they are driven alone: average windows under random losses, and their shape over time.

`crosswind study laws` draws both for all laws; a law of one's own is measured with `average_window`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.core import core
from crosswind.figures import DASHES, MARKERS, PALETTE, Picture, styled
from crosswind.figures.plotting import plt
from crosswind.theory.responses import RESPONSES

LOSSES = tuple(10.0**-k for k in (1, 2, 3, 4, 5, 6, 7))
RTT_s = 0.1
# Random losses per point beyond those that are left out.
EVENTS = 400
SEGMENTS_MAX = 4_000_000_000
# Windows beyond are told in so many ACKs per round trip, each for several segments.
ACKS_PER_ROUND = 500
# Segments that 100 Mbit/s and 120 ms hold.
CAPACITY = 1442.0

# The settings of each line in the overview; the rest is the preset's.
LAWS: dict[str, dict[str, Any]] = {
    "reno": {"law": "reno"},
    "ltcp": {"law": "ltcp", "ltcp": {"kr_ref": 1.0, "kr_exponent": 0.0}},
    "ltcp-variable": {"law": "ltcp", "ltcp": {"kr_ref": 1.0, "kr_exponent": 0.0, "decrease": "variable"}},
    "hstcp": {"law": "hstcp"},
    "scalable": {"law": "scalable"},
    "bic": {"law": "bic"},
    "htcp": {"law": "htcp"},
    "cubic": {"law": "cubic"},
    "cubic-2005": {"law": "cubic", "cubic": {"version": "2005"}},
    "fast": {"law": "fast"},
    "vegas": {"law": "vegas"},
}
# Laws whose average window does not follow from the loss rate: they are drawn over time only.
WITHOUT_RESPONSE: dict[str, dict[str, Any]] = {"westwood": {"law": "westwood"}}


def drive(tcp: Mapping[str, Any], seed: int = 1, **how: Any) -> dict[str, Any]:
    """Drives the law of a `tcp` table alone.

    `how`: `loss`, `rtt` (a text such as "100 ms"), `capacity` and `limit` of the path in segments, `skipped` and
    `counted` segments, `acks_per_round` (at most; 0: one per segment), `sample` (interval of the trace). Returns
    `mean_window`, `losses`, and the trace `time_s`, `window`.
    """
    table = {"preset": "sack-2006", **tcp}
    out: dict[str, Any] = core().law_drive(json.dumps(table), json.dumps(how), seed)
    return out


def average_window(tcp: Mapping[str, Any], loss: float, events: int = EVENTS) -> float:
    """Average window in segments under random losses with probability `loss`."""
    start = max(2.0, min(2.0 / loss, 1.5 / loss**0.5))
    counted = int(min(events / loss, SEGMENTS_MAX))
    settings = {**tcp, "initial_ssthresh": f"{int(1000 * start)} B"}
    skipped = min(counted // 4, int(60 / loss))
    how: dict[str, Any] = {"loss": loss, "rtt": f"{RTT_s * 1000:g} ms", "acks_per_round": ACKS_PER_ROUND}
    return float(drive(settings, **how, skipped=skipped, counted=counted)["mean_window"])


def measured(events: int = EVENTS, losses: Sequence[float] = LOSSES, laws: Sequence[str] = tuple(LAWS)) -> pl.DataFrame:
    """law, loss, measured average window and formula, for laws of the overview."""

    def row(point: tuple[str, float]) -> dict[str, Any]:
        law, p = point
        window, formula = average_window(LAWS[law], p, events), RESPONSES[law](p, RTT_s)
        return {"law": law, "loss": p, "window": window, "formula": formula}

    # Laws run without Python's lock; the rarest losses take longest.
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(row, [(law, p) for p in sorted(losses) for law in laws]))
    return pl.DataFrame(found).sort(pl.col("law").cast(pl.Enum(list(laws))), -pl.col("loss"))


@styled
def overview(table: pl.DataFrame) -> Picture:
    """All response functions: measured averages as marks, formulas as lines."""
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    fine = np.logspace(-7, -1, 61)
    for i, law in enumerate(LAWS):
        colour, own = PALETTE[i % len(PALETTE)], table.filter(pl.col("law") == law)
        dash = DASHES[(i // len(PALETTE)) % len(DASHES)]
        ax.plot(fine, [RESPONSES[law](float(p), RTT_s) for p in fine], color=colour, linestyle=dash, linewidth=0.9)
        marker = MARKERS[(i + i // len(PALETTE)) % len(MARKERS)]
        ax.plot(own["loss"], own["window"], linestyle="none", marker=marker, color=colour, label=law)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("loss probability")
    ax.set_ylabel("average window (segments)")
    fig.legend(loc="outside upper center", ncols=5)
    caption = "Response functions of all window laws at 100 ms: measured (marks) and by formula (lines)."
    worst = (table["window"] / table["formula"]).to_numpy()
    return Picture(
        "responses", caption, f"{caption} Measured over formula from {worst.min():.2f} to {worst.max():.2f}.", fig
    )


def shape(
    tcp: Mapping[str, Any], capacity: float, buffer: float, acks: int, rtt_ms: float = 120.0
) -> dict[str, npt.NDArray[Any]]:
    """The window of one flow over time on a path that holds `capacity` and `buffer` segments."""
    settings = {**tcp, "initial_ssthresh": f"{int(500 * capacity)} B"}
    how: dict[str, Any] = {
        "rtt": f"{rtt_ms} ms",
        "capacity": capacity,
        "limit": capacity + buffer,
        "skipped": 0,
        "counted": acks,
    }
    return drive(settings, **how, sample="120 ms")


def windows_over_time() -> dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Times and windows of every law: 100 Mbit/s, 120 ms, a third of a window of buffer."""
    out = {}
    for law, tcp in (LAWS | WITHOUT_RESPONSE).items():
        trace = shape(tcp, CAPACITY, CAPACITY / 3, 1_400_000)
        out[law] = trace["time_s"], trace["window"]
    return out


_PATH = "100 Mbit/s, 120 ms, a third of a bandwidth-delay product of buffer"


@styled
def shapes(windows: Mapping[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] | None = None) -> Picture:
    """The window of every law over time, as `windows_over_time` has it."""
    windows = windows or windows_over_time()
    fig, axes = plt.subplots((len(windows) + 1) // 2, 2, figsize=(6.4, 9.4), sharex=True, sharey=True)
    for i, (ax, (law, (time_s, window))) in enumerate(zip(axes.flat, windows.items(), strict=False)):
        _draw(ax, i, time_s, window)
        ax.set_title(law)
    for ax in axes.flat[len(windows) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("time (s)")
    for ax in axes[:, 0]:
        ax.set_ylabel("window (segments)")
    caption = f"Window over time of each law alone: {_PATH}."
    return Picture("law-shapes", caption, caption, fig)


def _draw(ax: Any, i: int, time_s: npt.NDArray[Any], window: npt.NDArray[Any]) -> None:
    ax.plot(time_s, window, color=PALETTE[i % len(PALETTE)], linewidth=0.9)
    ax.axhline(CAPACITY, color="0.6", linewidth=0.6, linestyle=":")
    ax.set_xlim(0, 110)


@styled
def page(law: str, time_s: npt.NDArray[Any], window: npt.NDArray[Any]) -> Picture:
    """The window of one law over time. The dotted line is what the path holds without a queue."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    _draw(ax, list(LAWS | WITHOUT_RESPONSE).index(law), time_s, window)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("window (segments)")
    caption = f"Window of {law} over time, alone: {_PATH}. Dotted: what the path holds without a queue."
    return Picture(f"law-{law}", caption, caption, fig)
