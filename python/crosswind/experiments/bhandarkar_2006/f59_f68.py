"""How do high-speed flows share a link without reordering: LTCP-PERT, LTCP-DCR, TCP-LDP and the others?

N14: 1 Gbit/s, a round trip of 60 ms, a buffer of one bandwidth-delay product, 2 to 1000 flows (figures 65 and 68).
N12: 1 Gbit/s and 50 ms; figure 59: 10 to 100 flows, half LTCP and half LTCP-DCR; figure 60: 50 flows of either,
buffers from 0.1 to 2 products. N6: 1 Gbit/s and 120 ms; figure 64: the queue of one flow of LTCP, BIC or HTCP behind a
buffer of 5000 packets, over time.

What the source printed: curves that are lost; in words: LTCP-PERT uses a little less than the others with a much
lower queue, no drops until there are very many flows, and a fairness above 0.999; FAST's queue and drops rise with
the number of flows; LTCP-DCR loads like LTCP, 96.1 % (95.5 % with small buffers), with a fairness above 0.95 mostly;
TCP-LDP has next to no queue and no drops until there are very many flows.

What may differ here: LTCP-DCR is LTCP with the detector of `f56_f70`. FAST keeps 100 packets per flow in the queue
(the source gives no number); packets are processed in up to 8 us (`overhead_` of N6), one packet's time, but not in
figure 64, with its one flow. LTCP is the one with the variable decrease in figures 65 and 68, and the fixed one in
figures 59, 60 and 64 (O7). Flows start within 50 ms of each other in ordinary slow start (decision 0029; variants
`stagger-..`). 120 s of which 20 s are left out; figure 64 shows 150 s. `--quick` is 100 Mbit/s with a tenth of the
flows, whose windows are those of full size, a tenth of FAST's packets, and 30 s of which 10 s are left out.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.figures.panels import Lines, panels
from crosswind.reproduce import MissingDataError, Picture, Results, Scenario, measured, seeds
from crosswind.stats import Estimate, exact

COUNTS = (2, 10, 50, 200, 500, 1000)
FEW_COUNTS = (2, 20, 50, 100)
SHOWN = {
    "f65": ("LTCP variable", "LTCP-PERT", "BIC", "HTCP", "FAST"),
    "f68": ("LTCP variable", "LTCP-DCR", "LDP", "BIC", "HTCP", "FAST", "Scalable"),
}
PROTOCOLS = tuple(dict.fromkeys(p for shown in SHOWN.values() for p in shown))
PAIRED = (10, 20, 40, 70, 100)
BUFFERS = (0.1, 0.25, 0.5, 1.0, 2.0)
ONE = ("LTCP", "BIC", "HTCP")
LOSS_BASED = ("LTCP variable", "BIC", "HTCP", "LTCP-DCR")
ONE_BUFFER, ONE_RTT_ms = 5000, 120


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str, first: str = "none", stagger_s: float = 0.05) -> None:
        full = size == "full"
        self.first, self.stagger_s = first, stagger_s
        self.scale = 1.0 if full else 0.1
        self.rate = 1000 * self.scale
        self.counts = COUNTS if full else FEW_COUNTS
        self.seconds, self.left_out = (120.0, 20.0) if full else (30.0, 10.0)
        self.paired = {n: n if full else max(2, 2 * round(n / 20)) for n in PAIRED}
        self.fifty = 50 if full else 5

    def flow(self, protocol: str, count: int, share: int) -> dict[str, Any]:
        """Flows that start together; `first="fits"`: with a first threshold of 1.4 times their share of the buffer."""
        own: dict[str, Any] = {}
        if self.first == "fits":
            own["initial_ssthresh"] = f"{max(4, int(1.4 * share)) * nets.PAYLOAD} B"
        # The buffer holds as many flows' packets as it does at full size with ten times as many flows.
        if protocol == "FAST":
            own["fast"] = {"alpha": 100.0 * self.scale}
        return nets.bulk(protocol, count, {"uniform": ["0 s", f"{self.stagger_s * 1e3:g} ms"]}, **own)

    def world(self, name: str, flows: dict[str, Any], rtt_ms: float, buffer: float) -> Scenario:
        """A dumbbell whose hosts take up to a packet's time over each packet."""
        n = sum(f["count"] for f in flows.values())
        line = nets.wire(self.rate, rtt_ms / 2 - 2, nets.droptail(buffer))
        access = nets.host(10 * self.rate, 1, self.rate)
        return nets.dumbbell(
            name, line, access, flows, pairs=min(n, 100), duration_s=self.seconds, warm_up_s=self.left_out
        )


