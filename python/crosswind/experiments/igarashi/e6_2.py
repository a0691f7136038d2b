"""What does re-marking at a domain boundary do to flows when the markers let more pass than the contracts say?

Model 6.2(a) with the spaced policy (excess-in) at both edges. More packets leave the first domain in profile than
the contract between the domains covers, so one in twelve of everybody's is re-marked at the boundary.

What the source printed (Table 6.3): the flows with 5 Mbit/s and long round trips miss their contracts (4.302 and
4.220 Mbit/s for flow 9 in Cases 1 and 2), flows with small contracts and short round trips gain.

What may differ here: as in E6.1.
"""

from typing import Any

from crosswind.experiments.igarashi import assured, study
from crosswind.reproduce import Quantity, Scenario, measures
from crosswind.reproduce.claims.quantities import least


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("inter", assured.EXCESS)


def _of(case: str, marking: str = assured.EXCESS) -> str:
    own = assured.label("inter", marking, case)
    return own if marking == assured.EXCESS else f"e6-1/{own}"


def _th(flow: int, case: str = "Case 1", marking: str = assured.EXCESS) -> Quantity:
    return assured.th(_of(case, marking), f"f{flow}")


CLAIMS = {
    "IC6.2": {
        **{f"flow 9, {case}": measures.value(_of(case), "th_f9") for case in ("Case 1", "Case 2")},
        "flow 6, Case 1": measures.value(_of("Case 1"), "th_f6"),
        "flow 6, Case 1, of the print": measures.value(_of("Case 1"), "th_f6"),
    },
    "IC6.3": {
        "flow 9": measures.value(_of("Case 3"), "th_f9"),
        "flow 9 less the lower of 3 and 6": measures.median(_th(9, "Case 3") - least(_th(k, "Case 3") for k in (3, 6))),
    },
    "IC6.7": {f"flow {k}, gain": measures.median(_th(k) - _th(k, marking=assured.ORIGINAL)) for k in (1, 4)},
}


PRINTED = {
    _of(case): {flow: study.BOOK.number(id, label)}
    for case, flow, id, label in (
        ("Case 1", "9", "IC6.2", "flow 9, Case 1"),
        ("Case 2", "9", "IC6.2", "flow 9, Case 2"),
        ("Case 3", "9", "IC6.3", "flow 9"),
    )
}
PRINTED[_of("Case 1")]["6"] = study.BOOK.number("IC6.2", "flow 6, Case 1")
EXPERIMENT = assured.experiment(
    __name__,
    "Two domains, excess-in marking",
    figures=assured.table_picture("6.3", "across two domains, excess-in marking", list(configurations()), PRINTED),
    uses=("e6-1",),
)
