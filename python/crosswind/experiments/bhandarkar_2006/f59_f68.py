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

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures, stats
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.measures import PANELS, jain_of
from crosswind.figures.panels import Lines, panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures, needed, seeds
from crosswind.reproduce.claims.quantities import least, runs
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
# Those of figure 68 that wait for losses; claim B133 names the first three.
LOSS_BASED = ("LTCP variable", "BIC", "HTCP", "LTCP-DCR", "Scalable")
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
    access = nets.wire(2400, 10)
    return nets.dumbbell(f"f64 {protocol}", line, access, flow, duration_s=seconds, warm_up_s=seconds, record=record)


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


def value(n: int, protocol: str, column: str) -> Quantity:
    """One number of a cell of figures 65 and 68, run by run."""
    return runs(f"f65 {n} {protocol}", column)


@measured
def curve(r: Results, protocol: str, column: str) -> np.ndarray[Any, Any]:
    """A column over the numbers of flows."""
    return np.array([value(n, protocol, column)(r).mean() for n in counts(r)])


def _least_jain(protocol: str) -> Quantity:
    return curve(protocol, "one_jain").then(np.min)


@measured
def _drops_up_to_200(r: Results, protocol: str) -> float:
    """Up to 200 flows at 1 Gbit/s, 20 at 100 Mbit/s."""
    few = np.array(counts(r)) <= 200 * Size(r.size).scale
    return float(curve(protocol, "bottleneck_drop_rate")(r)[few].max())


def _buffer(r: Results) -> int:
    """In packets."""
    return nets.bdp(Size(r.size).rate, 60)


def _room(r: Results) -> float:
    """The numbers of flows whose n alpha the buffer holds, up to this one."""
    return _buffer(r) / (100 * Size(r.size).scale)


@measured
def _fast_in_room(r: Results, column: str) -> np.ndarray[Any, Any]:
    """A column of FAST while n alpha is less than 0.8 of the buffer."""
    few = np.array(counts(r)) < 0.8 * _room(r)
    return curve("FAST", column)(r)[few]


def _fast_queue(r: Results) -> Estimate:
    """Farthest queue from n alpha, relative to it, while that is less than 0.8 of the buffer."""
    queues = _fast_in_room("bottleneck_queue")(r)
    alpha = 100 * Size(r.size).scale
    off = [q / (n * alpha) - 1 for q, n in zip(queues, counts(r), strict=False)]
    return exact(max(off, key=abs), len(off))


def _fast_rises(r: Results) -> bool:
    queue = curve("FAST", "bottleneck_queue")(r)
    return all(b >= 0.98 * a for a, b in pairwise(queue)) and queue[-1] > queue[0]


def _fast_drops(r: Results) -> bool:
    """No drops while n times alpha fits into the buffer, drops beyond."""
    drops, few = curve("FAST", "bottleneck_drop_rate")(r), np.array(counts(r)) <= _room(r)
    needed(few.any() and not few.all(), "no numbers of flows on both sides of what the buffer holds")
    return drops[few].max() == 0 and drops[~few].min() > 0


@measured
def _ldp_least(r: Results, n_th: int) -> npt.NDArray[np.float64]:
    """The least queue of the loss-based protocols less LDP's, at one of the numbers of flows, in packets."""
    needed(n_th < len(counts(r)), "a first look has fewer numbers of flows")
    n = counts(r)[n_th]
    others = least(value(n, p, "bottleneck_queue") for p in LOSS_BASED)
    return (others - value(n, "LDP", "bottleneck_queue"))(r)


@measured
def _at_most_flows(r: Results, protocol: str, column: str) -> npt.NDArray[np.float64]:
    return value(counts(r)[-1], protocol, column)(r)


def _drops_of_fast(r: Results) -> npt.NDArray[np.float64]:
    """At the most flows, over the median of LTCP, BIC and HTCP."""
    fast, *others = (_at_most_flows(p, "bottleneck_drop_rate")(r) for p in ("FAST", *LOSS_BASED[:3]))
    return fast / np.median(others, axis=0)


@measured
def _fairness(r: Results, protocol: str) -> npt.NDArray[np.float64]:
    """Least Jain's index over the numbers of flows, run by run."""
    return least(value(n, protocol, "one_jain") for n in counts(r))(r)


def of_means(cells: Iterable[Quantity], of: Callable[[Any], Any]) -> Callable[[Results], Estimate]:
    """What a function makes of the means of several cells (along the first axis), resampled seed by seed."""

    def statistic(*found: Any, axis: int) -> Any:
        return of(np.array([np.mean(x, axis=axis) for x in found]))

    return lambda r: stats.estimate(statistic, *(cell(r) for cell in cells), pairing="paired")


