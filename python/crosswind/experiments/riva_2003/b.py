"""Does RED treat the late short transfer better than drop-tail does?

The three transfers of A behind RED (5000, 18000, burst 12, 0.1; limit 20 000 B) at 0, 2, 4, 5 and 5.5 s (B1 to B5).

What the source printed: medians of 9.4 to 11.5 s for the third transfer whatever its start, no exception in 100 runs,
twice as many packets retransmitted by the long transfers, and the same 36.65 s for the slowest.

What may differ here: the rows of 4 and 5 s of the source's Table 5-4 may be interchanged (O-9); claims accept either.
Half of the claims compare with drop-tail, and so depend on its pattern of losses (see A).
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.riva_2003 import a, a_figures, parts, pictures, study, testbed
from crosswind.experiments.riva_2003.testbed import RED_STARTS_s as STARTS_s
from crosswind.experiments.riva_2003.testbed import cell
from crosswind.figures import side_by_side
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures
from crosswind.reproduce.claims.measures import across, differences, each, pooled, ratios, spread, value

CELLS = {s: cell("RED", s) for s in STARTS_s}
RED = list(CELLS.values())
TD = [f"a/{cell('TD', s)}" for s in STARTS_s]
BOTH = list(zip(RED, TD, strict=True))
EVERY = [*(f"a/{c}" for c in a.ALL), *RED]
LISTED = (("RED 2", "a/TD 2"), ("RED 5.5", "a/TD 5.5"))
TCP_BYTES = 653_444
THIRD, FASTEST, SLOWEST = "third_elapsed_s", "fastest_elapsed_s", "slowest_elapsed_s"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The five start times."""
    reading = testbed.reading(**variant)
    events = ("long", "third")
    return {c: testbed.three("RED", s, reading, events=events if s == 5.5 else ()) for s, c in CELLS.items()}


def _busy(r: Results) -> float:
    """The smallest median share of the line that the packets of all three take until the slowest is done."""
    return min(TCP_BYTES / float(np.nanmedian(r.of(c, SLOWEST))) / testbed.RATE_Bps for c in EVERY)


def _mirror(m: Any) -> Any:
    """Correlation over the starts between the medians of the fastest and the third transfer."""
    fast, third = (x - x.mean(axis=0) for x in (m[: len(RED)], m[len(RED) :]))
    return (fast * third).sum(axis=0) / np.sqrt((fast**2).sum(axis=0) * (third**2).sum(axis=0))


def _against(of: Any, column: str, statistic: Any = np.median) -> Measure:
    """A number out of RED's medians (or the statistic) and drop-tail's at the same starts."""
    return across([*RED, *TD], column, lambda m: of(m[: len(RED)], m[len(RED) :]), each=statistic)


def _first_apart(x: Any, y: Any) -> Any:
    """How far the first pair is apart, minus the largest of the others."""
    return abs(x[0] - y[0]) - abs(x[1:] - y[1:]).max(axis=0)