def one_queue(protocol: str, seconds: float, first: str) -> Scenario:
    """Figure 64: N6 with one flow, its queue sampled every round trip."""
    fits = int(0.75 * (nets.bdp(1000, ONE_RTT_ms) + ONE_BUFFER)) * nets.PAYLOAD
    own: dict[str, Any] = {"initial_ssthresh": f"{fits} B"} if first == "fits" else {}
    flow = {"one": nets.bulk(protocol, **own)}
    line = nets.wire(1000, 40, nets.droptail(ONE_BUFFER))
    record = {"series": "gauges", "sample": f"{ONE_RTT_ms} ms"}
    return nets.dumbbell(
        f"f64 {protocol}", line, nets.wire(2400, 10), flow, duration_s=seconds, warm_up_s=seconds, record=record
    )


def configurations(size: str = "full", first: str = "none", stagger_s: float = 0.05) -> dict[str, Scenario]:
    """`f65 <n> <protocol>`, `f59 <n>`, `f60 <buffer> <protocol>`, `f64 <protocol>`; flows start within `stagger_s`."""
    s = Size(size, first, stagger_s)
    out = {}
    buffer = nets.bdp(s.rate, 60)
    for p in PROTOCOLS:
        for n in s.counts:
            out[f"f65 {n} {p}"] = s.world(f"f65 {n} {p}", {"one": s.flow(p, n, buffer // n)}, 60, buffer)
    buffer = nets.bdp(s.rate, 50)
    for n, own in s.paired.items():
        half = own // 2
        flows = {"ltcp": s.flow("LTCP", half, buffer // own), "dcr": s.flow("LTCP-DCR fixed", half, buffer // own)}
        out[f"f59 {n}"] = s.world(f"f59 {n}", flows, 50, buffer)
    for p in ("LTCP", "LTCP-DCR fixed"):
        for b in BUFFERS:
            flow = {"one": s.flow(p, s.fifty, buffer // s.fifty)}
            out[f"f60 {b} {p}"] = s.world(f"f60 {b} {p}", flow, 50, b * buffer)
    return out | {f"f64 {p}": one_queue(p, 150.0 if size == "full" else 60.0, first) for p in ONE}


def counts(r: Results) -> tuple[int, ...]:
    """The numbers of flows that were run, in order."""
    return tuple(map(int, r.points("f65")))


def value(r: Results, n: int, protocol: str, column: str) -> float:
    """One number of a cell of figures 65 and 68."""
    return r.mean(f"f65 {n} {protocol}", column)


def curve(r: Results, protocol: str, column: str) -> np.ndarray[Any, Any]:
    """A column over the numbers of flows."""
    return np.array([value(r, n, protocol, column) for n in counts(r)])


def _least_jain(protocol: str) -> Callable[[Results], float]:
    return lambda r: float(curve(r, protocol, "one_jain").min())


@measured
def _drops_up_to_200(r: Results, protocol: str) -> float:
    """Up to 200 flows at 1 Gbit/s, 20 at 100 Mbit/s."""
    most = 200 * Size(r.size).scale
    return max(value(r, n, protocol, "bottleneck_drop_rate") for n in counts(r) if n <= most)


def _seeds_of(r: Results, n: int, protocol: str, column: str) -> npt.NDArray[np.float64]:
    """One value for each seed."""
    return r.of(f"f65 {n} {protocol}", column)


def _room(r: Results) -> float:
    """The numbers of flows whose n alpha the buffer holds, up to this one."""
    s = Size(r.size)
    return nets.bdp(s.rate, 60) / (100 * s.scale)


def _fast_queue(r: Results) -> Estimate:
    """Farthest queue from n alpha, relative to it, while n alpha is less than 0.8 of the buffer."""
    alpha = 100 * Size(r.size).scale
    few = [n for n in counts(r) if n < 0.8 * _room(r)]
    off = [value(r, n, "FAST", "bottleneck_queue") / (n * alpha) - 1 for n in few]
    return exact(max(off, key=abs), len(off))


def _fast_rises(r: Results) -> bool:
    queue = curve(r, "FAST", "bottleneck_queue")
    return all(b >= 0.98 * a for a, b in pairwise(queue)) and queue[-1] > queue[0]


def _fast_drops(r: Results) -> bool:
    """No drops while n times alpha fits into the buffer, drops beyond."""
    s = Size(r.size)
    room = nets.bdp(s.rate, 60) / (100 * s.scale)
    drops = {n: value(r, n, "FAST", "bottleneck_drop_rate") for n in counts(r)}
    few = [d for n, d in drops.items() if n <= room]
    many = [d for n, d in drops.items() if n > room]
    if not few or not many:
        raise MissingDataError("no numbers of flows on both sides of what the buffer holds")
    return max(few) == 0 and min(many) > 0


def _ldp_queue(r: Results) -> float:
    s = Size(r.size)
    return float(curve(r, "LDP", "bottleneck_queue").max() / nets.bdp(s.rate, 60))


@measured
def _ldp_least(r: Results, n_th: int) -> npt.NDArray[np.float64]:
    """The least queue of the loss-based protocols less LDP's, at one of the numbers of flows, in packets."""
    if n_th >= len(counts(r)):
        raise MissingDataError("a first look has fewer numbers of flows")
    n = counts(r)[n_th]
    others = np.min([_seeds_of(r, n, p, "bottleneck_queue") for p in LOSS_BASED], axis=0)
    return others - _seeds_of(r, n, "LDP", "bottleneck_queue")


def _fewest_drops(r: Results) -> float:
    """FAST's largest drop rate while n alpha is less than 0.8 of the buffer."""
    return max(value(r, n, "FAST", "bottleneck_drop_rate") for n in counts(r) if n < 0.8 * _room(r))


def _drops_of_fast(r: Results) -> npt.NDArray[np.float64]:
    """At the most flows, over the median of LTCP, BIC and HTCP."""
    n = counts(r)[-1]
    others = np.median([_seeds_of(r, n, p, "bottleneck_drop_rate") for p in LOSS_BASED[:3]], axis=0)
    return _seeds_of(r, n, "FAST", "bottleneck_drop_rate") / others


def _less_fair(protocol: str) -> Callable[[Results], npt.NDArray[np.float64]]:
    """Least Jain's index over the numbers of flows, of LTCP-PERT less that of another."""

    def least(r: Results, p: str) -> npt.NDArray[np.float64]:
        return np.min([_seeds_of(r, n, p, "one_jain") for n in counts(r)], axis=0)

    return lambda r: least(r, "LTCP-PERT") - least(r, protocol)


def _mostly(r: Results) -> Estimate:
    jain = curve(r, "LTCP-DCR", "one_jain")
    return exact(float((jain > 0.95).mean()), jain.size)


def _drop_factor(r: Results) -> Estimate:
    ltcp, dcr = (curve(r, p, "bottleneck_drop_rate") for p in ("LTCP variable", "LTCP-DCR"))
    some = (ltcp > 0) & (dcr > 0)
    if not some.any():
        raise MissingDataError("no drops")
    ratio = dcr[some] / ltcp[some]
    return exact(float(np.maximum(ratio, 1 / ratio).max()), int(some.sum()))


def paired_jain(r: Results, n: int) -> float:
    """Jain's index over both halves of figure 59, the mean over the runs."""
    flows = r.table("flow_window").filter(pl.col("configuration") == f"f59 {n}")
    return float(np.mean([stats.jain(run["rate_bps"].to_numpy()) for run in flows.partition_by("rep")]))


def f60(r: Results, buffer: float, protocol: str, column: str) -> float:
    """One number of figure 60."""
    return r.mean(f"f60 {buffer} {protocol}", column)


def _use(buffer: float, protocol: str) -> Callable[[Results], float]:
    s = {"full": 1e9, "quick": 1e8}
    return lambda r: f60(r, buffer, protocol, "one_sum_bps") / s[r.size]


@measured
def _f60_ratio(r: Results, which: Callable[[list[float]], float]) -> float:
    pairs = [
        (f60(r, b, "LTCP-DCR fixed", "bottleneck_drop_rate"), f60(r, b, "LTCP", "bottleneck_drop_rate"))
        for b in BUFFERS
    ]
    return which([a / b for a, b in pairs if b > 0])


def queues(r: Results) -> Picture:
    """Figure 64."""
    wanted: dict[str, Lines] = {}
    for p in ONE:
        wanted[f"queue (packets), {p}"] = {"queue": r.series(f"f64 {p}", "queue_packets", "bottleneck/forward")}
    text = "Queue of one flow behind a buffer of 5000 packets (figure 64)."
    return panels("f64", text, wanted, "time (s)", axis="linear", shape="steps", scale="one")


def pictures(r: Results) -> list[Picture]:
    """Four panels of figures 65 and 68, figures 59, 60 and 64."""
    what = {
        "mean queue (packets)": "bottleneck_queue",
        "drop rate": "bottleneck_drop_rate",
        "utilisation": "bottleneck_utilisation",
        "Jain's index": "one_jain",
    }
    at = [float(n) for n in counts(r)]
    out = []
    for name, shown in SHOWN.items():
        wanted = {label: {p: (at, curve(r, p, c).tolist()) for p in shown} for label, c in what.items()}
        text = f"Queue, drop rate, utilisation and fairness by number of flows ({name.replace('f', 'figure ')})."
        out.append(panels(name, text, wanted, "flows", logarithmic=("drop rate",)))
    out.append(
        figures.bars(
            "f59",
            "Jain's index of LTCP and LTCP-DCR together.",
            {"both": {f"{n}": paired_jain(r, n) for n in PAIRED}},
            "Jain's index",
        )
    )
    drops = {p: {f"{b}": f60(r, b, p, "bottleneck_drop_rate") for b in BUFFERS} for p in ("LTCP", "LTCP-DCR fixed")}
    out.append(figures.bars("f60", "Drop rate of fifty flows by buffer (products).", drops, "drop rate"))
    return [*out, queues(r)]


CLAIMS = {
    "B114": {
        "least ratio of drop rates": _f60_ratio(min),
        "largest ratio": _f60_ratio(max),
        **{
            f"{p}, buffer {b} (half a point: our number)": _use(b, p)
            for p in ("LTCP", "LTCP-DCR fixed")
            for b in (2.0, 0.1)
        },
    },
    "B115": {
        "least Jain": lambda r: min(paired_jain(r, n) for n in PAIRED),
        "numbers of flows with 0.95 and more": lambda r: float(np.mean([paired_jain(r, n) >= 0.95 for n in PAIRED])),
    },
    "B117": {
        "least Jain": _least_jain("LTCP-PERT"),
        "least Jain up to 200 flows": lambda r: float(curve(r, "LTCP-PERT", "one_jain")[:-1].min()),
        "Jain less 0.999 at the most flows": seeds(
            lambda r: _seeds_of(r, counts(r)[-1], "LTCP-PERT", "one_jain") - 0.999
        ),
        "largest drop rate up to 200 flows": _drops_up_to_200("LTCP-PERT"),
        "largest queue over LTCP's": lambda r: float(
            (curve(r, "LTCP-PERT", "bottleneck_queue") / curve(r, "LTCP variable", "bottleneck_queue")).max()
        ),
    },
    "B118": {
        "queue grows (2 % of noise: our number)": _fast_rises,
        "drops only when n alpha exceeds the buffer": _fast_drops,
        "queue over n alpha, less 1, farthest": _fast_queue,
    },
    "B121": {
        "LDP: least Jain": _least_jain("LDP"),
        "LTCP-DCR: least Jain": _least_jain("LTCP-DCR"),
        "LTCP-DCR: cells above 0.95": _mostly,
        "LDP: largest drop rate up to 200 flows": _drops_up_to_200("LDP"),
        "LDP: largest queue over buffer": _ldp_queue,
        **{f"LDP: below the others, number {k + 1}": seeds(_ldp_least(k)) for k in range(len(COUNTS))},
    },
    "B122": {"largest factor between the drop rates": _drop_factor},
    "B133": {"fewest flows, drop rate": _fewest_drops, "most flows, over the others": seeds(_drops_of_fast)},
    "B134": {f"LTCP-PERT less {p}": seeds(_less_fair(p)) for p in ("BIC", "FAST")},
}

EXPERIMENT = study.experiment(
    __name__,
    "High-speed flows without reordering",
    where="figures 59, 60, 64, 65, 68",
    former={"first": "fits", "stagger_s": 2.0},
    variants=study.STAGGERS,
    quick=study.smaller("100 Mbit/s, a tenth of the flows, 30 s of which 10 s are left out"),
)
