"""What does a short stream do to a long transfer?

One transfer of 391 280 B, a stream of 251 packets (5 s) that starts 0 to 18 s later; four configurations (F1 to F24).
This experiment also holds what is claimed over all tests.

What the source printed: RED takes 24.5 s and loses 7 to 10 % of the stream whatever its start; drop-tail takes 23.7
to 25.5 s and loses 10 to 55 %; two classes lose nothing and take 24.6 s.

What explains drop-tail's irregular loss: while the window of the transfer grows towards the limit of the queue, each
of its segments arrives just after one has left and takes the room; packets of the stream find what is left. How much
is left depends on where in its saw-tooth the transfer is when the stream comes.
"""

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.riva_2003 import b, d, mixes, parts, testbed
from crosswind.reproduce import Measure, Results, measured, measures
from crosswind.reproduce.claims.measures import pooled, spread

MIX = testbed.BRIEF
LOGGED = ("TD 0", "TD 7", "TD 18")
TD, RED, TD_DS, RED_DS = (MIX.labels(c) for c in testbed.FOUR)
TWO = [*TD_DS, *RED_DS]
OTHERS = [f"d/{c}" for c in (*d.TD_DS, *d.RED_DS)]
EARLY, LATER = TD[:2], [*TD[2:], *RED[2:]]
ELAPSED, AGAIN, RECEIVED = "tcp_elapsed_s", "tcp_retx", "udp_received"
# Bytes that the transfer and one packet of the stream are charged with, and the credit that none of them waits for.
IP_BYTES, IP_UDP, FRAME_BYTES, FRAME_UDP, CREDIT = 405_372, testbed.UDP_BYTES, 408_624, 144, 3_400


def _excess(r: Results, c: str, bytes: int, udp: int, credit: int = 0) -> Any:
    """How much longer the transfer takes than its bytes and those of the stream that were served need."""
    return r.of(c, ELAPSED) - (bytes + udp * r.of(c, RECEIVED) - credit) / testbed.RATE_Bps


def _frames(c: str) -> Measure:
    return lambda r: stats.median(_excess(r, c, FRAME_BYTES, FRAME_UDP, CREDIT))


def _ip(c: str) -> Measure:
    return lambda r: stats.median(_excess(r, c, IP_BYTES, IP_UDP))


def _idle(c: str) -> Measure:
    """The same at an early start of drop-tail, minus the largest of its later starts."""

    def statistic(first: Any, *later: Any, axis: int) -> Any:
        return np.median(first, axis=axis) - np.max([np.median(x, axis=axis) for x in later], axis=0)

    return lambda r: stats.estimate(statistic, *(_excess(r, x, IP_BYTES, IP_UDP) for x in (c, *TD[2:])))


def _largest_loss(r: Results) -> float:
    """The largest median loss of a stream in one class behind RED, over the three test cases."""
    cells = [*(f"d/{c}" for c in d.RED), *(f"e/{c}" for c in testbed.SHORT.labels("RED")), *RED]
    return max(float(np.nanmedian(r.of(c, "udp_loss"))) for c in cells)


def _lost_in_two_classes(r: Results) -> float:
    cells = [f"e/{c}" for q in ("TD+DS", "RED+DS") for c in testbed.SHORT.labels(q)]
    return float(sum((r.of(c, "udp_sent") - r.of(c, RECEIVED)).sum() for c in (*OTHERS, *cells, *TWO)))


def _varies(some: list[str], others: list[str], column: str) -> Measure:
    """The spread of the medians of some cells over the starts against that of others."""
    n = len(some)
    return measures.across([*some, *others], column, lambda m: spread(m[:n]) / spread(m[n:]))


@measured
def _nearer(r: Results, cells: tuple[list[str], ...]) -> float:
    """At how many starts RED in one class is nearer to its time in two classes than drop-tail is to its own."""
    one, two, one_td, two_td = (np.array([np.nanmedian(r.of(c, ELAPSED)) for c in some]) for some in cells)
    return float((abs(one - two) < abs(one_td - two_td)).sum())


