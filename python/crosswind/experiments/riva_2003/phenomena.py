"""RED as [Riva 2003] explains it, each property as a run of its own. `crosswind explain` shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.riva_2003 import marks, testbed
from crosswind.reproduce import Picture, Scenario
from crosswind.reproduce.explain import Phenomenon, Scene

W_Q = testbed.weight(testbed.RedSet())
INSIDE, ALMOST = 10_000, marks.MAX_TH - 1


def last_hop(flows: Mapping[str, Any], queue: Mapping[str, Any], until_s: float) -> Scenario:
    """A line of 140 kbit/s (as the source counts) with one queue, looked at every 20 ms."""
    ends = {"from": "kemi-1", "to": "kemi-4"}
    wire = ends | {"delay": "1 ms", "rate": f"{round(testbed.RATE_Bps * 8)} bit/s"}
    return Scenario.from_dict(
        {
            "name": "red",
            "duration": f"{until_s:g} s",
            "link": {"last-hop": wire | {"queue": dict(queue), "reverse": {"rate": "10 Mbit/s"}}},
            "flow": {name: ends | dict(f) for name, f in flows.items()},
            "record": {"sample": "20 ms"},
        }
    )


def series(s: Scene, configuration: str, metric: str) -> tuple[Any, Any]:
    """Times (s) and values of a series of the queue."""
    one = s.runs.sample(metric).filter(
        (pl.col("configuration") == configuration) & (pl.col("entity") == "last-hop/forward")
    )
    one = one.sort("time_ns")
    return one["time_ns"].to_numpy() / 1e9, one["value"].to_numpy()


def queue_picture(s: Scene, name: str, caption: str, configurations: Mapping[str, str]) -> Picture:
    """The queue of the first configuration and the averages of all, in kB."""
    lines = {}
    for label, c in configurations.items():
        t, v = series(s, c, "red_avg_bytes")
        lines[label] = (t, v / 1000)
    t, v = series(s, next(iter(configurations.values())), "queue_bytes")
    return figures.over_time(name, caption, {"queue": (t, v / 1000)} | lines, "queue (kB)")


# ---- drop probability ------------------------------------------------------------------------------------------------


def _tell_probability(_: Scene) -> dict[str, float]:
    p = float(marks.probability(INSIDE))
    return {
        "p": 100 * p,
        "inside": 100 * marks.share_picked(INSIDE),
        "expected": 100 * 2 * p / (1 + p),
        "almost": 1 / marks.share_picked(ALMOST),
    }


PROBABILITY = Phenomenon(
    "red-drop-probability",
    "RED picks almost twice as many packets as its curve says",
    dict,
    (
        "RED looks at the average of its queue, never at the queue itself. Below the lower threshold nothing is "
        "picked, above the upper one everything; between them a probability p_b rises in a straight line to max_p. "
        "Here the law of the simulator's kernel RED is driven with constant averages, and what it picks is counted. "
        "In the middle, p_b is {p:.1f} %, but {inside:.1f} % of the arrivals are picked.",
        "The reason is the count: each packet that passes makes the next one likelier to be picked, so that the gap "
        "between two picks is uniform on 1 to 1/p_b packets, {expected:.1f} % on average here instead of the p_b "
        "that independent draws would give. Just below the upper threshold with max_p = 0.1 one packet in "
        "{almost:.1f} is picked, not one in ten. Whoever compares RED's losses with its curve has to know this. "
        "What the traffic-control tool makes of its words is shown by `crosswind study tc-red limit 20000 min 5000 "
        "max 18000 avpkt 1000 burst 12 probability 0.1 bandwidth 140kbit`.",
    ),
    _tell_probability,
    lambda _: [marks.curve()],
)

# ---- spacing of marks ------------------------------------------------------------------------------------------------


def _close(positions: Any) -> float:
    """The share of gaps of ten packets or less."""
    return float(100 * np.mean(np.diff(positions) <= 10))


def _tell_spacing(_: Scene) -> dict[str, float]:
    uniform, alone = marks.picks(marks.UNIFORM_P), marks.geometric(marks.GEOMETRIC_P)
    many, many_alone = marks.picks(marks.UNIFORM_P, marks.MANY), marks.geometric(marks.GEOMETRIC_P, marks.MANY)
    return {
        "uniform": uniform.size,
        "geometric": alone.size,
        "longest": float(np.diff(many).max()),
        "longest_alone": float(np.diff(many_alone).max()),
        "variation": marks.variation(many),
        "variation_alone": marks.variation(many_alone),
        "close": _close(many),
        "close_alone": _close(many_alone),
    }


SPACING = Phenomenon(
    "red-mark-spacing",
    "RED spreads its marks: uniform against geometric gaps",
    dict,
    (
        "Five thousand packets arrive at a queue whose average does not change. If every arrival is decided on its "
        "own with probability 0.02, {geometric:.0f} of them are picked; with RED's count and p_b = 0.01 it is "
        "{uniform:.0f}. The numbers are about the same, the picture is not.",
        "Independent draws give geometric gaps: short ones are the likeliest, and {close_alone:.0f} % of them are of "
        "ten packets or less, so that one burst of one sender is hit several times, while elsewhere "
        "{longest_alone:.0f} packets pass without a pick. With the count the gaps are uniform: {close:.0f} % are that "
        "short, and none is longer than {longest:.0f}. Their standard deviation is {variation:.2f} of the mean instead "
        "of {variation_alone:.2f}. Picks that keep their distance rarely hit one window twice, and they find the flows "
        "in proportion to what these send.",
    ),
    _tell_spacing,
    lambda _: [marks.spacing("red-mark-spacing"), marks.gaps()],
)

# ---- queue and average -----------------------------------------------------------------------------------------------


def three_behind_red() -> Scenario:
    """Two long transfers and a short one at 2 s behind RED, with nothing but the queue on the way."""
    reading = testbed.Reading()
    flows = {
        "long": testbed.transfer(testbed.LONG_BYTES, 0.0, reading, 2),
        "third": testbed.transfer(testbed.SHORT_BYTES, 2.0, reading),
    }
    return last_hop(flows, testbed.leaf("RED", reading), 60.0)


def _tell_average(s: Scene) -> dict[str, float]:
    (_, queue), (_, average) = series(s, "RED", "queue_bytes"), series(s, "RED", "red_avg_bytes")
    busy = average > 0
    backlog = np.full(400, 500_000, dtype=np.int64)
    backlog[-1] = 250_000
    stale, _ = marks.trace(backlog, limit="1000000 B", min_th="400000 B", max_th="900000 B")
    return {
        "packets": 1 / W_Q,
        "half": float(np.log(0.5) / np.log(1 - W_Q)),
        "queue_max": float(queue.max() / 1000),
        "average_max": float(average.max() / 1000),
        "queue_spread": float(queue[busy].std() / 1000),
        "average_spread": float(average[busy].std() / 1000),
        "stale": float(stale[-1] / 1000),
    }


AVERAGE = Phenomenon(
    "red-average",
    "RED's average follows the queue slowly",
    lambda: {"RED": three_behind_red()},
    (
        "Three transfers share a line of 140 kbit/s behind RED whose weight is 1/{packets:.0f}. The queue jumps with "
        "every window; its average, on which RED decides, follows like the voltage behind a low-pass filter: a step "
        "is followed half way after {half:.0f} arrivals. The queue reaches {queue_max:.1f} kB, the average "
        "{average_max:.1f} kB; their standard deviations are {queue_spread:.1f} and {average_spread:.1f} kB.",
        "That is the purpose: a burst passes, a queue that stays does not. The price is that the average is old news. "
        "It changes at arrivals only. After a long time with 500 packets in the queue, 250 of them leave without an "
        "arrival; at the next one the average still is {stale:.0f} packets, and RED goes on picking for a queue that "
        "is half gone.",
    ),
    _tell_average,
    lambda s: [queue_picture(s, "red-average", "Queue and RED's average of it (as Fig. 3-2).", {"average": "RED"})],
)

# ---- idle time -------------------------------------------------------------------------------------------------------

PAUSE_s = (4.0, 6.0)
BURST = {"type": "cbr", "payload": "972 B", "interval": "40 ms"}


def _bursts(clock: str) -> Scenario:
    """Two bursts of a stream that is too fast for the line, with a pause in which the queue runs empty."""
    bursts = {
        f"burst-{i + 1}": {"start": f"{at_s:g} s", "workload": BURST | {"packets": packets}}
        for i, (at_s, packets) in enumerate(((0.0, 70), (PAUSE_s[1], 40)))
    }
    return last_hop(bursts, testbed.leaf("RED", testbed.Reading(red_clock=clock)), 10.0)


def _tell_idle(s: Scene) -> dict[str, float]:
    out: dict[str, float] = {}
    for name, clock in zip(("slow", "fast"), marks.CLOCKS, strict=True):
        t, average = series(s, clock, "red_avg_bytes")
        before, after = average[t < PAUSE_s[1] - 0.05][-1], average[t > PAUSE_s[1] + 0.02][0]
        out |= {f"{name}_before": before / 1000, f"{name}_after": after / 1000}
        out[f"{name}_left"] = 100 * marks.kept(1.0, clock)
        out[f"{name}_exact"] = 100 * marks.kept(1.0, clock, "exact")
    for suffix, damping in (("", "fixed"), ("_exact", "exact")):
        out[f"slow_soon{suffix}"] = 100 * marks.kept(0.05, marks.CLOCKS[0], damping)
    t, queue = series(s, marks.CLOCKS[0], "queue_bytes")
    empty = t[(queue <= 0) & (t > 1.0) & (t < PAUSE_s[1])]
    return out | {"pause": float(PAUSE_s[1] - empty.min())}


IDLE = Phenomenon(
    "red-idle",
    "What RED makes of an idle line depends on a rate that it is told",
    lambda: {clock: _bursts(clock) for clock in marks.CLOCKS},
    (
        "A stream fills the queue, pauses, and comes back. While nothing arrives the average does not move: it stays "
        "at {slow_before:.1f} kB although the queue has been empty for {pause:.1f} s. At the first arrival RED makes "
        "up for it, as if the packets that could have left in the meantime had found an empty queue. How many those "
        "are it computes from the rate in its configuration: with 140 kbit/s the average is {slow_after:.1f} kB "
        "afterwards, with 10 Mbit/s, the default of the tool, {fast_after:.1f} kB.",
        "The kernel does not raise to a power; it reads a table, and before the table's first entry it subtracts "
        "along a line that ends at one half. The line is steep: for 140 kbit/s and 50 ms {slow_soon:.0f} % of the "
        "average are left, where the exponential that it stands for leaves {slow_soon_exact:.0f} %; after one second "
        "{slow_left:.0f} and {slow_exact:.0f} %, with 10 Mbit/s {fast_left:.0f} and {fast_exact:.0f} %. A wrong "
        "rate makes RED forget too fast or too slowly, but only a line that is idle now and then notices.",
    ),
    _tell_idle,
    lambda s: [
        queue_picture(
            s,
            "red-idle",
            "Two bursts and a pause: the queue, and RED's average for two configured rates.",
            {f"average, {clock}": clock for clock in marks.CLOCKS},
        ),
        marks.idle(),
    ],
)

PHENOMENA = (PROBABILITY, SPACING, AVERAGE, IDLE)
