"""Which budget for all queues (QTL) serves a limit of delay best?

EPLR against QTL: (a) model 1 and 10 ms, (b) model 2 and 10 ms, (c) model 2 and 20 ms.

What the source printed (Fig. 7.5): for every group exactly the limit of delay; above a sharp deterioration, below
a mild one. The best QTL alone is worse for the longest path than the best MTQ alone.

What may differ here: as in E7.2. Budgets and waits are whole nanoseconds; a packet whose budget would end at zero is
dropped.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_1, MODEL_2, Limits
from crosswind.reproduce import Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import runs, total

SWEEP = (8.0, 10.0, 11.0, 15.0, 18.0, 20.0, 21.0)
SWEEP_1 = (10.0, 16.0, 30.0)
BY_QTL = {x: Limits(qtl=x).label() for x in SWEEP}
BY_QTL_1 = {x: f"model 1, {Limits(qtl=x).label()}" for x in SWEEP_1}
GROUPS = tuple(discard.MODELS[2])


def configurations(**reading: Any) -> dict[str, Scenario]:
    """Both models over their sweeps."""
    first = {
        f"model 1, {c}": s
        for c, s in discard.sweep(replace(MODEL_1, **reading), [Limits(qtl=x) for x in SWEEP_1]).items()
    }
    return discard.sweep(replace(MODEL_2, **reading), [Limits(qtl=x) for x in SWEEP]) | first


def _best(limit_ms: int) -> Any:
    """The QTL at which g0 is best off, of the medians."""
    return discard.best(BY_QTL, lambda c: discard.eplr(c, "g0", limit_ms))


# Late packets of all groups when QTL is the limit, for both limits.
ALL_LATE = total(
    [
        *(runs(BY_QTL[d], f"{g}_late_{d:.0f}") for d in (10.0, 20.0) for g in GROUPS),
        *(runs(BY_QTL_1[10.0], f"{g}_late_10") for g in discard.MODELS[1]),
    ]
)


def _g0(qtl: float, limit_ms: int) -> tuple[str, str]:
    return (BY_QTL[qtl], f"g0_eplr_{limit_ms}")


@measured
def _excess(r: Results, limit_ms: int) -> float:
    """By how much a group's EPLR with QTL at the limit exceeds its least in the sweep: the largest, of the medians."""
    found = []
    for g in GROUPS:
        at = {x: float(np.median(r.of(c, f"{g}_eplr_{limit_ms}"))) for x, c in BY_QTL.items()}
        found.append(at[limit_ms] - min(at.values()))
    return max(found)


CLAIMS = {
    "IC7.8": {
        "best QTL, 10 ms": _best(10),
        "best QTL, 20 ms": _best(20),
        "any group, 10 ms: above its least": _excess(10),
        "any group, 20 ms: above its least": _excess(20),
        "g0, 10 ms": measures.with_seeds(measures.value(*_g0(10.0, 10)), 5),
        "g0, 20 ms": measures.with_seeds(measures.value(*_g0(20.0, 20)), 5),
        "g0, 11 against 10 ms": discard.over(BY_QTL[11.0], BY_QTL[10.0], "g0", 10),
        "g0, 21 against 20 ms": discard.over(BY_QTL[21.0], BY_QTL[20.0], "g0", 20),
        "g0, 8 against 10 ms": discard.over(BY_QTL[8.0], BY_QTL[10.0], "g0", 10),
        "g0, 18 against 20 ms": discard.over(BY_QTL[18.0], BY_QTL[20.0], "g0", 20),
    },
    "IC7.9": {"late packets": measures.median(ALL_LATE)},
    "IC7.10": {"g0, MTQ 3.3 against QTL 10": discard.over("e7-2/MTQ 3.3", BY_QTL[10.0])},
}


EXPERIMENT = discard.read_two_ways(
    __name__,
    "EPLR against QTL",
    figures=discard.three_panels("fig-7-5", "EPLR against QTL (Fig. 7.5).", "QTL (ms)", (BY_QTL_1, BY_QTL, BY_QTL)),
    uses=("e7-2",),
)
