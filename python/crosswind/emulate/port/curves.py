"""The window of a flow over time, and how often it was cut: what comparisons of ported laws look at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crosswind.errors import CrosswindError
from crosswind.results import Runs
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

Array = npt.NDArray[np.float64]
#: Time in seconds and window in segments, one value for each look.
Curve = tuple[Array, Array]

#: Windows are looked at so often.
GRID_s = 0.01
#: Cuts in twenty that a comparison accepts as a difference.
CUTS_WITHIN = 1 / 20
#: A window below this share of its last peak has been cut: a sixteenth is less than the smallest cut of these laws.
CUT = 1 - 1 / 16


def seconds_of(what: Scenario) -> float:
    found = parse(what.get("duration"))
    assert found is not None
    return found.value / 1e9


def held(curve: Curve, at: Array) -> Array:
    """The values of a curve at moments; each holds until the next."""
    time_s, value = curve
    return value[np.maximum(np.searchsorted(time_s, at, side="right") - 1, 0)]


def cuts(window: Array) -> int:
    """How often a window fell by more than a sixteenth of its last peak. A fall that takes several looks is one."""
    count, peak, before, falls = 0, 0.0, 0.0, False
    for w in window:
        if falls and w > before:
            falls, peak = False, w
        if not falls and w < CUT * peak:
            count, falls = count + 1, True
        peak, before = max(peak, w), w
    return count


def curve(runs: Runs, flow: str, mss_bytes: float) -> Curve:
    """The window of the flow over time. Raises CrosswindError where nothing was seen."""
    seen = runs.sample("cwnd_bytes", flow).sort("time_ns")
    if seen.is_empty():
        raise CrosswindError("the window of the flow was not seen; the run was broken off")
    return seen["time_ns"].to_numpy() / 1e9, seen["value"].to_numpy() / mss_bytes
