"""Has DCTCP with a tenth of the buffer the throughput of TCP?

Two and twenty greedy flows over 1 Gbit/s and 0.2 ms for 5 s: Reno and CUBIC behind 600 packets of drop-tail, DCTCP
behind 60 with a step of 20 packets.

What the source says, in its abstract (Alizadeh et al. 2010): the throughput of TCP or more with 90 % less buffer.

What may differ here: all numbers are ours but the step, which is the usual one at this rate; the same means 1 % less at
most. The step is one of time at the rate of the line.
"""

from typing import Any

import polars as pl

from crosswind.experiments.tcp_validation import study
from crosswind.reproduce import Results, Runs, Scenario, Tables

SECONDS, LARGE, SMALL, STEP = 5, 600, 60, 20
FLOWS = (2, 20)
#: 20 packets of 1500 bytes at 1 Gbit/s.
STEP_US = STEP * 1500 * 8 / 1000
TCP: dict[str, dict[str, Any]] = {
    "Reno": {"preset": "linux-6"},
    "CUBIC": {"preset": "linux-6-cubic"},
    "DCTCP": {"preset": "linux-6-dctcp"},
}


def _cell(law: str, n: int) -> str:
    return f"{law}, {n} flows"


def configurations() -> dict[str, Scenario]:
    """Three laws, few and many flows."""
    return {_cell(law, n): _scenario(law, n) for law in TCP for n in FLOWS}


def _scenario(law: str, n: int) -> Scenario:
    step = {"type": "codel", "limit": f"{SMALL} packets", "target": "100 s", "interval": "100 s", "ecn": "mark"}
    step |= {"profile": "linux", "ce_threshold": f"{STEP_US:g} us"}
    queue = step if law == "DCTCP" else {"type": "droptail", "limit": f"{LARGE} packets"}
    line = {"from": "left", "to": "right", "rate": "1 Gbit/s", "delay": "100 us", "queue": queue}
    line["reverse"] = {"queue": {"type": "droptail", "limit": "100000 packets"}}
    flow = {"from": "left", "to": "right", "count": n, "start": {"uniform": ["0 s", "100 ms"]}}
    flow |= {"workload": {"type": "bulk"}, "tcp": TCP[law]}
    return Scenario.from_dict(
        {"name": "buffers", "duration": f"{SECONDS} s", "link": {"line": line}, "flow": {"f": flow}}
    )


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of all flows (Mbit/s)."""
    keys = ["configuration", "rep"]
    return {"repetition": runs.flows().group_by(keys).agg(mbps=pl.col("size_bytes").sum() * 8e-6 / SECONDS).sort(keys)}


def _over(law: str, n: int) -> Any:
    def value(r: Results) -> float:
        return r.mean(_cell("DCTCP", n), "mbps") / r.mean(_cell(law, n), "mbps")

    return value


CLAIMS: dict[str, Any] = {
    "LD10": {f"over {law}, {n} flows": _over(law, n) for law in ("Reno", "CUBIC") for n in FLOWS},
}

EXPERIMENT = study.STUDY.experiment(__name__, "A tenth of the buffer", where="Alizadeh 2010", reps=3)
