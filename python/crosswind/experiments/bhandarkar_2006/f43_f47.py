"""Does PERT at the end host do what RED with ECN does in routers?

N8: one bottleneck, buffer max(bandwidth-delay product, 2 n), 300 s of which the first 100 s are left out, ten seeds;
flows start within 50 s. SACK over drop-tail, SACK with ECN over adaptive RED, Vegas and PERT over drop-tail. Figure 43:
rates from 1 Mbit/s to 1 Gbit/s; figure 44: round trips from 10 ms to 1 s; figure 45: numbers of flows; figure 46: web
sessions beside; figure 47: ten flows with round trips from 12 to 120 ms. Figure 55: fifty SACK flows with and without
fifty more on the way back (and PERT flows in their place, which the source does not show). REM is `f52-f54`.

What the source printed: curves that are lost; orderings, that drop rates are zero in most cases, and figure 55.

What may differ here: numbers of flows per rate are ours (open point O15). There are no web sessions in figures 43 to
45. Figure 47 has the buffer of the chapter, 60 ms. A web session of figures 46 and 47 is that of ns-2's example (12
packets every 15 s on average) over what the long flows of its scheme use (variant `web-sack`: over SACK). Orders of
utilisation were taken with a tolerance of 1 point, and a queue is low up to half of drop-tail's: our numbers.
`--quick` leaves out rates above 100 Mbit/s, runs figure 45 with a tenth of rate and flows, figures 44 and 46 with a
sixth of rate, flows and sessions (the same windows), and 60 s of which 20 s are left out.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.figures.panels import panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, seeds
from crosswind.reproduce.claims.quantities import mean, runs
from crosswind.stats import Estimate, exact

FLOWS_OF = {1: 2, 10: 5, 50: 25, 100: 50, 500: 250, 1000: 500}
RTTS_ms = (10, 30, 60, 120, 300, 1000)
COUNTS = (1, 10, 50, 100, 500, 1000)
SESSIONS = (10, 100, 1000)
POINTS: dict[str, tuple[int, ...]] = {"f43": tuple(FLOWS_OF), "f44": RTTS_ms, "f45": COUNTS, "f46": SESSIONS}
SCHEMES = ("droptail", "red", "vegas", "pert")
PROTOCOL = {
    "droptail": "SACK",
    "red": "SACK-ECN",
    "vegas": "Vegas",
    "pert": "PERT",
    "rem": "SACK-ECN",
    "pert-rem": "PERT-REM",
}


def queue(scheme: str, buffer: int) -> dict[str, Any]:
    """The bottleneck's queue under a scheme."""
    if scheme == "red":
        packet = {"measure": "packets", "drop_by": "packets", "mean_packet": f"{nets.PACKET} B", "w_q": "capacity"}
        marks = {"ecn": "mark", "mark_p": 1.0, "adaptive": True}
        return {"type": "red-ns2", "limit": f"{buffer} packets", **marks, **packet}
    if scheme == "rem":
        return {"type": "rem", "limit": f"{buffer} packets", "ecn": "mark"}
    return nets.droptail(buffer)


def world(
    name: str, scheme: str, rate: float, rtt_ms: float, n: int, back: int = 0, seconds: float = 300.0, **more: Any
) -> Scenario:
    """n long flows over one bottleneck; `back` more on the way back; `tcp` changes the long flows.

    With `busy` hosts take up to one packet's time for each packet. The last two thirds of `seconds` are measured.
    """
    buffer = max(nets.bdp(rate, rtt_ms), 2 * (n + back))
    start = {"uniform": ["0 s", f"{seconds / 6:.0f} s"]}
    flows: dict[str, Any] = {"one": nets.bulk(PROTOCOL[scheme], n, start, **more.pop("tcp", {}))}
    own = queue(scheme, buffer)
    line = nets.wire(rate, rtt_ms / 2 - 2, own)
    if back:
        line["reverse"] = {"queue": own}
        flows["back"] = {**nets.bulk("SACK", back, start), "from": "right", "to": "left"}
    flows |= more.pop("flows", {})
    fast = max(500.0, 4 * rate)
    access = nets.host(fast, 1, rate) if more.pop("busy", False) else nets.wire(fast, 1)
    pairs = min(n, 100)
    return nets.dumbbell(name, line, access, flows, pairs=pairs, duration_s=seconds, warm_up_s=seconds / 3, **more)


