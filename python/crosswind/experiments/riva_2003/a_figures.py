"""Figures of the first experiment: 5-1 and 5-2, sequence graphs of single runs, and the listed replications."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import pictures, published, testbed
from crosswind.figures import Picture

THREE = tuple(published.REPLICATIONS)
CELLS = {s: testbed.cell("TD", s) for s in testbed.TAIL_DROP_STARTS_s}


def example(r: Results, c: str, rep: int) -> dict[str, pl.DataFrame]:
    e = r.runs.events().filter((pl.col("configuration") == c) & (pl.col("rep") == rep))
    return {n: e.filter(pl.col("name") == n) for n in ("long-1", "long-2", "third")}


def _nearest(r: Results, c: str, wanted: float) -> int:
    """The repetition whose third transfer is nearest to a throughput."""
    return int(np.nanargmin(np.abs(r.of(c, "third_throughput") - wanted)))


def pictures_of(r: Results) -> list[Picture]:
    """Figures 5-1 and 5-2, the sequence graphs of single runs, and the distributions of the listed replications."""
    roles = ("fastest", "slowest", "third")
    shown = [
        pictures.against_start(
            f"fig-5-{i}",
            f"{what} against the start of the third transfer (Fig. 5-{i}): medians and quartiles.",
            {axis: {x: pictures.curve(r, CELLS, f"{x}_{column}") for x in roles}},
            "start of the third transfer (s)",
        )
        for i, what, column, axis in (
            (1, "Elapsed time", "elapsed_s", "elapsed time (s)"),
            (2, "Throughput", "throughput", "throughput (B/s)"),
        )
    ]
    if not r.runs.events().is_empty():
        for name, c, wanted, what in (
            ("fig-5-3", "TD 0", 4124.0, "a fair run, 0 s"),
            ("fig-5-4", "TD 0", 9999.0, "the best third transfer, 0 s"),
            ("fig-5-5", "TD 2", 0.0, "the worst third transfer, 2 s"),
            ("fig-5-6", "TD 2", 9999.0, "the best third transfer, 2 s"),
            ("fig-5-11", "TD 5.5", 3370.0, "a middling run, 5.5 s"),
        ):
            shown.append(
                pictures.sequences(
                    name,
                    f"Sequence numbers of the three transfers: {what} (as Fig. {name[4:]}).",
                    example(r, c, _nearest(r, c, wanted)),
                )
            )
    for role in roles:
        pairs = {c: (published.replications(c, role, "elapsed_s"), r.of(c, f"{role}_elapsed_s")) for c in THREE}
        found = r.table("replications").filter((pl.col("flow") == role) & (pl.col("metric") == "elapsed_s"))
        tests = ", ".join(
            f"{x['cell']} D = {x['ks']:.2f} (p = {x['p_value']:.2g})" for x in found.iter_rows(named=True)
        )
        shown.append(
            pictures.distributions(
                f"replications-{role}",
                f"Elapsed time of the {role} transfer, printed runs and ours. Kolmogorov-Smirnov: {tests}.",
                pairs,
                "elapsed time (s)",
            )
        )
    return shown


def everywhere(r: Results, column: str) -> Any:
    """A column of all cells."""
    return np.concatenate([r.of(c, column) for c in CELLS.values()])


def headline(r: Results) -> dict[str, str]:
    """What the readings are compared by."""
    numbers = {f"third {c}": f"{np.nanmedian(r.of(c, 'third_elapsed_s')):.1f} s" for c in THREE}
    lost = np.mean(everywhere(r, "third_handshake_s") > 3.0)
    resent = "/".join(f"{np.median(everywhere(r, f'{x}_retx')):g}" for x in ("fastest", "slowest", "third"))
    return numbers | {
        "lost SYNs": f"{100 * lost:.0f} %",
        "sent again": resent,
        "slowest": f"{np.nanmedian(everywhere(r, 'slowest_elapsed_s')):.2f} s",
    }