REGULAR = ~pl.col("exception")
CLAIMS = {
    "R1": measures.ends(EVERY, SLOWEST, where=REGULAR)
    | {"spread of the medians": across(EVERY, SLOWEST, spread, where=REGULAR)},
    "R2": _busy,
    "R3": across(EVERY, SLOWEST, lambda m: m.max(axis=0), each=stats.iqr_of),
    "R11": ratios(LISTED, "slowest_rest_s")
    | each(["a/TD 0", "a/TD 2", "a/TD 5.5", "RED 2", "RED 5.5"], "slowest_rest_s"),
    "R40": each(RED, THIRD),
    "R41": differences(BOTH, THIRD) | ratios([("a/TD 2", "RED 2")], THIRD),
    "R42": _against(lambda x, y: spread(x) / spread(y), THIRD),
    "R43": {
        "mean range": across(RED, THIRD, lambda m: m.mean(axis=0), each=stats.iqr_of),
        "mean range minus that of drop-tail": _against(
            lambda x, y: x.mean(axis=0) - y.mean(axis=0), THIRD, stats.iqr_of
        ),
    },
    "R44": measures.share(lambda r: pooled(r, RED, "exception")),
    "R45": measures.ratio(("a/TD 2", "third_xmit_s"), ("RED 2", "third_xmit_s")),
    "R46": {"RED 4": value("RED 4", "third_handshake_s")}
    | ratios([("RED 4", "a/TD 4")], "third_handshake_s")
    | differences(BOTH[:2], "third_handshake_s"),
    "R47": measures.ends(RED, "third_throughput", np.mean) | differences(BOTH, "third_throughput", np.mean),
    "R48": {f"{red} over drop-tail": parts.long_again(red, td) for red, td in LISTED},
    "R49": differences(LISTED, "third_retx"),
    "R50": {red: parts.long_over_third(red) for red, _ in LISTED}
    | {f"{red} minus {td}": parts.more_per_third(red, td) for red, td in LISTED},
    "R51": {
        label: measure
        for column, word in (("dupacks", "duplicates"), ("triple", "triples"))
        for label, measure in (
            parts.of_long(column, [red for red, _ in LISTED], f", {word}")
            | each([red for red, _ in LISTED], f"third_{column}", word=f", third, {word}")
        ).items()
    },
    "R52": differences(BOTH, SLOWEST),
    "R53": differences(BOTH, FASTEST) | {"0 s, minus the largest of the others": _against(_first_apart, FASTEST)},
    "R54": measures.joined([(c, k) for k in (FASTEST, THIRD) for c in RED], _mirror),
    "R55": differences(BOTH, "long_first_congestion_s"),
    "R56": {
        "largest of a RED cell": measures.extreme(RED, "jain_three", np.nanmax),
        "largest of the listed drop-tail cells": measures.extreme([f"a/{c}" for c in a.THREE], "jain_three", np.nanmax),
    },
    "R58": _against(lambda x, y: (x - y).mean(axis=0), FASTEST, np.mean),
    "R59": ratios(LISTED, "slowest_rest_s"),
}


def pictures_of(r: Results) -> list[Picture]:
    """Figures 5-13, 5-14 and 5-15."""
    both = {"drop-tail": {s: f"a/{cell('TD', s)}" for s in STARTS_s}, "RED": CELLS}

    def curves(column: str) -> dict[str, Any]:
        return {k: pictures.curve(r, cells, column) for k, cells in both.items()}

    third = {
        "elapsed time (s)": curves("third_elapsed_s"),
        "handshake (s)": curves("third_handshake_s"),
        "transmission (s)": curves("third_xmit_s"),
        "throughput (B/s)": curves("third_throughput"),
        "packets retransmitted": curves("third_retx"),
    }
    long = {
        f"{what}, {x}": curves(f"{x}_{column}")
        for x in ("fastest", "slowest")
        for what, column in (("elapsed time (s)", "elapsed_s"), ("packets retransmitted", "retx"))
    }
    x = "start of the third transfer (s)"
    shown = [
        side_by_side.against_start(
            "fig-5-13",
            "The third transfer behind both queues (Fig. 5-13): medians and quartiles, for the elapsed time also the "
            "least and the largest value.",
            third,
            x,
            ends=("elapsed time (s)",),
            marks={
                "elapsed time (s)": {
                    "drop-tail": pictures.printed({s: cell("TD", s) for s in STARTS_s}, study.printed("R13")),
                    "RED": pictures.printed(CELLS, study.printed("R40")),
                }
            },
        ),
        side_by_side.against_start("fig-5-14", "The long transfers behind both queues (Fig. 5-14).", long, x),
    ]
    if not r.runs.events().is_empty():
        fair = int(np.nanargmax(r.of("RED 5.5", "jain_three")))
        flows = a_figures.example(r, "RED 5.5", fair)
        shown.append(side_by_side.sequences("fig-5-15", "The fairest run at 5.5 s behind RED (as Fig. 5-15).", flows))
    return shown


EXPERIMENT = study.beside_drop_tail(
    __name__,
    "Three transfers, one of them late and short, behind RED",
    figures=pictures_of,
    headline=lambda r: a_figures.numbers(r, RED, RED),
)
