"""How far out are the extreme pages that the source printed, among many runs of the same configurations?

The workload of W3 on the error-free link. The source made 120 runs and printed the longest response time, and the
shortest times of the faster flow, of those whose page starts before 20 s (67 runs) and after (53). 6120 runs are 50
blocks of each size: the printed extreme is held against the extremes of those blocks.

What may differ here: hosts that remember earlier connections do so through all runs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind.experiments.jarvinen_2006 import parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.w3_e0 import FASTER, RESPONSE, SIDES, WORKLOAD
from crosswind.reproduce import Results, Scenario, needed
from crosswind.reproduce.claims import rules
from crosswind.stats import Estimate

LABELS = ("BL", "BL+DS", "ETCP")
BLOCK = 120
RUNS_OF = {"before": 67, "after": 53}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The configurations whose extremes are claimed."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


def _longest(r: Results, configuration: str) -> npt.NDArray[np.float64]:
    """The longest response time of each block."""
    times = r.of(configuration, RESPONSE)
    needed(times.size >= BLOCK, f"{times.size} runs make no block of {BLOCK}")
    return np.nanmax(times[: times.size // BLOCK * BLOCK].reshape(-1, BLOCK), axis=1)


def _longest_against(r: Results) -> Estimate:
    """The change of the longest of 120 by a class of its own, block by block."""
    changes = _longest(r, "BL+DS") / _longest(r, "BL") - 1.0
    return rules.extremes(changes, 1, lambda b: float(b[0]))


def _shortest(side: str) -> Any:
    """The shortest time of the faster flow of each block of runs whose page starts before or after 20 s."""
    return lambda r: rules.extremes(r.of("ETCP", FASTER, SIDES[side]), RUNS_OF[side], lambda b: float(b.min()))


CLAIMS = {
    "J71": {"maximum of 120": _longest_against},
    "J83": {f"minimum of {n}, start {side} 20 s": _shortest(side) for side, n in RUNS_OF.items()},
}


EXPERIMENT = study.experiment(
    __name__,
    "Extreme pages among 6120",
    variants=readings.MAIN,
    headline=parts.headline(RESPONSE, "s", LABELS),
    reps=51 * BLOCK,
    partly=("J71", "J83"),
)
