"""RED driven with chosen backlogs: which arrivals it picks at a constant average, and what idle time does to it."""

from functools import cache
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.core import has_hook
from crosswind.experiments.riva_2003 import testbed
from crosswind.figures import DASHES, INK, MARKERS, PALETTE
from crosswind.figures.plotting import plt
from crosswind.reproduce import Picture
from crosswind.reproduce.claims import BrokenClaimError
from crosswind.theory import tc_red

STEP_ns = 84_000_000
ARRIVALS, MANY = 5000, 200_000
SETTLE = 400
# Thresholds between which the probability rises from 0 to max_p, without the rounding of tc.
MIN_TH, MAX_TH, MAX_P = 5000, 15_000, 0.1
LAW: dict[str, Any] = {"min_th": f"{MIN_TH} B", "max_th": f"{MAX_TH} B", "max_p": MAX_P, "max_p_rounding": "none"}
GEOMETRIC_P, UNIFORM_P = 0.02, 0.01
CLOCKS = ("140 kbit/s", "10 Mbit/s")


def trace(backlog: Any, times_ns: Any = None, **changes: Any) -> tuple[Any, Any]:
    """Average and verdict of the kernel's law after each arrival. Raises BrokenClaimError without its hook."""
    if not has_hook("red_trace"):
        raise BrokenClaimError("this engine has no red_trace")
    law = {k: v for k, v in testbed.leaf("RED", testbed.Reading()).items() if k != "burst"}
    times = np.arange(len(backlog), dtype=np.int64) * STEP_ns if times_ns is None else times_ns
    return tc_red.drive(law | {"w_q": testbed.weight(testbed.RedSet())} | changes, backlog, times)


def _selected_at(average: float, arrivals: int) -> Any:
    """Which arrivals are selected once the average has settled."""
    _, verdict = trace(np.full(SETTLE + arrivals, round(average)), **LAW)
    return verdict[SETTLE:] > 0


@cache
def picks(p_b: float, arrivals: int = ARRIVALS) -> Any:
    """Positions of the packets selected while the average stays where the probability is `p_b`."""
    return np.flatnonzero(_selected_at(MIN_TH + p_b / MAX_P * (MAX_TH - MIN_TH), arrivals))


@cache
def geometric(p: float, arrivals: int = ARRIVALS) -> Any:
    """The same with every arrival decided on its own."""
    return np.flatnonzero(np.random.default_rng(1).random(arrivals) < p)


def share_selected(average: float, arrivals: int = 20_000) -> float:
    """The share of arrivals that is selected at a constant average."""
    return float(_selected_at(average, arrivals).mean())


def variation(positions: Any) -> float:
    """Standard deviation over mean of the gaps between picks."""
    gaps = np.diff(positions)
    return float(gaps.std() / gaps.mean())


def probability(average: Any) -> Any:
    """p_b of the law."""
    return np.clip((np.asarray(average, dtype=float) - MIN_TH) / (MAX_TH - MIN_TH), 0, 1) * MAX_P


def kept(idle_s: float, clock: str, damping: str = "fixed") -> float:
    """What an idle time leaves of the average (1 is all); `clock` is the rate that tc was told."""
    backlog = np.full(SETTLE + 1, 10_000, dtype=np.int64)
    times = np.arange(backlog.size, dtype=np.int64) * STEP_ns
    backlog[-1], times[-1] = 0, times[-2] + round(idle_s * 1e9)
    avg, _ = trace(backlog, times, rate=clock, idle_damping=damping)
    return float(avg[-1] / avg[-2])


# ---- figures ---------------------------------------------------------------------------------------------------------


