"""What does PERT do over several bottlenecks, when flows come and go, and beside UDP?

Figure 49: N10, six routers in a row at 150 Mbit/s and 5 ms, a cloud of 20 nodes (1 Gbit/s, 5 ms) at each; every cloud
sends to the next, the first one to the last as well. Figure 50: N11, 150 Mbit/s and 60 ms, 25 flows at 0 s and 25
more at 100, 200 and 300 s; from 400 s 25 leave every 100 s. Figure 51: PERT beside 75 Mbit/s of UDP, 50 s on and 50 s
off from 50 s, from its first second on.

What the source printed: curves that are lost; in words: no drops on any of the bottlenecks, a utilisation like that
of RED with ECN; PERT adapts quickly, Vegas is unfair between groups. Figure 51 is withheld.

What may differ here: every node has one flow to the next cloud, and every node of the first one to the last as well;
queues hold a bandwidth-delay product of the longest path, as everywhere in chapter IV. Figure 51 runs 350 s with 50
PERT flows. `--quick` takes a third of rates and flows, 60 s for figure 49 and 40 s between arrivals.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.bhandarkar_2006 import f43_f47, nets, study
from crosswind.reproduce import MissingDataError, Picture, Results, Scenario, measured, seeds
from crosswind.stats import Estimate

ROUTERS = 6
SCHEMES = ("droptail", "red", "vegas", "pert")
GROUPS = (1, 2, 3, 4)


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str) -> None:
        full = size == "full"
        self.rate, self.nodes, self.members = (150.0, 20, 25) if full else (50.0, 7, 8)
        self.seconds, self.step = (300.0, 100.0) if full else (60.0, 40.0)


def row(name: str, scheme: str, s: Size) -> Scenario:
    """N10."""
    rtt_ms = 2 * (2 * 5 + 5 * (ROUTERS - 1))
    queue = f43_f47.queue(scheme, max(nets.bdp(s.rate, rtt_ms), 4 * s.nodes))
    links: dict[str, Any] = {
        f"line{k}": {"from": f"r{k}", "to": f"r{k + 1}", **nets.wire(s.rate, 5, queue)} for k in range(1, ROUTERS)
    }
    flows: dict[str, Any] = {}
    start = {"uniform": ["0 s", f"{s.seconds / 6:.0f} s"]}
    body = nets.bulk(f43_f47.PROTOCOL[scheme], start=start)
    for k in range(1, ROUTERS + 1):
        for n in range(1, s.nodes + 1):
            links[f"cloud-{k}-{n}"] = {"from": f"n{k}-{n}", "to": f"r{k}", **nets.wire(1000, 5)}
            if k < ROUTERS:
                flows[f"hop{k}n{n}"] = {**body, "from": f"n{k}-{n}", "to": f"n{k + 1}-{n}"}
    for n in range(1, s.nodes + 1):
        flows[f"far{n}"] = {**body, "from": f"n1-{n}", "to": f"n{ROUTERS}-{n}"}
    record = {"sample": f"{s.seconds / 3:.0f} s", "series": "totals"}
    data = {"name": nets.slug(name), "title": name, "duration": f"{s.seconds:.0f} s", "link": links, "flow": flows}
    return Scenario.from_dict({**data, "record": record})


def dynamics(name: str, scheme: str, s: Size) -> Scenario:
    """N11 with groups that come one after the other, and leave in that order."""
    buffer = max(nets.bdp(s.rate, 60), 8 * s.members)
    line = nets.wire(s.rate, 28, f43_f47.queue(scheme, buffer))
    flows = {
        f"group{g}": nets.bulk(
            f43_f47.PROTOCOL[scheme], s.members, {"uniform": [f"{(g - 1) * s.step} s", f"{(g - 1) * s.step + 2} s"]}
        )
        for g in GROUPS
    }
    leave = [{"at": f"{(g + 3) * s.step} s", "flow": f"group{g}", "set": {"abort": "sender"}} for g in GROUPS[:-1]]
    net = nets.dumbbell(name, line, nets.wire(1000, 1), flows, pairs=4 * s.members, duration_s=7 * s.step, warm_up_s=2)
    return net.with_({"timeline": leave})


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f49 <scheme>`, `f50 <scheme>`, `f51`."""
    s = Size(size)
    out = {f"f49 {x}": row(f"f49 {x}", x, s) for x in ("pert", "red")}
    out |= {f"f50 {x}": dynamics(f"f50 {x}", x, s) for x in SCHEMES}
    half = s.step / 2
    wave = {
        "type": "on-off",
        "payload": "1012 B",
        "rate": f"{s.rate / 2} Mbit/s",
        "on": f"{half} s",
        "off": f"{half} s",
    }
    udp = {"from": "left", "to": "right", "workload": {**wave, "first": "off"}}
    flows = {"one": nets.bulk("PERT", 2 * s.members, {"uniform": ["0 s", "5 s"]}), "udp": udp}
    line = nets.wire(s.rate, 28, nets.droptail(max(nets.bdp(s.rate, 60), 4 * s.members)))
    out["f51"] = nets.dumbbell(
        "f51", line, nets.wire(1000, 1), flows, pairs=2 * s.members, duration_s=3.5 * s.step, warm_up_s=2
    )
    return out


