"""What does one flow get of 20 Mbit/s over 160 ms behind CoDel and behind DualPI2?

One greedy flow for 120 s; goodput is the mean of the last 60 s.

What the source says: one run each over a real path (2021), CUBIC behind CoDel and behind DualPI2, Prague behind
DualPI2.

What may differ here: the path is a line without losses and jitter. Prague is 0.6, the module of that year. A flow has
arrived when its mean over 5 s reaches 95 % of that of the last 60 s (our choice). Five repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests import study
from crosswind.experiments.l4s_tests.rtt_fairness import FRAME_B, LATER, LAWS, PACKET_B
from crosswind.reproduce import Runs, Scenario, Tables, measures

SECONDS, STEADY_S, WINDOW_S, ARRIVED = 120, 60, 5, 0.95
RATE_MBPS, RTT_MS = 20, 160
FLOW = "one"
CELLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "CoDel, cubic": ({"type": "codel", "profile": "linux", "ecn": "mark"}, LAWS["cubic"]),
    "DualPI2, cubic": ({"type": "dualpi2", "profile": "linux"}, LAWS["cubic"]),
    "DualPI2, prague": ({"type": "dualpi2", "profile": "linux"}, LATER["prague"]),
}


def configurations() -> dict[str, Scenario]:
    """Two queues, two laws."""
    return {cell: _scenario(*made) for cell, made in CELLS.items()}


def _scenario(queue: dict[str, Any], tcp: dict[str, Any]) -> Scenario:
    ends = {"from": "sender", "to": "receiver"}
    rate = f"{RATE_MBPS * 1_000_000 * PACKET_B // FRAME_B} bit/s"
    line = {**ends, "rate": rate, "delay": f"{RTT_MS / 2} ms", "queue": queue}
    line["reverse"] = {"queue": {"type": "droptail", "limit": "100000 packets"}}
    flow = {**ends, "start": {"uniform": ["0 s", "50 ms"]}, "workload": {"type": "bulk"}, "tcp": tcp}
    record = {"sample": "1 s", "series": "totals", "sampled": [FLOW]}
    whole = {"name": "one-flow", "duration": f"{SECONDS} s", "link": {"line": line}, "flow": {FLOW: flow}}
    return Scenario.from_dict(whole | {"record": record})


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of the steady part (Mbit/s), and when it was reached (s)."""
    totals = runs.sample("size_bytes", FLOW).sort("time_ns")
    rows = []
    for (configuration, rep), part in totals.group_by(study.KEYS, maintain_order=True):
        t, mbit = part["time_ns"].to_numpy() / 1e9, part["value"].to_numpy() * 8e-6
        steady = (mbit[-1] - np.interp(STEADY_S, t, mbit)) / (t[-1] - STEADY_S)
        means = (mbit[WINDOW_S:] - mbit[:-WINDOW_S]) / (t[WINDOW_S:] - t[:-WINDOW_S])
        there = t[WINDOW_S:][means >= ARRIVED * steady]
        rows.append((configuration, rep, steady, there[0] if there.size else np.nan))
    return {"repetition": pl.DataFrame(rows, schema=[*study.KEYS, "goodput", "arrived_s"], orient="row")}


def _goodput(cell: str) -> Any:
    return measures.value(cell, "goodput", np.mean)


CLAIMS: dict[str, Any] = {
    "AQ36": {"CoDel, CUBIC": _goodput("CoDel, cubic")},
    "AQ37": {
        "DualPI2, CUBIC": _goodput("DualPI2, cubic"),
        "below CoDel by": lambda r: r.mean("CoDel, cubic", "goodput") - r.mean("DualPI2, cubic", "goodput"),
    },
    "AQ38": {
        "DualPI2, Prague": _goodput("DualPI2, prague"),
        "reached after": measures.value("DualPI2, prague", "arrived_s", np.mean),
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "One flow over a long path", where="field runs", reps=5)
