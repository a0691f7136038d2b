"""Tables of chapters 4 and 5, and what claims measure in them.

`series` has one row for each bin: configuration, rep, flow, `s` (its end), `mbps` (payload delivered). `repetition`
has for each flow its mean and largest bin (`f_mbps`, `f_max_mbps`), the share of its packets that were dropped
(`f_loss`) and their number (`f_lost`), and of the short transfers (flows `short..`) all bytes over all times
(`short_mbps`) and over the run (`short_load_mbps`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.igarashi import paths, study
from crosswind.reproduce import (
    Configurations,
    Experiment,
    Picture,
    Quantity,
    Results,
    Runs,
    Scenario,
    Tables,
    measured,
    needed,
)
from crosswind.reproduce.claims import BrokenClaimError
from crosswind.reproduce.claims.quantities import runs
from crosswind.reproduce.claims.quantities import total as sum_of

KEYS = ["configuration", "rep"]
# As many as open point O1.3 asks for.
SEEDS = 10


def tables(of: Runs) -> Tables:
    """`series` and `repetition`: see the top of this file."""
    flows = of.flows().with_columns(pl.col("name").str.starts_with("short").alias("is_short"))
    long = flows.filter(~pl.col("is_short"))
    names = long["name"].unique(maintain_order=True).to_list()
    goodput = of.sample("goodput_bps").filter(pl.col("entity").is_in(names))
    series = goodput.select(
        *KEYS, flow="entity", s=pl.col("time_ns") / 1e9, mbps=pl.col("value").fill_nan(0.0) / 1e6
    ).sort(*KEYS, "flow", "s")
    ends = of.runs().select(*KEYS, seconds=pl.col("end_ns") / 1e9)
    rates = series.group_by(*KEYS, "flow").agg(pl.col("mbps").max().alias("max_mbps"))
    per_flow = (
        long.join(ends, on=KEYS)
        .select(
            *KEYS,
            flow="name",
            mbps=pl.col("size_bytes") * 8e-6 / pl.col("seconds"),
            lost=pl.col("drops_packets"),
            loss=pl.col("drops_packets") / pl.col("sent_packets").clip(1),
        )
        .join(rates, on=[*KEYS, "flow"], how="left")
    )
    columns = [
        pl.col(v).filter(pl.col("flow") == n).first().alias(f"{n}_{v}")
        for n in names
        for v in ("mbps", "max_mbps", "loss", "lost")
    ]
    wide = ends.select(KEYS)
    if columns:
        wide = wide.join(per_flow.group_by(KEYS, maintain_order=True).agg(columns), on=KEYS, how="left")
    short = flows.filter("is_short").join(ends, on=KEYS)
    if not short.is_empty():
        over = pl.when(pl.col("elapsed_ns") > 0).then(pl.col("elapsed_ns") / 1e9)
        taken = over.otherwise((pl.col("seconds") - pl.col("open_ns") / 1e9).clip(0)).sum()
        sums = short.group_by(KEYS).agg(
            (pl.col("size_bytes").sum() * 8e-6 / taken).alias("short_mbps"),
            (pl.col("size_bytes").sum() * 8e-6 / pl.col("seconds").first()).alias("short_load_mbps"),
        )
        wide = wide.join(sums, on=KEYS, how="left")
    return {"series": series, "repetition": wide.sort(KEYS)}


STUDY = replace(study.STUDY, tables=tables, reps=SEEDS, quick_reps=1)


def experiment(module: str, title: str, **more: Any) -> Experiment:
    """An experiment of chapters 4 and 5: the kernel of the senders and the course of FAST are settings of each."""
    readings = study.READINGS["chapter-5" if ".e5_" in module else "chapter-4"]
    return STUDY.experiment(module, title, read=_on_hosts, **{"variants": readings, "quick": paths.QUICK, **more})


def _on_hosts(configurations: Configurations) -> Configurations:
    def read(*, hosts: str = "kernel", fast: str = "published", **settings: Any) -> dict[str, Scenario]:
        made = configurations(**settings)
        if hosts == "kernel":
            made = {label: paths.on_kernels(s) for label, s in made.items()}
        return made if fast == "published" else {label: paths.stepwise(s) for label, s in made.items()}

    return read


def mean(configuration: str, flow: str = "f") -> Quantity:
    """The mean rate of a flow, run by run."""
    return runs(configuration, f"{flow}_mbps")


def total(configuration: str, flows: Sequence[str] = ("f", "g")) -> Quantity:
    """The sum of mean rates."""
    return sum_of(mean(configuration, f) for f in flows)


def during(configuration: str, flow: str, share: tuple[float, float]) -> Quantity:
    """The mean rate between two moments, given as shares of the run."""
    return binned(configuration, flow, share, pl.col("mbps").mean())


def unsteady(configuration: str, share: tuple[float, float]) -> Quantity:
    """The standard deviation of a flow's bins over their mean."""
    return binned(configuration, "f", share, pl.col("mbps").std() / pl.col("mbps").mean())