def web(sessions: int, protocol: str) -> dict[str, Any]:
    """Web sessions."""
    flow = nets.bulk(protocol, sessions, {"uniform": ["0 s", "15 s"]}, idle_restart="on")
    return {**flow, "workload": {"type": "web"}}


def mixed(name: str, scheme: str, seconds: float, buffer_ms: float, over: str) -> Scenario:
    """N9: ten flows with round trips of 12, 24 .. 120 ms on 150 Mbit/s, ten web sessions over `over` beside each."""
    own = queue(scheme, nets.bdp(150, buffer_ms))
    links: dict[str, Any] = {"bottleneck": {"from": "a", "to": "b", **nets.wire(150, 4, own)}}
    flows: dict[str, Any] = {}
    for k in range(1, 11):
        links[f"left-{k}"] = {"from": f"source-{k}", "to": "a", **nets.wire(1000, 6 * k - 5)}
        links[f"right-{k}"] = {"from": "b", "to": f"sink-{k}", **nets.wire(1000, 1)}
        flow = nets.bulk(PROTOCOL[scheme], start={"uniform": ["0 s", f"{seconds / 6:.0f} s"]})
        ends = {"from": f"source-{k}", "to": f"sink-{k}"}
        flows[f"rtt{12 * k}"] = {**flow, **ends}
        flows[f"web{k}"] = {**web(10, over), **ends}
    return nets.world(name, links, flows, f"{seconds:.0f} s", f"{seconds / 3:.0f} s")