def _ratios(rates: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """LTCP-DCR's drop rate over LTCP's, whose rows alternate; nothing where that is 0."""
    dcr, ltcp = rates[::2], rates[1::2]
    return np.divide(dcr, ltcp, out=np.full_like(dcr, np.nan), where=ltcp > 0)


def _drop_factor(r: Results) -> Estimate:
    """The largest factor between the two over the numbers of flows at which both drop something."""
    both = ("LTCP-DCR", "LTCP variable")
    some = [n for n in counts(r) if all(value(n, p, "bottleneck_drop_rate")(r).mean() > 0 for p in both)]
    needed(some, "no drops")
    cells = [value(n, p, "bottleneck_drop_rate") for n in some for p in both]
    return of_means(cells, lambda v: np.maximum(_ratios(v), 1 / _ratios(v)).max(axis=0))(r)


def f60(buffer: float, protocol: str, column: str = "bottleneck_drop_rate") -> Quantity:
    """One number of figure 60, run by run."""
    return runs(f"f60 {buffer} {protocol}", column)


F60 = [f60(b, p) for b in BUFFERS for p in ("LTCP-DCR fixed", "LTCP")]


def _used(buffer: float, protocol: str) -> Quantity:
    """Payload over the rate of the link, run by run."""
    return f60(buffer, protocol, "one_sum_bps") / (lambda r: 1e6 * Size(r.size).rate)


def queues(r: Results) -> Picture:
    """Figure 64."""
    queue = {p: r.series(f"f64 {p}", "queue_packets", "bottleneck/forward") for p in ONE}
    wanted: dict[str, Lines] = {f"queue (packets), {p}": {"queue": line} for p, line in queue.items()}
    text = "Queue of one flow behind a buffer of 5000 packets (figure 64)."
    return panels("f64", text, wanted, "time (s)", axis="linear", shape="steps", scale="one")


def pictures(r: Results) -> list[Picture]:
    """Four panels of figures 65 and 68, figures 59, 60 and 64."""
    at = [float(n) for n in counts(r)]
    out = []
    for name, shown in SHOWN.items():
        wanted = {label: {p: (at, curve(p, c)(r).tolist()) for p in shown} for label, c in PANELS.items()}
        text = f"Queue, drop rate, utilisation and fairness by number of flows ({name.replace('f', 'figure ')})."
        out.append(panels(name, text, wanted, "flows", logarithmic=("drop rate",)))
    jain = {"both": {f"{n}": float(JAIN[n](r).mean()) for n in PAIRED}}
    out.append(figures.bars("f59", "Jain's index of LTCP and LTCP-DCR together.", jain, "Jain's index"))
    drops = {p: {f"{b}": float(f60(b, p)(r).mean()) for b in BUFFERS} for p in ("LTCP", "LTCP-DCR fixed")}
    out.append(figures.bars("f60", "Drop rate of fifty flows by buffer (products).", drops, "drop rate"))
    return [*out, queues(r)]


JAIN = {n: jain_of(f"f59 {n}") for n in PAIRED}
CLAIMS = {
    "B114": {
        "least ratio of drop rates": of_means(F60, lambda v: np.nanmin(_ratios(v), axis=0)),
        "largest ratio": of_means(F60, lambda v: np.nanmax(_ratios(v), axis=0)),
        **{
            f"{p}, buffer {b} (half a point: our number)": measures.mean(_used(b, p))
            for p in ("LTCP", "LTCP-DCR fixed")
            for b in (2.0, 0.1)
        },
    },
    "B115": {
        "least Jain": of_means(JAIN.values(), lambda jain: jain.min(axis=0)),
        "numbers of flows with 0.95 and more": of_means(JAIN.values(), lambda jain: (jain >= 0.95).mean(axis=0)),
    },
    "B117": {
        "least Jain": _least_jain("LTCP-PERT"),
        "least Jain up to 200 flows": curve("LTCP-PERT", "one_jain").then(lambda jain: jain[:-1].min()),
        "Jain less 0.999 at the most flows": seeds(_at_most_flows("LTCP-PERT", "one_jain") - 0.999),
        "largest drop rate up to 200 flows": _drops_up_to_200("LTCP-PERT"),
        "largest queue over LTCP's": (
            curve("LTCP-PERT", "bottleneck_queue") / curve("LTCP variable", "bottleneck_queue")
        ).then(np.max),
    },
    "B118": {
        "queue grows (2 % of noise: our number)": _fast_rises,
        "drops only when n alpha exceeds the buffer": _fast_drops,
        "queue over n alpha, less 1, farthest": _fast_queue,
    },
    "B121": {
        "LDP: least Jain": _least_jain("LDP"),
        "LTCP-DCR: least Jain": _least_jain("LTCP-DCR"),
        "LTCP-DCR: cells above 0.95": curve("LTCP-DCR", "one_jain").then(
            lambda jain: exact(float((jain > 0.95).mean()), jain.size)
        ),
        "LDP: largest drop rate up to 200 flows": _drops_up_to_200("LDP"),
        "LDP: largest queue over buffer": curve("LDP", "bottleneck_queue").then(np.max) / _buffer,
        **{f"LDP: below the others, number {k + 1}": seeds(_ldp_least(k)) for k in range(len(COUNTS))},
    },
    "B122": {"largest factor between the drop rates": _drop_factor},
    "B133": {
        "fewest flows, drop rate": _fast_in_room("bottleneck_drop_rate").then(np.max),
        "most flows, over the others": seeds(_drops_of_fast),
    },
    "B134": {f"LTCP-PERT less {p}": seeds(_fairness("LTCP-PERT") - _fairness(p)) for p in ("BIC", "FAST")},
}

EXPERIMENT = study.experiment(
    __name__,
    "High-speed flows without reordering",
    where="figures 59, 60, 64, 65, 68",
    former={"first": "fits", "stagger_s": 2.0},
    quick=study.smaller("100 Mbit/s, a tenth of the flows, 30 s of which 10 s are left out"),
)
