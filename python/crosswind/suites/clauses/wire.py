"""What passed over the wire: flights, retransmissions, timers, acknowledgements. Times in s, unless said otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind.suites.clauses.trace import NOT_SET_B, Trace, Values

#: Segments that leave closer together than this are one train.
TOGETHER_s = 100e-6
#: In real time an acknowledgement says how late it was (`len`): behind one that was later than this, for so long, what
#: leaves together says nothing of its sender.
LATE_us = 300
AFTER_s = 1e-3
#: IPv4 and TCP without options.
HEADERS_B = 40


def _one(value: Any) -> Values:
    return np.array([float(value)])


def count(t: Trace, kind: str = "drop", after: float = 0.0, until: float = np.inf) -> Values:
    """How many events of a kind there were between two times."""
    at = t.time[t.rows(kind)]
    return _one(np.sum((at >= after) & (at < until)))


def first_flight(t: Trace) -> Values:
    """Segments sent before the first acknowledgement of data came."""
    first = t.acks[t.seq[t.acks] > 1]
    return _one(np.sum(t.sends < first[0]) if len(first) else len(t.sends))


def retransmissions(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """How many segments were retransmitted between two times."""
    rows = t.rows("retransmit")
    at = t.time[rows]
    return _one(np.sum((at >= after) & (at < until) & (t.len[rows] > 0)))


def capable_retransmissions(t: Trace) -> Values:
    """How many retransmitted segments said that they were capable of ECN (bits 8 and 9 of `aux`)."""
    rows = t.rows("retransmit")
    return _one(np.sum((t.aux[rows].astype(np.int64) >> 8) & 3 > 0))


def syn_gaps(t: Trace) -> Values:
    """Times between one SYN and the next."""
    rows = t.rows("timeout")
    at = t.time[rows[t.seq[rows] == 0]]
    return np.diff(np.concatenate([t.time[t.rows("open")][:1], at]))


def _timeouts(t: Trace, after: float) -> Values:
    rows = t.rows("timeout")
    return t.time[rows[(t.seq[rows] > 0) & (t.time[rows] >= after)]]


def timeout_gaps(t: Trace, after: float = 0.0) -> Values:
    """Each time between timeouts of data over the one before."""
    gaps = np.diff(_timeouts(t, after))
    return gaps[1:] / gaps[:-1]


def timer(t: Trace, after: float = 0.0) -> Values:
    """From the last acknowledgement, or the last segment if it left later, to the first timeout after `after`."""
    at = _timeouts(t, after)
    if not len(at):
        return np.array([])
    before = t.time[np.concatenate([t.acks, t.sends])]
    return _one(at[0] - before[before < at[0]].max())


def _probes(t: Trace, after: float, least: float) -> tuple[Values, Values]:
    """Silences of `least` and more from `after` on, and how many left in each train that ended one."""
    at = _sent_at(t)
    at = at[at >= after]
    gaps = np.diff(at)
    long = np.flatnonzero(gaps >= least)
    ends = np.append(long[1:], len(at) - 1)
    return gaps[long], (ends - long).astype(float)


def probe_timer(t: Trace, after: float = 0.0, least: float = 0.05) -> Values:
    """The first silence of `least` s and more: from the last packet to what a timer sends."""
    return _probes(t, after, least)[0][:1]


def probe_gaps(t: Trace, after: float = 0.0, least: float = 0.05, until: float = np.inf) -> Values:
    """Each silence of `least` s and more over the one before, as long as they begin before `until`."""
    gaps = _probes(t, after, least)[0]
    gaps = gaps[after + np.cumsum(gaps) < until]
    return gaps[1:] / gaps[:-1]


def probe_size(t: Trace, after: float = 0.0, least: float = 0.05, until: float = np.inf) -> Values:
    """How many packets each of these silences ended with."""
    gaps, sizes = _probes(t, after, least)
    return sizes[after + np.cumsum(gaps) < until]


def _trains(at: Values, t: Trace) -> Values:
    """How many left in each train; none that left when acknowledgements had waited for a machine that was late."""
    if not len(at):
        return np.array([])
    begins = np.concatenate([[0], np.flatnonzero(np.diff(at) > TOGETHER_s) + 1])
    ends = np.append(begins[1:], len(at))
    late = t.time[t.acks[t.len[t.acks] > LATE_us]]
    of_machine = np.searchsorted(late, at[ends - 1], side="right") > np.searchsorted(late, at[begins] - AFTER_s)
    return (ends - begins)[~of_machine].astype(float)


def _sent_at(t: Trace) -> Values:
    rows = t.rows("send", "retransmit")
    return t.time[rows[t.len[rows] > 0]]


def train(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Segments of each train: sent less than 100 us apart."""
    at = _sent_at(t)
    return _trains(at[(at >= after) & (at < until)], t)


