"""What does a stream do to a short transfer, and can it help?

One transfer of 46 720 B, a stream of 301 packets (6 s) that starts 0 to 2 s later; four configurations (E1 to E20);
the transfer alone on the reduced rate (R3, R4).

What the source printed: drop-tail needs 3.74, 3.46, 3.36 s when the stream starts by 1 s, but 4.96 and 4.72 s when it
starts later; RED 3.3 to 4.9 s. An early stream keeps slow start from overshooting. With two classes
drop-tail needs 8.4 s when the stream starts at 0.5 s, and less the later it starts; RED needs 4.8 s there, and 3.1 to
3.7 s later.

What decides here is one packet: the transfer has sent all of its 33 segments before the first loss can be noticed,
and whether the very last segment is among those dropped, and found lost before the timer, decides whether a timeout
of 2 s is waited for. How many segments a connection begins with decides the same: with two one packet less is in
flight, and the last one gets through.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from crosswind.experiments.riva_2003 import mixes, testbed
from crosswind.reproduce import Measure, measures

MIX = testbed.SHORT
ONE_CLASS, TWO_CLASSES = ("TD 1.5", "TD 0"), ("TD+DS 0.5", "RED+DS 0.5")
TD, RED, TD_DS, RED_DS = (MIX.labels(c) for c in testbed.FOUR)
LATE = 3
ELAPSED, AGAIN, FIRST = "tcp_elapsed_s", "tcp_retx", "tcp_first_congestion_s"
elapsed = measures.differences


def _start(cells: list[str], pick: Any) -> Measure:
    """The start with the longest or shortest elapsed time."""
    return measures.across(cells, ELAPSED, lambda m: np.array(MIX.starts_s)[pick(m, axis=0)])


def _timed_out(cell: str) -> Measure:
    return measures.share(lambda r: r.of(cell, "tcp_timeouts") > 0)


def _acknowledged(cell: str) -> Measure:
    """The share of the transfer that was acknowledged at the first repair, mean over the runs."""
    return measures.seeds(lambda r: mixes.acknowledged_at_first_repair(r, cell, testbed.SHORT_BYTES))


CLAIMS = {
    "R8": measures.extreme([*TD, *RED], ELAPSED, np.nanmin),
    "R85": measures.each(TD, ELAPSED) | elapsed([("TD 1.5", "TD 1")], ELAPSED),
    "R86": measures.each(RED, ELAPSED),
    "R87": elapsed([p for i, p in enumerate(zip(TD, RED, strict=True)) if i != 2], ELAPSED),
    "R88": measures.across(TD, ELAPSED, lambda m: m[:LATE].max(axis=0) - m[LATE:].min(axis=0)),
    "R89": measures.each([*TD_DS, *RED_DS], ELAPSED)
    | {"worst start, drop-tail": _start(TD_DS, np.argmax), "worst start, RED": _start(RED_DS, np.argmax)},
    "R90": measures.ratios([*zip(TD_DS, RED_DS, strict=True), *zip(TD_DS, TD, strict=True)], ELAPSED),
    "R91": {"longest": _start(RED_DS, np.argmax), "shortest": _start(RED_DS, np.argmin)}
    | elapsed([(b, a) for a, b in pairwise(RED_DS[1:])], ELAPSED),
    "R92": measures.each([*TD, *RED], "udp_received")
    | {
        "drop-tail: smallest step": mixes.steps(TD, "udp_received", np.min),
        "RED from 0.5 s on: smallest step": mixes.steps(RED[1:], "udp_received", np.min),
    },
    "R93": measures.each([*TD[LATE:], *RED[LATE:]], "udp_loss"),
    "R94": measures.each(ONE_CLASS, FIRST, word=", first repair")
    | measures.each(ONE_CLASS, AGAIN, word=", retransmitted")
    | measures.each(ONE_CLASS, ELAPSED, word=", elapsed"),
    "R95": measures.each(TWO_CLASSES, "tcp_timeouts", word=", timeouts")
    | measures.each(TWO_CLASSES, "tcp_recoveries", word=", fast recoveries")
    | measures.each(TWO_CLASSES, FIRST, word=", first repair")
    | measures.each(TWO_CLASSES, AGAIN, word=", retransmitted")
    | measures.each(TWO_CLASSES, ELAPSED, word=", elapsed"),
    "R96": {f"runs with a timeout, {c}": _timed_out(c) for c in TD[LATE:]}
    | {
        "timeouts, RED minus drop-tail, mean of 1.5 and 2 s": measures.across(
            [*RED[LATE:], *TD[LATE:]], "tcp_timeouts", lambda m: m[:2].mean(axis=0) - m[2:].mean(axis=0), each=np.mean
        )
    },
    "R97": measures.each(mixes.ALONE, ELAPSED)
    | measures.each(mixes.ALONE, ELAPSED, measures.lower, word=", lower quartile")
    | measures.each(mixes.ALONE, ELAPSED, measures.upper, word=", upper quartile")
    | measures.ratios([("TD alone", c) for c in TD_DS], ELAPSED),
    "R116": {c: _acknowledged(c) for c in ("TD 0", "TD 1.5")},
    "R117": elapsed([(a, b) for a in TD[:2] for b in TD[LATE:]], AGAIN, np.mean)
    | elapsed([("RED 0", b) for b in RED[LATE:]], AGAIN, np.mean),
}


EXPERIMENT = mixes.declare(
    __name__,
    MIX,
    "A short transfer beside a stream",
    "5-18",
    sequences={"5-19": ("Drop-tail, one class", ONE_CLASS), "5-20": ("Two classes, stream from 0.5 s on", TWO_CLASSES)},
    alone=mixes.BOTH,
    starts_s=(0.0, 1.0, 2.0),
)
