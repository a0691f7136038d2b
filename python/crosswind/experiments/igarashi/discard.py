"""The testbed of chapter 7: four nodes in a chain, three links of 20 Mbit/s, many voice-like flows over UDP.

Every group of flows consists of two halves (`f0-1` and `f0-2`, ..), so that one run answers for one requirement
and for two: a limit of delay is the application's and changes nothing in the network. EPLR is that of
`crosswind.theory.early_discard`. Waits are counted as the source does: packets that wait, times the time of one
(decision 0025); a wait of exactly the limit is too long.

What is simultaneous is decided by a hair. A node that is busy since a packet from the node before finishes at the very
instants at which the next ones of those come. If it always finishes first, as in our engine, a packet from the node
before never meets the full queue that fresh ones meet, and the longest path loses too little. ns-2, where rounding
decides, treats both alike (`python -m validation.ns2.voice`). So packets take up to 0.1 us longer on the line, which is
an eight-hundredth of a packet.

The source's simulator rounds the length of a burst to the nearest number of packets; so do we (1.995 million packets
expected of 400 flows in 100 s). Our summary's replay sent 1 % more (`drawn-periods`), on which much depends at 96 %.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.igarashi import drawing, study
from crosswind.reproduce import (
    Configurations,
    Experiment,
    Measure,
    Picture,
    Quantity,
    Results,
    Runs,
    Scenario,
    Tables,
    Variant,
    measured,
)
from crosswind.reproduce.claims.quantities import largest, runs, total
from crosswind.stats import Estimate
from crosswind.theory import early_discard

KEYS = ["configuration", "rep"]
LIMITS_MS = (10, 20, 30)
SUMS = ("sent", "drops", "drops_mtq", "drops_qtl", *(f"late_{d}" for d in LIMITS_MS))
HOPS = (1, 2, 3)
FULL_BUFFER_MS = 16.0
FIXED_MS = 140.0
PACKET_BYTES = 200
MEAN_BPS = 80_000
SECONDS = 100
# Against ties: an arrival and the end of a transmission at one instant (see above).
UNEVEN = "100 ns"

# Where each group enters and leaves the chain of nodes 1 to 4.
MODELS: Mapping[int, Mapping[str, tuple[int, int]]] = {
    1: {"g0": (1, 4), "g1": (1, 2), "g2": (2, 3), "g3": (3, 4)},
    2: {"g0": (1, 4), "g1": (1, 3), "g2": (2, 4), "g3": (3, 4), "g4": (1, 2)},
}


@dataclass(frozen=True)
class Limits:
    """What the edge writes into packets, in ms; None: nothing."""

    mtq: float | None = None
    qtl: float | None = None

    def label(self) -> str:
        said = [f"{name} {v:g}" for name, v in (("MTQ", self.mtq), ("QTL", self.qtl)) if v is not None]
        return ", ".join(said) or "none"


@dataclass(frozen=True)
class Setting:
    """One run: which flows, how bursty, and the limits of the two halves of each group."""

    model: int = 2
    flows: tuple[int, ...] = (80, 80, 80, 80, 80)
    limits: Limits = Limits()
    second: Limits | None = None
    on_ms: int = 350
    off_ms: int = 650
    bursts: str = "nearest"
    at_limit: str = "drop"

    def label(self) -> str:
        return self.limits.label() if self.second is None else f"{self.limits.label()} and {self.second.label()}"


# How many packets a burst has, and what its last interval lengthens it by on average, of an interval: the rounding up
# lengthens a period by half an interval, which the silence behind it loses again if it begins where the period ends.
BURSTS = {"nearest": ("nearest", 0.0), "up": ("up", 0.0), "drawn": ("up", 0.5)}

# The four ways of control whose waits are looked at closely (E7.6, E7.7), in whichever experiment they are run: that
# runs be the same for all of them, they record the same.
ANATOMY = (Limits(), Limits(mtq=5), Limits(qtl=10), Limits(mtq=5, qtl=10))
LONG = ("f0-1", "f0-2")

SHORT = Variant("40 s instead of 100 s", {"seconds": 40})

MODEL_1 = Setting(model=1, flows=(120, 120, 120, 120))
MODEL_2 = Setting()


def sweep(base: Setting, limits: Sequence[Limits]) -> dict[str, Scenario]:
    """One configuration for each setting of the limits, labelled by it."""
    return {x.label(): scenario(replace(base, limits=x)) for x in limits}


def half(group: str, number: int) -> str:
    """The flows of one half of a group."""
    return f"f{group[1:]}-{number}"


def scenario(s: Setting) -> Scenario:
    """The scenario of a setting."""
    queue = {"type": "early-discard", "limit": "200 packets"}
    if s.at_limit != "drop":
        queue["at_limit"] = s.at_limit
    uneven = {"type": "reordering", "share": 0.0, "counts": "all", "jitter": UNEVEN}
    hop = {"rate": "20 Mbit/s", "delay": "1 ms", **uneven, "queue": queue}
    wide = {"rate": "1 Gbit/s", "delay": "1 ms"}
    links: dict[str, Any] = {f"hop-{k}": {"from": f"node-{k}", "to": f"node-{k + 1}", **hop} for k in HOPS}
    links |= {f"in-{k}": {"from": f"host-{k}", "to": f"node-{k}", **wide} for k in HOPS}
    # What is sent while active, so that the long-run mean is the same for all lengths of bursts.
    interval_ns = round(PACKET_BYTES * 8 / MEAN_BPS * s.on_ms / (s.on_ms + s.off_ms) * 1e9)
    rounding, overlap = BURSTS[s.bursts]
    off_ns = round(s.off_ms * 1e6 - overlap * interval_ns)
    source = {
        "type": "on-off",
        "payload": f"{PACKET_BYTES - 28} B",
        "interval": f"{interval_ns} ns",
        "on": {"exponential": f"{s.on_ms} ms"},
        "off": {"exponential": f"{off_ns} ns"},
        "first": "off",
        "rounding": rounding,
    }
    flows: dict[str, Any] = {}
    contracts: dict[str, Any] = {}
    for (group, (enters, leaves)), n in zip(MODELS[s.model].items(), s.flows, strict=True):
        for number, limits in ((1, s.limits), (2, s.second or s.limits)):
            name = half(group, number)
            flows[name] = {
                "from": f"host-{enters}",
                "to": f"node-{leaves}",
                "count": n // 2,
                "queue_delay_limits": [f"{d} ms" for d in LIMITS_MS],
                "workload": source,
            }
            options = {k: f"{v:g} ms" for k, v in (("mtq", limits.mtq), ("qtl", limits.qtl)) if v is not None}
            if options:
                contracts[name] = {"domain": "backbone", "flow": name, **options}
    data: dict[str, Any] = {"name": "early-discard", "duration": f"{SECONDS} s", "link": links, "flow": flows}
    if contracts:
        data |= {"domain": {"backbone": {"nodes": [f"node-{k}" for k in (1, 2, 3, 4)]}}, "contract": contracts}
    if s.limits in ANATOMY and s == replace(MODEL_2, limits=s.limits, bursts=s.bursts, at_limit=s.at_limit):
        data["record"] = {"hist": list(LONG)}
    return Scenario.from_dict(data)


def tables(of: Runs) -> Tables:
    """`half`: sent, dropped by cause and late packets of each half of a group; `node`: drops and delays of the hops;
    `repetition`: the EPLR of groups (`g0_eplr_10`) and halves (`f0-1_eplr_10`), and per-node totals."""
    halves = _judged(early_discard.eplr(of))
    hops = of.links().filter(pl.col("link").str.starts_with("hop-") & (pl.col("direction") == "forward"))
    nodes = hops.select(
        *KEYS,
        pl.col("link").str.slice(4).alias("node"),
        pl.col("drops_queue_full_packets").alias("full"),
        pl.col("drops_local_delay_packets").alias("mtq"),
        pl.col("drops_delay_budget_packets").alias("qtl"),
        (pl.col("queue_delay_mean_ns") / 1e6).alias("delay_ms"),
    )
    members = _members(halves["group"].unique(maintain_order=True).to_list())
    groups = _judged(early_discard.eplr(of, by=members).rename({"class": "group"}))
    wide = _repetitions(halves, groups, nodes)
    return {"half": halves.select(*KEYS, "group", *SUMS), "node": nodes, "repetition": wide}


def _members(halves: Sequence[str]) -> dict[str, list[str]]:
    """The halves of each group: `f0-1` and `f0-2` of `g0`."""
    groups: dict[str, list[str]] = {}
    for name in halves:
        groups.setdefault(f"g{name[1]}", []).append(name)
    return groups


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per repetition and group; late packets and EPLR of each limit beside each other."""
    limits = {d: pl.col("limit_ns") == d * 1_000_000 for d in LIMITS_MS}
    return rows.group_by(*KEYS, "group", maintain_order=True).agg(
        pl.col("sent_packets").first().alias("sent"),
        pl.sum_horizontal(pl.col("^drops_.*$").first()).alias("drops"),
        pl.col("drops_local_delay_packets").first().alias("drops_mtq"),
        pl.col("drops_delay_budget_packets").first().alias("drops_qtl"),
        pl.col("loss_ratio").first().alias("loss"),
        *(pl.col("late_packets").filter(at).first().alias(f"late_{d}") for d, at in limits.items()),
        *(pl.col("eplr_ratio").filter(at).first().alias(f"eplr_{d}") for d, at in limits.items()),
    )


