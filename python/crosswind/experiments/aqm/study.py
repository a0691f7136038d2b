"""How the experiments on queues are declared: the dumbbell of RFC 7928, and what a queue under load did in each run."""

from typing import Any

import polars as pl

from crosswind.reproduce import Runs, Scenario, Study, Tables
from crosswind.reproduce.claims.book import book
from crosswind.suites.case import Setting

KEYS = ["configuration", "rep"]
WARM_UP_S = 20
#: The path of RFC 7928 as ours has it: 10 Mbit/s, 100 ms, room for 250 ms.
SETTING = Setting(seconds=120)


def scenario(name: str, table: dict[str, Any]) -> Scenario:
    """A table of `suites.network` as a scenario of the study."""
    return Scenario.from_dict({"name": name, **table})


def limited(queue: dict[str, Any], s: Setting) -> dict[str, Any]:
    """The queue with the room that the setting gives."""
    return {"limit": f"{s.limit_packets} packets", **queue}


def tables(runs: Runs) -> Tables:
    """`repetition`: delays at the bottleneck (ms), its utilisation, shares of arrivals that were dropped and marked,
    goodput of all flows (Mbit/s); `goodput`: that of each (Mbit/s)."""
    links = runs.links().filter(pl.col("link") == "bottleneck", pl.col("direction") == "forward")
    ms = {f"{q}_ms": pl.col(f"queue_delay_{q}_ns") / 1e6 for q in ("mean", "p50", "p95", "p99", "max")}
    drops = pl.sum_horizontal(pl.col("^drops_.*_packets$").clip(0)) / pl.col("arrived_packets")
    marks = pl.col("marks_packets").clip(0) / pl.col("arrived_packets")
    rows = links.select(*KEYS, **ms, utilisation=pl.col("utilisation_ratio"), dropped=drops, marked=marks)
    flows = runs.flows().select(*KEYS, "name", "group", mbps=pl.col("goodput_bps").fill_nan(0.0) / 1e6)
    total = flows.group_by(KEYS).agg(goodput=pl.col("mbps").sum())
    return {"repetition": rows.join(total, on=KEYS).sort(KEYS), "goodput": flows.sort(*KEYS, "name")}


STUDY = Study("aqm", "papers and suites on queues", book(__file__), reps=6, quick_reps=2, tables=tables)
