"""Which setting serves flows best whose requirements differ by path?

The requirements of E7.13 under four settings: none, MTQ 3.3, QTL 10, and MTQ 5 with QTL 10 for all. The last is
run here, the others are runs of E7.2 and E7.4.

What the source printed (Fig. 7.15): every setting helps every flow; MTQ 3.3 is best by the mean, QTL 10 not good
enough for g0, MTQ 5 with QTL 10 very good.
"""

from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.experiments.igarashi import discard, study
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.experiments.igarashi.e7_13 import LIMIT_MS
from crosswind.reproduce import Picture, Results, Scenario, measured, measures

BOTH = Limits(mtq=5, qtl=10)
CASES = {"(1)": "e7-2/none", "(2)": "e7-2/MTQ 3.3", "(3)": "e7-4/QTL 10", "(4)": BOTH.label()}


def configurations(**_: Any) -> dict[str, Scenario]:
    """MTQ with QTL."""
    return discard.sweep(MODEL_2, [BOTH])


@measured
def _best(r: Results, of: Any) -> Any:
    """The number of the case with the lowest median."""
    at = {case: float(np.median(of(c, LIMIT_MS)(r))) for case, c in CASES.items()}
    return stats.exact(float(min(at, key=lambda c: at[c])[1]), r.of(BOTH.label(), "g0_sent").size)


CLAIMS = {
    "IC7.24": {
        **{
            f"{g}, case {case}": measures.value(c, f"{g}_eplr_{ms}")
            for case, c in CASES.items()
            for g, ms in LIMIT_MS.items()
        },
        **{f"worst group, case {case}": measures.median(discard.worst(c, LIMIT_MS)) for case, c in CASES.items()},
        **{f"mean over flows, case {case}": measures.median(discard.mean(c, LIMIT_MS)) for case, c in CASES.items()},
        **{
            f"worst group, case {a} minus worst group, case {b}": study.difference(
                discard.worst(CASES[a], LIMIT_MS), discard.worst(CASES[b], LIMIT_MS)
            )
            for a, b in (("(4)", "(3)"), ("(3)", "(1)"))
        },
        **{
            f"mean over flows, case (2) against mean over flows, case {b}": study.relative(
                discard.mean(CASES["(2)"], LIMIT_MS), discard.mean(CASES[b], LIMIT_MS)
            )
            for b in ("(4)", "(3)")
        },
        "best case for the worst group": _best(discard.worst),
        "best case for the mean": _best(discard.mean),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.15."""
    bars = {
        case: {g: discard.percent(r, discard.eplr(c, g, ms)) for g, ms in LIMIT_MS.items()}
        | {"mean": discard.percent(r, discard.mean(c, LIMIT_MS))}
        for case, c in CASES.items()
    }
    caption = "EPLR in four settings with requirements that differ by path (Fig. 7.15)."
    return [figures.bars("fig-7-15", caption, bars, "EPLR (%)")]


EXPERIMENT = discard.experiment(__name__, "Requirements that differ by path, four settings", uses=("e7-2", "e7-4"))