@measured
def binned(
    r: Results, configuration: str, flow: str, share: tuple[float, float], of: pl.Expr
) -> npt.NDArray[np.float64]:
    """A statistic of the bins between two moments, run by run."""
    s = series(r, configuration, flow)
    low, high = (x * s["s"].to_numpy().max() for x in share)
    inside = s.filter((pl.col("s") > low + 1e-9) & (pl.col("s") <= high + 1e-9))
    return inside.group_by("rep", maintain_order=True).agg(of.alias("v"))["v"].to_numpy()


@measured
def reached_s(r: Results, configuration: str, mbps: float, flow: str = "f") -> npt.NDArray[np.float64]:
    """When a bin first has this rate; the length of the run if none has."""
    s = series(r, configuration, flow)
    found = []
    for _, run in sorted(s.partition_by("rep", as_dict=True).items()):
        fast = run.filter(pl.col("mbps") >= mbps)["s"]
        found.append(float(fast.min() if len(fast) else run["s"].max()))  # type: ignore[arg-type]
    return np.array(found)


def series(r: Results, configuration: str, flow: str) -> pl.DataFrame:
    """The bins of one flow; `e5-1/HSTCP 0.95 Small` is a configuration of another experiment.

    Raises as `Results.of` does where it was not run, and BrokenClaimError where it has no such flow.
    """
    r.of(configuration, "rep", table="series")
    other, _, label = configuration.rpartition("/")
    every = (r.others[other] if other else r).table("series")
    own = every.filter((pl.col("configuration") == label) & (pl.col("flow") == flow))
    if own.is_empty():
        raise BrokenClaimError(f"no flow {flow} in {configuration}")
    return own


@measured
def per_ack(r: Results, configuration: str) -> npt.NDArray[np.float64]:
    """New segments that each ACK acknowledged, in the first run, from when losses of slow start are repaired."""
    events = r.runs.only(configuration, [0]).events("f")
    needed(events, "no events were kept")
    last = events.filter(pl.col("kind").is_in(["recovered", "timeout", "retransmit"]))["time_ns"].to_list()
    repaired = pl.col("time_ns") > max(last, default=0) + 200_000_000
    acks = events.filter((pl.col("kind") == "ack") & repaired)["seq"].to_numpy()
    # The first byte of data is 1: data segments, which are ACKs too, acknowledge the handshake.
    return np.asarray(np.diff(acks[acks > 1]) / paths.MSS_BYTES)


def chunks(name: str, caption: str, r: Results, configurations: Mapping[str, str]) -> Picture:
    """The cumulative distribution of what an ACK acknowledges, in steps: label -> configuration."""
    hists = {}
    for label, configuration in configurations.items():
        values, counts = np.unique(np.rint(per_ack(configuration)(r)), return_counts=True)
        # The share stays as it is up to the next whole number.
        ends = np.concatenate([values, values[1:] - 1e-6])
        hists[label] = pl.DataFrame({"high": ends, "count": np.concatenate([counts, np.zeros(len(values) - 1)])})
    return figures.cumulative(name, caption, hists, "segments that an ACK acknowledges", 1.0)


def over_time(
    name: str, caption: str, r: Results, lines: dict[str, tuple[str, str]], printed: Mapping[str, float] = {}
) -> Picture:
    """Throughput against time: label -> (configuration, flow), of the first run; `printed`: what -> published time."""
    drawn = {}
    for label, (configuration, flow) in lines.items():
        s = series(r, configuration, flow).filter(pl.col("rep") == 0)
        drawn[label] = (s["s"].to_numpy(), s["mbps"].to_numpy())
    return figures.over_time(name, caption, drawn, "throughput (Mbit/s)", printed=printed)


def bars(
    name: str,
    caption: str,
    r: Results,
    series_of: dict[str, dict[str, Quantity]],
    printed: Mapping[str, Mapping[str, float]] = {},
) -> Picture:
    """Mean throughput as bars: series -> category -> measure; `printed`: published values."""
    heights = {s: {c: float(np.median(m(r))) for c, m in by.items()} for s, by in series_of.items()}
    return figures.bars(name, caption, heights, "throughput (Mbit/s)", printed)


def jain(a: Quantity, b: Quantity) -> Quantity:
    """Jain's index of two rates, run by run."""
    return Quantity(lambda r: np.asarray(stats.jain(np.stack([a(r), b(r)], axis=-1))))
