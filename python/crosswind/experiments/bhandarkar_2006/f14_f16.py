"""How do SACK and DCR share a bottleneck behind which a wireless link has errors?

Sources at 100 Mbit/s and 5 ms, a bottleneck of 10 Mbit/s and 5 ms, then a wireless link of 1 Mbit/s per receiver, 20
ms (figure 14) or 250 ms (figure 15, satellite). 12 SACK and 12 DCR flows; the router's buffer sets the congestion.
Figure 16: one flow, DCR or Westwood-NR, over wireless delay and error rate. 1000 s after 100 s of warm-up.

What the source printed: curves that are lost; in words: at low congestion DCR gets much more without starving SACK,
the gap shrinks with congestion; over the satellite SACK drops drastically; DCR and Westwood are equal at low error
and delay, DCR is better at high ones.

What may differ here: buffers for the three levels of congestion are ours, chosen for the drop rates that the source
gives. Claim B32 holds the ratio of mean throughputs against the square root of the loss rates, at all three levels.
"""

import math
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.f10_f13 import world
from crosswind.experiments.bhandarkar_2006.measures import mean_of, rate_of, ratio
from crosswind.figures.panels import panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, seeds
from crosswind.reproduce.claims.quantities import least

ERRORS = (0.0, 0.005, 0.01, 0.02, 0.05)
BUFFERS = {"low": 320, "moderate": 88, "high": 36}
SATELLITE_BUFFER = 400
DELAYS_ms = (20, 100, 250)
F16_ERRORS = (0.0, 0.001, 0.01, 0.05, 0.1)
F16_PROTOCOLS = ("DCR", "Westwood")


def tree(
    name: str, flows: dict[str, Any], buffer: int, wireless_ms: float, error: float, size: str = "full"
) -> Scenario:
    """24 sources, one bottleneck, 24 wireless links."""
    links: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    links["bottleneck"] = {"from": "router", "to": "base", **nets.wire(10, 5, nets.droptail(buffer))}
    k = 0
    for group, flow in flows.items():
        for _ in range(flow["count"]):
            k += 1
            links[f"left-{k}"] = {"from": f"source-{k}", "to": "router", **nets.host(100, 5, 10)}
            links[f"right-{k}"] = {"from": "base", "to": f"sink-{k}", **nets.repairing(1, wireless_ms, error)}
            wanted[f"{group}{k}"] = {**flow, "count": 1, "from": f"source-{k}", "to": f"sink-{k}"}
    seconds, left_out = study.span_s(size)
    return nets.world(name, links, wanted, f"{seconds} s", f"{left_out} s")


