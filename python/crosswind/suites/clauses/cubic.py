"""What CUBIC's window looks like between two cuts (RFC 9438, section 4.2). Windows in segments, times in s."""

from __future__ import annotations

import numpy as np

from crosswind.suites.clauses.trace import Trace, Values
from crosswind.suites.clauses.windows import ANY

C, BETA = 0.4, 0.7


def _epochs(t: Trace, first: int, last: int) -> list[tuple[Values, Values, int]]:
    """Times since the recovery, windows, and the number of the cut, of the epochs after cuts `first` to `last`."""
    rows = t.rows("recovery")
    others = t.time[t.rows(*ANY)]
    # The window of a stack counts from the reduction itself.
    ends = rows if t.is_stack else t.rows("recovered")
    out = []
    for i in range(first, min(last, len(rows) - 1) + 1):
        begun = ends[ends >= rows[i]]
        if i + 1 >= len(rows) or not len(begun) or np.sum((others > t.time[rows[i]]) & (others < t.time[rows[i + 1]])):
            continue
        inside = (t.window_rows > begun[0]) & (t.window_rows < rows[i + 1])
        if inside.sum() > 10:
            out.append((t.time[t.window_rows[inside]] - t.time[begun[0]], t.windows[inside], i))
    return out


def _curve(s: Values, before: float, w_max: float) -> Values:
    """W(s) of equation 1."""
    k = np.cbrt(max(w_max - BETA * before, 0.0) / C)
    return np.asarray(C * (s - k) ** 3 + w_max)


def _plateaus(peaks: list[float]) -> list[float]:
    """W_max after each loss: the window before it; where that lies below the last W_max, 0.85 of it (4.7)."""
    out: list[float] = []
    for peak in peaks:
        out.append(peak * (1 + BETA) / 2 if out and peak < out[-1] else peak)
    return out


def misfit(t: Trace, first: int = 2, last: int = 5, after: float = 0.0) -> Values:
    """For each epoch that begins `after`: how far the window is from W(t) = C (t - K)^3 + W_max at most, over W(t).

    W(t) counts from the end of the recovery, in which a window does not grow. The text aims at W of one round trip
    later and prints W(t) for the curve: the nearer of the two counts.
    """
    out = []
    ahead = t.round_trip
    rows = t.rows("recovery")
    peaks = [t.window_before(r) for r in rows]
    plateaus = _plateaus(peaks)
    for s, w, i in _epochs(t, first, last):
        if t.time[rows[i]] < after:
            continue
        curves = (_curve(s + shift, peaks[i], plateaus[i]) for shift in (0.0, ahead))
        out.append(min(float(np.max(np.abs(w / curve - 1))) for curve in curves))
    return np.array(out)


def peak_ratio(t: Trace, after: float = 0.0) -> Values:
    """The window before each loss over that before the loss that came before it."""
    rows = t.rows("recovery")
    peaks = np.array([t.window_before(r) for r in rows])
    return np.asarray((peaks[1:] / peaks[:-1])[t.time[rows[1:]] >= after])


def plateau_slope(t: Trace, first: int = 2, last: int = 5) -> Values:
    """The mean slope of the second third of each epoch over that of its first third: below one while it is concave."""
    out = []
    for s, w, _ in _epochs(t, first, last):
        third = s[-1] / 3
        a, b, c = (float(np.interp(x, s, w)) for x in (0.0, third, 2 * third))
        if b > a:
            out.append((c - b) / (b - a))
    return np.array(out)


def slope(t: Trace, first: int = 2, last: int = 20) -> Values:
    """Segments in a round trip by which the window grew in each epoch: end of its recovery to the next loss."""
    samples, out = t.seq[t.rows("rtt")] / 1e9, []
    mean = float(np.mean(samples)) if len(samples) else t.round_trip or np.nan
    for s, w, _ in _epochs(t, first, last):
        out.append((w[-1] - w[0]) / (s[-1] - s[0]) * mean)
    return np.array(out)


def convex(t: Trace, start: float = 0.0, step: float = 2.0) -> Values:
    """How much the window grows in the second `step` s after `start`, over how much in the first."""
    a, b, c = (t.window_at(start + i * step) for i in range(3))
    return np.array([(c - b) / max(b - a, 0.1)])
