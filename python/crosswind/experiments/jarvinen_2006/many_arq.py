"""How many segments are sent in vain at most, among many runs of W2 on the link with high ARQ persistency?

The workload of W2 on r4, with and without F-RTO. The source made 120 runs of each and printed the largest counts; 6120
runs are 51 blocks of 120: the printed extreme is held against the extremes of those blocks.

What may differ here: hosts that remember earlier connections do so through all runs.
"""

from typing import Any

import numpy as np

from crosswind.experiments.jarvinen_2006 import parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.w2_arq import ROLES, WORKLOAD
from crosswind.reproduce import Scenario, measures

LABELS = ("r4 BL", "r4 ETCP")
BLOCK = 120


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The configurations whose extremes are claimed."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


CLAIMS = {
    "J66": {
        f"{c}, {role}, largest of 120": measures.blocks(c, f"{role}_unnecessary", BLOCK, np.max)
        for role in ROLES
        for c in LABELS
    },
}


EXPERIMENT = study.experiment(
    __name__,
    "Segments sent in vain by late downloads, the most among 6120 runs",
    variants=readings.ARQ,
    headline=parts.headline("slower_unnecessary", "segments", LABELS, 0),
    reps=51 * BLOCK,
    partly=("J66",),
)
