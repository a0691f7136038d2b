"""With congestion only: how do long DCR flows react when others come and go?

N4 (see `f18_f25`). Figure 19: 12 long flows, SACK or DCR, and 12 more SACK flows from 50 s to 100 s; a drop rate of
about 2 %. Figure 20: 8 long flows, SACK or DCR, and 500 web-like SACK flows that send 10 to 20 packets every 15 s on
average; 3 %. 200 s, throughput per second.

What the source printed: the time until the old flows have 55 % and the new ones 45 %: 5.89 s (SACK), 3.80 s (DCR);
averages of 4.76 and 4.73 Mbit/s for the long flows, 4.84 and 4.82 for the web.

What may differ here: the time between web transfers is Pareto with shape 1.5 (ns-2's default); buffers are ours. In
figure 19 the share is that of the old flows in the sum of both, in bins of 1 s, with linear interpolation (O28); it
depends on the seed, so five are run with `--quick` too.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.measures import mean_of
from crosswind.reproduce import Picture, Results, Scenario, measured, measures, needed

WINDOW, WIDE = 14, 1000
BUFFERS = {"f19": 45, "f20": 160}
SECONDS, FROM_s, UNTIL_s = 200, 50, 100
PROTOCOLS = ("SACK", "DCR")


def tree(name: str, groups: dict[str, dict[str, Any]], buffer: int, timeline: list[dict[str, Any]]) -> Scenario:
    """Groups of flows over the bottleneck of 10 Mbit/s, each member with links of its own."""
    links: dict[str, Any] = {"bottleneck": {"from": "router", "to": "base", **nets.wire(10, 5, nets.droptail(buffer))}}
    flows: dict[str, Any] = {}
    for group, (body, members, hosts) in ((g, (b["flow"], b["members"], b["hosts"])) for g, b in groups.items()):
        for k in range(1, hosts + 1):
            links[f"left-{group}{k}"] = {"from": f"s-{group}{k}", "to": "router", **nets.host(100, 5, 10)}
            links[f"right-{group}{k}"] = {"from": "base", "to": f"r-{group}{k}", **nets.wire(1, 20, nets.droptail(50))}
            ends = {"from": f"s-{group}{k}", "to": f"r-{group}{k}", "count": members // hosts}
            flows[f"{group}{k}"] = {**body, **ends}
    return nets.world(name, links, flows, f"{SECONDS} s", "1 s").with_({"timeline": timeline})


def configurations(**_: Any) -> dict[str, Scenario]:
    """`f19 <protocol>` and `f20 <protocol>`."""
    out = {}
    for p in PROTOCOLS:
        long = nets.bulk(p, start={"uniform": ["0 s", "2 s"]}, window_limit_segments=WINDOW)
        new = nets.bulk("SACK", start=f"{FROM_s} s", window_limit_segments=WINDOW)
        groups = {"old": {"flow": long, "members": 12, "hosts": 12}, "new": {"flow": new, "members": 12, "hosts": 12}}
        leave = [{"at": f"{UNTIL_s} s", "flow": f"new{k}", "set": {"abort": "sender"}} for k in range(1, 13)]
        out[f"f19 {p}"] = tree(f"f19 {p}", groups, BUFFERS["f19"], leave)
        web = nets.bulk("SACK", start={"every": "1 ms"}, window_limit_segments=WIDE)
        web["workload"] = {
            "type": "web",
            "size": {"uniform": ["10000 B", "20999 B"]},
            "every": {"pareto": {"mean": "15 s", "shape": 1.5}},
        }
        groups = {"old": {"flow": long, "members": 8, "hosts": 8}, "web": {"flow": web, "members": 500, "hosts": 50}}
        out[f"f20 {p}"] = tree(f"f20 {p}", groups, BUFFERS["f20"], [])
    return out


def per_second(r: Results, label: str, group: str, rep: int) -> npt.NDArray[np.float64]:
    """Mbit/s of a group in each second, payload."""

    def read() -> pl.DataFrame:
        own = r.runs.only(label, [rep]).sample("size_bytes").sort("time_ns")
        value = pl.col("value")
        step = value.diff().over("entity").fill_null(value.first().over("entity"))
        name = pl.col("entity").str.extract("^([a-z]+)")
        return own.with_columns(step=step, group=name).group_by("time_ns", "group").agg(pl.col("step").sum())

    by = r.held(("per second", label, rep), read).filter(pl.col("group") == group)
    needed(by, f"no samples of {group} in {label}")
    at = np.zeros(SECONDS + 1)
    at[(by["time_ns"].to_numpy() / 1e9).round().astype(int)] = by["step"].to_numpy() * 8 / 1e6
    return at[1:]


def _repetitions(r: Results, label: str) -> list[int]:
    return sorted(r.runs.only(label).runs()["rep"].to_list())


@measured
def convergence(r: Results, protocol: str) -> npt.NDArray[np.float64]:
    """Seconds until the old flows are down to 55 %, run by run."""
    out = []
    for rep in _repetitions(r, f"f19 {protocol}"):
        old, new = (per_second(r, f"f19 {protocol}", g, rep) for g in ("old", "new"))
        share = old[FROM_s - 1 :] / (old + new)[FROM_s - 1 :]
        k = int(np.argmax(share <= 0.55))
        # A bin stands for its middle: bin 0 is the second before the step.
        out.append(k - 1 + (share[k - 1] - 0.55) / (share[k - 1] - share[k]) + 0.5 if k else float("nan"))
    return np.array(out)


@measured
def average(r: Results, protocol: str, group: str) -> float:
    """Mbit/s of a group over the run of figure 20, payload."""
    label = f"f20 {protocol}"
    return float(np.mean([per_second(r, label, group, rep)[10:].mean() for rep in _repetitions(r, label)]))


def _apart(group: str) -> Any:
    return (average("DCR", group) / average("SACK", group) - 1).then(abs)


def pictures(r: Results) -> list[Picture]:
    """Figures 19 and 20."""
    out = []
    for figure, other in (("f19", "new"), ("f20", "web")):
        for p in PROTOCOLS:
            lines = {g: (np.arange(1, SECONDS + 1), per_second(r, f"{figure} {p}", g, 0)) for g in ("old", other)}
            text = f"Throughput of {p} flows and of the others ({figure})."
            met = {"old flows at 55 %": FROM_s + study.BOOK.number("B34", p)} if figure == "f19" else {}
            out.append(figures.over_time(f"{figure}-{p.lower()}", text, lines, "Mbit/s", printed=met))
    return out


CLAIMS = {
    "B34": {
        **{p: measures.mean(convergence(p)) for p in PROTOCOLS},
        "DCR over SACK": convergence("DCR").then(np.mean) / convergence("SACK").then(np.mean),
        **{f"drop rate, {p}, reported": mean_of(f"f19 {p}", "bottleneck_drop_rate") for p in PROTOCOLS},
    },
    "B35": {
        "long flows, apart by": _apart("old"),
        "web, apart by": _apart("web"),
        **{f"sum, {p}": average(p, "old") + average(p, "web") for p in PROTOCOLS},
        **{f"drop rate, {p}, reported": mean_of(f"f20 {p}", "bottleneck_drop_rate") for p in PROTOCOLS},
        **{f"{p}, {g}, reported": average(p, g) for p in PROTOCOLS for g in ("old", "web")},
    },
}

EXPERIMENT = study.experiment(__name__, "Congestion only: others come and go", where="figures 19, 20", quick_reps=5)
