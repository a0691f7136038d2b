"""Do the same flows get their contracts when both congested links lie in one domain?

Model 6.2(b): one domain, original marking, no re-marking between the two RIO queues.

What the source printed (Table 6.4): every flow gets its contract, nearly as across two domains.

What may differ here: as in E6.1.
"""

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.igarashi import assured, study
from crosswind.reproduce import Results, Scenario, measures
from crosswind.reproduce.claims.quantities import runs

OWN = assured.label("intra", assured.ORIGINAL, "Case 1")


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("intra", assured.ORIGINAL)


def _deviation(r: Results) -> Any:
    """Mean over the flows of the distance between median and printed throughput."""
    medians = [np.median(r.of(OWN, f"th_f{k}")) - study.BOOK.number("IC6.5", f"flow {k}") for k in assured.FLOWS]
    return stats.exact(float(np.mean(np.abs(medians))), r.of(OWN, "total").size)


CLAIMS = {
    "IC6.1": {
        f"seeds without a miss, {kind} {case}": study.portion(runs(f"{used}{c}", "misses") < 1)
        for kind, used in (("inter", "e6-1/"), ("intra", ""))
        for case in assured.CASES
        for c in [assured.label(kind, assured.ORIGINAL, case)]
    },
    "IC6.5": {
        **{f"flow {k}": measures.value(OWN, f"th_f{k}") for k in assured.FLOWS},
        "mean distance from the table": _deviation,
    },
}


PRINTED = {OWN: {str(k): study.BOOK.number("IC6.5", f"flow {k}") for k in assured.FLOWS}}
EXPERIMENT = assured.experiment(
    __name__,
    "One domain, original marking",
    figures=assured.table_picture("6.4", "within one domain, original marking", list(configurations()), PRINTED),
    uses=("e6-1",),
)
