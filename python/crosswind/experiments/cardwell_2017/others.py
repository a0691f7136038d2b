"""What do Vegas, a path of 10 Gbit/s and CUBIC's own bound of losses add?

One flow of Vegas over 100 Mbit/s and 100 ms with 0.001 to 10 % of random loss; CUBIC and BBR over 10 Gbit/s and 100 ms
with 1 %; CUBIC's law driven alone with one loss in 33.9 million segments.

What the source shows: a bound of less than one loss in 30 million segments for CUBIC at 10 Gbit/s and 100 ms (paper);
3.27 and 9150 Mbit/s with 1 % there (the mail with BBR's patch); the rates of Vegas in a replication on Linux 4.11.

What may differ here: Vegas has the recovery of Linux 6. The mail says nothing of the run but rate, delay and loss:
20 s, goodput of the last 10 s, windows of 1 GiB at most.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.cardwell_2017 import losses, study
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures
from crosswind.theory.responses import cubic
from crosswind.theory.windows import average_window

VEGAS = "Vegas"
VEGAS_LOSSES = (0.001, 0.01, 0.1, 1, 2, 5, 10)
FAST, FAST_RTT_MS, FAST_LOSS = "10 Gbit/s", 100, 1
FAST_S, STEADY_S = 20, 10
FAST_LAWS = {law: study.LAWS[law] for law in ("CUBIC", "BBR")}
#: Segments that 10 Gbit/s and 100 ms hold, of 1500 bytes; one loss in so many carries them (RFC 9438).
SEGMENTS, BOUND = 1e9 / 8 / 1500, 33.9e6


def _vegas(loss: float) -> str:
    return losses._cell(VEGAS, loss, seconds=losses.HALF).name


def _fast(law: str) -> str:
    return f"{law}, 10 Gbit per s"


def configurations() -> dict[str, Scenario]:
    """Vegas by loss; both laws over the fast path."""
    cells = {_vegas(p): losses._scenario(losses._cell(VEGAS, p, seconds=losses.HALF)) for p in VEGAS_LOSSES}
    return cells | {_fast(law): _over_fast(tcp) for law, tcp in FAST_LAWS.items()}


def _over_fast(tcp: dict[str, Any]) -> Scenario:
    line = study.line(FAST, FAST_RTT_MS, "10000000 packets", FAST_LOSS / 100)
    large = {"send_buffer": f"{1 << 30} B", "receive_buffer": f"{1 << 30} B"}
    flow = {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": tcp | large}
    return study.scenario(line, {"one": flow}, FAST_S, sample="1 s", series="totals", sampled=["one"])


def tables(runs: Runs) -> Tables:
    """As in `study`, and `steady`: goodput of the last ten seconds of the fast runs (Mbit/s)."""
    found = dict(study.tables(runs))
    totals = runs.sample("size_bytes", "one").filter(pl.col("time_ns") >= (FAST_S - STEADY_S) * 10**9)
    rate = (pl.col("value").max() - pl.col("value").min()) * 8e-6 / STEADY_S
    return found | {"fast": totals.group_by(study.KEYS).agg(steady=rate).sort(study.KEYS)}


def _steady(law: str) -> Any:
    def value(r: Results) -> float:
        rows = r.table("fast").filter(pl.col("configuration") == _fast(law))
        return float(rows["steady"].to_numpy().mean())

    return value


def _bound(_: Results) -> float:
    """Segments for each loss at which the formula's mean window is that of the path."""
    low, high = 1e3, 1e10
    while high / low > 1.0001:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if cubic(1 / middle, FAST_RTT_MS / 1e3) < SEGMENTS else (low, middle)
    return high / 1e6


def _driven(_: Results) -> float:
    """CUBIC's mean window at one random loss in 33.9 million segments, over what the path holds."""
    return average_window({"law": "cubic"}, 1 / BOUND, events=100) / SEGMENTS


CLAIMS: dict[str, Any] = {
    "CA13": {"formula": _bound, "law driven alone": _driven},
    "CA14": {law: _steady(law) for law in FAST_LAWS},
    "CA22": {f"{p:g} %": measures.value(_vegas(p), "departures", np.mean) for p in VEGAS_LOSSES},
}

EXPERIMENT = study.STUDY.experiment(__name__, "Vegas, and ten gigabits", where="loss sweep and text", reps=3)
