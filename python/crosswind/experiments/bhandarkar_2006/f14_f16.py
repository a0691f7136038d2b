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
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.experiments.bhandarkar_2006.f10_f13 import world
from crosswind.figures.panels import panels
from crosswind.reproduce import Picture, Results, Scenario, measured, seeds
from crosswind.stats import Estimate

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
    data = {
        "name": nets.slug(name),
        "title": name,
        "duration": f"{seconds} s",
        "link": links,
        "flow": wanted,
        "record": {"sample": f"{left_out} s", "series": "totals"},
    }
    return Scenario.from_dict(data)


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


def _named(r: Results, label: str, kind: str) -> float:
    """Mean rate of the flows of one kind."""
    table = r.table("flow_window")
    rows = table.filter((pl.col("configuration") == label) & pl.col("group").str.starts_with(kind))
    return float(rows["rate_bps"].mean())  # type: ignore[arg-type]


def _each_seed(r: Results, label: str, kind: str) -> npt.NDArray[np.float64]:
    """The same for every repetition, in their order."""
    table = r.table("flow_window").filter((pl.col("configuration") == label) & pl.col("group").str.starts_with(kind))
    return table.group_by("rep").agg(pl.col("rate_bps").mean()).sort("rep")["rate_bps"].to_numpy()


def gap(r: Results, label: str) -> float:
    """DCR less SACK, in bit/s per flow."""
    return _named(r, label, "dcr") - _named(r, label, "sack")


@measured
def _gap_between(r: Results, more: str, less: str, error: float) -> npt.NDArray[np.float64]:
    """By how many Mbit/s the gap is larger at one congestion than at another, seed by seed."""
    a, b = (_each_seed(r, f"f14 {x} {error}", "dcr") - _each_seed(r, f"f14 {x} {error}", "sack") for x in (more, less))
    return (a - b) / 1e6


def _ordered_gaps(r: Results) -> bool:
    some = [e for e in ERRORS if e > 0]
    gaps = [[gap(r, f"f14 {x} {e}") for x in ("low", "moderate", "high")] for e in some]
    return all(g[0] > g[1] > g[2] for g in gaps)


def _not_below(r: Results) -> float:
    """In Mbit/s; follows from the smaller share of drops."""
    low, *others = (np.array([_named(r, f"f14 {x} {e}", "sack") for e in ERRORS]) for x in BUFFERS)
    return min(float((low - x).min()) for x in others) / 1e6


def _loses(label: str) -> Callable[[Results], float]:
    return lambda r: _named(r, f"{label} 0.01", "sack") / _named(r, f"{label} 0.0", "sack")


def _westwood(d: int, e: float) -> Callable[[Results], Estimate]:
    return lambda r: measures.ratio(r, (f"f16 {d} {e} DCR", "one_bps"), (f"f16 {d} {e} Westwood", "one_bps"))


@measured
def _root(r: Results, level: str, error: float) -> float:
    label = f"f14 {level} {error}"
    congestion = r.mean(label, "bottleneck_drop_rate")
    ratio = _named(r, label, "dcr") / _named(r, label, "sack")
    return ratio / math.sqrt(1 + error / max(congestion, 1e-9))


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
        values = {k.upper(): {f"{e}": _named(r, f"{label} {e}", k) / 1e6 for e in ERRORS} for k in ("sack", "dcr")}
        out.append(
            figures.bars(label.replace(" ", "-"), f"Mean throughput by channel error rate ({label}).", values, "Mbit/s")
        )
    return [*out, by_delay(r)]


CLAIMS = {
    "B28": {
        "low > moderate > high at every error rate": _ordered_gaps,
        **{
            f"drop rate, {x}": lambda r, x=x: measures.mean_of(r, f"f14 {x} 0.0", "bottleneck_drop_rate")
            for x in BUFFERS
        },
        **{
            f"{a} over {b}, {e:.1%}": seeds(_gap_between(a, b, e))
            for a, b in (("low", "moderate"), ("low", "high"), ("moderate", "high"))
            for e in ERRORS
            if e > 0
        },
    },
    "B29": {
        "least share": lambda r: min(
            _named(r, f"f14 low {e}", "sack") / _named(r, f"alone {e}", "sack") for e in ERRORS
        ),
        "low congestion less the others, least": _not_below,
    },
    "B30": {
        "SACK loses more at 1 %": lambda r: _loses("f15")(r) < _loses("f14 low")(r),
        "least lead of DCR": lambda r: min(gap(r, f"f15 {e}") for e in ERRORS if e > 0) / 1e6,
        "drop rate without errors": lambda r: measures.mean_of(r, "f15 0.0", "bottleneck_drop_rate"),
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
