"""Where are packets lost, and where do they wait, under each way of control?

Anatomy of model 2 at 10 ms: (a) no control, (b) MTQ 5, (c) QTL 10, (d) both. Node drops by cause, late packets,
mean delays.

What the source printed (Fig. 7.7, Tables 7.3 and 7.4): control trades 690 thousand late packets for 12 to 36
thousand more drops; MTQ and QTL together drop the same packets at nodes 1 and 2 as MTQ alone, and by QTL only at
node 3.

What may differ here: as in E7.2. The source's is one run, ours are ten. Delays are means over the packets that a node
sends (open point O7.5), of true waits: longer than counted ones by less than a packet time, 0.08 ms.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.igarashi import discard, drawing, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import least, runs, total

CASES = dict(zip(("(a) none", "(b) MTQ 5", "(c) QTL 10", "(d) MTQ 5, QTL 10"), discard.ANATOMY, strict=True))
A, B, C, D = CASES


def configurations(**reading: Any) -> dict[str, Scenario]:
    """The four ways of control; waits of group 0 are recorded."""
    base = replace(discard.MODEL_2, **reading)
    return {c: discard.scenario(replace(base, limits=x)) for c, x in CASES.items()}


def tables(runs: Any) -> Any:
    """As `discard.tables`, with `wait`: sums of expected waits of group 0."""
    waits = runs.hist("expected_wait_ns").group_by("configuration", "low", "high", maintain_order=True)
    return {**discard.tables(runs), "wait": waits.agg(pl.col("count").sum()).sort("configuration", "low")}


def _same_nodes(r: Results) -> Any:
    """In how many totals of nodes 1 and 2 the cases (b) and (d) differ, over all seeds."""
    columns = [f"node{k}_{cause}" for k in (1, 2) for cause in ("full", "mtq", "qtl")]
    return stats.exact(float(sum(int((r.of(B, c) != r.of(D, c)).sum()) for c in columns)), r.of(B, "all_sent").size)


def _dropped(case: str, node: int) -> Quantity:
    """What a node drops, by whatever cause."""
    return total(runs(case, f"node{node}_{cause}") for cause in ("full", "mtq", "qtl"))


# QTL alone: delay of each node over that without control.
PARTS = [runs(C, f"node{k}_delay_ms") / runs(A, f"node{k}_delay_ms") for k in discard.HOPS]


CLAIMS = {
    "IC7.14": {
        **{f"node drops, {c}": measures.seeds(runs(c, "all_drops")) for c in CASES},
        "late, (a)": measures.seeds(runs(A, "all_late_10")),
        "late, (b)": measures.seeds(runs(B, "all_late_10")),
        "late, (c)": measures.value(C, "all_late_10"),
        "late, (d)": measures.value(D, "all_late_10"),
        "totals of nodes 1 and 2 that differ, (b) and (d)": _same_nodes,
        f"{C}: node 2 against node 1": measures.ratio((C, "node2_qtl"), (C, "node1_qtl"), pairing="paired"),
        f"{C}: node 3 against node 2": measures.ratio((C, "node3_qtl"), (C, "node2_qtl"), pairing="paired"),
    },
    "IC7.15": {
        **{
            f"node {k}, {case}": measures.with_seeds(measures.value(case, f"node{k}_delay_ms"), 5)
            for case in CASES
            for k in discard.HOPS
        },
        **{
            f"node {k}, {case} against (a)": measures.ratio(
                (case, f"node{k}_delay_ms"), (A, f"node{k}_delay_ms"), pairing="paired"
            )
            for case in (B, C, D)
            for k in discard.HOPS
        },
        "QTL: share of (a), node 3 less the lower of the others": measures.median(PARTS[2] - least(PARTS[:2])),
    },
    "IC7.27": {
        **{f"{c}, node {k}": measures.seeds(_dropped(c, k)) for c in CASES for k in discard.HOPS if (c, k) != (D, 3)},
        f"{D}, node 3 by MTQ": measures.seeds(runs(D, "node3_mtq")),
        f"{D}, node 3 by QTL": measures.seeds(runs(D, "node3_qtl")),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.7 and Tables 7.3 and 7.4."""
    parts = {}
    for case in CASES:
        sent = np.median(r.of(case, "all_sent"))
        parts[case] = {
            "dropped at nodes": float(100 * np.median(r.of(case, "all_drops")) / sent),
            "late": float(100 * np.median(r.of(case, "all_late_10")) / sent),
        }
    causes = {
        f"{case[:3]} node {k}": {
            name: float(np.median(r.of(case, f"node{k}_{column}")))
            for name, column in (("overflow", "full"), ("MTQ", "mtq"), ("QTL", "qtl"))
        }
        for case in CASES
        for k in discard.HOPS
    }
    drops, means = study.BOOK.numbers("IC7.27"), study.BOOK.numbers("IC7.15")
    totals = {f"{c[:3]} node {k}": drops[f"{c}, node {k}"] for c in CASES for k in discard.HOPS if (c, k) != (D, 3)}
    waits = {c: {f"node {k}": means[f"node {k}, {c}"] for k in discard.HOPS} for c in CASES}
    delays = {c: {f"node {k}": float(np.median(r.of(c, f"node{k}_delay_ms"))) for k in discard.HOPS} for c in CASES}
    return [
        drawing.stacks("fig-7-7", "EPLR by where packets are lost (Fig. 7.7).", parts, "EPLR (%)"),
        drawing.stacks("table-7-3", "Drops by node and cause (Table 7.3).", causes, "packets", totals=totals),
        figures.bars("table-7-4", "Mean queueing delay by node (Table 7.4).", delays, "delay (ms)", waits),
    ]


EXPERIMENT = discard.experiment(__name__, "Anatomy of the schemes", variants=study.READINGS["chapter-7"])
