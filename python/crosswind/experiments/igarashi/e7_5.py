"""Does a limit for one queue (MTQ) beside a budget for all (QTL) help, and how exactly must it be chosen?

EPLR against MTQ with QTL at the limit of delay: (a) model 1 and 10 ms, (b) model 2 and 10 ms, (c) model 2 and 20
ms.

What the source printed (Fig. 7.6): MTQ below QTL lowers the EPLR of the longest path, and a much wider range of it
serves than with MTQ alone. MTQ at or above QTL has no effect; neither has QTL at or above the number of nodes
times MTQ.

What may differ here: as in E7.2. A contract whose MTQ exceeds its QTL is refused; equality is the boundary that is
run.
"""

from dataclasses import replace
from typing import Any

from crosswind import stats
from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_1, MODEL_2, Limits
from crosswind.reproduce import Results, Scenario, measured, measures

SWEEP = (1.8, 3.3, 5.0, 10.0)
SWEEP_20 = (6.6, 10.0, 16.0)
BY_MTQ = {x: Limits(mtq=x, qtl=10).label() for x in SWEEP}
BY_MTQ_20 = {x: Limits(mtq=x, qtl=20).label() for x in SWEEP_20}
BY_MTQ_1 = {x: f"model 1, {Limits(mtq=x, qtl=10).label()}" for x in (3.3, 5.0, 7.0)}
# From 1.8 ms to half of the limit of delay.
LOWER = (1.8, 3.3, 5.0)
INERT = Limits(mtq=5, qtl=15)
GROUPS = tuple(discard.MODELS[2])
BOTH = BY_MTQ[5.0]


def configurations(**reading: Any) -> dict[str, Scenario]:
    """Both models over their sweeps, and one setting whose QTL is inert."""
    second = [Limits(mtq=x, qtl=10) for x in SWEEP] + [Limits(mtq=x, qtl=20) for x in SWEEP_20] + [INERT]
    first = discard.sweep(replace(MODEL_1, **reading), [Limits(mtq=x, qtl=10) for x in BY_MTQ_1])
    return discard.sweep(replace(MODEL_2, **reading), second) | {f"model 1, {c}": s for c, s in first.items()}


@measured
def _differences(r: Results, one: str, other: str) -> Any:
    """In how many totals (drops, late packets of each group) two configurations differ, over all seeds."""
    columns = [f"{g}_{what}" for g in GROUPS for what in ("sent", "drops", "late_10", "late_20")]
    differing = [int((r.of(one, c) != r.of(other, c)).sum()) for c in columns]
    return stats.exact(float(sum(differing)), r.of(one, "g0_sent").size)


# The worst group with QTL 10 and MTQ 5 over the worst group with the best MTQ alone.
WORST_RATIO = discard.worst(BOTH, discard.alike()) / discard.worst("e7-2/MTQ 3.3", discard.alike())
CLAIMS = {
    "IC7.11": {
        "g0": measures.with_seeds(measures.value(BOTH, "g0_eplr_10"), 5),
        "worst group against MTQ 3.3 alone": measures.median(WORST_RATIO),
        "MTQ 5 alone against both": discard.over("e7-2/MTQ 5", BOTH),
        "QTL 10 alone against both": discard.over("e7-4/QTL 10", BOTH),
        "g0: the best MTQ less both": discard.changed("e7-2/MTQ 3.3", BOTH),
        "g0: both less MTQ 5": discard.changed(BOTH, "e7-2/MTQ 5"),
        "g0: both less QTL 10": discard.changed(BOTH, "e7-4/QTL 10"),
    },
    "IC7.12": {
        **{f"g0, MTQ {x:g}": measures.with_seeds(measures.value(BY_MTQ[x], "g0_eplr_10"), 5) for x in LOWER},
        **{f"g0, MTQ {x:g} over QTL alone": discard.over(BY_MTQ[x], "e7-4/QTL 10") for x in LOWER},
    },
    "IC7.13": {
        "totals that differ, MTQ 10 beside QTL 10": _differences(BY_MTQ[10.0], "e7-4/QTL 10"),
        "totals that differ, QTL 15 beside MTQ 5": _differences(INERT.label(), "e7-2/MTQ 5"),
    },
}


EXPERIMENT = discard.read_two_ways(
    __name__,
    "EPLR against MTQ with QTL at the limit",
    figures=discard.three_panels(
        "fig-7-6",
        "EPLR against MTQ with QTL at the limit of delay (Fig. 7.6).",
        "MTQ (ms)",
        (BY_MTQ_1, BY_MTQ, BY_MTQ_20),
    ),
    uses=("e7-2", "e7-4"),
)
