"""Figures of the first experiment: 5-1 and 5-2, sequence graphs of single runs, and the listed replications."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from crosswind.experiments.riva_2003 import pictures, published, study, testbed
from crosswind.experiments.riva_2003.measures import LONG
from crosswind.figures import side_by_side
from crosswind.reproduce import Picture, Results
from crosswind.reproduce.claims.measures import pooled

THREE = tuple(published.REPLICATIONS)
ROLES = (*LONG, "third")
CELLS = {s: testbed.cell("TD", s) for s in testbed.TAIL_DROP_STARTS_s}


def example(r: Results, c: str, rep: int) -> dict[str, pl.DataFrame]:
    e = r.runs.events().filter((pl.col("configuration") == c) & (pl.col("rep") == rep))
    return {n: e.filter(pl.col("name") == n) for n in ("long-1", "long-2", "third")}


# Figure -> cell, column by which the run is chosen, the value of the run that the source shows, and what it shows.
SHOWN = {
    "5-3": ("TD 0", "third_throughput", 4124.0, "a fair run, 0 s"),
    "5-4": ("TD 0", "third_throughput", np.inf, "the best third transfer, 0 s"),
    "5-5": ("TD 2", "third_throughput", 0.0, "the worst third transfer, 2 s"),
    "5-6": ("TD 2", "third_throughput", np.inf, "the best third transfer, 2 s"),
    "5-7": ("TD 2", "third_xmit_s", 0.0, "the shortest transmission, 2 s"),
    "5-8": ("TD 2", "third_throughput", 2937.0, "a start late in a long transfer's slow start, 2 s"),
    "5-9": ("TD 2", "third_throughput", 2206.0, "a start in the middle of a long transfer's slow start, 2 s"),
    "5-10": ("TD 2", "third_throughput", 1872.0, "a start early in a long transfer's slow start, 2 s"),
    "5-11": ("TD 5.5", "third_throughput", 3370.0, "a middling run, 5.5 s"),
    "5-12": ("TD 5.5", "third_throughput", 4709.0, "a good run, 5.5 s"),
}


def _single_runs(r: Results) -> list[Picture]:
    """Figures 5-3 to 5-12: of each cell the run that is nearest to the one shown in the source."""
    out = []
    for number, (c, column, wanted, what) in SHOWN.items():
        values = r.of(c, column)
        rep = int(np.nanargmax(values) if np.isinf(wanted) else np.nanargmin(np.abs(values - wanted)))
        unit = "s" if column.endswith("_s") else "B/s"
        printed = f"; {wanted:g} {unit}" if 0 < wanted < np.inf else ""
        caption = (
            f"Sequence numbers of the three transfers in run {rep + 1}, the nearest to Fig. {number} "
            f"({what}{printed}): {values[rep]:.4g} {unit}."
        )
        out.append(side_by_side.sequences(f"fig-{number}", caption, example(r, c, rep)))
    return out


def pictures_of(r: Results) -> list[Picture]:
    """Figures 5-1 and 5-2, the sequence graphs of single runs, and the distributions of the listed replications."""
    shown = [
        side_by_side.against_start(
            f"fig-5-{i}",
            f"{what} against the start of the third transfer (Fig. 5-{i}): medians and quartiles.",
            {axis: {x: pictures.curve(r, CELLS, f"{x}_{column}") for x in ROLES}},
            "start of the third transfer (s)",
            marks={axis: {"third": pictures.printed(CELLS, study.printed("R13"))}} if column == "elapsed_s" else {},
        )
        for i, what, column, axis in (
            (1, "Elapsed time", "elapsed_s", "elapsed time (s)"),
            (2, "Throughput", "throughput", "throughput (B/s)"),
        )
    ]
    if not r.runs.events().is_empty():
        shown += _single_runs(r)
    for role in ROLES:
        pairs = {c: (published.replications(c, role, "elapsed_s"), r.of(c, f"{role}_elapsed_s")) for c in THREE}
        found = r.table("replications").filter((pl.col("flow") == role) & (pl.col("metric") == "elapsed_s"))
        tests = ", ".join(
            f"{x['cell']} D = {x['ks']:.2f} (p = {x['p_value']:.2g})" for x in found.iter_rows(named=True)
        )
        shown.append(
            side_by_side.distributions(
                f"replications-{role}",
                f"Elapsed time of the {role} transfer, printed runs (shaded: 95 % of their quantiles) and ours. "
                f"Kolmogorov-Smirnov: {tests}.",
                pairs,
                "elapsed time (s)",
            )
        )
    return [*shown, _agreement(r)]


def _agreement(r: Results) -> Picture:
    """All 63 listed distributions at a glance."""
    label = pl.concat_str("cell", "flow", separator=", ")
    table = r.table("replications").with_columns(label.alias("column"), pl.col("metric").alias("row"))
    alike = table.filter(pl.col("p_value") >= 0.05).height
    caption = (
        f"All {table.height} listed distributions: Kolmogorov-Smirnov distance between printed and measured runs "
        f"({alike} with p of 0.05 or more, the others shaded), and how many of the three quartiles lie in the 95 % "
        "interval of the printed ones."
    )
    columns = [f"{c}, {x}" for c in THREE for x in ROLES]
    return side_by_side.agreement("replications-all", caption, table, columns, list(published.METRICS.values()))


def numbers(r: Results, shown: Sequence[str], every: Sequence[str]) -> dict[str, str]:
    """The third transfer's medians in some cells, and what the three retransmit in all (medians)."""
    again = "/".join(f"{np.nanmedian(pooled(r, every, f'{x}_retx')):g}" for x in ROLES)
    return {f"third {c}": f"{np.nanmedian(r.of(c, 'third_elapsed_s')):.1f} s" for c in shown} | {"retransmitted": again}


def headline(r: Results) -> dict[str, str]:
    """What the readings are compared by."""
    every = list(CELLS.values())
    lost = np.mean(pooled(r, every, "third_handshake_s") > 3.0)
    slowest = np.nanmedian(pooled(r, every, "slowest_elapsed_s"))
    return numbers(r, THREE, every) | {"lost SYNs": f"{100 * lost:.0f} %", "slowest": f"{slowest:.2f} s"}
