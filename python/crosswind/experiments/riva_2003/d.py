"""What does a long stream do to a long transfer, in one class and in two?

One transfer of 391 280 B from 0 s on, a stream of 2001 small packets (40 s) that starts 0 to 3 s later; drop-tail and
RED, both in one class or the stream in a class of its own (D1 to D16); the transfer alone on the rest of the rate
(R1, R2).

What the source printed: in one class drop-tail is 2 s faster for the transfer and loses 15 % of the stream, RED 6 %;
two classes lose nothing of the stream and take 35.8 to 37.8 s, the transfer alone 36.5 s; RED sends five times as
much again.

What may differ here: the phase of the stream against the departures of full segments is steady for seconds, so that
drop-tail favours one or the other by chance. How soon a segment is acknowledged decides who pays: an ACK that waits
brings its segment when packets of the stream have taken the room, one at once just after a segment has left.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.experiments.riva_2003 import mixes, testbed
from crosswind.reproduce import Measure, Results, measures

MIX = testbed.LONG
LOGGED = tuple(testbed.cell(c, 3.0) for c in testbed.FOUR)
TD, RED, TD_DS, RED_DS = (MIX.labels(c) for c in testbed.FOUR)
ROUND_s = 14 * testbed.PACKET_s
ELAPSED, AGAIN, FIRST = "tcp_elapsed_s", "tcp_retx", "tcp_first_congestion_s"
OFFERED = {"tcp": 0.6, "udp": 0.4}


def _by_run(r: Results, c: str, of: Any) -> npt.NDArray[np.float64]:
    """A number of each run of a cell out of the times at which something was retransmitted."""
    found = mixes.sent(r, c, "retransmit").group_by("rep", maintain_order=True).agg(pl.col("s"))
    return np.array([of(np.array(s)) for s in found["s"]], dtype=float)


def _groups(r: Results, c: str) -> npt.NDArray[np.float64]:
    """Segments retransmitted per loss event: retransmissions less than a round trip apart belong together."""
    return _by_run(r, c, lambda s: s.size / (1 + int((np.diff(s) > ROUND_s).sum())))


def _covered(r: Results, c: str) -> npt.NDArray[np.float64]:
    """The share of the transfer between the first and the last retransmission."""
    return np.asarray(_by_run(r, c, np.ptp) / float(np.nanmedian(r.of(c, ELAPSED))))


def _contrast(of: Any, more: str, less: str) -> Measure:
    """The mean of one cell minus that of another."""
    return lambda r: stats.estimate(lambda a, b, axis: a.mean(axis) - b.mean(axis), of(r, more), of(r, less))


def _offered(of: str) -> Measure:
    """How far a share of what both get is from what is offered, RED minus drop-tail."""

    def far(r: Results, c: str) -> float:
        both = {x: float(np.nanmedian(r.of(c, f"{x}_share"))) for x in OFFERED}
        return abs(both[of] / sum(both.values()) - OFFERED[of])

    return lambda r: far(r, "RED 0") - far(r, "TD 0")


def _penalties() -> dict[str, Measure]:
    cells = zip(MIX.starts_s, TD_DS, TD, RED_DS, RED, strict=True)
    return {
        f"ratio of the penalties, {s:g} s": measures.across(four, ELAPSED, lambda m: (m[0] - m[1]) / (m[2] - m[3]))
        for s, *four in cells
    }


LONGEST = {"drop-tail, longest median": measures.across(TD, FIRST, lambda m: m.max(axis=0))}
QUEUES = (TD, RED, TD_DS, RED_DS)
CLAIMS = {
    "R71": measures.each([*TD, *RED], ELAPSED),
    "R72": measures.differences(zip(RED, TD, strict=True), ELAPSED),
    "R73": measures.each([*TD, *RED], "udp_loss") | measures.ratios(zip(RED, TD, strict=True), "udp_loss"),
    "R74": measures.differences([*zip(RED[1:], RED, strict=False), (RED[-1], RED[0])], "udp_received")
    | {"drop-tail: smallest step": mixes.steps(TD, "udp_received", np.min)},
    "R75": measures.each([*TD_DS, *RED_DS], ELAPSED) | measures.differences(zip(RED_DS, TD_DS, strict=True), ELAPSED),
    "R76": measures.differences([*zip(TD_DS, TD, strict=True), *zip(RED_DS, RED, strict=True)], ELAPSED) | _penalties(),
    "R77": measures.differences([p for q in QUEUES for p in ((q[-1], q[0]), *zip(q[1:], q, strict=False))], ELAPSED),
    "R78": measures.differences([(TD_DS[0], "TD alone"), (RED_DS[0], "RED alone"), ("RED alone", "TD alone")], ELAPSED),
    "R79": {
        f"{c}, {x}{word}": measures.value(c, f"{x}_share", of)
        for x in OFFERED
        for c in ("TD 0", "RED 0")
        for word, of in (("", np.median), (", quartile range", measures.iqr))
    }
    | {f"distance from what {x.upper()} offers, RED minus drop-tail": _offered(x) for x in OFFERED},
    "R80": measures.ratios(zip(RED, TD, strict=True), AGAIN),
    "R81": {
        "RED 3: share of the transfer from first to last": lambda r: stats.median(_covered(r, "RED 3")),
        "TD 3: packets per loss event": lambda r: stats.median(_groups(r, "TD 3")),
        "packets per loss event, TD 3 minus RED 3": _contrast(_groups, "TD 3", "RED 3"),
        "share of the transfer from first to last, RED 3 minus TD 3": _contrast(_covered, "RED 3", "TD 3"),
    },
    "R39": LONGEST | {"RED, median of the starts": measures.across(RED, FIRST, lambda m: np.median(m, axis=0))},
    "R82": {
        "RED over drop-tail, medians of the starts": measures.across(
            [*RED, *TD], FIRST, lambda m: np.median(m[:4], axis=0) / np.median(m[4:], axis=0)
        )
    }
    | LONGEST,
    "R84": measures.ends([*TD_DS, *RED_DS], "tcp_throughput"),
    "R115": {
        "slow start, TD alone minus TD+DS 0": measures.difference("TD alone", TD_DS[0], FIRST),
        "retransmitted, TD alone minus TD+DS 0": measures.difference("TD alone", TD_DS[0], AGAIN),
    },
}


EXPERIMENT = mixes.declare(
    __name__,
    MIX,
    "A long transfer beside a long stream",
    "5-16",
    sequences={"5-17": ("The transfer with a stream from 3 s on", LOGGED)},
    alone=mixes.BOTH,
    starts_s=(0.0, 3.0),
)
