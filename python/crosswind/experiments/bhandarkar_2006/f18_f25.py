"""With congestion only: does DCR share, load and drop like SACK?

N4: 24 sources at 100 Mbit/s and 5 ms, a bottleneck of 10 Mbit/s and 5 ms, receivers at 1 Mbit/s and 20 ms. Figure
18: half and half, the buffer varies. Figures 23 and 24: queues of drop-tail and RED with a buffer of 70 packets.
Figure 25: loss rate over the number of flows. Figures 21 and 22: delivery times of one flow and round-trip estimates.
1000 s after 100 s of warm-up, 200 s for the queues and the single flows.

What the source printed: average queues 51/50/52 (drop-tail) and 36/34/35 (RED) for DCR, SACK and mixed; delivery of
retransmitted packets 398/302/356+296 ms; a drop rate of 3.3 %; curves that are lost.

What may differ here: the receive window is 14 segments, twice the path: DCR needs room for its wait beside the window
(decision 0029; 7, 12 and 20 are variants). Loss rates below 0.1 % are not compared: our number. The queues of figures
23 and 24 and the estimates of figure 22 are looked at once per second, round trips at every ACK.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.measures import mean_of, rate_of
from crosswind.figures.panels import Lines, panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed
from crosswind.reproduce.claims.quantities import largest, least, mean
from crosswind.stats import Estimate, exact

BUFFERS = (200, 150, 100, 70, 50, 35, 20, 10)
COUNTS = (4, 8, 12, 16, 20, 24, 32, 40)
FEW_COUNTS = (8, 16, 24, 32, 40)
WORKLOADS = {"sack": (1, 0), "dcr": (0, 1), "mixed": (1, 1)}
WINDOW = 14
# Workload and kind of flow.
CURVES = (("sack", "sack"), ("dcr", "dcr"), ("mixed", "sack"), ("mixed", "dcr"))


def red(buffer: int) -> dict[str, Any]:
    """RED of ns-2 with thresholds at a quarter and three quarters of the buffer."""
    packet = {"measure": "packets", "drop_by": "packets", "mean_packet": f"{nets.PACKET} B"}
    marks = {
        "min_th": f"{buffer / 4:.0f} packets",
        "max_th": f"{3 * buffer / 4:.0f} packets",
        "w_q": 0.002,
        "max_p": 0.1,
    }
    return {"type": "red-ns2", "limit": f"{buffer} packets", **packet, **marks}


def tree(
    name: str, n: int, workload: str, queue: dict[str, Any], seconds: int = 1100, window: int = WINDOW, **record: Any
) -> Scenario:
    """n flows of a workload; with `events="first"` the first of each kind records its events."""
    links: dict[str, Any] = {"bottleneck": {"from": "router", "to": "base", **nets.wire(10, 5, queue)}}
    flows: dict[str, Any] = {}
    sack, dcr = WORKLOADS[workload]
    first: list[str] = []
    for k in range(1, n + 1):
        kind = "sack" if (k % 2 or not dcr) and sack else "dcr"
        links[f"left-{k}"] = {"from": f"source-{k}", "to": "router", **nets.host(100, 5, 10)}
        links[f"right-{k}"] = {"from": "base", "to": f"sink-{k}", **nets.wire(1, 20, nets.droptail(50))}
        protocol = {"sack": "SACK", "dcr": "DCR"}[kind]
        flow = nets.bulk(protocol, start={"uniform": ["0 s", "5 s"]}, window_limit_segments=window)
        flows[f"{kind}-{k}"] = {**flow, "from": f"source-{k}", "to": f"sink-{k}"}
        if kind not in [x.split("-")[0] for x in first]:
            first.append(f"{kind}-{k}")
    if record.get("events") == "first":
        record["events"] = first
    return nets.world(name, links, flows, f"{seconds} s", **{"sample": f"{seconds / 11:.3f} s"} | record)


def configurations(window: int = WINDOW, size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f18 <buffer>`, `f23 <workload>`, `f24 <workload>`, `f25 <queue> <n> <workload>`, `f21 <workload>`.

    `f21` and `f24 watched` are `f23` and `f24` again, with what happens over time.
    """
    long = round(study.span_s(size)[0])
    out = {f"f18 {b}": tree(f"f18 {b}", 24, "mixed", nets.droptail(b), long, window) for b in BUFFERS}
    watched: dict[str, Any] = {"events": "first", "sample": "1 s", "series": "gauges"}
    for w in WORKLOADS:
        out[f"f23 {w}"] = tree(f"f23 {w}", 24, w, nets.droptail(70), 200, window)
        out[f"f24 {w}"] = tree(f"f24 {w}", 24, w, red(70), 200, window)
        out[f"f21 {w}"] = tree(f"f21 {w}", 24, w, nets.droptail(70), 200, window, **watched)
        over_time = {"sample": "1 s", "series": "gauges"}
        out[f"f24 watched {w}"] = tree(f"f24 watched {w}", 24, w, red(70), 200, window, **over_time)
        for n in COUNTS if size == "full" else FEW_COUNTS:
            out[f"f25 droptail {n} {w}"] = tree(f"f25 droptail {n} {w}", n, w, nets.droptail(50), long, window)
            out[f"f25 red {n} {w}"] = tree(f"f25 red {n} {w}", n, w, red(50), long, window)
    return out


