"""Do the same flows get their contracts when both congested links lie in one domain?

Model 6.2(b): one domain, original marking, no re-marking between the two RIO queues.

What the source printed (Table 6.4): every flow gets its contract, nearly as across two domains.

What may differ here: as in E6.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.claims import Claim, Part, at_least, at_most, near
from crosswind.experiments.base import Results, published
from crosswind.experiments.igarashi import assured, study
from crosswind.scenario import Scenario

P = published("assured.csv", __file__)
OWN = assured.label("intra", assured.ORIGINAL, "Case 1")


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("intra", assured.ORIGINAL)


def _met(configuration: str) -> Any:
    return lambda r: r.of(configuration, "misses") == 0


def _deviation(r: Results) -> Any:
    """Mean over the flows of the distance between median and printed throughput."""
    medians = [np.median(r.of(OWN, f"th_f{k}")) - P[(f"th_f{k}", OWN)] for k in assured.FLOWS]
    return stats.exact(float(np.mean(np.abs(medians))), r.of(OWN, "total").size)


CLAIMS = (
    Claim(
        "IC6.1",
        "Original marking: all nine flows get their contracts in all cases, across domains and within one",
        "no flow below its contract",
        [
            study.all_seeds(f"seeds without a miss, {kind} {case}", _met(f"{used}{c}"), at_least(0.9), "all")
            for kind, used in (("inter", "e6-1/"), ("intra", ""))
            for case in assured.CASES
            for c in [assured.label(kind, assured.ORIGINAL, case)]
        ],
    ),
    Claim(
        "IC6.5",
        "Throughput of each flow, intra-domain, Case 1",
        "Table 6.4",
        [
            *(
                study.value(
                    f"flow {k}",
                    OWN,
                    f"th_f{k}",
                    near(P[(f"th_f{k}", OWN)], 0.45),
                    f"{P[(f'th_f{k}', OWN)]:g} Mbit/s",
                    "Mbit/s",
                )
                for k in assured.FLOWS
            ),
            Part("mean distance from the table", _deviation, at_most(0.2), "0", "Mbit/s", 2),
        ],
    ),
)


EXPERIMENT = assured.experiment(
    "e6-3",
    "One domain, original marking",
    __doc__,
    configurations,
    CLAIMS,
    figures=assured.table_picture("6.4", "within one domain, original marking", list(configurations())),
    uses=("e6-1",),
)
