"""What does PERT do over several bottlenecks, when flows come and go, and beside UDP?

Figure 49: N10, six routers in a row at 150 Mbit/s and 5 ms, a cloud of 20 nodes (1 Gbit/s, 5 ms) at each; every cloud
sends to the next, the first one to the last as well. Figure 50: N11, 150 Mbit/s and 60 ms, 25 flows at 0 s and 25
more at 100, 200 and 300 s; from 400 s 25 leave every 100 s. Figure 51: PERT beside 75 Mbit/s of UDP, 50 s on and 50 s
off from 50 s, from its first second on.

What the source printed: curves that are lost; in words: no drops on any of the bottlenecks, a utilisation like that
of RED with ECN; PERT adapts quickly, Vegas is unfair between groups; of figure 51 utilisation, queue and drop rate.

What may differ here: every node has one flow to the next cloud, and every node of the first one to the last as well;
queues hold a bandwidth-delay product of the longest path, as everywhere in chapter IV. Figure 51 runs 350 s with 50
PERT flows. `--quick` takes a third of rates and flows, 60 s for figure 49 and 40 s between arrivals.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import f43_f47, nets, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures, needed, seeds
from crosswind.reproduce.claims.quantities import largest, runs

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
    return nets.world(name, links, flows, f"{s.seconds:.0f} s", f"{s.seconds / 3:.0f} s")


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
    udp = nets.wave(s.rate / 2, f"{s.step / 2} s")
    flows = {"one": nets.bulk("PERT", 2 * s.members, {"uniform": ["0 s", "5 s"]}), "udp": udp}
    line = nets.wire(s.rate, 28, nets.droptail(max(nets.bdp(s.rate, 60), 4 * s.members)))
    seconds, pairs = 3.5 * s.step, 2 * s.members
    out["f51"] = nets.dumbbell("f51", line, nets.wire(1000, 1), flows, pairs=pairs, duration_s=seconds, warm_up_s=2)
    return out


LINES = [f"line{k}" for k in range(1, ROUTERS)]


def line(scheme: str, name: str, column: str) -> Quantity:
    """A column of a line of figure 49, run by run."""
    return runs(f"f49 {scheme}", f"{name}_{column}")


def summed(r: Results, label: str, flows: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in s and Mbit/s of the flows whose names begin so, mean over repetitions."""
    sizes = r.runs.only(label).sample("size_bytes")
    own = sizes.filter(pl.col("entity").str.starts_with(flows)).sort("time_ns")
    needed(own, f"no samples of {flows} in {label}")
    step = own.with_columns(
        step=pl.col("value").diff().over("rep", "entity").fill_null(pl.col("value").first().over("rep", "entity"))
    )
    by = step.group_by("time_ns").agg(pl.col("step").sum() / pl.col("rep").n_unique()).sort("time_ns")
    return by["time_ns"].to_numpy() / 1e9, by["step"].to_numpy() * 8 / 1e6 / 2.0


def group_rates(r: Results, scheme: str, group: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The same of a group of figure 50."""
    return summed(r, f"f50 {scheme}", f"group{group}-")


@measured
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


def _f51(of: pl.Expr) -> Quantity:
    """Something of the bottleneck from t = 0, run by run."""
    line = (pl.col("link") == "bottleneck") & (pl.col("direction") == "forward")
    return Quantity(lambda r: r.runs.only("f51").links().filter(line).select(of).to_series().to_numpy())


def _buffer(r: Results) -> float:
    s = Size(r.size)
    return float(max(nets.bdp(s.rate, 60), 4 * s.members))


def pictures(r: Results) -> list[Picture]:
    """Figures 49 to 51."""
    out = []
    for column, what in (("queue", "mean queue (packets)"), ("drop_rate", "drop rate"), ("utilisation", "utilisation")):
        bars = {x: {name[4:]: float(line(x, name, column)(r).mean()) for name in LINES} for x in ("pert", "red")}
        out.append(figures.bars(f"f49-{column.replace('_', '-')}", f"{what} of each line (figure 49).", bars, what))
    for x in SCHEMES:
        series = {f"group {g}": group_rates(r, x, g) for g in GROUPS}
        out.append(figures.over_time(f"f50-{x}", f"Throughput of groups of flows, {x} (figure 50).", series, "Mbit/s"))
    beside = {"PERT": summed(r, "f51", "one-"), "UDP": summed(r, "f51", "udp")}
    return [*out, figures.over_time("f51", "Throughput of PERT flows beside UDP (figure 51).", beside, "Mbit/s")]


USED = {x: {name: line(x, name, "utilisation") for name in LINES} for x in ("pert", "red")}
CLAIMS = {
    "B104": {
        "largest drop rate": largest(line("pert", name, "drop_rate").then(np.mean) for name in LINES),
        "RED less PERT, largest": largest(
            USED["red"][name].then(np.mean) - USED["pert"][name].then(np.mean) for name in LINES
        ),
        **{f"line {name[4:]}: PERT less RED": seeds(USED["pert"][name] - USED["red"][name]) for name in LINES},
    },
    "B105": {
        "PERT, largest difference": apart("pert"),
        "Vegas, largest difference": apart("vegas"),
        **{f"{x}, reported": apart(x) for x in ("droptail", "red")},
    },
    "B106": {
        "utilisation, payload": measures.mean(_f51(pl.col("utilisation_ratio") * nets.CEILING)),
        "mean queue over buffer": measures.mean(_f51(pl.col("queue_mean_bytes") / nets.PACKET) / _buffer),
        "drop rate": measures.mean(_f51(pl.col("drops_queue_full_packets") / pl.col("arrived_packets"))),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "PERT over several bottlenecks, and when flows come and go",
    where="figures 48 to 51",
    quick=study.smaller("a third of rates and flows, 40 s between arrivals"),
)
