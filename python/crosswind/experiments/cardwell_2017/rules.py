"""What follows from BBR's gains, windows and filters, and does it?

One flow over 100 Mbit/s and 100 ms by loss and probe gain, with and without the search for policers; one over 40 ms
whose line has 10, 20 and again 10 Mbit/s; one over 200 ms with a window of 8 MiB.

What the source states: three cycles for twice the rate, ten round trips for half of it; 98 % of the time in ProbeBW,
the rest in ProbeRTT; a window of 8 MB bounds the rate over 200 ms; the limit of losses comes from the gain, so that a
gain g bears 1 - 1/g. Numbers of round trips are derived.

What may differ here: the least loss at which a flow has less than half of what the losses leave is that of a list.
Round trips are counted as they are, queues included.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.cardwell_2017 import study
from crosswind.reproduce import Results, Scenario

LOSSES = (10, 15, 18, 20, 22, 25, 28, 30, 33, 36)
GAINS = (1.25, 1.5)
SEARCH = ("on", "off")
UP_S, DOWN_S, END_S = 20, 40, 60
MBPS = 1448 / 1500
WINDOW = 8 * 2**20 // 1448


def _lossy(gain: float, search: str, loss: int) -> str:
    return f"gain {gain:g}, search {search}, {loss} %"


def _flow(**changes: Any) -> dict[str, Any]:
    flow = study.flow("BBR")
    bbr = {**flow["tcp"]["bbr"], **changes}
    return flow | {"tcp": flow["tcp"] | {"bbr": bbr}}


def configurations() -> dict[str, Scenario]:
    """The sweep of losses, the steps of the rate, and the window."""
    cells = {
        _lossy(g, s, p): study.scenario(
            study.line("100.27 Mbit/s", 100, "10000000 packets", p / 100),
            {"one": _flow(probe_gain=g, policer=s)},
            60,
        )
        for g in GAINS
        for s in SEARCH
        for p in LOSSES
    }
    bounded = study.LAWS["CUBIC"] | {"window_limit_segments": WINDOW}
    long = {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": bounded}
    fast = study.line("1 Gbit/s", 200, "100000 packets")
    return cells | {
        "steps": _steps(),
        "window": study.scenario(fast, {"one": long}, 30, sample="1 s", sampled=["one"]),
    }


def _steps() -> Scenario:
    line = study.line("10 Mbit/s", 40, "400000 B")
    whole = study.scenario(line, {"one": study.flow("BBR")}, END_S, sample="10 ms", sampled=["one"])
    set_to = {"link": "line", "direction": "forward"}
    rates = {UP_S: "20 Mbit/s", DOWN_S: "10 Mbit/s"}
    return whole.with_({"timeline": [{"at": f"{t} s", **set_to, "set": {"rate": r}} for t, r in rates.items()]})


def _knee(gain: float, search: str) -> Any:
    """The least loss (%) at which less than half of what the losses leave is delivered."""

    def value(r: Results) -> float:
        def kept(p: int) -> float:
            return float(r.mean(_lossy(gain, search, p), "goodput")) / (100.27 * MBPS * (1 - p / 100))

        return min((p for p in LOSSES if kept(p) < 0.5), default=float("nan"))

    return value


def _reps(r: Results) -> list[int]:
    return [int(n) for n in r.runs.only("steps").runs()["rep"].unique().to_list()]


def _rounds(r: Results, from_s: float, before_mbps: float, mbps: float) -> float:
    """Round trips until the rate that BBR takes for the path's is within 5 % of the line's; mean of repetitions."""
    found = []
    for rep in _reps(r):
        t, rate = r.series("steps", "path_rate_bps", "one", rep)
        t_rtt, rtt = r.series("steps", "srtt_ns", "one", rep)
        line = mbps * 1e6 * MBPS
        there = t[(t > from_s) & ((rate >= 0.95 * line) if mbps > before_mbps else (rate <= 1.05 * line))][0]
        found.append(float((1e7 / rtt[(t_rtt > from_s) & (t_rtt <= there)]).sum()))
    return float(np.mean(found))


def _small(r: Results) -> float:
    """Share of the time after the start with a window of four packets."""
    window = r.runs.only("steps").sample("cwnd_bytes", "one").filter(pl.col("time_ns") > 2 * 10**9)["value"].to_numpy()
    return float((window < 4.5 * 1448).mean())


def _bounded(r: Results) -> float:
    """Goodput with the window of 8 MiB, the start left out (Mbit/s)."""
    t, rate = r.series("window", "goodput_bps", "one")
    return float(rate[t > 10].mean()) / 1e6


CLAIMS: dict[str, Any] = {
    "CA5": {
        "1.5, no search": _knee(1.5, "off"),
        "gain 1.25, no search": _knee(1.25, "off"),
        "gain 1.5": _knee(1.5, "on"),
        "gain 1.25": _knee(1.25, "on"),
    },
    "CA8": {
        "up": lambda r: _rounds(r, UP_S, 10, 20),
        "down": lambda r: _rounds(r, DOWN_S, 20, 10),
    },
    "CA11": {"ProbeRTT": lambda r: 100 * _small(r), "ProbeBW": lambda r: 100 * (1 - _small(r))},
    "CA12": {"8 MiB": _bounded},
}

EXPERIMENT = study.STUDY.experiment(__name__, "What follows from BBR's rules", where="text", reps=3)
