"""What a window did: cuts, growth, thresholds. Windows in segments, times in s."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from crosswind.suites.clauses.trace import NOT_SET_B, Trace, Values

#: Reductions by the name that cases give them -> the events that begin them.
CUTS = {"loss": ("recovery",), "ecn": ("ecn_reduce",), "timeout": ("timeout",)}
ANY = tuple(k for kinds in CUTS.values() for k in kinds)


def _cuts(t: Trace, by: str, after: float, until: float) -> Values:
    rows = t.rows(*(CUTS[by] if by != "any" else ANY))
    at = t.time[rows]
    return rows[(at >= after) & (at < until)]


def cuts(t: Trace, by: str = "any", after: float = 0.0, until: float = np.inf) -> Values:
    """How many reductions there were: by `loss`, `ecn`, `timeout` or `any`, between two times."""
    return np.array([float(len(_cuts(t, by, after, until)))])


def cut_ratio(t: Trace, by: str = "loss", after: float = 0.0, until: float = np.inf) -> Values:
    """The threshold after each reduction over the window before it."""
    rows = _cuts(t, by, after, until)
    before = np.array([t.window_before(r) for r in rows])
    return np.array([t.after(r)[1] for r in rows]) / before


def threshold_ratio(t: Trace, by: str = "loss", after: float = 0.0, until: float = np.inf) -> Values:
    """The threshold after each reduction over what was in flight at it: sent and not yet acknowledged."""
    out = []
    for r in _cuts(t, by, after, until):
        sends, acks = t.sends[t.sends < r], t.acks[t.acks < r]
        if len(sends) and len(acks):
            flight = t.seq[sends[-1]] + t.len[sends[-1]] - t.seq[acks].max()
            out.append(t.after(r)[1] * t.mss / max(float(flight), float(t.mss)))
    return np.array(out)


def cuts_in_round(t: Trace, by: str = "any", after: float = 0.0) -> Values:
    """Reductions in each round trip that has any."""
    at = t.time[_cuts(t, by, after, np.inf)]
    which = np.searchsorted(t.rounds, at, side="right")
    return np.unique(which, return_counts=True)[1].astype(float)


def ended_at_threshold(t: Trace, after: float = 0.0) -> Values:
    """The window less the threshold at the end of each recovery that no timeout ended, in segments."""
    out = []
    for r in t.rows("recovered"):
        if t.time[r] < after:
            continue
        window, threshold = t.after(r)
        if threshold * t.mss < NOT_SET_B:
            out.append(window - threshold)
    return np.array(out)


def after_timeout(t: Trace, after: float = 0.0) -> Values:
    """The window after each timeout of data, in segments."""
    rows = t.rows("timeout")
    rows = rows[(t.time[rows] >= after) & (t.seq[rows] > 0)]
    return np.array([t.after(r)[0] for r in rows])


def least_threshold(t: Trace) -> Values:
    """The threshold after each reduction by loss or mark, in segments."""
    rows = t.rows(*CUTS["loss"], *CUTS["ecn"])
    return np.array([t.after(r)[1] for r in rows])


def window_change(t: Trace, start: float = 0.0, end: float = 0.0) -> Values:
    """The window at `end` less that at `start`, in segments."""
    return np.array([t.window_at(end) - t.window_at(start)])


def mean_window(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """The mean of the window over time, in segments."""
    at = t.time[t.window_rows]
    inside = (at >= after) & (at <= until)
    if inside.sum() < 2:
        return np.array([])
    at, w = at[inside], t.windows[inside]
    return np.array([float(np.sum(w[:-1] * np.diff(at)) / (at[-1] - at[0]))])


def window_ratio(t: Trace, before: Sequence[float], then: Sequence[float]) -> Values:
    """The mean window between the two times of `then` over that between the two of `before`."""
    return mean_window(t, *then) / mean_window(t, *before)


def _low(t: Trace, after: float, below: float, least: float) -> tuple[Values, Values]:
    """Begin and length of each time in which the window is less than `below` of its median, for `least` s at least."""
    at, is_low = t.time[t.window_rows], t.windows < below * np.median(t.windows)
    turns = np.flatnonzero(np.diff(np.concatenate([[False], is_low, [False]]).astype(int)))
    begins, ends = turns[::2], turns[1::2]
    whole = ends < len(at)
    begins, lengths = at[begins[whole]], at[ends[whole]] - at[begins[whole]]
    chosen = (begins >= after) & (lengths >= least)
    return begins[chosen], lengths[chosen]


def dips(t: Trace, after: float = 0.0, below: float = 0.5, least: float = 0.0) -> Values:
    """How long each time lasts (s) in which the window is below this share of its median."""
    return _low(t, after, below, least)[1]


def dip_gaps(t: Trace, after: float = 0.0, below: float = 0.5, least: float = 0.0) -> Values:
    """From the begin of each such time to that of the next, in s."""
    return np.diff(_low(t, after, below, least)[0])


def _calm(t: Trace, after: float, until: float, growing: str) -> tuple[Values, Values]:
    """Windows at both ends of each round without a reduction that is all slow start, or all avoidance."""
    begins = t.rounds
    begins = begins[(begins >= after) & (begins < until)]
    busy = t.time[t.rows(*ANY, "recovered", "spurious")]
    first, last = [], []
    for a, b in pairwise(begins):
        if np.any((busy >= a) & (busy <= b)):
            continue
        at = np.searchsorted(t.time[t.window_rows], a, side="right") - 1
        if at < 0:
            continue
        end = np.searchsorted(t.time[t.window_rows], b, side="right") - 1
        slow = t.windows[[at, end]] < t.aux[t.window_rows[[at, end]]] / t.mss
        if np.all(slow == (growing == "slow start")):
            first.append(t.windows[at])
            last.append(t.windows[end])
    return np.array(first), np.array(last)


def growth(t: Trace, after: float = 0.0, until: float = np.inf, phase: str = "avoidance") -> Values:
    """Segments by which the window grew in each round without a reduction (`phase`: slow start or avoidance)."""
    first, last = _calm(t, after, until, phase)
    return last - first


def growth_ratio(t: Trace, after: float = 0.0, until: float = np.inf, phase: str = "avoidance") -> Values:
    """The window at the end of each round without a reduction over that at its begin."""
    first, last = _calm(t, after, until, phase)
    return last / first