def _general() -> dict[str, Any]:
    """What is claimed over all tests."""
    third = _varies([f"b/{c}" for c in b.RED], b.TD, "third_elapsed_s")
    slower, red_received = _varies(TD, RED, ELAPSED), measures.across(RED, RECEIVED, spread)
    of_d = tuple([f"d/{c}" for c in cells] for cells in (d.RED, d.RED_DS, d.TD, d.TD_DS))
    return {
        "R10": _lost_in_two_classes,
        "R108": {
            "runs in which the third transfer outlasts the fastest long one": measures.number(
                lambda r: pooled(r, [f"b/{c}" for c in b.RED], "exception")
            ),
            "largest median loss of a stream": _largest_loss,
        },
        "R109": {
            "third transfer, elapsed": third,
            "test case 3, elapsed": _varies(RED, TD, ELAPSED),
            "test case 3, stream received": _varies(RED, TD, RECEIVED),
            "R42: spread over that of drop-tail": third,
            "R101: spread over RED's": slower,
            "R103: RED's spread": red_received,
            "R103: drop-tail's spread": measures.across(TD, RECEIVED, spread),
        }
        | measures.each({f"R103: {c}": c for c in RED}, RECEIVED),
        "R110": {f"long transfers, {red}": parts.long_again(f"b/{red}", td) for red, td in b.LISTED}
        | {"test case 1, 0 s": measures.ratio(("d/RED 0", AGAIN), ("d/TD 0", AGAIN))}
        | measures.differences([(f"b/{red}", td) for red, td in b.LISTED], "slowest_elapsed_s"),
        "R111": measures.differences(zip(OTHERS[4:], OTHERS[:4], strict=True), ELAPSED)
        | measures.differences(zip(RED_DS, TD_DS, strict=True), ELAPSED),
        "R112": {"spread of the medians, two classes over one": _varies(TD_DS, TD, ELAPSED)}
        | measures.differences(zip(TD_DS, TD, strict=True), AGAIN),
        "R113": {
            "test case 1: starts of 4": _nearer(of_d),
            "test case 3: starts of 6": _nearer((RED, RED_DS, TD, TD_DS)),
        },
        "R118": {c: measures.extreme([c], ELAPSED, np.nanmin) for c in (*OTHERS, *TWO)},
    }


WORST = "7 and 12 s minus the least of the others"
CLAIMS = {
    "R5": measures.ends(TWO, ELAPSED) | measures.each(["TD+DS 0", "RED+DS 0"], ELAPSED),
    "R6": {f"{c}, IP lengths": _ip(c) for c in LATER}
    | {f"{c}, IP lengths, minus the largest of the later starts": _idle(c) for c in EARLY}
    | {f"{c}, frames": _frames(c) for c in EARLY}
    | {f"{c} later, frames": _frames(c) for c in LATER},
    "R100": measures.each(RED, ELAPSED) | {"spread of the medians": measures.across(RED, ELAPSED, spread)},
    "R101": {"spread over RED's": _varies(TD, RED, ELAPSED), "spread": measures.across(TD, ELAPSED, spread)}
    | measures.each(TD, ELAPSED),
    "R102": measures.differences(zip(TD, RED, strict=True), ELAPSED),
    "R103": {
        "RED's spread": measures.across(RED, RECEIVED, spread),
        "drop-tail's spread": measures.across(TD, RECEIVED, spread),
    }
    | measures.each([*RED, *TD], RECEIVED),
    "R104": {WORST: measures.across(TD, RECEIVED, lambda m: np.maximum(m[2], m[3]) - np.min(m[[0, 1, 4, 5]], axis=0))}
    | measures.each(["TD 7", "TD 12"], "udp_loss"),
    "R105": measures.differences(
        [p for one, other in ((RED_DS, TD_DS), (TD_DS, RED), (RED_DS, RED)) for p in zip(one, other, strict=True)],
        ELAPSED,
    ),
    "R106": measures.differences(zip(RED_DS, RED, strict=True), ELAPSED),
} | _general()


EXPERIMENT = mixes.declare(
    __name__,
    MIX,
    "A long transfer beside a short stream, and what holds over all tests",
    "5-22",
    sequences={"5-23": ("Drop-tail, one class: stream from 0, 7 and 18 s on", LOGGED)},
    starts_s=(0.0, 7.0),
    uses=("a", "b", "d", "e"),
)
