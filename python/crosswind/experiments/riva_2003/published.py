"""The source's tables, as printed, and what is known to be wrong in them.

Averages of the long transfers and standard deviations of the third are off by one mis-referenced row wherever they
can be recomputed, so medians and quartiles are compared. The replications of three cells are listed one by one; with
them whole distributions can be compared.
"""

import csv
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.experiments.riva_2003 import measures
from crosswind.experiments.riva_2003.measures import LONG
from crosswind.figures import side_by_side
from crosswind.reproduce import Results, Runs, Tables

REPLICATIONS = {"TD 0": "table_8-1.csv", "TD 2": "table_8-2.csv", "TD 5.5": "table_8-5.csv"}
# Column of the source -> our name of the metric.
METRICS = {
    "data_xmit_time_s": "xmit_s",
    "elapsed_time_s": "elapsed_s",
    "throughput_bytes_per_s": "throughput",
    "retx_data_packets": "retx",
    "retx_data_bytes": "retx_bytes",
    "duplicate_acks": "dupacks",
    "triple_dupacks": "triple",
}
# What cannot be used, by table: (columns or rows, why).
ERRATA = {
    "table_5-1.csv": "averages of the long transfers carry the error of one row; some lie outside min..max",
    "table_5-2.csv": "averages of fastest and slowest, standard deviation of third: one mis-referenced row",
    "table_5-4.csv": "as Table 5-1; the rows of 4 s and 5 s may be interchanged",
    "table_8-3.csv": "as Table 5-2",
    "table_8-6.csv": "as Table 5-2; the slowest block's minima and its dupack maximum stem from other rows",
    "table_8-8.csv": "the throughput column repeats Table 8-9's",
    "table_8-10.csv": "the throughput column of one-class rows holds average elapsed times",
}


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a printed table, as text."""
    path = Path(__file__).parent / "data" / name
    with path.open(encoding="utf-8", newline="") as f:
        return tuple(csv.DictReader(f))


def replications(cell: str, role: str, metric: str) -> npt.NDArray[np.float64]:
    """The printed values of a metric in the 20 replications of a cell."""
    column = next(c for c, m in METRICS.items() if m == metric)
    rows = [r for r in table(REPLICATIONS[cell]) if r["flow"] == role]
    return np.array([float(r[column]) for r in rows])


def comparison(r: Results) -> pl.DataFrame:
    """Every listed metric of every flow: two-sample Kolmogorov-Smirnov test, and quartiles of both samples.

    `quartiles_inside` counts the measured quartiles that lie within the 95 % bootstrap interval of the printed ones.
    The corrected averages and deviations are those of the listed runs; the source's own summaries have some of them
    wrong (`ERRATA`).
    """
    from scipy import stats as scipy_stats

    rows: list[dict[str, Any]] = []
    for cell in REPLICATIONS:
        for role in (*LONG, "third"):
            for metric in METRICS.values():
                printed, measured = replications(cell, role, metric), r.of(cell, f"{role}_{metric}")
                ks = scipy_stats.ks_2samp(printed, measured)
                low, high = side_by_side.quantile_band(printed, [0.25, 0.5, 0.75])
                ours, theirs = (np.quantile(x, [0.25, 0.5, 0.75]) for x in (measured, printed))
                rows.append(
                    {
                        "cell": cell,
                        "flow": role,
                        "metric": metric,
                        "ks": float(ks.statistic),
                        "p_value": float(ks.pvalue),
                        **{f"printed_{n}": float(v) for n, v in zip(("p25", "median", "p75"), theirs, strict=True)},
                        **{f"measured_{n}": float(v) for n, v in zip(("p25", "median", "p75"), ours, strict=True)},
                        "quartiles_inside": int(((ours >= low) & (ours <= high)).sum()),
                        "corrected_average": float(printed.mean()),
                        "corrected_stdev": float(printed.std(ddof=1)),
                        "measured_average": float(measured.mean()),
                        "measured_stdev": float(measured.std(ddof=1)),
                    }
                )
    return pl.DataFrame(rows)


def tables(runs: Runs) -> Tables:
    """The derived tables of the experiment whose replications are listed, with the comparison."""
    found = measures.tables(runs)
    return found | {"replications": comparison(Results(runs, found))}
