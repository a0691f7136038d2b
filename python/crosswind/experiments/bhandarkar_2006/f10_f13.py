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
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario
from crosswind.reproduce.claims.quantities import mean

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


def rate(label: str) -> Quantity:
    """Payload of all flows together, in bit/s."""
    return mean(label, "one_sum_bps")


def curve(figure: str, points: tuple[Any, ...], protocol: str) -> Quantity:
    """Payload per point of an axis."""
    return Quantity(lambda r: np.array([rate(f"{figure} {x} {protocol}")(r) for x in points]))


def _law(error: float) -> Quantity:
    return rate(f"f10 {error} SACK") / min(1e6, 1.22 * 8000 / (0.06 * math.sqrt(error)))


def _slope(sack: Any) -> float:
    rtt = np.array([2 * (10 + d) for d in DELAYS_ms])
    return float(np.polyfit(np.log(rtt), np.log(sack), 1)[0])


def _doublings(protocol: str, figure: str = "f12", since: float = 0.5) -> Quantity:
    """By how much each doubling of the rate multiplies throughput."""
    return curve(figure, tuple(x for x in RATES if x >= since), protocol).then(lambda v: v[1:] / v[:-1])


def _fills(n: int, protocol: str) -> Quantity:
    return rate(f"f13 {n} {protocol}") / (6e6 * nets.CEILING)


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
            {p: {f"{x}": float(v) / 1e6 for x, v in zip(xs, curve(f, xs, p)(r), strict=True)} for p in PROTOCOLS},
            "Mbit/s",
        )
        for f, (xs, what) in axes.items()
    ]


# A repeated attempt takes the line once more: repairs leave exp(-error) of it.
LEFT = math.exp(HIGH)
CLAIMS = {
    "B23": {"least": curve("f10", ERRORS, "DCR").then(lambda v: float((v / v[0]).min()))},
    "B24": {f"at {e}, over the law": _law(e) for e in (0.01, 0.02, 0.05, 0.1)},
    "B25": {
        "SACK: power of the round trip": curve("f11", DELAYS_ms, "SACK").then(_slope),
        "DCR: least over largest": curve("f11", DELAYS_ms, "DCR").then(lambda v: v.min() / v.max()),
    },
    "B26": {
        "SACK, largest gain per doubling": _doublings("SACK").then(np.max),
        "SACK at 5 %, from 1 Mbit/s": _doublings("SACK", "f12 5%", 1).then(np.max),
        "SACK at 10 %, from 1 Mbit/s": _doublings("SACK", since=1).then(np.max),
        "DCR, least gain per doubling": _doublings("DCR").then(np.min),
    },
    "B27": {
        "SACK, 12 flows": _fills(12, "SACK"),
        "SACK, 16 flows": _fills(16, "SACK"),
        **{
            f"{p}, {n} flows, of what repairs leave": _fills(n, p) * LEFT
            for p, n in (("SACK", 12), ("SACK", 16), ("DCR", 1))
        },
        "SACK grows": curve("f13", COUNTS, "SACK").then(lambda v: np.all(np.diff(v) > -20000.0)),
        "DCR, one flow": _fills(1, "DCR"),
    },
}

EXPERIMENT = study.experiment(
    __name__, "Channel errors repaired by the link, no congestion", where="figures 10 to 13", quick=study.SHORT
)
