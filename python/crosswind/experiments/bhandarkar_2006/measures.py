"""Tables of [Bhandarkar 2006]: what happened between the first sample of the totals and the last.

`repetition` has one row per run, with a column per group of flows and per link:

| column | meaning |
|---|---|
| `<group>_bps`, with `_min`, `_max`, `_sd` before it | payload per second over the flows (`_sd`: sample deviation) |
| `<group>_sum_bps`, `<group>_jain` | their sum, Jain's index |
| `<group>_recoveries`, `<group>_timeouts`, `<group>_sent` | fast recoveries, timeouts and packets of all its flows |
| `<link>_utilisation`, `<link>_drop_rate` | sent bits over capacity, drops over arrivals |
| `<link>_queue` | mean backlog in packets of 1040 bytes |
| `<link>_packets` | packets sent |
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.experiments.bhandarkar_2006.nets import PACKET
from crosswind.reproduce import Measure, Results, Runs, Tables, measured
from crosswind.reproduce.claims import BrokenClaimError
from crosswind.reproduce.claims.measures import value
from crosswind.stats import Estimate

KEYS = ["configuration", "rep"]
# What figures show of a bottleneck and its flows: panel -> column.
PANELS = {
    "mean queue (packets)": "bottleneck_queue",
    "drop rate": "bottleneck_drop_rate",
    "utilisation": "bottleneck_utilisation",
    "Jain's index": "one_jain",
}


def between_samples(runs: Runs, until_s: float = math.inf) -> pl.DataFrame:
    """configuration, rep, entity, metric, value between first and last sample up to a time, and `span_s`."""
    sample = runs.sample()
    if sample.is_empty():
        return sample
    sample = sample.filter(pl.col("time_ns") <= until_s * 1e9)
    ends = sample.group_by(KEYS).agg(pl.col("time_ns").min().alias("from_ns"), pl.col("time_ns").max().alias("to_ns"))
    at = sample.join(ends, on=KEYS)
    first = at.filter(pl.col("time_ns") == pl.col("from_ns")).select(*KEYS, "entity", "metric", first="value")
    last = at.filter(pl.col("time_ns") == pl.col("to_ns")).select(
        *KEYS, "entity", "metric", "from_ns", "to_ns", last="value"
    )
    both = last.join(first, on=[*KEYS, "entity", "metric"], how="left").with_columns(pl.col("first").fill_null(0.0))
    # Mean backlogs are means since the start: they turn into sums over time before they are subtracted.
    is_mean = pl.col("metric") == "queue_mean_bytes"
    difference = pl.col("last") - pl.col("first")
    area = pl.col("last") * pl.col("to_ns") - pl.col("first") * pl.col("from_ns")
    span_ns = pl.col("to_ns") - pl.col("from_ns")
    return both.with_columns(
        value=pl.when(is_mean).then(area / span_ns).otherwise(difference), span_s=span_ns.cast(pl.Float64) / 1e9
    ).select(*KEYS, "entity", "metric", "value", "span_s")


def _wide(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.pivot("metric", index=[*KEYS, "entity", "span_s"], values="value")


def flows(runs: Runs, until_s: float = math.inf) -> pl.DataFrame:
    """One row per flow and run: payload per second, recoveries, timeouts and packets in the measured time."""
    deltas = between_samples(runs, until_s)
    names = runs.flows().select(*KEYS, "group", entity="name")
    wide = _wide(deltas.filter(pl.col("metric").is_in(["size_bytes", "sent_packets", "fast_recoveries", "timeouts"])))
    return wide.join(names, on=[*KEYS, "entity"]).with_columns(rate_bps=pl.col("size_bytes") * 8 / pl.col("span_s"))


def links(runs: Runs, until_s: float = math.inf) -> pl.DataFrame:
    """One row per link direction and run: utilisation, drop rate and mean queue in the measured time."""
    wanted = ["arrived_packets", "sent_packets", "sent_bytes", "drops_packets", "queue_mean_bytes"]
    deltas = between_samples(runs, until_s)
    wide = _wide(deltas.filter(pl.col("metric").is_in(wanted) & pl.col("entity").str.contains("/")))
    rates = runs.links().select(*KEYS, "link", "rate_bps", entity=pl.col("link") + "/" + pl.col("direction"))
    arrived = pl.col("arrived_packets")
    return wide.join(rates, on=[*KEYS, "entity"]).with_columns(
        utilisation=pl.col("sent_bytes") * 8 / pl.col("span_s") / pl.col("rate_bps"),
        drop_rate=pl.when(arrived > 0).then(pl.col("drops_packets") / arrived).otherwise(0.0),
        queue=pl.col("queue_mean_bytes") / PACKET,
    )


def _group_columns(name: str, part: pl.DataFrame) -> dict[str, float]:
    rates = part["rate_bps"].to_numpy()
    row = {
        "bps": rates.mean(),
        "min_bps": rates.min(),
        "max_bps": rates.max(),
        "sd_bps": rates.std(ddof=1) if rates.size > 1 else 0.0,
        "sum_bps": rates.sum(),
        "jain": float(stats.jain(rates)) if rates.sum() > 0 else float("nan"),
    }
    for column in ("fast_recoveries", "timeouts", "sent_packets"):
        if column in part.columns:
            key = {"fast_recoveries": "recoveries", "sent_packets": "sent"}.get(column, column)
            row[key] = float(part[column].fill_null(0.0).sum())
    return {f"{name}_{k}": float(v) for k, v in row.items()}


def tables(runs: Runs, until_s: float = math.inf) -> Tables:
    """`repetition` (see the top of this file) and `flow_window`; `until_s` leaves out later samples."""
    if "sample" not in runs.tables:
        return {}
    per_flow, per_link = flows(runs, until_s), links(runs, until_s)
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, part in per_flow.partition_by([*KEYS, "group"], as_dict=True).items():
        row = rows.setdefault(key[:2], dict(zip(KEYS, key[:2], strict=True)))
        row.update(_group_columns(str(key[2]), part))
    # Links of hosts are of no interest, and their way back neither.
    router = per_link.filter(
        pl.col("entity").str.ends_with("/forward") & ~pl.col("link").str.contains(r"^(left|right)-")
    )
    for r in router.iter_rows(named=True):
        row = rows.setdefault((r["configuration"], r["rep"]), {k: r[k] for k in KEYS})
        for column in ("utilisation", "drop_rate", "queue"):
            row[f"{r['link']}_{column}"] = r[column]
        row[f"{r['link']}_packets"] = r["sent_packets"]
        row[f"{r['link']}_drops"] = r["drops_packets"]
    return {"repetition": pl.DataFrame(list(rows.values()), infer_schema_length=None), "flow_window": per_flow}


def mean_of(configuration: str, column: str) -> Measure:
    """Mean of a column of `repetition` over the repetitions of a configuration."""
    return value(configuration, column, np.mean)


@measured
def ratio(r: Results, over: tuple[str, str], under: tuple[str, str]) -> Estimate:
    """Mean over the repetitions of a quotient of two (configuration, column)."""
    a, b = r.of(*over), r.of(*under)
    return stats.mean(np.divide(a, b, out=np.full_like(a, np.nan), where=b != 0))


@measured
def used(r: Results, label: str, *groups: str) -> float:
    """Payload of some groups of flows over the rate of the bottleneck, as the source counts (0.9615 at the most)."""
    carried = sum(r.mean(label, f"{g}_sum_bps") for g in groups)
    links = r.runs.links().filter((pl.col("configuration") == label) & (pl.col("link") == "bottleneck"))
    return carried / float(links["rate_bps"][0])


def _flows_of(r: Results, label: str, kind: str) -> pl.DataFrame:
    """The flows whose names begin so. Raises as `Results.of` does, and BrokenClaimError where there are none."""
    r.of(label, "rep", table="flow_window")
    named = (pl.col("configuration") == label) & pl.col("entity").str.starts_with(kind)
    return of_a_run(r.table("flow_window").filter(named), f"flow {kind} in {label}")


def of_a_run(found: pl.DataFrame, what: str) -> pl.DataFrame:
    """What every run has, at any size. Raises BrokenClaimError where it is empty: a claim asks for something else."""
    if found.is_empty():
        raise BrokenClaimError(f"no {what}")
    return found


@measured
def rate_of(r: Results, label: str, kind: str) -> npt.NDArray[np.float64]:
    """Mean rate of the flows whose names begin so, in each repetition."""
    rates = _flows_of(r, label, kind).group_by("rep").agg(pl.col("rate_bps").mean()).sort("rep")
    return rates["rate_bps"].to_numpy()


@measured
def jain_of(r: Results, label: str, kind: str = "") -> npt.NDArray[np.float64]:
    """Jain's index of the flows whose names begin so, run by run."""
    runs = _flows_of(r, label, kind).sort("rep", maintain_order=True).partition_by("rep", maintain_order=True)
    return np.array([stats.jain(run["rate_bps"].to_numpy()) for run in runs])
