"""Which limit drops whose packets when both are set and requirements differ?

Node drops by cause and subgroup in cases 8 (MTQ 5, QTL 10 for all) and 9 (QTL 20 for the second half) of E7.11,
run here with the same random numbers.

What the source printed (Fig. 7.13): QTL drops packets of group 0 only, MTQ those of every group; groups 1 to 4 cross
at most two nodes, and twice 5 ms is within 10 ms.
"""

from dataclasses import replace
from typing import Any

from crosswind.experiments.igarashi import discard, drawing
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.experiments.igarashi.e7_10 import SUBGROUPS
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import runs

EIGHT = replace(MODEL_2, limits=Limits(mtq=5, qtl=10))
NINE = replace(EIGHT, second=Limits(mtq=5, qtl=20))
CASES = {"(8)": EIGHT, "(9)": NINE}
CAUSES = {"MTQ": "drops_mtq", "QTL": "drops_qtl"}
GROUPS = tuple(discard.MODELS[2])


def configurations(**_: Any) -> dict[str, Scenario]:
    """The two cases."""
    return {c: discard.scenario(s) for c, s in CASES.items()}


def _share(case: str, member: str, column: str) -> Quantity:
    """Packets of a group or subgroup dropped by one cause, of those that it sent."""
    return runs(case, f"{member}_{column}") / runs(case, f"{member}_sent")


CLAIMS = {
    "IC7.23": {
        f"{member}, {cause}, case {case}": measures.median(_share(case, member, column))
        for case in CASES
        for member in (*GROUPS, *SUBGROUPS)
        for cause, column in CAUSES.items()
    }
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.13."""
    out = []
    for case in CASES:
        bars = {
            f: {cause: discard.percent(r, _share(case, f, column)) for cause, column in CAUSES.items()}
            for f in SUBGROUPS
        }
        caption = f"Node drops by cause and subgroup, case {case} (Fig. 7.13)."
        out.append(drawing.stacks(f"fig-7-13-{case[1]}", caption, bars, "dropped (%)"))
    return out


EXPERIMENT = discard.experiment(__name__, "Causes of drops with two requirements")
