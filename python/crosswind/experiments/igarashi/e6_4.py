"""Is the spaced policy harmful within one domain too?

Model 6.2(b) with excess-in marking.

What the source printed (Table 6.5): every flow gets its contract: it is the re-marking at the boundary that hurts,
not the policy alone.

What may differ here: as in E6.1. Totals are compared over all four tables (IC6.6), with 2 % for the source's own
measure.
"""

from typing import Any

from crosswind.experiments.igarashi import assured, study
from crosswind.reproduce import Scenario, measures
from crosswind.reproduce.claims.quantities import runs

TABLES = (
    ("e6-1/", "inter", assured.ORIGINAL),
    ("e6-2/", "inter", assured.EXCESS),
    ("e6-3/", "intra", assured.ORIGINAL),
    ("", "intra", assured.EXCESS),
)


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("intra", assured.EXCESS)


CLAIMS = {
    "IC6.4": {
        f"seeds with all met, {case}": study.portion(runs(c, "clear_misses") < 1)
        for case in assured.CASES
        for c in [assured.label("intra", assured.EXCESS, case)]
    },
    "IC6.6": {
        f"{kind} {marking}, {case}": measures.value(used + assured.label(kind, marking, case), "total")
        for used, kind, marking in TABLES
        for case in assured.CASES
    },
}


EXPERIMENT = assured.experiment(
    __name__,
    "One domain, excess-in marking",
    figures=assured.table_picture("6.5", "within one domain, excess-in marking", list(configurations())),
    uses=("e6-1", "e6-2", "e6-3"),
)
