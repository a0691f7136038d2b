"""Which thresholds suit RED on the slow last hop?

The workload of W1 with Baseline TCP and ECN on the error-free link; RED with limits of 10, 20 and 30 packets and upper
thresholds of 6, 9, 12 and 15 packets (a third of it as the lower one); 120 repetitions.

What the source printed: a search in advance, with a kernel whose recovery was broken, chose a limit of 20 and an upper
threshold of 9 packets. It gives no numbers, so there is nothing to check: the figures show what the choice costs.

What may differ here: the criteria of the source are not known; shown are the third flow's time and overall throughput.
"""

from typing import Any

from crosswind.experiments.jarvinen_2006 import boxes, parts, study, testbed
from crosswind.reproduce import Picture, Results, Scenario

WORKLOAD = testbed.Workload("x3", ("third",))
LIMITS, UPPER = (10, 20, 30), (6, 9, 12, 15)
NAMES = tuple(f"{limit}:{high}" for limit in LIMITS for high in UPPER if high < limit)


def configurations(**variant: Any) -> dict[str, Scenario]:
    """One configuration per pair `limit:upper threshold`, in packets."""
    base = testbed.world(WORKLOAD, testbed.setting("BL+ECN"), testbed.Reading(**variant))
    queue = "link.last-hop.queue"
    out = {}
    for name in NAMES:
        limit, high = (int(x) * testbed.MTU for x in name.split(":"))
        sizes = {"limit": limit, "min_th": high // 3, "max_th": high}
        out[name] = base.with_({f"{queue}.{k}": f"{v} B" for k, v in sizes.items()})
    return out


def pictures(r: Results) -> list[Picture]:
    """The third flow's time and overall throughput by limit and upper threshold."""
    return boxes.pictures(
        r, "third", {"x3-elapsed": "third", "x3-overall": "overall"}, where=", by limit and upper threshold"
    )


EXPERIMENT = study.experiment(
    __name__, "Side experiment: the search for RED's thresholds", headline=parts.headline("third_elapsed_s", "s", NAMES)
)
