"""Claims J14 to J17: RED's law, driven directly with a chosen backlog.

J17 fails, and not by chance: the factor of 0.973 is that of the exponential which the kernel's damping stands for. With
a weight of 2^-9 and 72 ms per packet, Linux's traffic-control tool chooses cells of 2^22 us, and in the first cells the
kernel subtracts `avg * t / 2^22 us`: one second takes 24 % off the average, ten times as much as the exponential. The
statement that the line gives about the same does not hold for this slow link.

They use `crosswind._core.red_trace(params_json, seed, time_ns, backlog_bytes, ect)`, which feeds arrivals to the law of
a `red-linux` queue and returns JSON-free columns: `avg_bytes` after each arrival and `verdict` (0 passed, 1 marked,
2 dropped early, 3 dropped above the maximum threshold). The backlog is what the law is told, so no link is involved;
a backlog of zero means that the queue has been empty since the arrival before.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import stats, tc_red
from crosswind.claims import Band, Claim, MissingDataError, Part, at_least, between, near, within
from crosswind.core import has_hook
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006.testbed import MTU, red_queue
from crosswind.stats import Estimate

PASSED, MARKED, EARLY, FORCED = range(4)
ARRIVALS = 40_000
STEP_ns = 72_000_000


def trace(
    backlog_bytes: npt.NDArray[np.int64], ect: int = 1, times_ns: npt.NDArray[np.int64] | None = None, **changes: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Average and verdict after each arrival. Raises MissingDataError when this engine has no such hook."""
    if not has_hook("red_trace"):
        raise MissingDataError("this engine has no red_trace")
    times = np.arange(backlog_bytes.size, dtype=np.int64) * STEP_ns if times_ns is None else times_ns
    return tc_red.drive({**red_queue(), **changes}, backlog_bytes, times, "mark" if ect else "drop")


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


def _above(ect: int, verdict: int) -> Any:
    def measure(_: Results) -> Estimate:
        avg, said = trace(np.full(20_000, 15 * MTU, dtype=np.int64), ect)
        over = said[avg >= 9 * MTU]
        return stats.exact(float((over == verdict).mean()), over.size)

    return measure


def _half_way(_: Results) -> Estimate:
    avg, _verdicts = trace(np.full(2000, 2 * MTU, dtype=np.int64))
    return stats.exact(float(np.argmax(avg >= MTU) + 1))


def _after_idle(damping: str) -> Any:
    """The average after one idle second, relative to before: three packets, then nothing for a second."""

    def measure(_: Results) -> Estimate:
        backlog = np.full(6001, 3 * MTU, dtype=np.int64)
        times = np.arange(backlog.size, dtype=np.int64) * STEP_ns
        backlog[-1], times[-1] = 0, times[-2] + 1_000_000_000
        avg, _verdicts = trace(backlog, times_ns=times, idle_damping=damping, ect=1)
        return stats.exact(float(avg[-1] / avg[-2]))

    return measure


def _bug_slows(r: Results) -> Estimate:
    return stats.exact(_after_idle("overflow32")(r).value - _after_idle("fixed")(r).value)


CLAIMS = (
    Claim(
        "J14",
        "RED marks at gaps that are uniform on 1 to 1/p_b for a constant average of six packets",
        "p_b 0.05, mean gap 10.5",
        [
            Part("mean gap between marks", _mean_gap, within(10.5, 0.05), "10.5", "packets", 2),
            Part("spread of the gaps (uniform 0.55, geometric 0.97)", _spread, between(0.45, 0.65), "uniform", "", 2),
        ],
    ),
    Claim(
        "J15",
        "Above max_th every ECN-capable packet is marked and every other one is dropped",
        "100 %",
        [
            Part("ECN-capable packets marked", _above(1, MARKED), at_least(1.0), "100 %", "%"),
            Part("other packets dropped", _above(0, FORCED), at_least(1.0), "100 %", "%"),
        ],
    ),
    Claim(
        "J16",
        "RED's average reaches half of a step of the queue after 355 arrivals",
        "355",
        [Part("arrivals", _half_way, near(355, 2), "355", "", 0)],
    ),
    Claim(
        "J17",
        "One idle second multiplies the average by 0.973; with the overflow it stays higher",
        "0.973; higher",
        [
            Part("factor, repaired", _after_idle("fixed"), within(0.973, 0.005), "0.973", "", 4),
            Part("factor, exponential of the source", _after_idle("exact"), Band(), "0.973", "", 4),
            Part("overflow minus repaired", _bug_slows, at_least(1e-6), "> 0", "", 4),
        ],
    ),
)
