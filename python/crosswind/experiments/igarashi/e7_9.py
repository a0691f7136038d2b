"""Do the rules hold when the nodes are not equally loaded?

Model 2 with 60, 80, 80, 60 and 100 flows in the groups: 96, 88 and 80 % load at nodes 1, 2 and 3; limit 10 ms. MTQ
alone, QTL alone, and MTQ with QTL 10.

What the source printed (Fig. 7.2, case (5), Fig. 7.10): without control g0, g1 and g4 suffer alike, g2 and g3 little.
MTQ well above 3.3 ms is still good, as only node 1 is congested; the best QTL is 10 ms as before, and beside it many
MTQs are good.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.igarashi import discard, drawing, study
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.reproduce import Measure, Picture, Quantity, Results, Scenario, measured, measures

UNEQUAL = replace(MODEL_2, flows=(60, 80, 80, 60, 100))
GROUPS = tuple(discard.MODELS[2])
BY_MTQ = {x: Limits(mtq=x).label() for x in (1.8, 3.3, 5.0, 7.0, 9.0, 10.0, 12.0)}
BY_QTL = {x: Limits(qtl=x).label() for x in (8.0, 10.0, 11.0)}
BY_BOTH = {x: Limits(mtq=x, qtl=10).label() for x in (3.3, 5.0, 7.0, 10.0)}
NEAR_OPTIMAL = 1.25


def configurations(**_: Any) -> dict[str, Scenario]:
    """All settings."""
    limits = [Limits(), *(Limits(mtq=x) for x in BY_MTQ), *(Limits(qtl=x) for x in BY_QTL)]
    return discard.sweep(UNEQUAL, [*limits, *(Limits(mtq=x, qtl=10) for x in BY_BOTH)])


def _worst(configuration: str) -> Quantity:
    return discard.worst(configuration, discard.alike())


def _best(by: dict[float, str]) -> Measure:
    """The setting in which the worst group is best off, of the medians."""
    return discard.best(by, _worst)


@measured
def _near(r: Results, by: dict[float, str], pick: Any) -> Any:
    """The least or greatest setting in which the worst group has at most 1.25 times the EPLR of the best setting."""
    at = {x: float(np.median(_worst(c)(r))) for x, c in by.items()}
    return stats.exact(
        pick(x for x, v in at.items() if v <= NEAR_OPTIMAL * min(at.values())), r.of("none", "g0_sent").size
    )


def _without(group: str) -> Quantity:
    """The EPLR of a group without control."""
    return discard.eplr("none", group)


def _values(by: dict[float, str], what: str) -> dict[str, Measure]:
    return {f"{g}, {what} {x:g}": measures.value(c, f"{g}_eplr_10") for x, c in by.items() for g in ("g0", "g1", "g4")}


CLAIMS = {
    "IC7.18": {
        **{g: measures.value("none", f"{g}_eplr_10") for g in GROUPS},
        **{f"{g} against g0": study.relative(_without(g), _without("g0")) for g in ("g1", "g4")},
        **{f"{a} minus {b}": study.difference(_without(a), _without(b)) for a in ("g2", "g3") for b in ("g1", "g4")},
    },
    "IC7.19": {
        "best MTQ": _best(BY_MTQ),
        "near-optimal MTQ (1.25 times the best EPLR), from": _near(BY_MTQ, min),
        "near-optimal MTQ, to": _near(BY_MTQ, max),
        "best QTL": _best(BY_QTL),
        "best MTQ beside QTL 10": _best(BY_BOTH),
        **_values(BY_MTQ, "MTQ"),
        **_values(BY_QTL, "QTL"),
        **_values(BY_BOTH, "QTL 10, MTQ"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.10."""
    panels = {
        "(a) MTQ": discard.curves(r, BY_MTQ, GROUPS, "eplr_10"),
        "(b) QTL": discard.curves(r, BY_QTL, GROUPS, "eplr_10"),
        "(c) MTQ with QTL 10": discard.curves(r, BY_BOTH, GROUPS, "eplr_10"),
    }
    return [
        drawing.against("fig-7-10", "EPLR with unequal flow numbers (Fig. 7.10).", panels, "limit (ms)", "EPLR (%)")
    ]


EXPERIMENT = discard.experiment(__name__, "Unequal flow numbers")
