"""What did the overflow in Linux's RED do to the results?

The kernel multiplied the average by the idle time in 32 bits, so that after a second of idleness the average fell
too little. The workload of W2 with Baseline and Enhanced TCP and ECN on the error-free link, with the overflow and
repaired; 120 repetitions.

What the source printed: the defect and its repair, which all of its runs had; no numbers. The unit claim (J17) looks at
the law alone; the figures here show what the defect would have cost.

What may differ here: nothing that is known.
"""

from typing import Any

from crosswind.experiments.jarvinen_2006 import boxes, parts, study, testbed
from crosswind.reproduce import Picture, Results, Scenario

WORKLOAD = testbed.Workload("x4", ("third",), third_bytes=testbed.BULK_BYTES)
NAMES = tuple(f"{tcp}+ECN{what}" for tcp in ("BL", "ETCP") for what in ("", " overflow"))


def configurations(**variant: Any) -> dict[str, Scenario]:
    """RED repaired, and with the product in 32 bits."""
    out = {}
    for name in NAMES:
        one = testbed.world(WORKLOAD, testbed.setting(name.split()[0]), testbed.Reading(**variant), name)
        overflow = {"link.last-hop.queue.idle_damping": "overflow32"} if name.endswith("overflow") else {}
        out[name] = one.with_(overflow)
    return out


def pictures(r: Results) -> list[Picture]:
    """Shares of the three flows, and marks."""
    return boxes.pictures(
        r, "third", {"x4-shares": "shares", "x4-marks": "marks"}, where=", RED with the overflow and repaired"
    )


EXPERIMENT = study.experiment(
    __name__,
    "Side experiment: the overflow in Linux's RED",
    headline=parts.headline("simultaneous_third", "B/s", NAMES, 0),
)
