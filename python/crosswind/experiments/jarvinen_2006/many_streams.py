"""How often does a download come to a standstill beside a stream?

The workload of W4 on the error-free link in BL+ECN. The source made 120 runs, of which one had next to no throughput of
the slower flow while the stream ran: a rate of that size needs 200 runs or more.

What may differ here: as for W4.
"""

from typing import Any

from crosswind.experiments.jarvinen_2006 import parts, readings, study, testbed, w4_e0
from crosswind.reproduce import Scenario, measures

LABEL, SLOWER = "BL+ECN", "simultaneous_slower"
NEXT_TO_NOTHING_Bps = 0.5


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The configuration in which that happened."""
    return testbed.configurations(w4_e0.WORKLOAD, (LABEL,), variant)


CLAIMS = {
    "J101": {"repetitions with next to nothing": measures.share(lambda r: r.of(LABEL, SLOWER) <= NEXT_TO_NOTHING_Bps)}
}


EXPERIMENT = study.experiment(
    __name__,
    "Standstills of a download among 1200",
    variants=readings.MAIN,
    headline=parts.headline(SLOWER, "B/s", (LABEL,), 0),
    reps=1200,
    partly=("J101",),
)
