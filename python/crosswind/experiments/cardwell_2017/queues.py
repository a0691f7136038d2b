"""What do BBR and CUBIC leave in a buffer, and how do flows of BBR share?

One flow over 10 Mbit/s and 40 ms with a deep buffer; five flows of BBR over 100 Mbit/s and 10 ms that start 2 s
apart; eight flows over 128 kbit/s and 40 ms by buffer.

What the source shows: BBR drains after its start what it has queued, CUBIC leaves it and swings between 70 and 100
% of the buffer; flows of BBR reach equal shares; on the slow line BBR's round trip does not grow with the buffer,
CUBIC's does.

What may differ here: the buffers are ours where the source prints none (8 BDP; 10 to 100 packets); five
repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.cardwell_2017 import study
from crosswind.reproduce import Results, Scenario, measured

BDP_B = 10e6 * 0.04 / 8
DEEP_BDP = 8
SLOW_PACKETS = (50, 100, 200, 400)
ALONE_S, SHARING_S, SLOW_S = 60, 50, 300
LAWS = ("BBR", "CUBIC")


def configurations() -> dict[str, Scenario]:
    """The three set-ups."""
    return {**_alone(), "five": _five(), **_slow()}


def _alone() -> dict[str, Scenario]:
    line = study.line("10 Mbit/s", 40, f"{round(DEEP_BDP * BDP_B)} B")
    watched = {"sample": "10 ms", "sampled": ["line"]}
    return {f"alone {law}": study.scenario(line, {"one": study.flow(law)}, ALONE_S, **watched) for law in LAWS}


def _five() -> Scenario:
    line = study.line("100 Mbit/s", 10, "1000 packets")
    flows = {f"f{i}": study.flow("BBR", start=f"{2 * i} s") for i in range(5)}
    return study.scenario(line, flows, SHARING_S, sample="1 s", series="totals")


def _slow() -> dict[str, Scenario]:
    eight = {"count": 8, "start": {"uniform": ["0 s", "1 s"]}}
    return {
        f"slow {law} {n}": study.scenario(
            study.line("128 kbit/s", 40, f"{n} packets"), {"f": study.flow(law, **eight)}, SLOW_S, hist=["f"]
        )
        for law in LAWS
        for n in SLOW_PACKETS
    }


@measured
def _backlog_bdp(r: Results, law: str, after_s: float, before_s: float, of: Any) -> float:
    """The backlog of the line within a part of the run, in BDPs."""
    t, v = r.series(f"alone {law}", "queue_bytes", "line/forward")
    part = v[(t >= after_s) & (t < before_s)]
    return float(of(part)) / BDP_B


@measured
def _jain(r: Results, first_s: int, last_s: int) -> float:
    """Jain's index of what the five flows deliver between two seconds."""
    ends = pl.col("time_ns").is_in([first_s * 10**9, last_s * 10**9])
    totals = r.runs.only("five").sample("size_bytes").filter(ends).sort("time_ns")
    taken = totals.group_by("rep", "entity").agg(x=pl.col("value").last() - pl.col("value").first())
    index = taken.group_by("rep").agg(j=pl.col("x").sum() ** 2 / (5 * (pl.col("x") ** 2).sum()))
    return float(index["j"].to_numpy().mean())


def _rtt_ms(r: Results, law: str, packets: int) -> float:
    rtt = r.runs.only(f"slow {law} {packets}").flows()["rtt_p50_ns"].to_numpy()
    return float(np.median(rtt)) / 1e6


def _slope(r: Results, law: str) -> float:
    """How much the median round trip grows with a packet of buffer (ms)."""
    return float(np.polyfit(SLOW_PACKETS, [_rtt_ms(r, law, n) for n in SLOW_PACKETS], 1)[0])


CLAIMS: dict[str, Any] = {
    "CA6": {
        "BBR, largest": _backlog_bdp("BBR", 0.0, 2.0, np.max),
        "BBR, two seconds later": _backlog_bdp("BBR", 2.0, 4.0, np.median),
        "CUBIC, median of the run": _backlog_bdp("CUBIC", 10.0, 60.0, np.median),
    },
    "CA7": {
        "least, of the buffer": lambda r: _backlog_bdp("CUBIC", 20.0, 60.0, np.min)(r) / DEEP_BDP,
        "most, of the buffer": lambda r: _backlog_bdp("CUBIC", 20.0, 60.0, np.max)(r) / DEEP_BDP,
    },
    "CA9": {"20 to 50 s": _jain(20, 50)},
    "CA10": {
        "slope of BBR over that of CUBIC": lambda r: _slope(r, "BBR") / _slope(r, "CUBIC"),
        **{f"BBR, {n} packets": (lambda r, n=n: _rtt_ms(r, "BBR", n)) for n in SLOW_PACKETS},
        **{f"CUBIC, {n} packets": (lambda r, n=n: _rtt_ms(r, "CUBIC", n)) for n in SLOW_PACKETS},
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "What BBR leaves in a buffer", where="figures 2 to 5")
