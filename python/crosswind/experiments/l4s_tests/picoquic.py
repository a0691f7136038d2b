"""Do Prague and Reno keep the bounds that picoquic's own tests set them?

4 MB from a server over 10 Mbit/s and 20 ms behind DualPI2, whose low-latency queue marks from 0.8 ms on, and everything
from 4.5 ms (Prague), 3 ms (Reno) or 6 ms on (a line that falls to 2 Mbit/s from 1 to 3 s). How long it takes, how much
is retransmitted, and the variation of the round trip at the end.

What the source asks: bounds of the tests of one program, `l4s_prague`, `l4s_reno` and `l4s_prague_updown`, in its own
simulator.

What may differ here: four answers of 1 MB, each asked for when the one before is complete, are one transfer here, to
whose time three round trips are added. Senders are Prague 0.6 and Linux's Reno over TCP, those there QUIC; Reno
is marked as ECT(1) and halves at every mark, as there. Packets are 1500 bytes long, there 1440. The queue holds 31250
bytes, as there; its law is that of RFC 9332, which that program follows but for details. Five repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests import study
from crosswind.reproduce import Runs, Scenario, Tables, measures

SECONDS, SAMPLE_MS = 20, 10
RATE_MBPS, RTT_MS = 10, 20
SIZE_B, ANSWERS = 4_000_000, 4
MARKS_FROM_US = 800
FLOW = "one"
#: The timeout's formula is that of QUIC, whose variation is asked for.
TIMER = {"rto": "rfc6298", "rto_min": "200 ms"}
LAWS: dict[str, dict[str, Any]] = {
    "Prague": {"preset": "prague", **TIMER},
    "Reno": {"preset": "linux-6", "ecn": "on", "codepoint": "ect1", **TIMER},
}
#: Law, from where on everything is marked (us), new rates of the line (Mbit/s) by time (s).
CELLS: dict[str, tuple[str, int, dict[int, int]]] = {
    "Prague": ("Prague", 4500, {}),
    "Reno": ("Reno", 3000, {}),
    "Prague, line falls": ("Prague", 6000, {1: 2, 3: 10}),
}


def configurations() -> dict[str, Scenario]:
    """The three tests."""
    return {cell: _scenario(*made) for cell, made in CELLS.items()}


def _scenario(law: str, all_from_us: int, steps: dict[int, int]) -> Scenario:
    queue = {"type": "dualpi2", "limit": "31250 B", "step": f"{MARKS_FROM_US} us"}
    queue |= {"ramp": f"{all_from_us - MARKS_FROM_US} us"}
    ends = {"from": "server", "to": "client"}
    line = {**ends, "rate": f"{RATE_MBPS} Mbit/s", "delay": f"{RTT_MS / 2} ms", "queue": queue}
    flow = {**ends, "start": {"uniform": ["0 s", "50 ms"]}, "workload": {"type": "bulk", "size": f"{SIZE_B} B"}}
    record = {"sample": f"{SAMPLE_MS} ms", "sampled": [FLOW]}
    whole = {"name": "bounds", "duration": f"{SECONDS} s", "link": {"line": line}, "record": record}
    whole |= {"flow": {FLOW: flow | {"tcp": LAWS[law]}}}
    changes = [{"at": f"{at} s", "link": "line", "set": {"rate": f"{m} Mbit/s"}} for at, m in steps.items()]
    return Scenario.from_dict(whole | ({"timeline": changes} if changes else {}))


def tables(runs: Runs) -> Tables:
    """`repetition`: seconds until the last answer is complete, packets retransmitted, the last variation (ms)."""
    took = pl.col("elapsed_ns") / 1e9 + (ANSWERS - 1) * RTT_MS / 1e3
    flows = runs.flows().select(*study.KEYS, took_s=took, retransmitted="retransmitted_packets")
    last = (
        runs.sample("rttvar_ns", FLOW).sort("time_ns").group_by(study.KEYS).agg(variation=pl.col("value").last() / 1e6)
    )
    return {"repetition": flows.join(last, on=study.KEYS).sort(study.KEYS)}


def _bounds(cell: str) -> dict[str, Any]:
    columns = {"time": "took_s", "retransmissions": "retransmitted", "variation of the round trip": "variation"}
    return {f"{cell}, {label}": measures.value(cell, column, np.mean) for label, column in columns.items()}


CLAIMS: dict[str, Any] = {"LX5": {label: measure for cell in CELLS for label, measure in _bounds(cell).items()}}

EXPERIMENT = study.STUDY.experiment(__name__, "The bounds of picoquic's tests", where="picoquic's own tests", reps=5)