def kind_rate(label: str, kind: str) -> Quantity:
    """Mean rate of the flows of one kind."""
    return rate_of(label, f"{kind}-").then(np.mean)


@measured
def _shares(r: Results, which: str) -> Estimate:
    drops = {b: r.mean(f"f18 {b}", "bottleneck_drop_rate") for b in BUFFERS}
    asked = [b for b, d in drops.items() if 0.005 <= d <= 0.06]
    ratios = [(kind_rate(f"f18 {b}", "dcr") / kind_rate(f"f18 {b}", "sack"))(r) for b in asked]
    return exact(min(ratios) if which == "least" else max(ratios), len(ratios))


QUEUES = {f: {w: mean(f"{f} {w}", "bottleneck_queue") for w in WORKLOADS} for f in ("f23", "f24")}


def _spread(figure: str) -> Quantity:
    """How far the queues lie apart, in packets."""
    return largest(QUEUES[figure].values()) - least(QUEUES[figure].values())


def _below(r: Results) -> float:
    return float(np.mean([QUEUES["f23"][w](r) - QUEUES["f24"][w](r) for w in WORKLOADS]))


def counts(r: Results) -> tuple[int, ...]:
    """The numbers of flows of figure 25 that were run, in order."""
    labels = r.runs.flows()["configuration"].unique().to_list()
    return tuple(sorted({int(x.split()[2]) for x in labels if x.startswith("f25 ")}))


def _loss_curves(r: Results, queue_type: str) -> np.ndarray[Any, Any]:
    """Loss rate per number of flows, of the flows of a kind in a workload: the four curves of figure 25."""
    flows = r.runs.flows().with_columns(kind=pl.col("name").str.split("-").list.first())
    flows = flows.group_by("configuration", "kind").agg(pl.col("drops_packets", "sent_packets").sum())
    lost = {(c, k): d / s for c, k, d, s in flows.iter_rows()}
    return np.array([[lost[f"f25 {queue_type} {n} {w}", k] for n in counts(r)] for w, k in CURVES])


def _grows(r: Results) -> bool:
    """Once there are losses at all."""
    rising = ((c[:-1] == 0) | (np.diff(c) > 0) for q in ("droptail", "red") for c in _loss_curves(r, q))
    return all(bool(np.all(x)) for x in rising)


@measured
def _apart(r: Results, queue_type: str) -> float:
    curves = _loss_curves(r, queue_type)
    many = curves[:, curves.mean(axis=0) > 0.001]
    return float(np.max(np.ptp(many, axis=0) / many.mean(axis=0)))


