"""How much of its throughput does one flow keep when packets are reordered?

Figure 5: 8 Mbit/s, 50 ms, a share of the packets late by N(25 ms, 8 ms), a receive window that never fills the
queue by itself (open point O1: `free-window` is the other reading). Figure 6: packets take turns on two paths, one
longer by the difference. One flow, SACK or DCR, 1000 s after 100 s of warm-up.

What the source printed: curves that are lost; in words: SACK falls rapidly and stays low, DCR stays near the value
without reordering, and with two paths drops a little once the difference exceeds the round trip of the short path.

What may differ here: the two paths of figure 6 have 8 Mbit/s each as two halves of one line, and the receive window
holds what the longer path and 40 packets take, so that nothing is lost to congestion; the source gives neither. SACK
has reached its floor when it is within a quarter of its lowest value: our number.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, seeds
from crosswind.reproduce.claims.quantities import runs

SHARES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
DIFFERENCES_ms = (0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200)
PROTOCOLS = ("SACK", "DCR")
SHORT_RTT_ms = 104
RATE, ACCESS = 8.0, 10.0


def configurations(window: str = "fits", size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f5 <share> <protocol>` and `f6 <ms> <protocol>`."""
    limit = nets.bdp(RATE, SHORT_RTT_ms) + 40 if window == "fits" else 0
    seconds, left_out = study.span_s(size)
    out = {}
    for p in PROTOCOLS:
        flow = {"one": nets.bulk(p, window_limit_segments=limit)}
        queue = nets.droptail(50)
        for share in SHARES:
            line = nets.reordering(RATE, 50, queue, share)
            name = f"f5 {share} {p}"
            out[name] = nets.dumbbell(name, line, nets.wire(ACCESS, 1), flow, duration_s=seconds, warm_up_s=left_out)
        for ms in DIFFERENCES_ms:
            body = nets.wire(2 * RATE, 50, queue, paths="two", difference=f"{ms} ms")
            line = {**body, "type": "reordering", "reverse": {**body["reverse"], "paths": "one", "difference": "0 ms"}}
            name = f"f6 {ms} {p}"
            wide = 0 if window == "free" else nets.bdp(ACCESS, SHORT_RTT_ms + ms) + 40
            flow6 = {"one": nets.bulk(p, window_limit_segments=wide)}
            out[name] = nets.dumbbell(name, line, nets.wire(ACCESS, 1), flow6, duration_s=seconds, warm_up_s=left_out)
    return out


@measured
def curve(r: Results, figure: str, protocol: str) -> npt.NDArray[np.float64]:
    """Packets in the measured time, per point of the axis."""
    points = SHARES if figure == "f5" else DIFFERENCES_ms
    return np.array([r.mean(f"{figure} {x} {protocol}", "one_bps") / 8 / nets.PAYLOAD for x in points])


def _falls(sack: npt.NDArray[np.float64]) -> bool:
    floor = sack.min()
    return all(b < a or b < 1.25 * floor for a, b in pairwise(sack))


def _kept(figure: str) -> Quantity:
    """DCR's throughput over that at the first point."""
    return curve(figure, "DCR").then(lambda dcr: dcr / dcr[0])


MS = np.array(DIFFERENCES_ms)
NEAR, LATE = SHORT_RTT_ms >= MS, np.array(SHARES) >= 0.01
NONE, MOST = (runs(f"f6 {ms} DCR", "one_bps") for ms in (DIFFERENCES_ms[0], DIFFERENCES_ms[-1]))


def pictures(r: Results) -> list[Picture]:
    """Figures 5 and 6."""
    out = []
    for figure, points, what in (("f5", SHARES, "% of packets late"), ("f6", DIFFERENCES_ms, "difference (ms)")):
        values = {
            p: {
                f"{100 * x:g}" if figure == "f5" else f"{x}": float(v)
                for x, v in zip(points, curve(figure, p)(r), strict=True)
            }
            for p in PROTOCOLS
        }
        out.append(figures.bars(figure, f"Throughput of one flow by {what}.", values, "packets per second"))
    return out


SACK, DCR = curve("f5", "SACK"), curve("f5", "DCR")
CLAIMS = {
    "B13": {"SACK falls": SACK.then(_falls), "least of DCR over its value at 0": _kept("f5").then(np.min)},
    "B14": {"least ratio": (DCR / SACK).then(lambda v: v[LATE].min())},
    "B15": {"floor over capacity": SACK.then(np.min) / nets.packets_per_s(RATE)},
    "B16": {
        "up to 100 ms": _kept("f6").then(lambda v: v[NEAR].min()),
        "beyond": _kept("f6").then(lambda v: v[~NEAR].min()),
        "at 200 ms, against no difference": seeds(MOST / NONE - 1),
    },
    "B17": {
        "below everywhere": (curve("f6", "DCR") > curve("f6", "SACK")).then(
            lambda above: above[3e3 / nets.packets_per_s(ACCESS) < MS].all()
        )
    },
    "B22": {"difference in packets per second": (DCR - SACK).then(lambda v: abs(v[0]))},
}

EXPERIMENT = study.experiment(__name__, "Reordering, one flow", where="figures 5, 6", quick=study.SHORT)
