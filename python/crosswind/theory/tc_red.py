"""RED as `tc` configures it: its words, what the kernel works with, and the curve that comes out.

The rounding is the engine's (`red-linux`); here are only the words of `tc` and its defaults for what is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.core import core
from crosswind.errors import InputError
from crosswind.figures.plotting import plt
from crosswind.scenario.tc import units
from crosswind.scenario.tc import words as tc_words
from crosswind.scenario.tc.red import Red
from crosswind.table import Table

CURVE_POINTS = 11


@dataclass(frozen=True)
class Effective:
    """What the kernel works with."""

    red: Red
    w_log: int
    w_q: float
    p_log: int
    max_p: float
    scell_log: int
    damping: list[int] = field(repr=False)

    def probability(self, average: float) -> float:
        """Probability of being selected at an average queue, before it is spread over the packets between two picks."""
        if average < self.red.min:
            return 0.0
        if average >= self.red.max:
            return 1.0
        return self.max_p * (average - self.red.min) / (self.red.max - self.red.min)

    def idle_halving_s(self) -> float:
        """Idle time after which the kernel has halved the average: its line does so in half a cell of the table."""
        return 2**self.scell_log / 2e6

    def exponential_halving_s(self) -> float:
        """The same for the exponential that table and line stand for: packets of `avpkt` that could have been sent."""
        packets = math.log(0.5) / math.log(1 - self.w_q)
        return packets * self.red.avpkt * 8 / self.red.rate_bps


def parse(words: Sequence[str], kbit: int = 1000) -> Red:
    """Reads `limit 20000 min 5000 .. bandwidth 140kbit [ecn]` as `tc` does; `kbit` is what it takes 1 kbit for."""

    def rate(rest: list[str]) -> int:
        if not rest:
            raise units.UnreadError("a value")
        return units.rate(rest.pop(0), kbit)

    moving = tc_words.refused("a probability that stays: one that adapts has no curve")
    own = {"bandwidth": tc_words.Word("bandwidth", rate), "adaptive": tc_words.Word("adaptive", moving)}
    table = {**tc_words.QDISCS["red"], **own}
    given = tc_words.read("tc-red", "", [w for w in words if w != "red"], table)
    return Red.of("tc-red", given)


TC_WORD = {"min_th": "min", "max_th": "max", "max_p": "probability", "rate": "bandwidth"}


def effective(red: Red) -> Effective:
    """What the kernel works with, from the engine."""
    engine = core()
    try:
        found = json.loads(engine.red_effective(json.dumps(red.queue())))
    except engine.ScenarioError as e:
        path = TC_WORD.get(e.path, e.path)
        raise InputError("tc-red", path=path, found=e.found, expected=e.expected, hint=e.hint) from None
    return Effective(red, **{k: found[k] for k in ("w_log", "w_q", "p_log", "max_p", "scell_log", "damping")})


def drive(
    queue: Mapping[str, Any], backlog_bytes: npt.ArrayLike, times_ns: npt.ArrayLike, marks: str = "drop"
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Feeds chosen backlogs to a `red-linux` queue: its average in bytes after each arrival, and the verdict.

    The verdict is 0 for a packet that passed, 1 marked, 2 dropped early, 3 dropped above max; `marks="mark"` makes the
    packets ECN-capable. A backlog of 0 means that the queue has been empty since the arrival before.
    """
    backlog = np.asarray(backlog_bytes, dtype=np.int64)
    params = {k: v for k, v in queue.items() if k != "type"}
    ect = np.full(backlog.size, 1 if marks == "mark" else 0, dtype=np.uint8)
    out = core().red_trace(json.dumps(params), 1, np.asarray(times_ns, dtype=np.int64), backlog, ect)
    return np.asarray(out["avg_bytes"], dtype=float), np.asarray(out["verdict"], dtype=np.int64)