def watched(r: Results, workload: str, kind: str) -> pl.DataFrame:
    """What happened to the watched flow of a kind after the first 20 s."""
    events = r.runs.only(f"f21 {workload}").events()
    names = events["name"].unique().to_list()
    flows = needed([n for n in names if str(n).startswith(f"{kind}-")], f"no watched {kind} flow in {workload}")
    return events.filter((pl.col("name") == flows[0]) & (pl.col("time_ns") > 20_000_000_000))


def delivered(own: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sequence number and delivery time (`ms`) of packets sent once and of packets retransmitted, in one repetition."""
    sent = own.filter(pl.col("kind") == "send").group_by("seq").agg(pl.col("time_ns").min().alias("sent"))
    got = own.filter(pl.col("kind") == "receive").group_by("seq").agg(pl.col("time_ns").min().alias("got"))
    again = own.filter(pl.col("kind") == "retransmit").select("seq").unique()
    took = sent.join(got, on="seq").with_columns(ms=(pl.col("got") - pl.col("sent")) / 1e6).sort("seq")
    return took.join(again, on="seq", how="anti"), took.join(again, on="seq", how="semi")


def deliveries(r: Results, workload: str, kind: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Delivery times in ms of packets sent once and of packets retransmitted, of the watched flow of a kind."""
    own = watched(r, workload, kind)
    parts = [delivered(own.filter(pl.col("rep") == rep)) for rep in own["rep"].unique()]
    once, again = (np.concatenate([p[k]["ms"].to_numpy() for p in parts]) for k in (0, 1))
    return once, again


@measured
def _again(r: Results, workload: str, kind: str) -> npt.NDArray[np.float64]:
    """Delivery times of packets retransmitted."""
    return deliveries(r, workload, kind)[1]


@measured
def _normal(r: Results, q: float) -> float:
    return float(np.quantile(deliveries(r, "sack", "sack")[0], q))


def _srtt(r: Results) -> float:
    def mean(workload: str) -> float:
        estimates = r.runs.only(f"f21 {workload}").sample("srtt_ns")
        return float(estimates.filter(pl.col("time_ns") > 20_000_000_000)["value"].mean())  # type: ignore[arg-type]

    return abs(mean("dcr") / mean("sack") - 1)


def _packets(seq: pl.Series) -> npt.NDArray[np.float64]:
    """Sequence numbers in packets."""
    return seq.to_numpy() / nets.PAYLOAD


def by_sequence(r: Results) -> list[Picture]:
    """Figures 21 and 22: a panel for each kind of flow in each workload, first repetition."""
    took: dict[str, Lines] = {}
    trips: dict[str, Lines] = {}
    for w, k in CURVES:
        own = watched(r, w, k).filter(pl.col("rep") == 0)
        once, again = delivered(own)
        name = f"{k.upper()}, {'mixed' if w == 'mixed' else 'alone'} (ms)"
        took[name] = {
            "sent once": (_packets(once["seq"]), once["ms"].to_numpy()),
            "retransmitted": (_packets(again["seq"]), again["ms"].to_numpy()),
        }
        sent = own.filter(pl.col("kind") == "send").select("time_ns", sent="seq").sort("time_ns")
        # The event of a sample has the round trip where others have a sequence number.
        rtt = own.filter(pl.col("kind") == "rtt").sort("time_ns").join_asof(sent, on="time_ns")
        lines = {"round trip": (_packets(rtt["sent"]), rtt["seq"].to_numpy() / 1e6)}
        gauges = r.runs.only(f"f21 {w}", [0])
        for metric, said in (("srtt_ns", "smoothed"), ("rttvar_ns", "variation")):
            values = gauges.sample(metric, own["name"][0]).sort("time_ns").join_asof(sent, on="time_ns")
            values = values.filter(pl.col("sent").is_not_null())
            lines[said] = (_packets(values["sent"]), values["value"].to_numpy() / 1e6)
        trips[name] = lines
    f21 = "Delivery time of each packet of one flow by its sequence number (figure 21)."
    f22 = "Round trips of one flow, their smoothed value and variation by sequence number (figure 22)."
    xlabel = "sequence number (packets)"
    return [
        panels("f21", f21, took, xlabel, axis="linear", shape="points", scale="one"),
        panels("f22", f22, trips, xlabel, axis="linear", shape="steps", scale="one"),
    ]


def queues(r: Results) -> list[Picture]:
    """Figures 23 and 24: the queue, and its mean so far."""
    out = []
    for name, label, said in (("f23", "f21", "Drop-tail"), ("f24", "f24 watched", "RED")):
        wanted: dict[str, Lines] = {}
        for w in ("dcr", "sack", "mixed"):
            t, q = r.series(f"{label} {w}", "queue_packets", "bottleneck/forward")
            means = np.cumsum(q) / np.arange(1, q.size + 1)
            what = "mixed" if w == "mixed" else f"all {w.upper()}"
            lines = {"each second": (t, q), "mean so far": (t, means)}
            if name == "f24":
                printed = study.BOOK.number("B39", f"{w}, reported")
                lines["published mean"] = (t[[0, -1]], np.full(2, printed))
            wanted[f"queue (packets), {what}"] = lines
        text = f"{said} queue of a buffer of 70 packets ({name.replace('f', 'figure ')})."
        out.append(panels(name, text, wanted, "time (s)", axis="linear", shape="steps", scale="one"))
    return out


def pictures(r: Results) -> list[Picture]:
    """Figures 18 and 21 to 25."""
    f18 = {k.upper(): {f"{b}": float(kind_rate(f"f18 {b}", k)(r)) / 1e6 for b in BUFFERS} for k in ("sack", "dcr")}
    out = [figures.bars("f18", "Mean throughput by buffer (packets).", f18, "Mbit/s"), *by_sequence(r), *queues(r)]
    for q in ("droptail", "red"):
        curves = dict(zip(CURVES, _loss_curves(r, q), strict=True))
        bars = {
            f"{k} ({w})": {f"{n}": 100 * float(v) for n, v in zip(counts(r), c, strict=True)}
            for (w, k), c in curves.items()
        }
        out.append(figures.bars(f"f25-{q}", f"Loss rate by number of flows ({q}).", bars, "loss rate (%)"))
    return out


AGAIN = {(w, k): _again(w, k) for w, k in CURVES}
MEAN_AGAIN = {x: times.then(np.mean) for x, times in AGAIN.items()}
CLAIMS = {
    "B33": {"least DCR/SACK": _shares("least"), "largest": _shares("largest")},
    "B36": {
        "all DCR - all SACK": MEAN_AGAIN["dcr", "dcr"] - MEAN_AGAIN["sack", "sack"],
        "SACK mixed over SACK alone": MEAN_AGAIN["mixed", "sack"] / MEAN_AGAIN["sack", "sack"],
        "normal packets, lower quartile": _normal(0.25),
        "normal packets, upper quartile": _normal(0.75),
        "normal packets, 5 %": _normal(0.05),
        "normal packets, 95 %": _normal(0.95),
        **{f"{w} {k}, reported": t.then(lambda ms: exact(float(ms.mean()), ms.size)) for (w, k), t in AGAIN.items()},
    },
    "B37": {"difference of the means": _srtt},
    "B38": {**{w: q / 70 for w, q in QUEUES["f23"].items()}, "spread": _spread("f23")},
    "B39": {
        "spread": _spread("f24"),
        "below drop-tail by": _below,
        **{f"{w}, reported": mean_of(f"f24 {w}", "bottleneck_queue") for w in WORKLOADS},
    },
    "B40": {"grows": _grows, "drop-tail: furthest apart, of the mean": _apart("droptail"), "RED": _apart("red")},
    "B41": {"drop rate": mean_of("f23 sack", "bottleneck_drop_rate")},
}

EXPERIMENT = study.experiment(
    __name__, "Congestion only", where="figures 18, 21 to 25", quick=study.SHORT, former={"window": 7}
)
