"""Do PERT and TCP-LDP do what their rules say, one rule at a time?

PERT's response curve is asked of the engine itself. One PERT flow on 10 Mbit/s with a round trip of 60 ms responds to
the queue that it builds; once with a packet lost as well. One TCP-LDP flow on 100 Mbit/s and 50 ms meets packets that
are late by 30 ms, so that cumulative ACKs release hundreds of packets at once. All is read from the sender's events.

What the source printed: the rules of IV.B and V.C.

What may differ here: the round trip that paces LDP is the smoothed one of the timeout estimator (gain 1/8); intervals
are held against it and the window just before.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.core import core
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Results, Scenario, measured, needed
from crosswind.stats import Estimate, exact

RTT_s = 0.06
CURVE_ms = (5.0, 7.5, 10.0, 15.0, 20.0, 80.0)
LATE = tuple(range(2000, 20_000, 1500))


def configurations(**_: Any) -> dict[str, Scenario]:
    """`pert`, `pert and a loss`, `ldp`."""
    record = {"events": ["one"]}
    short: dict[str, Any] = {"duration_s": 30, "warm_up_s": 10, "record": record}
    flow = {"one": nets.bulk("PERT", initial_ssthresh="40000 B")}
    queue = nets.droptail(nets.bdp(10, 60))
    lossy = nets.wire(10, 28, queue, loss={"type": "list", "packets": [9000]}, reverse={"loss": "none"})
    ldp = {"one": nets.bulk("LDP", initial_ssthresh="500000 B")}
    line = nets.wire(100, 23, nets.droptail(nets.bdp(100, 50)), packets=list(LATE), late_mean="30 ms")
    line |= {"type": "reordering", "reverse": {**line["reverse"], "packets": []}}
    return {
        "pert": nets.dumbbell("pert", nets.wire(10, 28, queue), nets.wire(100, 1), flow, **short),
        "pert and a loss": nets.dumbbell("pert and a loss", lossy, nets.wire(100, 1), flow, **short),
        "ldp": nets.dumbbell("ldp", line, nets.wire(1000, 1), ldp, duration_s=4, warm_up_s=1, record=record),
    }


def reductions(
    r: Results, label: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """When the window fell by more than a tenth, to what share, and whether loss recovery began then."""
    cwnd = r.events(label, "one", "cwnd").group_by("time_ns", "t", maintain_order=True).agg(pl.col("seq").last())
    ratio = (cwnd["seq"] / cwnd["seq"].shift(1)).fill_null(1.0).to_numpy()
    fell = ratio < 0.9
    began = r.events(label, "one", "recovery")["t"].to_numpy()
    t = cwnd["t"].to_numpy()[fell]
    by_loss = np.array([bool(np.any(np.abs(began - x) < 1e-6)) for x in t], dtype=bool)
    return t, ratio[fell], by_loss


@measured
def _curve(_: Results, delay_ms: float) -> float:
    table = json.dumps({"preset": "pert"})
    return float(core().early_curve(table, [delay_ms / 1e3])[0])


def _early_gap(r: Results) -> Estimate:
    """Least time between two early responses, over the round trip without queue."""
    t, _, by_loss = reductions(r, "pert")
    gaps = np.diff(t[~by_loss])
    return exact(float(gaps.min() / RTT_s), gaps.size)


@measured
def _early_share(r: Results, which: Callable[[Any], float]) -> Estimate:
    _, share, by_loss = reductions(r, "pert")
    return exact(which(share[~by_loss]), int((~by_loss).sum()))


def _loss_share(r: Results) -> Estimate:
    _, share, by_loss = reductions(r, "pert and a loss")
    needed(by_loss.any(), "no recovery")
    return exact(float(share[by_loss][0]), int(by_loss.sum()))


@measured
def spacing(r: Results) -> npt.NDArray[np.float64]:
    """Time between packets of LDP, over the round trip divided by the window just before."""
    sent = r.events("ldp", "one", "send", "retransmit").select("time_ns").sort("time_ns")
    rtt = r.events("ldp", "one", "rtt").select(
        "time_ns", srtt=pl.col("seq").cast(pl.Float64).ewm_mean(alpha=1 / 8, adjust=False)
    )
    cwnd = r.events("ldp", "one", "cwnd").select("time_ns", cwnd="seq")
    both = sent.join_asof(rtt, on="time_ns").join_asof(cwnd, on="time_ns").drop_nulls()
    gap = np.diff(both["time_ns"].to_numpy())
    own = (both["srtt"] / (both["cwnd"] / nets.PAYLOAD)).to_numpy()[:-1]
    return np.asarray(gap / own, dtype=np.float64)


def _jump(r: Results) -> float:
    acked = r.events("ldp", "one", "ack")["seq"].to_numpy()
    return float(np.diff(acked).max() / nets.PAYLOAD)


def pictures(r: Results) -> list[Picture]:
    """Figure 42, and a PERT flow's window."""
    delays = np.linspace(0, 25, 251)
    p = core().early_curve(json.dumps({"preset": "pert"}), (delays / 1e3).tolist())
    printed = [study.BOOK.number("B95", f"at P + {ms:g} ms") for ms in CURVE_ms[:-1]]
    points: dict[str, Any] = {"p": (delays, p), "published": (CURVE_ms[:-1], printed)}
    cwnd = r.events("pert", "one", "cwnd")
    window = {"PERT": (cwnd["t"], cwnd["seq"] / nets.PAYLOAD)}
    f42, caption = "PERT's probability of a response.", "Window of one PERT flow on 10 Mbit/s and 60 ms."
    return [
        figures.scatter("f42", f42, points, "smoothed queueing delay (ms)", "probability"),
        figures.over_time("pert-window", caption, window, "window (segments)"),
    ]


CLAIMS = {
    "B95": {f"at P + {ms:g} ms": _curve(ms) for ms in CURVE_ms},
    "B96": {
        "least time between two, in round trips": _early_gap,
        "least share kept": _early_share(min),
        "largest share kept": _early_share(max),
        "share kept after a loss": _loss_share,
    },
    "B130": {
        "least interval": spacing().then(lambda x: exact(float(x.min()), x.size)),
        "largest step of the acknowledgement": _jump,
        "intervals from 0.9 to 1.1, reported": spacing().then(lambda x: np.mean((x > 0.9) & (x < 1.1))),
    },
}

EXPERIMENT = study.experiment(__name__, "PERT and TCP-LDP, one rule at a time", where="IV.B, V.C", reps=1)
