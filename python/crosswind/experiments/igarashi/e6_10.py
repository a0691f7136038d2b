"""Do several queues change how packets in profile are spaced, and so what the next domain's meter sees?

Model 6.4 (a): intervals between group AB's packets in profile on their way to domain B (Point B). The distance of two
distributions is Kolmogorov and Smirnov's.

What the source printed (Fig. 6.5): very similar at departure in domain A (Point A) and at arrival in domain B.

What may differ here: Point A is behind RIO2, so that RIO4, which another group shares, lies before Point B. Behind RIO4
nothing is left that could change an interval (the former reading); the distance from behind RIO1, where marked packets
enter the domain, is reported. Intervals are known to 3 %.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.igarashi import assured, chain_of_queues, study
from crosswind.figures import cumulative
from crosswind.reproduce import Picture, Results, Runs, Scenario, Tables, measures

OWN = "(a) inter"
POINTS = {"behind RIO1": "gate-1", "behind RIO2": "gate-2", "Point A": "gate-4", "Point B": "b-from-gate-4"}


def configurations(**_: Any) -> dict[str, Scenario]:
    """Model (a)."""
    return {OWN: chain_of_queues.model("inter", gate="gate-2")}


def _distance(a: pl.DataFrame, b: pl.DataFrame) -> float:
    """The largest distance of two cumulative histograms."""
    edges = np.unique(np.concatenate([a["high"].to_numpy(), b["high"].to_numpy()]))

    def share(h: pl.DataFrame) -> Any:
        n = h.sort("high")
        total = np.concatenate([[0], n["count"].cum_sum().to_numpy()])
        return total[np.searchsorted(n["high"].to_numpy(), edges, side="right")] / total[-1]

    return float(np.max(np.abs(share(a) - share(b))))


def tables(runs: Runs) -> Tables:
    """`repetition`: distances from Point B; `interval`: the histograms."""
    made = assured.tables(runs)
    hist = runs.hist("green_interval_ns").select("rep", "entity", "low", "high", "count")
    rows = []
    for rep in sorted(hist["rep"].unique()):
        of = {p: hist.filter((pl.col("rep") == rep) & (pl.col("entity") == e)) for p, e in POINTS.items()}
        row = {p: _distance(of[p], of["Point B"]) for p in POINTS}
        rows.append({"configuration": OWN, "rep": rep, **row})
    keys = made["repetition"].select(assured.KEYS).schema
    distances = pl.DataFrame(rows).cast({k: keys[k] for k in assured.KEYS})
    repetition = made["repetition"].join(distances, on=assured.KEYS)
    return {"repetition": repetition, "interval": hist}


CLAIMS = {
    "IC6.17": {
        "distance of Point A and Point B": measures.value(OWN, "Point A"),
        "distance of behind RIO2 and Point B": measures.value(OWN, "behind RIO2"),
        "distance of behind RIO1 and Point B": measures.value(OWN, "behind RIO1"),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 6.5."""
    hist = r.table("interval")
    series = {p: hist.filter((pl.col("entity") == e) & (pl.col("high") < 20_000_000)) for p, e in POINTS.items()}
    caption = "Intervals between group AB's packets in profile (Fig. 6.5)."
    return [cumulative("fig-6-5", caption, series, "interval (ms)", 1e-6)]


EXPERIMENT = study.experiment(__name__, "Intervals of packets in profile at the boundary")