def lines(r: Results, scheme: str, column: str) -> list[float]:
    """A column of the five lines of figure 49."""
    return [r.mean(f"f49 {scheme}", f"line{k}_{column}") for k in range(1, ROUTERS)]


def summed(r: Results, label: str, flows: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in s and Mbit/s of the flows whose names begin so, mean over repetitions."""
    sizes = r.runs.only(label).sample("size_bytes")
    own = sizes.filter(pl.col("entity").str.starts_with(flows)).sort("time_ns")
    if own.is_empty():
        raise MissingDataError(f"no samples of {flows} in {label}")
    step = own.with_columns(
        step=pl.col("value").diff().over("rep", "entity").fill_null(pl.col("value").first().over("rep", "entity"))
    )
    by = step.group_by("time_ns").agg(pl.col("step").sum() / pl.col("rep").n_unique()).sort("time_ns")
    return by["time_ns"].to_numpy() / 1e9, by["step"].to_numpy() * 8 / 1e6 / 2.0


def group_rates(r: Results, scheme: str, group: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The same of a group of figure 50."""
    return summed(r, f"f50 {scheme}", f"group{group}-")


def apart(r: Results, scheme: str) -> float:
    """Largest relative difference between groups in the second half of each interval with two groups or more."""
    s = Size(r.size)
    worst = 0.0
    for k in range(1, 7):
        present = [g for g in GROUPS if g - 1 <= k and (g == 4 or k < g + 3)]
        if len(present) < 2:
            continue
        means = []
        for g in present:
            t, x = group_rates(r, scheme, g)
            means.append(float(x[(t > (k + 0.5) * s.step) & (t <= (k + 1) * s.step)].mean()))
        worst = max(worst, (max(means) - min(means)) / float(np.mean(means)))
    return worst


def _utilisation_gap(r: Results) -> float:
    pairs = zip(lines(r, "red", "utilisation"), lines(r, "pert", "utilisation"), strict=True)
    return max(a - b for a, b in pairs)


def _line_gap(k: int) -> Callable[[Results], npt.NDArray[np.float64]]:
    """Utilisation of a line of figure 49 under PERT less that under RED, seed by seed."""
    return lambda r: r.of("f49 pert", f"line{k}_utilisation") - r.of("f49 red", f"line{k}_utilisation")


@measured
def _f51(r: Results, of: Callable[[pl.DataFrame], pl.Series]) -> Estimate:
    """The mean over the runs of something of the bottleneck, from t = 0."""
    links = r.runs.only("f51").links()
    line = links.filter((pl.col("link") == "bottleneck") & (pl.col("direction") == "forward"))
    return stats.mean(of(line).to_numpy())


def _buffer(r: Results) -> float:
    s = Size(r.size)
    return float(max(nets.bdp(s.rate, 60), 4 * s.members))


def pictures(r: Results) -> list[Picture]:
    """Figures 49 to 51."""
    out = []
    for column, what in (("queue", "mean queue (packets)"), ("drop_rate", "drop rate"), ("utilisation", "utilisation")):
        bars = {x: {f"{k + 1}": v for k, v in enumerate(lines(r, x, column))} for x in ("pert", "red")}
        out.append(figures.bars(f"f49-{column.replace('_', '-')}", f"{what} of each line (figure 49).", bars, what))
    for x in SCHEMES:
        series = {f"group {g}": group_rates(r, x, g) for g in GROUPS}
        out.append(figures.over_time(f"f50-{x}", f"Throughput of groups of flows, {x} (figure 50).", series, "Mbit/s"))
    beside = {"PERT": summed(r, "f51", "one-"), "UDP": summed(r, "f51", "udp")}
    return [*out, figures.over_time("f51", "Throughput of PERT flows beside UDP (figure 51).", beside, "Mbit/s")]


CLAIMS = {
    "B104": {
        "largest drop rate": lambda r: max(lines(r, "pert", "drop_rate")),
        "RED less PERT, largest": _utilisation_gap,
        **{f"line {k}: PERT less RED": seeds(_line_gap(k)) for k in range(1, ROUTERS)},
    },
    "B105": {
        "PERT, largest difference": lambda r: apart(r, "pert"),
        "Vegas, largest difference": lambda r: apart(r, "vegas"),
        **{f"{x}, reported": lambda r, x=x: apart(r, x) for x in ("droptail", "red")},
    },
    "B106": {
        "utilisation": _f51(lambda x: x["utilisation_ratio"]),
        "mean queue over buffer": lambda r: _f51(lambda x: x["queue_mean_bytes"] / nets.PACKET)(r).scaled(
            1 / _buffer(r)
        ),
        "drop rate": _f51(lambda x: x["drops_queue_full_packets"] / x["arrived_packets"]),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "PERT over several bottlenecks, and when flows come and go",
    where="figures 48 to 51",
    quick=study.smaller("a third of rates and flows, 40 s between arrivals"),
)
