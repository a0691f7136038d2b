"""How is the delay of the longest path distributed under each way of control?

The end-to-end delay of group 0 (fixed part 140 ms) under the four ways of E7.6, from its runs.

What the source printed (Fig. 7.8): with QTL 10 no delay exceeds 150 ms, and the share of short delays grows.

What may differ here: delays are the fixed part and the waits that queues count, which leave out the packet being sent.
True delays, up to 0.08 ms longer for each of three nodes, are reported.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.igarashi import discard, e7_6
from crosswind.experiments.igarashi.e7_6 import A, C, D
from crosswind.figures import cumulative
from crosswind.reproduce import Picture, Results, Scenario, measured


def configurations(**_: Any) -> dict[str, Scenario]:
    """The four ways of control."""
    return e7_6.configurations()


def _waits(r: Results, case: str) -> pl.DataFrame:
    return r.table("wait").filter(pl.col("configuration") == case).sort("low")


@measured
def _longest(r: Results, case: str) -> Any:
    """The largest true delay of a delivered packet in any seed, in ms."""
    flows = r.runs.flows().filter((pl.col("configuration") == case) & pl.col("group").is_in(discard.LONG))
    own_ns = float(np.max(flows["delay_max_ns"].to_numpy())) - float(np.min(flows["delay_min_ns"].to_numpy()))
    return stats.exact(discard.FIXED_MS + own_ns / 1e6, flows["rep"].n_unique())


def _longest_expected(case: str) -> Any:
    """The same with the waits that the queues expected. They are multiples of the buckets' width."""
    return lambda r: discard.FIXED_MS + float(_waits(r, case)["low"].to_numpy().max()) / 1e6


@measured
def _share_up_to(r: Results, case: str, ms: float) -> Any:
    h = _waits(r, case)
    n = h.filter(pl.col("low") <= ms * 1e6)["count"].sum()
    return stats.exact(float(n) / float(h["count"].sum()), int(h["count"].sum()))


CLAIMS = {
    "IC7.25": {
        "longest, QTL 10": _longest(C),
        "longest, MTQ 5 and QTL 10": _longest(D),
        "counted, QTL 10": _longest_expected(C),
        "counted, MTQ 5 and QTL 10": _longest_expected(D),
        "longest, none": _longest(A),
        "share up to 145 ms, none": _share_up_to(A, 5.0),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.8."""
    fixed = int(discard.FIXED_MS * 1e6)
    moved = {c: _waits(r, c).with_columns(pl.col("low") + fixed, pl.col("high") + fixed) for c in e7_6.CASES}
    return [cumulative("fig-7-8", "End-to-end delay of group 0 (Fig. 7.8).", moved, "end-to-end delay (ms)", 1e-6)]


EXPERIMENT = discard.experiment(__name__, "Delay distribution of the longest path", tables=e7_6.tables)
