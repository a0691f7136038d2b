"""What do channel errors that the wireless link repairs cost a flow?

100 Mbit/s and 5 ms wired (two hops), then a wireless link that repairs corrupted packets without keeping their order.
Figure 10: 1 Mbit/s, 20 ms, the error rate varies. Figure 11: the wireless delay varies. Figure 12: its rate varies.
Figure 13: 6 Mbit/s and n flows. Receive window and buffer allow full use without loss. 1000 s after 100 s of warm-up.

What the source printed: curves that are lost; in words: DCR stays near the error-free value, SACK degrades with error
rate and delay, gains nothing from more rate, and needs more than eight flows to fill the link.

What may differ here: the error rates of the figures are not printed; 10 % is taken as the highest, 1 % as moderate.
The distance between errors is exponential, as the source has it: 10 % of errors hit 9.5 % of the packets, so repairs
leave 90.5 % of the link to any sender.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Results, Scenario, measured

ERRORS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
DELAYS_ms = (20, 50, 100, 150, 200, 250)
RATES = (0.5, 1, 2, 4, 8)
COUNTS = (1, 2, 4, 8, 12, 16)
PROTOCOLS = ("SACK", "DCR")
HIGH, MODERATE = 0.1, 0.01


def world(
    name: str, protocol: str, rate_mbps: float, delay_ms: float, error: float, n: int = 1, size: str = "full"
) -> Scenario:
    """n flows from one source to one receiver; window and buffers let them fill the link without a loss."""
    rtt_ms = 2 * (5 + 5 + delay_ms)
    # Room for the window that one flow needs, and for what leaves while the sender waits.
    window = nets.bdp(rate_mbps, rtt_ms) + 4
    flow = nets.bulk(protocol, n, {"uniform": ["0 s", "5 s"]}, window_limit_segments=2 * window)
    line = nets.repairing(rate_mbps, delay_ms, error)
    seconds, left_out = study.span_s(size)
    return nets.dumbbell(name, line, nets.wire(100, 5), {"one": flow}, pairs=n, duration_s=seconds, warm_up_s=left_out)


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f10 <error>`, `f11 <ms>`, `f12 <rate>`, `f13 <n>`, each with the protocol."""
    out = {}
    for p in PROTOCOLS:
        cases = [(f"f10 {e}", 1.0, 20.0, e, 1) for e in ERRORS]
        cases += [(f"f11 {d}", 1.0, float(d), MODERATE, 1) for d in DELAYS_ms]
        cases += [(f"f12 {r}", float(r), 20.0, HIGH, 1) for r in RATES]
        cases += [(f"f12 5% {r}", float(r), 20.0, 0.05, 1) for r in RATES[1:]]
        cases += [(f"f13 {n}", 6.0, 20.0, HIGH, n) for n in COUNTS]
        for label, rate, delay, error, n in cases:
            out[f"{label} {p}"] = world(f"{label} {p}", p, rate, delay, error, n, size)
    return out


def rate(r: Results, label: str) -> float:
    """Payload of all flows together, in bit/s."""
    return r.mean(label, "one_sum_bps")


def curve(r: Results, figure: str, points: tuple[Any, ...], protocol: str) -> Any:
    """Payload per point of an axis."""
    return np.array([rate(r, f"{figure} {x} {protocol}") for x in points])


def _kept(r: Results) -> float:
    dcr = curve(r, "f10", ERRORS, "DCR")
    # A repeated attempt takes the line once more: what is left is 1 - error of the capacity.
    return float((dcr / dcr[0]).min())


def _law(error: float) -> Callable[[Results], float]:
    ideal = min(1e6, 1.22 * 8000 / (0.06 * math.sqrt(error)))
    return lambda r: rate(r, f"f10 {error} SACK") / ideal


def _inverse(r: Results) -> float:
    rtt = np.array([2 * (10 + d) for d in DELAYS_ms])
    sack = curve(r, "f11", DELAYS_ms, "SACK")
    return float(np.polyfit(np.log(rtt), np.log(sack), 1)[0])


def _flat(r: Results) -> float:
    dcr = curve(r, "f11", DELAYS_ms, "DCR")
    return float(dcr.min() / dcr.max())


@measured
def _doubling(r: Results, protocol: str, which: str, figure: str = "f12", since: float = 0.5) -> float:
    values = curve(r, figure, tuple(x for x in RATES if x >= since), protocol)
    steps = values[1:] / values[:-1]
    return float(steps.max() if which == "most" else steps.min())


def _fills(n: int, protocol: str) -> Callable[[Results], float]:
    return lambda r: rate(r, f"f13 {n} {protocol}") / (6e6 * nets.CEILING)


def _of_left(n: int, protocol: str) -> Callable[[Results], float]:
    """Repairs take the line once more: they leave exp(-error) of it."""
    return lambda r: _fills(n, protocol)(r) * math.exp(HIGH)


def pictures(r: Results) -> list[Picture]:
    """Figures 10 to 13."""
    axes: dict[str, tuple[tuple[Any, ...], str]] = {
        "f10": (ERRORS, "channel error rate"),
        "f11": (DELAYS_ms, "wireless delay (ms)"),
        "f12": (RATES, "wireless rate (Mbit/s)"),
        "f13": (COUNTS, "number of flows"),
    }
    return [
        figures.bars(
            f,
            f"Throughput of SACK and DCR by {what}.",
            {p: {f"{x}": float(v) / 1e6 for x, v in zip(xs, curve(r, f, xs, p), strict=True)} for p in PROTOCOLS},
            "Mbit/s",
        )
        for f, (xs, what) in axes.items()
    ]


CLAIMS = {
    "B23": {"least": _kept},
    "B24": {f"at {e}, over the law": _law(e) for e in (0.01, 0.02, 0.05, 0.1)},
    "B25": {"SACK: power of the round trip": _inverse, "DCR: least over largest": _flat},
    "B26": {
        "SACK, largest gain per doubling": _doubling("SACK", "most"),
        "SACK at 5 %, from 1 Mbit/s": _doubling("SACK", "most", "f12 5%", 1),
        "SACK at 10 %, from 1 Mbit/s": _doubling("SACK", "most", since=1),
        "DCR, least gain per doubling": _doubling("DCR", "least"),
    },
    "B27": {
        "SACK, 12 flows": _fills(12, "SACK"),
        "SACK, 16 flows": _fills(16, "SACK"),
        **{
            f"{p}, {n} flows, of what repairs leave": _of_left(n, p)
            for p, n in (("SACK", 12), ("SACK", 16), ("DCR", 1))
        },
        "SACK grows": lambda r: np.all(np.diff(curve(r, "f13", COUNTS, "SACK")) > -20000.0),
        "DCR, one flow": _fills(1, "DCR"),
    },
}

EXPERIMENT = study.experiment(
    __name__, "Channel errors repaired by the link, no congestion", where="figures 10 to 13", quick=study.SHORT
)
