"""Which limit of one queue (MTQ) serves a limit of delay best?

EPLR against MTQ: (a) model 1 and 10 ms, (b) model 2 and 10 ms, (c) model 2 and 20 ms; the runs of model 2 are
those of E7.2. The D/N rule: with N congested nodes and D ms in all, MTQ = D / N lets no packet be late and drops
as few as possible.

What the source printed (Fig. 7.4): the EPLR of the longest path is best from 1.8 to 3.3 ms (10 ms) and jumps above
3.4 ms; that of paths with two nodes is best at 5 ms.

What may differ here: as in E7.2. Waits are multiples of 0.08 ms, so 3.28 ms in each of three nodes are on time and
3.36 late.
"""

from dataclasses import replace
from typing import Any

from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_1, Limits
from crosswind.experiments.igarashi.e7_2 import BY_MTQ
from crosswind.reproduce import Measure, Quantity, Scenario, measures
from crosswind.reproduce.claims.quantities import largest, runs, total

MODEL_1_SWEEP = (3.3, 4.0, 5.0, 10.0)
BY_MTQ_1 = {x: Limits(mtq=x).label() for x in MODEL_1_SWEEP}
GROUPS = tuple(discard.MODELS[2])


def configurations(**reading: Any) -> dict[str, Scenario]:
    """Model 1 over the sweep."""
    return discard.sweep(replace(MODEL_1, **reading), [Limits(mtq=x) for x in MODEL_1_SWEEP])


SHOWN = {x: f"e7-2/{c}" for x, c in BY_MTQ.items()}


def of(mtq: float) -> str:
    """The configuration of model 2 with this MTQ."""
    return SHOWN[mtq]


def _best(limit_ms: int) -> Measure:
    """The MTQ at which the worst group is best off, of the medians."""
    return discard.best(SHOWN, lambda c: discard.worst(c, discard.alike(limit_ms)))


def _most_late_up_to(limit: float, groups: tuple[str, ...]) -> Quantity:
    return largest(total(runs(of(x), f"{g}_late_10") for g in groups) for x in BY_MTQ if x <= limit)


CLAIMS = {
    "IC7.5": {
        "best MTQ": _best(10),
        "g0 at 3.3 ms": measures.with_seeds(measures.value(of(3.3), "g0_eplr_10"), 5),
        "g0 at 4 against 3.3 ms": discard.over(of(4.0), of(3.3)),
        "late packets up to 3.3 ms": measures.median(_most_late_up_to(3.3, GROUPS)),
    },
    "IC7.6": {"best MTQ": _best(20)},
    "IC7.7": {
        "late packets of g1 and g2 up to 5 ms": measures.median(_most_late_up_to(5.0, ("g1", "g2"))),
        **{f"{g}, 6 against 5 ms": discard.over(of(6.0), of(5.0), g) for g in ("g1", "g2")},
    },
}


EXPERIMENT = discard.read_two_ways(
    __name__,
    "EPLR against MTQ",
    figures=discard.three_panels("fig-7-4", "EPLR against MTQ (Fig. 7.4).", "MTQ (ms)", (BY_MTQ_1, SHOWN, SHOWN)),
    uses=("e7-2",),
)