def tables(e: Effective) -> list[Table]:
    """The numbers that matter, and the curve."""
    r = e.red
    given = {
        "limit": f"{r.limit} B",
        "min": f"{r.min} B",
        "max": f"{r.max} B",
        "avpkt": f"{r.avpkt} B",
        "burst": f"{r.burst} packets",
        "probability": f"{r.probability:g}",
        "bandwidth": f"{r.rate_bps / 1000:g} kbit/s",
    }
    becomes = {
        "burst": f"Wlog {e.w_log}: w_q = 1/{2**e.w_log} = {e.w_q:.6g}",
        "probability": f"Plog {e.p_log}: max_p = {r.max - r.min}/2^{e.p_log} = {e.max_p:.4g}",
        "bandwidth": f"Scell_log {e.scell_log}: idle, the average halves in {e.idle_halving_s():.3g} s "
        f"(as an exponential it would in {e.exponential_halving_s():.3g} s)",
    }
    rows = [[w, v + (" (default)" if w in r.filled_in else ""), becomes.get(w, "")] for w, v in given.items()]
    keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in r.queue().items())
    note = f"In a scenario: queue = {{ {keys} }}"
    return [Table("RED as tc gives it to the kernel", ["word", "value", "becomes"], rows, note), _curve_table(e)]


def _curve_table(e: Effective) -> Table:
    rows = []
    for average in np.linspace(e.red.min, e.red.max, CURVE_POINTS):
        p = e.probability(float(average))
        gap = "never" if p == 0 else f"{(1 / p + 1) / 2:.1f}" if p < 1 else "1.0"
        nominal = e.red.probability * (average - e.red.min) / (e.red.max - e.red.min) if p < 1 else 1.0
        rows.append([f"{average:.0f}", f"{average / e.red.avpkt:.1f}", f"{p:.4f}", f"{nominal:.4f}", gap])
    heads = ["average, B", "packets", "p_b", "p_b as written", "mean gap, packets"]
    note = "Gaps between selected packets are uniform on 1 to 1/p_b; from max on every packet is selected."
    if e.red.limit < e.red.max:
        never = "RED never picks any" if e.red.limit < e.red.min else "the average can hardly come to max"
        note += f" The limit of {e.red.limit} B drops packets before that: {never}."
    return Table("Probability of being marked or dropped", heads, rows, note)


def curve(e: Effective) -> pl.DataFrame:
    """The curve as a table: average queue and probability, as the kernel has it and as it was written."""
    averages = np.linspace(0, 1.15 * e.red.max, 231)
    span = e.red.max - e.red.min
    written = np.where(averages < e.red.max, np.clip((averages - e.red.min) / span, 0, 1) * e.red.probability, 1.0)
    kernel = [e.probability(float(a)) for a in averages]
    return pl.DataFrame({"average_bytes": averages, "kernel_ratio": kernel, "written_ratio": written})


@figures.styled
def picture(e: Effective) -> figures.Picture:
    """The curve as a figure."""
    data = curve(e)
    fig, ax = plt.subplots()
    below = data.filter(pl.col("average_bytes") < e.red.max)
    x = below["average_bytes"] / 1000
    ax.plot(x, below["kernel_ratio"], color=figures.PALETTE[0], label=f"in the kernel: max_p = {e.max_p:.4f}")
    label = f"as written: max_p = {e.red.probability:g}"
    ax.plot(x, below["written_ratio"], color=figures.PALETTE[1], linestyle=figures.DASHES[1], label=label)
    top = 1.25 * max(e.red.probability, e.max_p)
    ax.plot([e.red.max / 1000] * 2, [e.max_p, top], color=figures.PALETTE[0], linewidth=1.0)
    ax.annotate("1", (e.red.max / 1000, top), xytext=(4, -8), textcoords="offset points")
    ax.set_ylim(0, top)
    ax.set_xlim(0, 1.15 * e.red.max / 1000)
    ax.set_xlabel("average queue, kB")
    ax.set_ylabel("probability $p_b$")
    fig.legend(loc="outside upper center", ncols=2)
    caption = (
        f"RED with min {e.red.min}, max {e.red.max}, probability {e.red.probability:g}: what tc asks for and what the "
        f"kernel does (w_q = 1/{2**e.w_log})."
    )
    alt = f"{caption} The probability rises from 0 at {e.red.min} B to {e.max_p:.4f} at {e.red.max} B, then jumps to 1."
    return figures.Picture("red-tc", caption, alt, fig, data)