@figures.styled
def spacing(name: str = "fig-3-4") -> Picture:
    """Figure 3-4: where packets are selected, uniform against geometric."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(4.9, 2.2))
    rows = (
        (f"with the count (p_b = {UNIFORM_P})", picks(UNIFORM_P)),
        (f"without (p = {GEOMETRIC_P})", geometric(GEOMETRIC_P)),
    )
    for ax, (label, at), colour in zip(axes, rows, PALETTE, strict=False):
        ax.plot(at, np.ones(at.size), linestyle="", marker="|", markersize=16, color=colour, label=label)
        ax.set_title(f"{label}: {at.size} of {ARRIVALS}", loc="left")
        ax.set_yticks([])
    axes[-1].set_xlabel("arrival")
    caption = "Packets that RED picks of 5000 arrivals at a constant average (Fig. 3-4): evenly spread, or in clusters."
    return Picture(name, caption, caption, fig)


@figures.styled
def gaps() -> Picture:
    """How long the gaps between picks are: uniform against geometric, with what theory expects."""
    fig, ax = plt.subplots()
    edges = np.arange(0.5, 301, 10)
    middle = (edges[1:] + edges[:-1]) / 2
    both = (
        (f"with the count, p_b = {UNIFORM_P}", picks(UNIFORM_P, MANY), (middle <= 1 / UNIFORM_P) * UNIFORM_P),
        (f"without, p = {GEOMETRIC_P}", geometric(GEOMETRIC_P, MANY), (1 - GEOMETRIC_P) ** (middle - 1) * GEOMETRIC_P),
    )
    for i, (label, at, expected) in enumerate(both):
        share = np.histogram(np.diff(at), bins=edges)[0] / (at.size - 1) / 10
        ax.plot(middle, share, color=PALETTE[i], marker=MARKERS[i], linestyle="", label=label)
        ax.plot(middle, expected, color=PALETTE[i], linestyle=DASHES[i], label="_expected")
    ax.set_xlabel("gap between picks (packets)")
    ax.set_ylabel("share of the gaps per packet")
    fig.legend(loc="outside upper center", ncols=2)
    caption = f"Gaps between the picks of {MANY} arrivals: what is drawn (marks), what is expected (lines)."
    return Picture("red-gaps", caption, caption, fig)


@figures.styled
def curve() -> Picture:
    """The probability against the average: p_b, what the count makes of it, and what is measured."""
    fig, ax = plt.subplots()
    x = np.linspace(0, MAX_TH, 301)
    p = probability(x)
    ax.plot(x / 1000, p, color=PALETTE[1], linestyle=DASHES[1], label="$p_b$")
    ax.plot(x / 1000, 2 * p / (1 + p), color=PALETTE[0], label="with the count: $2p_b/(1+p_b)$")
    at = np.arange(3000, MAX_TH, 1500)
    ax.plot(
        at / 1000, [share_selected(float(a)) for a in at], linestyle="", marker="o", color=PALETTE[2], label="measured"
    )
    ax.plot([MAX_TH / 1000] * 2, [MAX_P, 0.25], color=INK, linewidth=1.0, label="_jump")
    ax.annotate("1", (MAX_TH / 1000, 0.25), xytext=(4, -8), textcoords="offset points")
    ax.set_ylim(0, 0.25)
    ax.set_xlim(0, 1.1 * MAX_TH / 1000)
    ax.set_xlabel("average queue (kB)")
    ax.set_ylabel("share of arrivals selected")
    fig.legend(loc="outside upper center", ncols=3)
    caption = f"RED with thresholds of {MIN_TH} and {MAX_TH} B and max_p {MAX_P}: drop probability against the average."
    return Picture("red-probability", caption, f"{caption} It rises from 0 and jumps to 1 at the upper threshold.", fig)


@figures.styled
def idle() -> Picture:
    """What idle time leaves of the average, by the rate that tc was told: the kernel's line and the exponential."""
    fig, axes = plt.subplots(1, 2, sharey=True, figsize=(7.2, 2.6))
    handles: dict[str, Any] = {}
    for ax, clock, until_s in zip(axes, CLOCKS, (4.0, 0.04), strict=True):
        x = np.geomspace(until_s / 1000, until_s, 60)
        for i, (label, damping) in enumerate((("the kernel's table", "fixed"), ("exponential", "exact"))):
            look: Any = {"color": PALETTE[i], "linestyle": DASHES[i]}
            (handles[label],) = ax.plot(x, [kept(float(t), clock, damping) for t in x], label=label, **look)
        ax.set_title(f"rate {clock}", loc="left")
        ax.set_xlabel("idle time (s)")
        ax.set_xscale("log")
        ax.set_ylim(0, 1.02)
    axes[0].set_ylabel("share of the average that is left")
    fig.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=2)
    caption = "What an idle time leaves of RED's average: as the kernel computes it, and the exponential it stands for."
    return Picture("red-idle-law", caption, f"{caption} One panel for each configured rate.", fig)