def mixed(name: str, buffer: int, wireless_ms: float, error: float, sack: int = 12, size: str = "full") -> Scenario:
    """SACK and DCR flows behind one bottleneck; receivers never limit them."""
    start = {"uniform": ["0 s", "10 s"]}
    flows = {"sack": nets.bulk("SACK", sack, start)}
    if sack < 24:
        flows["dcr"] = nets.bulk("DCR", 24 - sack, start)
    return tree(name, flows, buffer, wireless_ms, error, size)


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f14 <level> <error>`, `alone <error>`, `f15 <error>`, `f16 <ms> <error> <protocol>`, `f32 ..`."""
    out = {f"f14 {x} {e}": mixed(f"f14 {x} {e}", b, 20, e, size=size) for x, b in BUFFERS.items() for e in ERRORS}
    out |= {f"alone {e}": mixed(f"alone {e}", BUFFERS["low"], 20, e, 24, size) for e in ERRORS}
    out |= {f"f15 {e}": mixed(f"f15 {e}", SATELLITE_BUFFER, 250, e, size=size) for e in ERRORS}
    for p in F16_PROTOCOLS:
        for d in DELAYS_ms:
            out |= {f"f16 {d} {e} {p}": world(f"f16 {d} {e} {p}", p, 1.0, float(d), e, size=size) for e in F16_ERRORS}
    return out


def _rate(label: str, kind: str) -> Quantity:
    """Mean rate of the flows of one kind."""
    return rate_of(label, kind).then(np.mean)


def gap(label: str) -> Quantity:
    """DCR less SACK, in bit/s per flow, seed by seed."""
    return rate_of(label, "dcr") - rate_of(label, "sack")


def _gap(label: str) -> Quantity:
    return _rate(label, "dcr") - _rate(label, "sack")


def _ordered_gaps(r: Results) -> bool:
    gaps = [[_gap(f"f14 {x} {e}")(r) for x in ("low", "moderate", "high")] for e in ERRORS if e > 0]
    return all(g[0] > g[1] > g[2] for g in gaps)


def _loses(label: str) -> Quantity:
    return _rate(f"{label} 0.01", "sack") / _rate(f"{label} 0.0", "sack")


def _westwood(d: int, e: float) -> Quantity:
    return ratio((f"f16 {d} {e} DCR", "one_bps"), (f"f16 {d} {e} Westwood", "one_bps"))


@measured
def _root(r: Results, level: str, error: float) -> float:
    label = f"f14 {level} {error}"
    congestion = r.mean(label, "bottleneck_drop_rate")
    rates = _rate(label, "dcr")(r) / _rate(label, "sack")(r)
    return float(rates / math.sqrt(1 + error / max(congestion, 1e-9)))


def by_delay(r: Results) -> Picture:
    """Figure 16: a panel for each error rate."""
    wanted = {
        f"Mbit/s at {e:.1%} of errors": {
            p: (DELAYS_ms, [r.mean(f"f16 {d} {e} {p}", "one_bps") / 1e6 for d in DELAYS_ms]) for p in F16_PROTOCOLS
        }
        for e in F16_ERRORS
    }
    text = "Throughput of one DCR or Westwood flow by the delay of the wireless link (figure 16)."
    return panels("f16", text, wanted, "wireless delay (ms)", axis="linear", scale="one")


def pictures(r: Results) -> list[Picture]:
    """Figures 14 to 16."""
    out = []
    for label in (*[f"f14 {x}" for x in BUFFERS], "f15"):
        bars = {p: {f"{e}": float(_rate(f"{label} {e}", p.lower())(r)) / 1e6 for e in ERRORS} for p in ("SACK", "DCR")}
        caption = f"Mean throughput by channel error rate ({label})."
        out.append(figures.bars(label.replace(" ", "-"), caption, bars, "Mbit/s"))
    return [*out, by_delay(r)]


PAIRS = (("low", "moderate"), ("low", "high"), ("moderate", "high"))
CLAIMS = {
    "B28": {
        "low > moderate > high at every error rate": _ordered_gaps,
        **{f"drop rate, {x}": mean_of(f"f14 {x} 0.0", "bottleneck_drop_rate") for x in BUFFERS},
        **{
            f"{a} over {b}, {e:.1%}": seeds((gap(f"f14 {a} {e}") - gap(f"f14 {b} {e}")) / 1e6)
            for a, b in PAIRS
            for e in ERRORS
            if e > 0
        },
    },
    "B29": {
        "least share": least(_rate(f"f14 low {e}", "sack") / _rate(f"alone {e}", "sack") for e in ERRORS),
        # In Mbit/s; follows from the smaller share of drops.
        "low congestion less the others, least": least(
            _rate(f"f14 low {e}", "sack") - _rate(f"f14 {x} {e}", "sack") for x in ("moderate", "high") for e in ERRORS
        )
        / 1e6,
    },
    "B30": {
        "SACK loses more at 1 %": _loses("f15") < _loses("f14 low"),
        "least lead of DCR": least(_gap(f"f15 {e}") for e in ERRORS if e > 0) / 1e6,
        "drop rate without errors": mean_of("f15 0.0", "bottleneck_drop_rate"),
    },
    "B31": {
        "20 ms, no errors": _westwood(20, 0.0),
        "20 ms, 0.1 %": _westwood(20, 0.001),
        "250 ms, 10 %": _westwood(250, 0.1),
    },
    "B32": {f"{x}, {e:.1%}, over the law": _root(x, e) for x in BUFFERS for e in ERRORS if e > 0},
}

EXPERIMENT = study.experiment(
    __name__, "Channel errors and congestion; Westwood", where="figures 14 to 16", quick=study.SHORT
)
