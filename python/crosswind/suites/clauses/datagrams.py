"""What datagrams of a stack tell without being read: answers of its receiver, losses, what it may send. Times in s.

A stack numbers its datagrams (`seq`), so that what arrives at the other end is known to be what left.
"""

from __future__ import annotations

import numpy as np

from crosswind.suites.clauses.trace import Trace, Values

#: Shorter datagrams carry acknowledgements and the like alone.
DATA_B = 200
#: Bytes per bit rate are counted in stretches of this length, and this many datagrams may leave beside them.
STRETCH_s, BUCKET = 0.01, 10


def _data(t: Trace) -> Values:
    """Datagrams with data that have reached the receiver."""
    rows = t.rows("receive", sender=False)
    return rows[t.len[rows] >= DATA_B]


def _answers(t: Trace) -> Values:
    return t.time[t.rows("send", sender=False)]


def answer_delay(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """From each arrival of data to the next datagram that the receiver sends."""
    at, answers = t.time[_data(t)], _answers(t)
    at = at[(at >= after) & (at < until)]
    next_one = np.searchsorted(answers, at)
    heard = next_one < len(answers)
    return answers[next_one[heard]] - at[heard]


def answer_step(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """How many datagrams with data arrive from one datagram of the receiver to its next."""
    at, answers = t.time[_data(t)], _answers(t)
    answers = answers[(answers >= after) & (answers < until)]
    return np.diff(np.searchsorted(at, answers, side="right")).astype(float)


def gap_answer(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """From each arrival behind a gap in the numbers to the next datagram that the receiver sends."""
    rows = t.rows("receive", sender=False)
    first = np.flatnonzero(np.diff(t.seq[rows]) > 1) + 1
    at, answers = t.time[rows[first]], _answers(t)
    at = at[(at >= after) & (at < until)]
    next_one = np.searchsorted(answers, at)
    heard = next_one < len(answers)
    return answers[next_one[heard]] - at[heard]


def loss_found(t: Trace) -> Values:
    """From the departure of each datagram that was lost on the way to the next reduction for a loss."""
    cuts = t.time[t.rows("recovery")]
    out = []
    for row in t.rows("lost", "drop"):
        sent = t.sends[t.seq[t.sends] == t.seq[row]]
        later = cuts[cuts >= t.time[row]]
        if len(sent) and len(later):
            out.append(later[0] - t.time[sent[0]])
    return np.array(out)


def lost_span(t: Trace) -> Values:
    """From the departure of the first datagram that was lost on the way to that of the last."""
    lost = np.isin(t.seq[t.sends], t.seq[t.rows("lost", "drop")])
    at = t.time[t.sends[lost]]
    return np.array([at[-1] - at[0]]) if len(at) else np.array([])


def pace_ratio(t: Trace, after: float = 0.0, until: float = np.inf, gain: float = 1.25) -> Values:
    """Bytes sent in each 10 ms over `gain` windows per smoothed round trip and ten datagrams."""
    at_srtt, srtt = t.sampled("srtt_ns")
    if not len(srtt) or not len(t.window_rows):
        return np.array([])
    until = min(until, t.seconds)
    edges = np.arange(after, until, STRETCH_s)
    sent, _ = np.histogram(t.time[t.sends], edges, weights=t.len[t.sends])
    begins = edges[:-1]

    # The most that the stretch allows: window and round trip may change within it.
    def known(times: Values, values: Values, when: Values) -> Values:
        return np.asarray(values[np.maximum(np.searchsorted(times, when, side="right") - 1, 0)])

    window_at, window = t.time[t.window_rows], t.seq[t.window_rows]
    cwnd = np.maximum(known(window_at, window, begins), known(window_at, window, edges[1:]))
    trip = np.minimum(known(at_srtt, srtt, begins), known(at_srtt, srtt, edges[1:])) / 1e9
    return np.asarray(sent / (gain * cwnd / trip * STRETCH_s + BUCKET * t.mss))


def window_use(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Bytes in flight over the window, at each sample between two times."""
    at, flight = t.sampled("in_flight_bytes")
    window_at, window = t.sampled("cwnd_bytes")
    inside = (at >= after) & (at < until)
    if not len(window) or not inside.any():
        return np.array([])
    held = window[np.maximum(np.searchsorted(window_at, at[inside], side="right") - 1, 0)]
    return np.asarray(flight[inside] / held)


def stated_ratio(t: Trace, after: float = 0.0, until: float = np.inf, trips: float = 4.0) -> Values:
    """Bytes sent in each stretch of so many round trips over what the rate that the controller states brings in it.

    Ten segments may leave beside that. The rate is the sample `pacing_rate_bps`.
    """
    at, rate = t.sampled("pacing_rate_bps")
    span = trips * t.round_trip
    if len(at) < 2 or span <= 0:
        return np.array([])
    edges = np.arange(max(after, float(at[0])), min(until, t.seconds), span)
    rows = t.rows("send", "retransmit")
    sent = np.histogram(t.time[rows], edges, weights=t.len[rows])[0]
    # A rate holds until the next sample.
    allowed = np.concatenate([[0.0], np.cumsum(rate[:-1] * np.diff(at))]) / 8
    return np.asarray(sent / (np.diff(np.interp(edges, at, allowed)) + BUCKET * t.mss))


def amplification(t: Trace) -> Values:
    """Bytes that the receiver has sent over bytes that have reached it, at each of its datagrams."""
    sent, came = t.rows("send", sender=False), t.rows("receive", sender=False)
    total = np.concatenate([[0], np.cumsum(t.len[came])])
    heard = total[np.searchsorted(came, sent)]
    return np.cumsum(t.len[sent]) / np.maximum(heard, 1)


def sampled(t: Trace, metric: str = "srtt_ns", after: float = 0.0, until: float = np.inf) -> Values:
    """Samples of a metric of the sender; times in ms."""
    at, values = t.sampled(metric)
    inside = values[(at >= after) & (at < until)]
    return inside / 1e6 if metric.endswith("_ns") else inside


def rto_misfit(t: Trace, after: float = 0.0, above: float = 0.005) -> Values:
    """The timer over srtt + 4 rttvar of RFC 6298, less one; where 4 rttvar is above `above` s."""
    rows = t.rows("rtt")
    if not len(rows):
        return np.array([])
    trips = t.seq[rows] / 1e9
    mean, spread = float(trips[0]), float(trips[0]) / 2
    known = [mean + 4 * spread]
    spreads = [spread]
    for trip in trips[1:]:
        spread += (abs(mean - trip) - spread) / 4
        mean += (trip - mean) / 8
        known.append(mean + 4 * spread)
        spreads.append(spread)
    at, rto = t.sampled("rto_ns")
    which = np.searchsorted(t.time[rows], at, side="right") - 1
    inside = (at >= after) & (which >= 0)
    which, rto = which[inside], rto[inside] / 1e9
    clear = 4 * np.array(spreads)[which] > above
    return np.asarray((rto / np.array(known)[which] - 1)[clear])
