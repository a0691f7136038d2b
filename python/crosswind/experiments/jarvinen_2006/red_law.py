"""Claims J14 to J17: RED's law, driven directly with a chosen backlog.

The law has the printed maximum probability here, not what the traffic-control tool makes of it. With a weight of 2^-9
and 72 ms per packet, that tool chooses cells of 2^22 us, and in the first cells the kernel subtracts
`avg * t / 2^22 us`: one second takes 24 % off the average (J17), ten times as much as the exponential that the line
stands for.

They use `crosswind._core.red_trace(params_json, seed, time_ns, backlog_bytes, ect)`, which feeds arrivals to the law of
a `red-linux` queue and returns JSON-free columns: `avg_bytes` after each arrival and `verdict` (0 passed, 1 marked,
2 dropped early, 3 dropped above the maximum threshold). The backlog is what the law is told, so no link is involved;
a backlog of zero means that the queue has been empty since the arrival before.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import stats
from crosswind.core import has_hook
from crosswind.experiments.jarvinen_2006.testbed import MTU, red_queue
from crosswind.reproduce import Measures, Results, measured, needed
from crosswind.stats import Estimate
from crosswind.theory import tc_red

MARKED, FORCED = 1, 3
ARRIVALS = 40_000
STEP_ns = 72_000_000


def trace(
    backlog_bytes: npt.NDArray[np.int64], ect: int = 1, times_ns: npt.NDArray[np.int64] | None = None, **changes: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Average and verdict after each arrival. Raises MissingDataError when this engine has no such hook."""
    needed(has_hook("red_trace"), "this engine has no red_trace")
    times = np.arange(backlog_bytes.size, dtype=np.int64) * STEP_ns if times_ns is None else times_ns
    return tc_red.drive({**red_queue("nominal"), **changes}, backlog_bytes, times, "mark" if ect else "drop")


@cache
def _gaps() -> npt.NDArray[np.int64]:
    """Distances between marks while the average stays at six packets."""
    avg, verdict = trace(np.full(ARRIVALS, 6 * MTU, dtype=np.int64))
    settled = int(np.argmax(avg > 6 * MTU * 0.999))
    return np.diff(np.flatnonzero(verdict[settled:] == MARKED))


def _mean_gap(_: Results) -> Estimate:
    return stats.mean(_gaps())


def _spread(_: Results) -> Estimate:
    """Standard deviation over mean: 0.55 for a uniform distribution on 1..20, 0.97 for the geometric one."""
    return stats.estimate(lambda x, axis: np.std(x, axis=axis) / np.mean(x, axis=axis), _gaps())


@measured
def _above(_: Results, ect: int, verdict: int) -> Estimate:
    avg, said = trace(np.full(20_000, 15 * MTU, dtype=np.int64), ect)
    over = said[avg >= 9 * MTU]
    return stats.exact(float((over == verdict).mean()), over.size)


def _half_way(_: Results) -> float:
    avg, _verdicts = trace(np.full(2000, 2 * MTU, dtype=np.int64))
    return float(np.argmax(avg >= MTU) + 1)


@measured
def _after_idle(_: Results, damping: str) -> float:
    """The average after one idle second, relative to before: three packets, then nothing for a second."""
    backlog = np.full(6001, 3 * MTU, dtype=np.int64)
    times = np.arange(backlog.size, dtype=np.int64) * STEP_ns
    backlog[-1], times[-1] = 0, times[-2] + 1_000_000_000
    avg, _verdicts = trace(backlog, times_ns=times, idle_damping=damping, ect=1)
    return float(avg[-1] / avg[-2])


MEASURED: dict[str, Measures] = {
    "J14": {"mean gap between marks": _mean_gap, "spread of the gaps (uniform 0.55, geometric 0.97)": _spread},
    "J15": {"ECN-capable packets marked": _above(1, MARKED), "other packets dropped": _above(0, FORCED)},
    "J16": {"arrivals": _half_way},
    "J17": {
        "factor, repaired": _after_idle("fixed"),
        "factor, exponential of the source": _after_idle("exact"),
        "overflow minus repaired": _after_idle("overflow32") - _after_idle("fixed"),
    },
}
