"""Do nine flows get their contracts across two domains when the markers follow the contracts?

Model 6.2(a): markers with the original policy at both edges, the second one for the aggregate; three
provisionings.

What the source printed (Table 6.2): every flow gets its contract in all three cases; what is left over goes to
flows with short round trips. Its claims are checked where the tables are compared (E6.2 to E6.4).

What may differ here: throughput is over 50 s (see `assured`).
"""

from typing import Any

from crosswind.experiments.igarashi import assured
from crosswind.reproduce import Scenario


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("inter", assured.ORIGINAL)


EXPERIMENT = assured.experiment(
    __name__,
    "Two domains, original marking",
    figures=assured.table_picture("6.2", "across two domains, original marking", list(configurations())),
)
