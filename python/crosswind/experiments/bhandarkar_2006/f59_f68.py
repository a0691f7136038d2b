"""How do high-speed flows share a link without reordering: LTCP-PERT, LTCP-DCR, TCP-LDP and the others?

N14: 1 Gbit/s, a round trip of 60 ms, a buffer of one bandwidth-delay product, 2 to 1000 flows (figures 65 and 68).
N12: 1 Gbit/s and 50 ms; figure 59: 10 to 100 flows, half LTCP and half LTCP-DCR; figure 60: 50 flows of either,
buffers from 0.1 to 2 products. N6: 1 Gbit/s and 120 ms; figure 64: the queue of one flow of LTCP, BIC or HTCP behind a
buffer of 5000 packets, over time.

What the source printed: curves that are lost; in words: LTCP-PERT uses a little less than the others with a much
lower queue, no drops until there are very many flows, and a fairness above 0.999; FAST's queue and drops rise with
the number of flows; LTCP-DCR loads like LTCP, 96.1 % (95.5 % with small buffers), with a fairness above 0.95 mostly;
TCP-LDP has next to no queue and no drops until there are very many flows.

What may differ here: flows start with a slow-start threshold (`initial_ssthresh`), which the source does not give them
(its slow start is TCP's): 1.4 times a flow's share of one bandwidth-delay product, at least 4 segments, and 0.75 of
what path and queue hold in figure 64, so that windows start near what they will be. LTCP-DCR is LTCP with the detector
of `f56_f70`: a threshold of one window of duplicates, with growth during the wait, and not RFC 4653's resume. Claims
B114, B115, B121 and B122 rest on it. FAST keeps 100 packets per flow in the queue (the source gives no number); packets
are processed in up to 8 us (`overhead_` of N6), one packet's time, but not in figure 64, with its one flow. LTCP is the
one with the variable decrease in figures 65 and 68, and the fixed one in figures 59, 60 and 64 (O7), in 59 and 60 with
and without the wait of one window of duplicates. 120 s of which 40 s are left out; figure 64 shows 150 s. `--quick` is
100 Mbit/s with a tenth of the flows, whose windows are those of full size, a tenth of FAST's packets, and 45 s of which
15 s are left out; figure 64 is not made smaller, but shows 60 s. Figure 60 behind two products of buffer, where
overflows are rare: in runs of 150 s the ratio of B114 is 0.99 to 1.02 by seed, and 30 s say less.

Figures 59 and 60 at full size (one seed): B115 holds as with `--quick` (least Jain's index 0.992), and B114 holds
too, which fails with `--quick`: LTCP-DCR drops 1.03 to 1.06 times what LTCP does at every buffer.

B117 fails at the most flows, whose windows of 7 segments let late starters take a standing queue for their path (the
least round trip that they have seen is 65 ms in the median and 69 at the most, of 60, and a flow's rate follows it:
correlation 0.86, its quarters have 0.64, 0.67, 1.04 and 1.50 Mbit/s; with fifty flows it is 60.4 ms at the most, with
LDP 60.1): Jain's index is 0.82 with starts within 2 s, 0.79 within 15 s, 0.98 within 0.2 s and 0.99 within 0.02 s,
0.997 with K_R = 1 or twice the path, and 135 s in place of 30 change little (0.85); at fewer flows it is 0.997 to
0.9996 over 30 s, above 0.999 over 135 s (full size, 50 and 200 flows: 0.99898 over 80 s, no drops). B121: fairness of
LDP is above 0.999 over 135 s (0.9997 with the most flows); its queue grows with their number as its signal falls at
once and rises by a hundredth per sample, of which a flow with a window of 7 has few (without that rule, LTCP-PERT:
212 packets for 314, and no drops). B118: beyond what the buffer holds FAST halves at losses, and its queue is shorter
(19, 346, 672 and 444 packets; at full size 7055 with 50 flows, 5535 with 200).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.claims import MissingDataError, yes
from crosswind.experiments.base import Results
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.experiments.bhandarkar_2006.panels import Lines, panels
from crosswind.figures import Picture
from crosswind.scenario import Scenario
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
ONE_BUFFER, ONE_RTT_ms = 5000, 120


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str) -> None:
        full = size == "full"
        self.scale = 1.0 if full else 0.1
        self.rate = 1000 * self.scale
        self.counts = COUNTS if full else FEW_COUNTS
        self.seconds, self.left_out = (120.0, 40.0) if full else (45.0, 15.0)
        self.paired = {n: n if full else max(2, 2 * round(n / 20)) for n in PAIRED}
        self.fifty = 50 if full else 5

    def flow(self, protocol: str, count: int, share: int) -> dict[str, Any]:
        """Flows that leave slow start near their share of path and buffer; `share` is the buffer over their number."""
        own: dict[str, Any] = {"initial_ssthresh": f"{max(4, int(1.4 * share)) * nets.PAYLOAD} B"}
        # The buffer holds as many flows' packets as it does at full size with ten times as many flows.
        if protocol == "FAST":
            own["fast"] = {"alpha": 100.0 * self.scale}
        return nets.bulk(protocol, count, {"uniform": ["0 s", "2 s"]}, **own)

    def world(self, name: str, flows: dict[str, Any], rtt_ms: float, buffer: float) -> Scenario:
        """A dumbbell whose hosts take up to a packet's time over each packet."""
        n = sum(f["count"] for f in flows.values())
        line = nets.wire(self.rate, rtt_ms / 2 - 2, nets.droptail(buffer))
        access = nets.host(10 * self.rate, 1, self.rate)
        return nets.dumbbell(
            name, line, access, flows, pairs=min(n, 100), duration_s=self.seconds, warm_up_s=self.left_out
        )


