"""What does Prague lose when packets come to the queue in bursts?

One greedy flow for 60 s over a path of 7 ms that collects packets and lets up to 16 go at once, every 1 to 5 ms;
behind it DualPI2 at 20 or 40 Mbit/s with a step of 1 or 5 ms. Goodput is the mean of the last 40 s.

What the source says: one run each behind a radio link that aggregates for up to 4 ms (2021).

What may differ here: the radio link is a list of instants, whole milliseconds apart, drawn once; it has no losses.
Its waits come on top of the 7 ms. Prague is 0.6. BBRv2 is not built: BBRv3 with Google's constants and its answer to
marks, ECT(1), stands in its place. Five repetitions.
"""

import random
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests import study
from crosswind.experiments.l4s_tests.rtt_fairness import FRAME_B, LATER, LAWS, PACKET_B
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

SECONDS, STEADY_S = 60, 20
RTT_MS, SLOT_MS, SLOT_PACKETS, TRACE_MS = 7, (1, 5), 16, 10_000
FLOW = "one"
BBR: dict[str, Any] = {"preset": "bbr3-google", "ecn": "accurate", "codepoint": "ect1", "bbr3": {"ecn": "on"}}
#: Law, rate (Mbit/s), step (ms).
CELLS = {
    f"{law} {rate}, step {step} ms": (tcp, rate, step)
    for law, tcp in (("prague", LATER["prague"]), ("cubic", LAWS["cubic"]), ("bbr", BBR))
    for rate in (20, 40)
    for step in (1, 5)
}


def _instants() -> list[int]:
    """When packets may go, ms: 16 of them in each slot."""
    draws, at, out = random.Random(1), 0, []
    while at < TRACE_MS:
        at += draws.randint(*SLOT_MS)
        out += [at] * SLOT_PACKETS
    return out


def configurations() -> dict[str, Scenario]:
    """Three laws, two rates, two steps."""
    return {cell: _scenario(*made) for cell, made in CELLS.items()}


def _scenario(tcp: dict[str, Any], rate_mbps: int, step_ms: int) -> Scenario:
    large = {"type": "droptail", "limit": "100000 packets"}
    half = f"{RTT_MS / 2} ms"
    radio: dict[str, Any] = {
        "from": "sender",
        "to": "middle",
        "type": "trace",
        "opportunities_ms": _instants(),
        "delay": half,
    }
    radio |= {"queue": large, "reverse": {"type": "wire", "rate": "1 Gbit/s", "delay": half, "queue": large}}
    queue = {"type": "dualpi2", "profile": "linux", "step": f"{step_ms} ms"}
    line: dict[str, Any] = {
        "from": "middle",
        "to": "receiver",
        "rate": f"{rate_mbps * 1_000_000 * PACKET_B // FRAME_B} bit/s",
    }
    line |= {"delay": "0 ms", "queue": queue, "reverse": {"queue": large}}
    flow = {"from": "sender", "to": "receiver", "start": {"uniform": ["0 s", "50 ms"]}}
    flow |= {"workload": {"type": "bulk"}, "tcp": tcp}
    record = {"sample": "1 s", "series": "totals", "sampled": [FLOW]}
    links = {"radio": radio, "line": line}
    whole = {"name": "bursts", "duration": f"{SECONDS} s", "link": links, "flow": {FLOW: flow}, "record": record}
    return Scenario.from_dict(whole)


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of the steady part (Mbit/s)."""
    ends = pl.col("time_ns").is_in([STEADY_S * 10**9, SECONDS * 10**9])
    totals = runs.sample("size_bytes", FLOW).filter(ends).sort("time_ns")
    mbps = (pl.col("value").last() - pl.col("value").first()) * 8e-6 / (SECONDS - STEADY_S)
    return {"repetition": totals.group_by(study.KEYS).agg(goodput=mbps).sort(study.KEYS)}


def _over(first: str, second: str) -> Any:
    return lambda r: r.mean(first, "goodput") / r.mean(second, "goodput")


def _rise(r: Results) -> float:
    return r.mean("prague 20, step 5 ms", "goodput") / r.mean("prague 20, step 1 ms", "goodput") - 1


def _goodputs(rate: int, *laws: tuple[str, int]) -> dict[str, Any]:
    cells = {f"{law}, step {step} ms": f"{law} {rate}, step {step} ms" for law, step in laws}
    return {label: measures.value(cell, "goodput", np.mean) for label, cell in cells.items()}


CLAIMS: dict[str, Any] = {
    "AQ39": {"rise from 1 to 5 ms": _rise, **_goodputs(20, ("prague", 1), ("prague", 5), ("cubic", 1))},
    "AQ40": _goodputs(40, ("prague", 1), ("prague", 5)),
    "AQ41": {
        "CUBIC over Prague": _over("cubic 20, step 1 ms", "prague 20, step 1 ms"),
        "Prague over BBR": _over("prague 20, step 1 ms", "bbr 20, step 1 ms"),
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "Bursts in front of DualPI2", where="field runs", reps=5)
