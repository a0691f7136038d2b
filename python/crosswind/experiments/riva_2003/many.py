"""How far out are the extreme runs that the source printed, among many runs of the same cells?

The source ran each cell 20 times and printed its extremes. A thousand runs of a cell are 50 blocks of 20: the printed
extreme is held against the extremes of those blocks. The single runs that stand out once in 20 are counted.

What may differ here: the hosts remember earlier connections through the 20 runs of a block; each begins anew, as the
source's cell did.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.riva_2003 import a_figures, readings, study, testbed
from crosswind.experiments.riva_2003.testbed import cell
from crosswind.reproduce import Measure, Results, Scenario, Variant, measures

BLOCK = 20
LISTED = a_figures.THREE
MIXED = {
    "D TD 3": (testbed.LONG, "TD", 3.0),
    "E RED 2": (testbed.SHORT, "RED", 2.0),
    "F RED 2": (testbed.BRIEF, "RED", 2.0),
    "F TD+DS 18": (testbed.BRIEF, "TD+DS", 18.0),
}
HALF_Bps = testbed.RATE_Bps / 2
THIRD, TCP = "third_elapsed_s", "tcp_elapsed_s"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The cells whose extremes are claimed."""
    reading = testbed.reading(**variant)
    three = {cell("TD", s): ("TD", s) for s in (0.0, 2.0, 5.5)} | {"RED 5": ("RED", 5.0)}
    found = {
        c: testbed.three(q, s, reading, events=("third",) if c == "TD 2" else ())  # type: ignore[arg-type]
        for c, (q, s) in three.items()
    }
    return found | {c: testbed.mixed(mix, q, s, reading) for c, (mix, q, s) in MIXED.items()}


def _locked_out(r: Results) -> Any:
    """Runs in which the first data segment is retransmitted three times or more and one transfer gets half the link."""
    e = r.runs.events(flow="third").filter((pl.col("configuration") == "TD 2") & (pl.col("kind") == "retransmit"))
    first = e.filter((pl.col("seq") == 1) & (pl.col("len") > 0)).group_by("rep").len()
    reps, fast = r.of("TD 2", "rep"), r.of("TD 2", "fastest_throughput") > HALF_Bps
    return np.isin(reps, first.filter(pl.col("len") >= 3)["rep"].to_numpy()) & fast


def _first(cell: str, column: str, pick: Any) -> Measure:
    """The extreme of as many runs as the source made."""
    return lambda r: float(pick(r.of(cell, column)[:BLOCK]))


def _share(cell: str, column: str, least: float) -> Measure:
    return measures.share(lambda r: r.of(cell, column) >= least)


def _both(cell: str, column: str, pick: Any, first: str, block: str) -> dict[str, Measure]:
    return {first: _first(cell, column, pick), block: measures.blocks(cell, column, BLOCK, pick)}


NEARLY = 0.75
ONCE = "runs of at least three quarters of it"
CLAIMS = {
    "R23": {f"{c}, least of 20": measures.blocks(c, "jain_long", BLOCK, np.nanmin) for c in LISTED},
    "R34": _both("TD 0", THIRD, np.nanmin, "first 20 runs, shortest at 0 s", "shortest of 20 at 0 s")
    | _both("TD 2", THIRD, np.nanmax, "first 20 runs, longest at 2 s", "longest of 20 at 2 s"),
    "R35": {"runs of the first 20": lambda r: float(_locked_out(r)[:BLOCK].sum()), "runs": measures.share(_locked_out)},
    "R57": _both("RED 5", THIRD, np.nanmax, "first 20 runs, longest at 5 s", "longest of 20 at 5 s")
    | {ONCE: _share("RED 5", THIRD, NEARLY * study.BOOK.number("R57", "longest of 20 at 5 s"))},
    "R83": _both("D TD 3", TCP, np.nanmax, "first 20 runs, longest", "longest of 20")
    | {ONCE: _share("D TD 3", TCP, NEARLY * study.BOOK.number("R83", "longest of 20"))},
    "R98": _both("E RED 2", TCP, np.nanmin, "first 20 runs, shortest", "shortest of 20"),
    "R107": _both("F RED 2", TCP, np.nanmax, "first 20 runs, RED 2", "longest of 20, RED 2")
    | _both("F TD+DS 18", TCP, np.nanmax, "first 20 runs, TD+DS 18", "longest of 20, TD+DS 18"),
}


EXPERIMENT = study.experiment(
    __name__,
    "Extreme runs among a thousand",
    variants={k: readings.ALL[k] for k in ("kernel", "former")},
    reps=1000,
    block=BLOCK,
    quick_reps=40,
    quick=Variant("40 runs of each cell: extremes are not judged", {}),
    partly=("R23",),
)
