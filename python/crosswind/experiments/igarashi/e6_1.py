"""Do nine flows get their contracts across two domains when the markers follow the contracts?

Model 6.2(a): markers with the original policy at both edges, the second one for the aggregate; three
provisionings.

What the source printed (Table 6.2): every flow gets its contract in all three cases; what is left over goes to
flows with short round trips. Its claims are checked where the tables are compared (E6.2 to E6.4).

What may differ here: senders have no jitter of up to 10 us (the digest's replay has, against phase locking); RIO's
random drops break phases. Throughput is over 50 s (see `assured`).
"""

from __future__ import annotations

from typing import Any

from crosswind.experiments.base import Results
from crosswind.experiments.igarashi import assured, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario


def configurations(**_: Any) -> dict[str, Scenario]:
    """The three provisionings."""
    return assured.cases("inter", assured.ORIGINAL)


def pictures(r: Results) -> list[Picture]:
    """Table 6.2."""
    caption = "Throughput across two domains, original marking (Table 6.2)."
    return [assured.throughput_picture(r, "table-6-2", caption, list(configurations()))]


EXPERIMENT = study.experiment(
    "e6-1",
    "Two domains, original marking",
    __doc__,
    configurations,
    (),
    tables=assured.tables,
    figures=pictures,
)
