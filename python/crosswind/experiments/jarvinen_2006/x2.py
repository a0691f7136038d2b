"""How many needless retransmissions of a web page come from one defect of F-RTO?

The kernel of the source took a segment that the peer had sent twice (a request, or the answer to a repeated SYN) for a
duplicate ACK, and gave up judging the timeout. The workload of W3 with Enhanced TCP, with the defect and without it,
without service classes; 120 repetitions.

What the source printed: some tests run again with a repaired F-RTO had half the unnecessary retransmissions, in the
maximum as in the upper quartile.

What may differ here: which tests were run again is not said.

Why X2 fails. Measured here: the repair changes neither the maximum nor the quartile; that the defect works as
described is shown by J32. There is nothing left for the repair to save. Of 470 spurious timeouts in 120 repetitions
F-RTO recognises 12, with the defect as without: a page's first window of four segments is acknowledged by two delayed
ACKs, the second covers all four, and F-RTO as specified (and in Linux 2.6.20) takes an ACK of everything for no
evidence. But then nothing is left to be repeated either: a timeout costs 1.2 packets in vain whatever F-RTO says. The
medians of the page's needless retransmissions in W3 (4 in BL, 4 in ETCP) are those that were printed; the source's
upper quartile was half of BL's, here it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.claims import Claim, near
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006 import measures, parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.parts import change_part, upper
from crosswind.figures import Picture
from crosswind.scenario import Scenario

WORKLOAD = testbed.Workload("x2", ("page",))
DEFECTIVE, REPAIRED = "ETCP", "ETCP repaired"
NAMES = (DEFECTIVE, REPAIRED, "ETCP+ECN", "ETCP+ECN repaired")


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Enhanced TCP with drop-tail and with RED, with the defect and repaired."""
    own = dict(variant.pop("tcp", {}))
    out = {}
    for label in NAMES:
        resends = "ignore" if label.endswith("repaired") else "count-as-duplicate"
        reading = testbed.Reading(**variant, tcp={**own, "frto_peer_resends": resends})
        out[label] = testbed.world(WORKLOAD, testbed.setting(label.split()[0]), reading, label)
    return out


CLAIMS = (
    Claim(
        "X2",
        "A repaired F-RTO halves the unnecessary retransmissions of the page",
        "maximum -50 %, upper quartile -50 %",
        [
            change_part(word, REPAIRED, DEFECTIVE, "page_unnecessary", near(-0.50, 0.10), -0.50, of=of)
            for word, of in (("maximum", np.max), ("upper quartile", upper))
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """Retransmissions in vain."""
    columns = measures.columns(r, {"page": "page_unnecessary"})
    return [figures.quartile_bars("x2", "Unnecessary retransmissions of the page.", columns, "retransmissions in vain")]


EXPERIMENT = study.experiment(
    "x2",
    "Side experiment: F-RTO without its defect",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
    variants=readings.PAGE,
    headline=parts.headline("page_unnecessary", "in vain", NAMES),
)