def cells(size: str) -> dict[str, tuple[tuple[Any, float, float, int], ...]]:
    """Figure -> (point, rate, round trip, flows)."""
    rates = FLOWS_OF if size == "full" else {k: v for k, v in FLOWS_OF.items() if k <= 100}
    counts = COUNTS if size == "full" else (1, 10, 50, 100)
    sessions = SESSIONS if size == "full" else tuple(max(1, w // 6) for w in SESSIONS)
    top = 500 if size == "full" else 50
    rate, many = (150.0, 50) if size == "full" else (25.0, 8)
    return {
        "f43": tuple((r, float(r), 60.0, n) for r, n in rates.items()),
        "f44": tuple((t, rate, float(t), many) for t in RTTS_ms),
        "f45": tuple((n, float(top), 60.0, n) for n in counts),
        "f46": tuple((w, rate, 60.0, many) for w in sessions),
    }


def configurations(size: str = "full", buffer_ms: float = 60.0, web_over: str = "") -> dict[str, Scenario]:
    """`<figure> <point> <scheme>`, `f47 <scheme>` with a buffer of so long, `f55 <flows on the way back> <scheme>`.

    Web sessions run over what the scheme's long flows use, or over `web_over`.
    """
    seconds = 300.0 if size == "full" else 60.0
    out = {}
    for figure, points in cells(size).items():
        for x, rate, rtt, n in points:
            for s in SCHEMES:
                sessions = {"web": web(int(x), web_over or PROTOCOL[s])} if figure == "f46" else {}
                out[f"{figure} {x} {s}"] = world(f"{figure} {x} {s}", s, rate, rtt, n, seconds=seconds, flows=sessions)
    out |= {f"f47 {s}": mixed(f"f47 {s}", s, seconds, buffer_ms, web_over or PROTOCOL[s]) for s in SCHEMES}
    rate, n = (150.0, 50) if size == "full" else (50.0, 17)
    for b in (0, n):
        for x in ("droptail", "pert"):
            out[f"f55 {b} {x}"] = world(f"f55 {b} {x}", x, rate, 60, n, b, seconds, busy=True)
    return out


def value(figure: str, x: Any, scheme: str, column: str) -> Quantity:
    """One number of a cell."""
    return mean(f"{figure} {x} {scheme}", column)


@measured
def _drops_of_pert(r: Results) -> list[float]:
    """Drop rates at 60 ms, from 10 Mbit/s and, in figure 45, up to 500 flows on 500 Mbit/s."""
    most = 500 if r.size == "full" else 50
    left_out = {"f43": lambda x: x < 10, "f44": lambda x: x != 60, "f45": lambda x: x > most, "f46": lambda _: False}
    asked = [(f, x) for f in FOUR for x in r.points(f) if not left_out[f](float(x))]
    return [value(f, x, "pert", "bottleneck_drop_rate")(r) for f, x in asked]


@measured
def cells_with(r: Results, test: Callable[[str, str], Quantity], *figures_: str) -> Estimate:
    """The share of the cells of some figures of which something is true."""
    found = [test(f, x)(r) for f in figures_ for x in r.points(f)]
    return exact(float(np.mean(found)), len(found))


@measured
def most(r: Results, of: Callable[[str, str], Quantity], *figures_: str) -> float:
    """The largest value of something over the cells of some figures."""
    return max(of(f, x)(r) for f in figures_ for x in r.points(f))


def q(f: str, x: Any, scheme: str) -> Quantity:
    """Mean queue."""
    return value(f, x, scheme, "bottleneck_queue")


def u(f: str, x: Any, scheme: str) -> Quantity:
    """Utilisation."""
    return value(f, x, scheme, "bottleneck_utilisation")


def j(f: str, x: Any, scheme: str) -> Quantity:
    """Jain's index."""
    return value(f, x, scheme, "one_jain")


THREE = ("f43", "f44", "f45")
FOUR = (*THREE, "f46")


def _least_use(r: Results) -> Estimate:
    """From 50 Mbit/s: some points of figure 43, all of figures 44 and 45."""
    found = [u(f, x, "pert")(r) for f in FOUR for x in r.points(f) if f != "f43" or float(x) >= 50]
    return exact(min(found), len(found))


def _fair(r: Results) -> Estimate:
    found = [j(f, x, "pert")(r) for f in FOUR for x in r.points(f) if j(f, x, "droptail")(r) >= 0.97]
    return exact(min(found), len(found))


def _ordered(f: str, x: str) -> Quantity:
    """Utilisation of drop-tail, RED and PERT in that order."""
    return Quantity(lambda r: u(f, x, "droptail")(r) >= u(f, x, "red")(r) >= u(f, x, "pert")(r))


@measured
def _grows(r: Results, scheme: str, column: str) -> bool:
    """It never falls from one number of flows to the next, and is higher in the end."""
    values = [value("f45", x, scheme, column)(r) for x in r.points("f45")]
    return all(b >= a for a, b in pairwise(values)) and values[-1] > values[0]


def rates_of_f47(r: Results, scheme: str) -> np.ndarray[Any, Any]:
    """Rates of the ten flows, shortest round trip first."""
    rows = r.table("flow_window").filter(pl.col("configuration") == f"f47 {scheme}")
    means = dict(rows.group_by("group").agg(pl.col("rate_bps").mean()).iter_rows())
    return np.array([means[f"rtt{12 * k}"] for k in range(1, 11)])


@measured
def _unfair(r: Results, scheme: str) -> float:
    rates = rates_of_f47(r, scheme)
    return float(rates[0] / rates[-1])


@measured
def _jain47(r: Results, scheme: str) -> float:
    x = rates_of_f47(r, scheme)
    return float(x.sum() ** 2 / (x.size * (x**2).sum()))


def _seeds_of_use(f: str, x: Any, scheme: str) -> Quantity:
    """Utilisation, seed by seed."""
    return runs(f"{f} {x} {scheme}", "bottleneck_utilisation")


def _timeouts(r: Results) -> float:
    def fraction(x: str) -> float:
        return float((value("f55", x, "droptail", "one_timeouts") / value("f55", x, "droptail", "one_sent"))(r))

    before, after = (fraction(x) for x in r.points("f55"))
    return after / before if before > 0 else float("nan")


@measured
def _f55(r: Results, scheme: str, which: int) -> float:
    """Payload of the way forth, 1000 of 1040 bytes, without (0) and with (1) flows on the way back."""
    return float(u("f55", r.points("f55")[which], scheme)(r)) * nets.CEILING


AXES = {"f43": "rate (Mbit/s)", "f44": "round trip (ms)", "f45": "flows", "f46": "web sessions"}


def four_panels(r: Results, f: str, schemes: tuple[str, ...], axis: str) -> Picture:
    """Queue, drop rate, utilisation and fairness over the axis of a figure."""
    at = [float(x) for x in r.points(f)]
    wanted = {
        what: {s: (at, [value(f, x, s, column)(r) for x in r.points(f)]) for s in schemes}
        for what, column in measures.PANELS.items()
    }
    text = f"Queue, drop rate, utilisation and fairness by {axis} ({f})."
    return panels(f, text, wanted, axis, logarithmic=("drop rate",))


def pictures(r: Results) -> list[Picture]:
    """Figures 43 to 46 in four panels each, figure 47 by flow."""
    out = [four_panels(r, f, SCHEMES, axis) for f, axis in AXES.items()]
    rtt = [12.0 * k for k in range(1, 11)]
    rates = {s: (rtt, (rates_of_f47(r, s) / 1e6).tolist()) for s in SCHEMES}
    text = "Throughput of ten flows by their round trip (figure 47)."
    return [*out, panels("f47", text, {"Mbit/s": rates}, "round trip (ms)", axis="linear")]


FASTER = ("droptail", "red"), ("red", "pert")
CLAIMS = {
    "B98": {
        "largest drop rate": _drops_of_pert().then(max),
        "cells without drops": _drops_of_pert().then(lambda some: float(np.mean([d == 0 for d in some]))),
    },
    "B99": {
        "cells with PERT <= 1.3 RED": cells_with(lambda f, x: q(f, x, "pert") <= 1.3 * q(f, x, "red"), "f43"),
        "cells with drop-tail > 2 PERT": cells_with(lambda f, x: q(f, x, "droptail") > 2 * q(f, x, "pert"), "f43"),
        "Vegas above drop-tail somewhere, reported": cells_with(
            lambda f, x: q(f, x, "vegas") > q(f, x, "droptail"), *THREE
        ),
        "rates with Vegas above drop-tail": cells_with(lambda f, x: q(f, x, "vegas") > q(f, x, "droptail"), "f43"),
    },
    "B100": {
        "cells in that order": cells_with(_ordered, *FOUR),
        "least of PERT": _least_use,
        "gap to drop-tail at 1 Mbit/s larger than at 100": (
            u("f43", 1, "droptail") - u("f43", 1, "pert") > u("f43", 100, "droptail") - u("f43", 100, "pert")
        ),
        **{
            f"{f} {x}: {a} less {b}": seeds(_seeds_of_use(f, x, a) - _seeds_of_use(f, x, b))
            for f, xs in POINTS.items()
            for x in xs
            for a, b in FASTER
        },
        **{
            f"f43 {x}: pert over droptail": seeds(
                _seeds_of_use("f43", x, "pert") / _seeds_of_use("f43", x, "droptail") - 1
            )
            for x in FLOWS_OF
            if x >= 50
        },
    },
    "B101": {
        "least Jain of PERT": _fair,
        "cells with Vegas below PERT": cells_with(lambda f, x: j(f, x, "vegas") < j(f, x, "pert"), *FOUR),
    },
    "B102": {
        "Vegas' queue grows": _grows("vegas", "bottleneck_queue"),
        "Vegas' drop rate grows": _grows("vegas", "bottleneck_drop_rate"),
        "largest drop rate of PERT": most(lambda f, x: value(f, x, "pert", "bottleneck_drop_rate"), "f45"),
        "largest PERT over drop-tail": most(lambda f, x: q(f, x, "pert") / q(f, x, "droptail"), "f45"),
    },
    "B103": {
        "12 ms over 120 ms: PERT below drop-tail": _unfair("pert") < _unfair("droptail"),
        "Vegas below drop-tail": _unfair("vegas") < _unfair("droptail"),
        "Jain: PERT above SACK": _jain47("pert") > _jain47("droptail"),
        "queue: PERT below": mean("f47 pert", "bottleneck_queue") < mean("f47 droptail", "bottleneck_queue"),
        "drops: PERT not above": (
            mean("f47 pert", "bottleneck_drop_rate") <= mean("f47 droptail", "bottleneck_drop_rate")
        ),
    },
    "B107": {
        "utilisation without, payload": _f55("droptail", 0),
        "utilisation with, payload": _f55("droptail", 1),
        "ratio of the fractions of timeouts": _timeouts,
        "PERT in place of SACK: utilisation without, payload": _f55("pert", 0),
        "PERT in place of SACK: utilisation with, payload": _f55("pert", 1),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "PERT, Vegas and RED",
    where="figures 43 to 47, 55",
    former={"buffer_ms": 120.0},
    quick=study.smaller("rates up to 100 Mbit/s, up to 100 flows, 60 s of which 20 s are left out"),
)
