"""How many needless retransmissions of a web page come from one defect of F-RTO?

The kernel of the source took a segment that the peer had sent twice (a request, or the answer to a repeated SYN) for a
duplicate ACK, and gave up judging the timeout. The workload of W3 with Enhanced TCP, with the defect and without it,
without service classes; 120 repetitions.

What the source printed: some tests run again with a repaired F-RTO had half the unnecessary retransmissions, in the
maximum as in the upper quartile.

What may differ here: which tests were run again is not said, so there is nothing to check. Here the repair saves
nothing: of 470 spurious timeouts in 120 repetitions F-RTO recognises 12 with the defect as without, because two delayed
ACKs cover a first window of four and an ACK of everything is no evidence (claim J32 shows the defect itself).
"""

from typing import Any

from crosswind import figures
from crosswind.experiments.jarvinen_2006 import metrics, parts, readings, study, testbed
from crosswind.reproduce import Picture, Results, Scenario

WORKLOAD = testbed.Workload("x2", ("page",))
DEFECTIVE, REPAIRED = "ETCP", "ETCP repaired"
NAMES = (DEFECTIVE, REPAIRED, "ETCP+ECN", "ETCP+ECN repaired")


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Enhanced TCP with drop-tail and with RED, with the defect and repaired."""
    own = dict(variant.pop("tcp", {}))
    out = {}
    for label in NAMES:
        retransmissions = "ignore" if label.endswith("repaired") else "count-as-duplicate"
        reading = testbed.Reading(**variant, tcp={**own, "frto_peer_retransmissions": retransmissions})
        out[label] = testbed.world(WORKLOAD, testbed.setting(label.split()[0]), reading, label)
    return out


def pictures(r: Results) -> list[Picture]:
    """Retransmissions in vain."""
    columns = metrics.columns(r, {"page": "page_unnecessary"})
    return [figures.quartile_bars("x2", "Unnecessary retransmissions of the page.", columns, "retransmissions in vain")]


EXPERIMENT = study.experiment(
    __name__,
    "Side experiment: F-RTO without its defect",
    variants=readings.PAGE,
    headline=parts.headline("page_unnecessary", "in vain", NAMES),
)