def recovery_train(t: Trace) -> Values:
    """The longest train of each recovery."""
    at, out = _sent_at(t), []
    ends = t.time[t.rows("recovered")]
    for begin in t.time[t.rows("recovery")]:
        end = ends[ends > begin]
        inside = at[(at >= begin) & (at < (end[0] if len(end) else np.inf))]
        out.append(max(_trains(inside, t), default=0.0))
    return np.array(out)


def restart_train(t: Trace, idle: float = 0.5) -> Values:
    """Segments that leave before the first acknowledgement after each silence of `idle` and more."""
    at, acks = _sent_at(t), t.time[t.acks]
    out = []
    for begin in at[1:][np.diff(at) > idle]:
        heard = acks[acks > begin]
        out.append(float(np.sum((at >= begin) & (at < (heard[0] if len(heard) else np.inf)))))
    return np.array(out)


def ack_step(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Segments that each advancing acknowledgement covers."""
    at = t.time[t.acks]
    steps = np.diff(np.maximum.accumulate(t.seq[t.acks])) / t.mss
    return steps[(steps > 0) & (at[1:] >= after) & (at[1:] < until)]


def rtt(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Samples of the round trip in ms."""
    rows = t.rows("rtt")
    at = t.time[rows]
    return t.seq[rows[(at >= after) & (at < until)]] / 1e6


def queue_delay(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Samples of the round trip less the least of all, in ms."""
    return rtt(t, after, until) - min(rtt(t), default=0.0)


def utilisation(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """The share of the bottleneck's rate that arrived at the receiver, with headers."""
    rows = t.rows("receive", sender=False)
    at = t.time[rows]
    until = min(until, t.seconds)
    rows = rows[(at >= after) & (at < until)]
    return _one(np.sum(t.len[rows] + HEADERS_B) * 8 / (until - after) / t.rate_bps)


def silence(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """The longest time without a segment sent, between two times."""
    at = _sent_at(t)
    until = min(until, t.seconds)
    inside = at[(at >= after) & (at < until)]
    return _one(np.diff(np.concatenate([[after], inside, [until]])).max())


def repaired(t: Trace) -> Values:
    """The time from each loss on the way to the acknowledgement that covers it."""
    lost = t.rows("lost", "drop")
    acked = np.maximum.accumulate(t.seq[t.acks])
    out = []
    for row in lost[t.len[lost] > 0]:
        at = np.searchsorted(acked, t.seq[row] + t.len[row])
        if at < len(acked):
            out.append(t.time[t.acks[at]] - t.time[row])
    return np.array(out)


def lost_share(t: Trace, after: float = 0.0, until: float = np.inf) -> Values:
    """Segments lost or dropped between two times over those sent."""
    lost = t.rows("lost", "drop")
    lost = t.time[lost[t.len[lost] > 0]]
    sent = _sent_at(t)
    of = int(np.sum((sent >= after) & (sent < until)))
    return _one(int(np.sum((lost >= after) & (lost < until))) / max(1, of))


def _first_duplicates(t: Trace) -> list[tuple[int, int]]:
    """The first two duplicate acknowledgements of each row of them, each with the next acknowledgement."""
    acked, out = t.seq[t.acks], []
    row = 0
    for i in range(1, len(acked) - 1):
        row = row + 1 if acked[i] == acked[i - 1] else 0
        if row in (1, 2):
            out.append((int(t.acks[i]), int(t.acks[i + 1])))
    return out


def duplicates(t: Trace) -> Values:
    """How many acknowledgements were the first or the second duplicate of a row."""
    return _one(len(_first_duplicates(t)))


def released(t: Trace) -> Values:
    """New segments that left between each first or second duplicate and the acknowledgement after it."""
    return np.array([float(np.sum((t.sends > a) & (t.sends < b))) for a, b in _first_duplicates(t)])


def lost_before(t: Trace) -> Values:
    """Segments lost before slow start ended (the threshold was first set)."""
    rows = t.window_rows
    ended = rows[t.aux[rows] < NOT_SET_B]
    limit = ended[0] if len(ended) else len(t.kind)
    return _one(np.sum(t.rows("lost", "drop") < limit))


def share(t: Trace) -> Values:
    """The body's share of the goodput of all flows."""
    goodput = t.flows["goodput_bps"].to_numpy()
    return _one(goodput[(t.flows["name"] == "body").to_numpy()].sum() / goodput.sum())
