"""How does a late short transfer fare beside two long ones behind a full drop-tail queue?

Two transfers of 292 000 B start together, a third of 46 720 B follows 0 to 7 s later; 20 repetitions per start (A1 to
A12).

What the source printed: the third transfer needs 12.0 to 16.9 s (medians), but 23.4 s when it starts 2 s after the
others; 13 of 240 runs are exceptions in which it outlasts a long transfer; lost SYNs cost 3 or 9 s; the long
transfers share the link until 36.65 s whatever happens, and each sends 5 or 6 packets again.

What may differ here: what the hosts remember of earlier connections decides how many packets are lost (in each of the
three cells that are listed run by run the first run stands out: 26, 25 and 23 packets retransmitted by the long
transfers, against 8 to 14 in all others), and the queue's rule of admission decides that SYNs are among them. The
table `replications` compares all 63 listed distributions; decision 0016 tells how the readings were found.
"""

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.riva_2003 import a_figures, parts, published, study, testbed
from crosswind.experiments.riva_2003.measures import decoded, identity
from crosswind.experiments.riva_2003.testbed import TAIL_DROP_STARTS_s as STARTS_s
from crosswind.experiments.riva_2003.testbed import cell
from crosswind.reproduce import Measure, Results, Scenario, measured, measures
from crosswind.reproduce.claims.measures import across, pooled, value

CELLS = {s: cell("TD", s) for s in STARTS_s}
ALL = list(CELLS.values())
THREE = tuple(published.REPLICATIONS)
RTT_s = 14 * testbed.PACKET_s
ELAPSED, SPEED, SHOOK, SENT = "third_elapsed_s", "third_throughput", "third_handshake_s", "third_xmit_s"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The twelve start times."""
    reading = testbed.reading(**variant)
    return {
        c: testbed.three("TD", s, reading, events=("long", "third") if c in THREE else ()) for s, c in CELLS.items()
    }


def _exceptions_by_start(r: Results) -> float:
    """How many starts have more exceptions than 2 s has."""
    counts = {c: float(r.of(c, "exception").sum()) for c in ALL}
    return sum(v > counts["TD 2"] for v in counts.values())


def _left(r: Results) -> Any:
    """How long a long transfer's slow start still lasts when the third has opened, at 2 s."""
    return r.of("TD 2", "long_last_slow_start_s") - r.of("TD 2", "third_start_s") - r.of("TD 2", SHOOK)


def _apart(c: str) -> Measure:
    """In how many of 20 runs the long transfers finish within 1 s of each other."""
    return lambda r: stats.share(r.of(c, "gap_s") < 1.0).scaled(20.0)


def _start_of(cells: list[str], pick: Any) -> Measure:
    """The start with the largest or smallest median of the third transfer's elapsed time."""
    starts = np.array([s for s, c in CELLS.items() if c in cells])
    return across(cells, ELAPSED, lambda m: starts[pick(m, axis=0)])


def _over(i: int, column: str, pick: Any, each: Any) -> Measure:
    """A cell over the least or largest of the others."""
    return across(ALL, column, lambda m: m[i] / pick(np.delete(m, i, axis=0), axis=0), each=each)


def _waits(cells: list[str], longer_s: float) -> Measure:
    """The share of runs whose handshake takes longer."""
    return measures.share(lambda r: pooled(r, cells, SHOOK) > longer_s)


@measured
def _first_run(r: Results, c: str) -> float:
    """Packets retransmitted by the long transfers in the first run, minus the most in a later one."""
    both = 2.0 * r.of(c, "long_retx")
    return float(both[0] - both[1:].max())


def _single(r: Results) -> float:
    return float(np.nanmin(r.of("TD 2", SENT)) / np.nanmedian(r.of("TD 2", SENT)))