def _repetitions(halves: pl.DataFrame, groups: pl.DataFrame, nodes: pl.DataFrame) -> pl.DataFrame:
    values = ["sent", "drops", "drops_mtq", "drops_qtl", "loss"]
    values += [f"{what}_{d}" for what in ("late", "eplr") for d in LIMITS_MS]
    wide = _wide(pl.concat([groups, halves]), "group", values, "{on}_{value}")
    all_groups = groups.group_by(*KEYS).agg(pl.col(c).sum().alias(f"all_{c}") for c in SUMS)
    per_node = _wide(nodes, "node", ["full", "mtq", "qtl", "delay_ms"], "node{on}_{value}")
    return wide.join(all_groups, on=KEYS).join(per_node, on=KEYS).sort(KEYS)


def _wide(frame: pl.DataFrame, on: str, values: list[str], name: str) -> pl.DataFrame:
    """One row per repetition; a column for each member of `on` and each value."""
    members = frame[on].unique(maintain_order=True).to_list()
    columns = [
        pl.col(v).filter(pl.col(on) == m).first().alias(name.format(on=m, value=v)) for m in members for v in values
    ]
    return frame.group_by(KEYS, maintain_order=True).agg(columns)


STUDY = replace(study.STUDY, tables=tables, quick_reps=1)


