"""RED as [Riva 2003] explains it, each property as a run of its own. `crosswind explain` shows them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.riva_2003 import marks, testbed
from crosswind.reproduce import Picture, Scenario
from crosswind.reproduce.explain import Scene, told

phenomenon = told(__file__)

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
        "inside": 100 * marks.share_selected(INSIDE),
        "expected": 100 * 2 * p / (1 + p),
        "almost": 1 / marks.share_selected(ALMOST),
    }


PROBABILITY = phenomenon("red-drop-probability", dict, _tell_probability, lambda _: [marks.curve()])

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


SPACING = phenomenon(
    "red-mark-spacing", dict, _tell_spacing, lambda _: [marks.spacing("red-mark-spacing"), marks.gaps()]
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


AVERAGE = phenomenon(
    "red-average",
    lambda: {"RED": three_behind_red()},
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


IDLE = phenomenon(
    "red-idle",
    lambda: {clock: _bursts(clock) for clock in marks.CLOCKS},
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