WORST = {"start of the largest median": _start_of(ALL, np.argmax)}
FIVE = [cell("TD", s) for s in testbed.RED_STARTS_s]
CLAIMS = {
    "R4": lambda r: decoded(r, ALL),
    "R7": lambda r: identity(r, ALL),
    "R13": measures.each(ALL, ELAPSED) | WORST,
    "R14": WORST | {"largest median over that at 0 s": across(ALL, ELAPSED, lambda m: m.max(axis=0) / m[0])},
    "R15": {
        "start of the smallest median": _start_of(ALL[2:], np.argmin),
        "smallest median over that at 0 s": across(["TD 0", *ALL[2:]], ELAPSED, lambda m: m[1:].min(axis=0) / m[0]),
    },
    "R16": measures.each(["TD 2", "TD 0"], SPEED, np.mean)
    | {
        "2 s over the lowest of the others": _over(3, SPEED, np.min, np.mean),
        "0 s over the highest of the others": _over(0, SPEED, np.max, np.mean),
    },
    "R17": measures.each(["TD 2"], ELAPSED, measures.iqr)
    | {
        "2 s over the largest of the others": _over(3, ELAPSED, np.max, measures.iqr),
        "mean of 0, 2, 4, 5, 5.5 s": across(FIVE, ELAPSED, lambda m: m.mean(axis=0), each=measures.iqr),
    },
    "R18": measures.ends(ALL, "fastest_elapsed_s"),
    "R19": {x: across(ALL, f"{x}_throughput", lambda m: m.mean(axis=0), each=np.mean) for x in ("fastest", "slowest")},
    "R20": {
        "runs": measures.share(lambda r: pooled(r, ALL, "exception")),
        "starts with more than 2 s has": _exceptions_by_start,
    },
    "R21": measures.number(lambda r: r.of("TD 0", "exception")),
    "R22": {c: _apart(c) for c in THREE},
    "R23": measures.each(THREE, "jain_long")
    | {f"{c}, least of all": measures.extreme([c], "jain_long", np.nanmin) for c in THREE},
    "R24": measures.each(THREE, "jain_three")
    | {"2 s minus the lower of the others": across(THREE, "jain_three", lambda m: m[1] - np.minimum(m[0], m[2]))},
    "R25": parts.of_long("retx", THREE),
    "R26": measures.each(THREE, "third_retx"),
    "R27": {c: measures.ratio((c, "third_retx"), (c, "all_retx"), np.mean) for c in THREE},
    "R28": {c: parts.long_over_third(c) for c in THREE},
    "R29": {
        "transmission over handshake": measures.ratio(("TD 2", SENT), ("TD 2", SHOOK)),
        "handshake": value("TD 2", SHOOK),
        "transmission": value("TD 2", SENT),
    },
    "R30": {
        "handshake": value("TD 4", SHOOK),
        "transmission": value("TD 4", SENT),
        "TD 4 minus TD 2, transmission": measures.difference("TD 4", "TD 2", SENT),
    },
    "R31": {f"above 3 s, {c}": _waits([c], 3.0) for c in THREE}
    | {"above 9 s, TD 5.5": _waits(["TD 5.5"], 9.0)}
    | {f"above {s:g} s, all starts": _waits(ALL, s) for s in (3.0, 9.0)},
    "R32": parts.of_long("triple", THREE) | measures.each(THREE, "third_triple", word=", third"),
    "R33": parts.of_long("dupacks", THREE) | measures.each(THREE, "third_dupacks", word=", third"),
    "R36": measures.rank_correlation(_left, lambda r: r.of("TD 2", SPEED)),
    "R37": measures.share(lambda r: pooled(r, ALL, "first_losses_apart_s") < RTT_s),
    "R38": _single,
    "R119": {c: _first_run(c) for c in THREE},
}


EXPERIMENT = study.experiment(
    __name__,
    "Three transfers, one of them late and short, behind a drop-tail queue",
    figures=a_figures.pictures_of,
    headline=a_figures.headline,
    tables=published.tables,
    partly=("R23",),
)
