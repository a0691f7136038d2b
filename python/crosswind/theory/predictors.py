"""Congestion predictors at end hosts, and how often they are right [Bhandarkar 2006, IV.A].

A predictor turns the round-trip times of one flow into a statement "congested" or not, at every ACK or once per round
trip. The state machine of figure 37 then counts what follows: A is low delay, B predicted congestion, C loss. That of
figure 40 adds B1, where a sender that answers predictions (PERT) waits a round trip for what its answer does.

| transition | meaning |
|---|---|
| n1 | A to B |
| n2 | B to C: a loss that was predicted |
| n3 | C to A |
| n4 | A to C: a loss that was not (false negative) |
| n5 | B to A: a prediction without a loss (false positive) |
| n6 | C to B |
| n7 | B to B1: the sender answers |
| n8 | B1 to B: a round trip later the delay is still high, the answer was not enough |

From B1 transition 5 leads to A (the answer was enough, or not needed) and transition 2 to C. C lasts until one round
trip has passed without a further loss, so the drops of one overflow are one loss.

>>> import numpy as np
>>> t = np.arange(10.0)
>>> high = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 0], dtype=bool)
>>> c = count(Prediction(t, high), losses=np.array([5.5]), hold_s=0.5)
>>> c.n2, c.n4, c.n5
(1, 0, 2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosswind.optional import load

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Signal:
    """What a sender sees: the time of each ACK, its round-trip time, and the window then in segments."""

    time_s: Floats
    rtt_s: Floats
    window: Floats


@dataclass(frozen=True)
class Prediction:
    """When a predictor spoke, and what it said; it holds until it speaks again."""

    time_s: Floats
    high: Flags


@dataclass(frozen=True)
class Counts:
    """Transitions of the state machine; `false_at_s`: when each transition 5 took place, `answered` of them from B1."""

    n1: int
    n2: int
    n3: int
    n4: int
    n5: int
    n6: int
    false_at_s: Floats
    n7: int = 0
    n8: int = 0
    answered: int = 0

    @property
    def efficiency(self) -> float:
        """Share of predictions that a loss followed."""
        return self.n2 / (self.n2 + self.n5) if self.n2 + self.n5 else float("nan")

    @property
    def false_positives(self) -> float:
        """Share of predictions without a loss."""
        return self.n5 / (self.n2 + self.n5) if self.n2 + self.n5 else float("nan")

    @property
    def false_negatives(self) -> float:
        """Share of losses that were not predicted."""
        return self.n4 / (self.n2 + self.n4) if self.n2 + self.n4 else float("nan")


def episodes(losses: Floats, hold_s: float) -> tuple[Floats, Floats]:
    """First and last loss of each episode: losses less than `hold_s` apart belong together."""
    losses = np.sort(losses)
    if losses.size == 0:
        return losses, losses
    new = np.concatenate([[True], np.diff(losses) > hold_s])
    last = np.concatenate([new[1:], [True]])
    return losses[new], losses[last]


def count(p: Prediction, losses: Floats, hold_s: float, responses: Floats | None = None) -> Counts:
    """Walks the state machine through a prediction, the times of losses, and those of early responses if there are any.

    `hold_s`: how long C lasts after a loss and B1 after a response, one round trip. Responses in A, B1 and C count for
    nothing.
    """
    begins, ends = episodes(losses, hold_s)
    ends = ends + hold_s

    def said(at: Floats) -> Flags:
        """What the predictor had said before `at`; nothing is low delay."""
        k = np.searchsorted(p.time_s, at, side="left") - 1
        return np.where(k >= 0, p.high[np.maximum(k, 0)], False)

    def outside(at: Floats) -> Flags:
        k = np.searchsorted(begins, at, side="right") - 1
        return np.where(k >= 0, at >= ends[np.maximum(k, 0)], True) if begins.size else np.ones(at.size, bool)

    before = np.concatenate([[False], p.high[:-1]])
    rises = p.time_s[p.high & ~before]
    falls = p.time_s[~p.high & before]
    false_at = falls[outside(falls)]
    predicted, after = said(begins), said(ends)
    at = np.sort(responses) if responses is not None else np.empty(0)
    n7, n8, answered = _answers(at[said(at) & outside(at)], falls, begins, hold_s)
    return Counts(
        n1=int(outside(rises).sum()),
        n2=int(predicted.sum()),
        n3=int((~after).sum()),
        n4=int((~predicted).sum()),
        n5=int(false_at.size),
        n6=int(after.sum()),
        false_at_s=false_at,
        n7=n7,
        n8=n8,
        answered=answered,
    )


def _answers(responses: Floats, falls: Floats, begins: Floats, hold_s: float) -> tuple[int, int, int]:
    """Transitions 7, 8, and 5 from B1, of responses that find the machine in B or B1."""

    def first_after(events: Floats, t: float) -> float:
        k = int(np.searchsorted(events, t, side="left"))
        return float(events[k]) if k < events.size else float("inf")

    n7 = n8 = answered = 0
    until = -np.inf
    for t in responses:
        if t < until:
            continue
        n7 += 1
        fall, loss, end = first_after(falls, t), first_after(begins, t), t + hold_s
        until = min(fall, loss, end)
        if until == loss:
            continue
        answered += until == fall
        n8 += until != fall
    return n7, n8, answered


def ewma(x: Floats, weight: float) -> Floats:
    """s = weight s + (1 - weight) x, from the first value on."""
    lfilter = load("scipy.signal", "a predictor").lfilter

    if x.size == 0:
        return x
    smoothed, _ = lfilter([1 - weight], [1, -weight], x, zi=np.array([weight * x[0]]))
    return np.asarray(smoothed, dtype=np.float64)


def moving_average(x: Floats, length: int) -> Floats:
    """Mean of the last `length` values; of all, where there are fewer."""
    total = np.cumsum(np.concatenate([[0.0], x]))
    upto = np.arange(1, x.size + 1)
    first = np.maximum(upto - length, 0)
    return np.asarray((total[upto] - total[first]) / (upto - first), dtype=np.float64)


def once_per_round(s: Signal) -> Signal:
    """The samples that a sender takes which looks once per round trip."""
    keep: list[int] = []
    k = 0
    while k < s.time_s.size:
        keep.append(k)
        k = int(np.searchsorted(s.time_s, s.time_s[k] + s.rtt_s[k], side="left"))
    return Signal(s.time_s[keep], s.rtt_s[keep], s.window[keep])


def _kept(value: Floats, known: Flags) -> Floats:
    """`value` where it is known; elsewhere the last one that was."""
    last = np.maximum.accumulate(np.where(known, np.arange(value.size), -1))
    return np.where(last >= 0, value[np.maximum(last, 0)], 0.0)


def _gradient(s: Signal, value: Floats) -> tuple[Floats, Flags]:
    """Change of a value over the change of the window between two samples, and where the window did change."""
    dw = np.diff(s.window, prepend=s.window[:1])
    dv = np.diff(value, prepend=value[:1])
    changed = dw != 0
    return np.divide(dv, dw, out=np.zeros_like(dv), where=changed), changed


def card(s: Signal) -> Prediction:
    """Jain 1989: the normalised delay gradient is positive."""
    s = once_per_round(s)
    gradient, changed = _gradient(s, s.rtt_s)
    return Prediction(s.time_s, _kept(gradient, changed) > 0)


def tri_s(s: Signal) -> Prediction:
    """Wang and Crowcroft 1991: the normalised throughput gradient is below one half."""
    s = once_per_round(s)
    gradient, changed = _gradient(s, s.window / s.rtt_s)
    normal = _kept(gradient * s.rtt_s[:1], changed)
    known = np.maximum.accumulate(changed)
    return Prediction(s.time_s, known & (normal < 0.5))


def dual(s: Signal) -> Prediction:
    """Wang and Crowcroft 1992: above the middle of the least and the largest round-trip time so far."""
    s = once_per_round(s)
    middle = (np.minimum.accumulate(s.rtt_s) + np.maximum.accumulate(s.rtt_s)) / 2
    return Prediction(s.time_s, s.rtt_s > middle)


def vegas(s: Signal, beta: float = 3.0) -> Prediction:
    """Brakmo 1994: more than `beta` segments of the own window wait in queues."""
    s = once_per_round(s)
    least = np.minimum.accumulate(s.rtt_s)
    return Prediction(s.time_s, s.window * (1 - least / s.rtt_s) > beta)


def cim(s: Signal, few: int = 8, many: int = 96) -> Prediction:
    """Martin et al. 2003: the average of few samples is above that of many."""
    return Prediction(s.time_s, moving_average(s.rtt_s, few) > moving_average(s.rtt_s, many))


def above(s: Signal, smoothed_s: Floats, threshold_s: float) -> Prediction:
    """A smoothed round-trip time is above a threshold."""
    return Prediction(s.time_s, smoothed_s > threshold_s)


def everything(s: Signal, threshold_s: float, buffer: int) -> Mapping[str, Prediction]:
    """Every predictor of the source by its name there; `buffer` is the length of the moving average."""
    return {
        "CARD": card(s),
        "TRI-S": tri_s(s),
        "DUAL": dual(s),
        "Vegas": vegas(s),
        "CIM": cim(s),
        "inst-RTT": above(s, s.rtt_s, threshold_s),
        "MA": above(s, moving_average(s.rtt_s, buffer), threshold_s),
        "EWMA-7/8": above(s, ewma(s.rtt_s, 7 / 8), threshold_s),
        "EWMA-0.99": above(s, ewma(s.rtt_s, 0.99), threshold_s),
    }