def experiment(module: str, title: str, **more: Any) -> Experiment:
    """An experiment of chapter 7; a first look is one run of 40 s of each configuration."""
    return STUDY.experiment(module, title, read=_of_length, quick=SHORT, **more)


def _of_length(configurations: Configurations) -> Configurations:
    def read(seconds: int = SECONDS, **reading: Any) -> dict[str, Scenario]:
        made = configurations(**reading)
        return made if seconds == SECONDS else {c: s.with_({"duration": f"{seconds} s"}) for c, s in made.items()}

    return read


read_two_ways = partial(experiment, variants=study.READINGS["chapter-7"])


def eplr(configuration: str, member: str, limit_ms: int = 10) -> Quantity:
    """The EPLR of a group or half, seed by seed."""
    return runs(configuration, f"{member}_eplr_{limit_ms}")


def worst(configuration: str, limits_ms: Mapping[str, int]) -> Quantity:
    """The EPLR of the group that is worst off by its own limit, seed by seed."""
    return largest(eplr(configuration, g, ms) for g, ms in limits_ms.items())


def mean(configuration: str, limits_ms: Mapping[str, int]) -> Quantity:
    """The mean EPLR over all flows by their own limits, weighted by the packets sent."""
    sent = {g: runs(configuration, f"{g}_sent") for g in limits_ms}
    return total(eplr(configuration, g, limits_ms[g]) * n for g, n in sent.items()) / total(sent.values())


def percent(r: Results, column: Quantity) -> float:
    """The median over the seeds, for figures."""
    return 100 * float(np.median(column(r)))


def alike(limit_ms: int = 10, model: int = 2) -> dict[str, int]:
    """One limit for all groups of a model."""
    return dict.fromkeys(MODELS[model], limit_ms)


def curve(r: Results, by: Mapping[float, str], column: str) -> list[tuple[float, Estimate]]:
    """A share's median over the seeds, in per cent, against what the configurations are numbered by."""
    return [(x, stats.median(r.of(c, column)).scaled(100)) for x, c in sorted(by.items())]


def curves(r: Results, by: Mapping[float, str], groups: Sequence[str], column: str) -> dict[str, Any]:
    """One curve for each group."""
    return {g: curve(r, by, f"{g}_{column}") for g in groups}


def over(new: str, old: str, member: str = "g0", limit_ms: int = 10) -> Measure:
    """The EPLR of one configuration over that of another."""
    return study.ratio(eplr(new, member, limit_ms), eplr(old, member, limit_ms))


def changed(new: str, old: str, member: str = "g0", limit_ms: int = 10) -> Measure:
    """The relative change of an EPLR between two configurations."""
    return study.change(eplr(new, member, limit_ms), eplr(old, member, limit_ms))


@measured
def best(r: Results, by: Mapping[float, str], measure: Callable[[str], Quantity]) -> Estimate:
    """The setting with the lowest median over the seeds."""
    at = {x: measure(c)(r) for x, c in by.items()}
    return stats.exact(min(at, key=lambda x: float(np.median(at[x]))), len(next(iter(at.values()))))


@measured
def three_panels(
    r: Results, name: str, caption: str, axis: str, by_model: Sequence[Mapping[float, str]]
) -> list[Picture]:
    """The pictures of EPLR against a limit: model 1 and 10 ms, model 2 and 10 ms, model 2 and 20 ms."""
    first, second, third = by_model
    panels = {
        "(a) model 1, 10 ms": curves(r, first, list(MODELS[1]), "eplr_10"),
        "(b) model 2, 10 ms": curves(r, second, list(MODELS[2]), "eplr_10"),
        "(c) model 2, 20 ms": curves(r, third, list(MODELS[2]), "eplr_20"),
    }
    return [drawing.against(name, caption, panels, axis, "EPLR (%)")]
