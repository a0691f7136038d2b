"""What does re-marking at a domain boundary do to flows when the markers let more pass than the contracts say?

Model 6.2(a) with the spaced policy (excess-in) at both edges. More packets leave the first domain in profile than
the contract between the domains covers, so one in twelve of everybody's is re-marked at the boundary.

What the source printed (Table 6.3): the flows with 5 Mbit/s and long round trips miss their contracts (4.302 and
4.220 Mbit/s for flow 9 in Cases 1 and 2), flows with small contracts and short round trips gain.

What may differ here: as in E6.1.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Claim, above, at_most, below, between, near
from crosswind.experiments.base import Results, published
from crosswind.experiments.igarashi import assured, study
from crosswind.scenario import Scenario

P = published("assured.csv", __file__)


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("inter", assured.EXCESS)


def _of(case: str, marking: str = assured.EXCESS) -> str:
    own = assured.label("inter", marking, case)
    return own if marking == assured.EXCESS else f"e6-1/{own}"


def _printed(case: str, flow: int) -> str:
    return f"{P[(f'th_f{flow}', assured.label('inter', assured.EXCESS, case))]:g} Mbit/s"


def _least_of_five(r: Results) -> Any:
    """By how much flow 9 has less than the lower of flows 3 and 6."""
    th = [r.of(_of("Case 3"), f"th_f{k}") for k in (3, 6, 9)]
    return th[2] - [min(a, b) for a, b in zip(th[0], th[1], strict=True)]


def _gain(flow: int) -> Any:
    column = f"th_f{flow}"
    return lambda r: r.of(_of("Case 1"), column) - r.of(_of("Case 1", assured.ORIGINAL), column)


CLAIMS = (
    Claim(
        "IC6.2",
        "Excess-in at both edges: flow 9 misses its 5 Mbit/s in Cases 1 and 2, flow 6 at most gets it in Case 1",
        "4.302, 4.220; 4.542 Mbit/s",
        [
            *(
                study.value(
                    f"flow 9, {case}",
                    _of(case),
                    "th_f9",
                    between(value - 0.35, min(value + 0.35, 5.0)),
                    _printed(case, 9),
                    "Mbit/s",
                )
                for case, value in (("Case 1", 4.302), ("Case 2", 4.220))
            ),
            study.value("flow 6, Case 1", _of("Case 1"), "th_f6", at_most(5.0), _printed("Case 1", 6), "Mbit/s"),
            study.value("flow 6, Case 1", _of("Case 1"), "th_f6", near(4.542, 0.35), _printed("Case 1", 6), "Mbit/s"),
        ],
    ),
    Claim(
        "IC6.3",
        "Excess-in, Case 3: flow 9 gets about 5 Mbit/s, least of the flows with that contract",
        "4.885 Mbit/s",
        [
            study.value("flow 9", _of("Case 3"), "th_f9", near(4.885, 0.5), _printed("Case 3", 9), "Mbit/s"),
            study.of_seeds("flow 9 less the lower of 3 and 6", _least_of_five, below(0.0), "lowest", "Mbit/s"),
        ],
    ),
    Claim(
        "IC6.7",
        "Excess-in gives flows with small contracts and short round trips more than original marking (Case 1)",
        "flow 1: 3.6 instead of 3.3; flow 4: 3.0 instead of 2.3 Mbit/s",
        [study.of_seeds(f"flow {k}, gain", _gain(k), above(0.0), "more", "Mbit/s") for k in (1, 4)],
    ),
)


EXPERIMENT = assured.experiment(
    "e6-2",
    "Two domains, excess-in marking",
    __doc__,
    configurations,
    CLAIMS,
    figures=assured.table_picture("6.3", "across two domains, excess-in marking", list(configurations())),
    uses=("e6-1",),
)