def one_queue(protocol: str, seconds: float) -> Scenario:
    """Figure 64: N6 with one flow, its queue sampled every round trip."""
    fits = int(0.75 * (nets.bdp(1000, ONE_RTT_ms) + ONE_BUFFER)) * nets.PAYLOAD
    flow = {"one": nets.bulk(protocol, initial_ssthresh=f"{fits} B")}
    line = nets.wire(1000, 40, nets.droptail(ONE_BUFFER))
    record = {"series": "gauges", "sample": f"{ONE_RTT_ms} ms"}
    return nets.dumbbell(
        f"f64 {protocol}", line, nets.wire(2400, 10), flow, duration_s=seconds, warm_up_s=seconds, record=record
    )


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f65 <n> <protocol>`, `f59 <n>`, `f60 <buffer> <protocol>`, `f64 <protocol>`."""
    s = Size(size)
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
    return out | {f"f64 {p}": one_queue(p, 150.0 if size == "full" else 60.0) for p in ONE}


def counts(r: Results) -> tuple[int, ...]:
    """The numbers of flows that were run, in order."""
    labels = r.table("repetition")["configuration"].unique().to_list()
    return tuple(sorted({int(x.split()[1]) for x in labels if x.startswith("f65 ")}))


def value(r: Results, n: int, protocol: str, column: str) -> float:
    """One number of a cell of figures 65 and 68."""
    return measures.mean_value(r, f"f65 {n} {protocol}", column)


def curve(r: Results, protocol: str, column: str) -> np.ndarray[Any, Any]:
    """A column over the numbers of flows."""
    return np.array([value(r, n, protocol, column) for n in counts(r)])


def _least_jain(protocol: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(float(curve(r, protocol, "one_jain").min()))


def _drops_up_to_200(protocol: str) -> Callable[[Results], Estimate]:
    """Up to 200 flows at 1 Gbit/s, 20 at 100 Mbit/s."""

    def measure(r: Results) -> Estimate:
        most = 200 * Size(str(r.runs.manifest.get("size", "full"))).scale
        return exact(max(value(r, n, protocol, "bottleneck_drop_rate") for n in counts(r) if n <= most))

    return measure


def _queue_ratio(r: Results) -> Estimate:
    return exact(
        float((curve(r, "LTCP-PERT", "bottleneck_queue") / curve(r, "LTCP variable", "bottleneck_queue")).max())
    )


def _fast_rises(r: Results) -> Estimate:
    queue = curve(r, "FAST", "bottleneck_queue")
    return yes(all(b >= 0.98 * a for a, b in pairwise(queue)) and queue[-1] > queue[0])


def _fast_drops(r: Results) -> Estimate:
    """No drops while n times alpha fits into the buffer, drops beyond."""
    s = Size(str(r.runs.manifest.get("size", "full")))
    room = nets.bdp(s.rate, 60) / (100 * s.scale)
    drops = {n: value(r, n, "FAST", "bottleneck_drop_rate") for n in counts(r)}
    few = [d for n, d in drops.items() if n <= room]
    many = [d for n, d in drops.items() if n > room]
    if not few or not many:
        raise MissingDataError("no numbers of flows on both sides of what the buffer holds")
    return yes(max(few) == 0 and min(many) > 0)


def _ldp_queue(r: Results) -> Estimate:
    s = Size(str(r.runs.manifest.get("size", "full")))
    return exact(float(curve(r, "LDP", "bottleneck_queue").max() / nets.bdp(s.rate, 60)))


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
    """Jain's index over both halves of figure 59."""
    flows = r.table("flow_window").filter(pl.col("configuration") == f"f59 {n}")
    x = flows["rate_bps"].to_numpy()
    return float(x.sum() ** 2 / (x.size * (x**2).sum()))


def f60(r: Results, buffer: float, protocol: str, column: str) -> float:
    """One number of figure 60."""
    return measures.mean_value(r, f"f60 {buffer} {protocol}", column)


def _use(buffer: float, protocol: str) -> Callable[[Results], Estimate]:
    s = {"full": 1e9, "quick": 1e8}
    return lambda r: exact(f60(r, buffer, protocol, "one_sum_bps") / s[str(r.runs.manifest.get("size", "full"))])


def _f60_ratio(which: Callable[[list[float]], float]) -> Callable[[Results], Estimate]:
    def measure(r: Results) -> Estimate:
        pairs = [
            (f60(r, b, "LTCP-DCR fixed", "bottleneck_drop_rate"), f60(r, b, "LTCP", "bottleneck_drop_rate"))
            for b in BUFFERS
        ]
        return exact(which([a / b for a, b in pairs if b > 0]))

    return measure


def queues(r: Results) -> Picture:
    """Figure 64."""
    wanted: dict[str, Lines] = {}
    for p in ONE:
        now = r.runs.only(f"f64 {p}", [0]).sample("queue_packets", "bottleneck/forward").sort("time_ns")
        wanted[f"queue (packets), {p}"] = {"queue": (now["time_ns"].to_numpy() / 1e9, now["value"].to_numpy())}
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


CLAIMS = study.BOOK.claims(
    {
        "B114": {
            "least ratio of drop rates": _f60_ratio(min),
            "largest ratio": _f60_ratio(max),
            **{
                f"{p}, buffer {b} (half a point: our number)": _use(b, p)
                for p in ("LTCP", "LTCP-DCR fixed")
                for b, v in ((2.0, 0.961), (0.1, 0.955))
            },
        },
        "B115": {
            "least Jain": lambda r: exact(min(paired_jain(r, n) for n in PAIRED)),
            "numbers of flows with 0.95 and more": lambda r: exact(
                float(np.mean([paired_jain(r, n) >= 0.95 for n in PAIRED]))
            ),
        },
        "B117": {
            "least Jain": _least_jain("LTCP-PERT"),
            "largest drop rate up to 200 flows": _drops_up_to_200("LTCP-PERT"),
            "largest queue over LTCP's": _queue_ratio,
        },
        "B118": {
            "queue grows (2 % of noise: our number)": _fast_rises,
            "drops only when n alpha exceeds the buffer": _fast_drops,
        },
        "B121": {
            "LDP: least Jain": _least_jain("LDP"),
            "LTCP-DCR: least Jain": _least_jain("LTCP-DCR"),
            "LTCP-DCR: cells above 0.95": _mostly,
            "LDP: largest drop rate up to 200 flows": _drops_up_to_200("LDP"),
            "LDP: largest queue over buffer": _ldp_queue,
        },
        "B122": {"largest factor between the drop rates": _drop_factor},
    }
)

EXPERIMENT = study.experiment(
    "f59-f68",
    "High-speed flows without reordering",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 59, 60, 64, 65, 68",
    figures=pictures,
    reps=1,
    quick=study.smaller("100 Mbit/s, a tenth of the flows, 45 s of which 15 s are left out"),
)
