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
from crosswind.reproduce import Picture, Results, Scenario, measured

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
            line = {**body, "type": "detour", "reverse": {**body["reverse"], "paths": "one", "difference": "0 ms"}}
            name = f"f6 {ms} {p}"
            wide = 0 if window == "free" else nets.bdp(ACCESS, SHORT_RTT_ms + ms) + 40
            flow6 = {"one": nets.bulk(p, window_limit_segments=wide)}
            out[name] = nets.dumbbell(name, line, nets.wire(ACCESS, 1), flow6, duration_s=seconds, warm_up_s=left_out)
    return out


def curve(r: Results, figure: str, protocol: str) -> npt.NDArray[np.float64]:
    """Packets in the measured time, per point of the axis."""
    points = SHARES if figure == "f5" else DIFFERENCES_ms
    return np.array([r.mean(f"{figure} {x} {protocol}", "one_bps") / 8 / nets.PAYLOAD for x in points])


def _falls(r: Results) -> bool:
    sack = curve(r, "f5", "SACK")
    floor = sack.min()
    return all(b < a or b < 1.25 * floor for a, b in pairwise(sack))


@measured
def _least(r: Results, figure: str, until: float) -> float:
    points = np.array(SHARES if figure == "f5" else DIFFERENCES_ms)
    dcr = curve(r, figure, "DCR")
    return float((dcr / dcr[0])[points <= until].min())


def _over_sack(r: Results) -> float:
    many = np.array(SHARES) >= 0.01
    return float((curve(r, "f5", "DCR") / curve(r, "f5", "SACK"))[many].min())


def _above_everywhere(r: Results) -> bool:
    ms = np.array(DIFFERENCES_ms) > 3e3 / nets.packets_per_s(ACCESS)
    return bool(np.all(curve(r, "f6", "DCR")[ms] > curve(r, "f6", "SACK")[ms]))


def _beyond(r: Results) -> float:
    dcr = curve(r, "f6", "DCR")
    return float((dcr / dcr[0])[np.array(DIFFERENCES_ms) > SHORT_RTT_ms].min())


def _at_the_largest(r: Results) -> npt.NDArray[np.float64]:
    none, most = (r.of(f"f6 {ms} DCR", "one_bps") for ms in (DIFFERENCES_ms[0], DIFFERENCES_ms[-1]))
    return most / none - 1


def pictures(r: Results) -> list[Picture]:
    """Figures 5 and 6."""
    out = []
    for figure, points, what in (("f5", SHARES, "% of packets late"), ("f6", DIFFERENCES_ms, "difference (ms)")):
        values = {
            p: {
                f"{100 * x:g}" if figure == "f5" else f"{x}": float(v)
                for x, v in zip(points, curve(r, figure, p), strict=True)
            }
            for p in PROTOCOLS
        }
        out.append(figures.bars(figure, f"Throughput of one flow by {what}.", values, "packets per second"))
    return out


CLAIMS = {
    "B13": {"SACK falls": _falls, "least of DCR over its value at 0": _least("f5", 1)},
    "B14": {"least ratio": _over_sack},
    "B15": {"floor over capacity": lambda r: float(curve(r, "f5", "SACK").min() / nets.packets_per_s(RATE))},
    "B16": {
        "up to 100 ms": _least("f6", SHORT_RTT_ms),
        "beyond": _beyond,
        "at 200 ms, against no difference": lambda r: float(_at_the_largest(r).mean()),
    },
    "B17": {"below everywhere": _above_everywhere},
    "B22": {
        "difference in packets per second": lambda r: float(abs(curve(r, "f5", "DCR")[0] - curve(r, "f5", "SACK")[0]))
    },
}

EXPERIMENT = study.experiment(__name__, "Reordering, one flow", where="figures 5, 6", quick=study.SHORT)
