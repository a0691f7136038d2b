"""What does the retransmission timer learn from a spurious timeout?

Reno without timestamps, with timestamps, and with timestamps and Eifel, one spike: timeout, smoothed round-trip
time, its variation and the samples over time.

What the source shows: without timestamps nothing is learnt, and the timeout is back at its old level at the first
new sample; with timestamps it jumps up and settles within about ten seconds, with a gap while duplicates come; with
Eifel there is no gap, and it falls more slowly.

What may differ here: as in the traces of figure 4.2. Near and higher mean below and above the doubled value that the
back-off alone gives; back means at or below the value of before the spike, from the end of the spike on.

What decides the last part: with Eifel the samples go on without a gap, one per segment, and all of them are those
of a full window. The source has the timer fall more slowly, because its window goes on growing after the spike;
here the receiver's window of 12 segments holds it (variant: 30).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.claims import Claim, above, at_most, between
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.measures import Trace, fact, timer_figure, transfers
from crosswind.experiments.gurtov_2004.worlds import EIFEL, MSS, WINDOW, SPIKE_AT_s, SPIKE_s, trace
from crosswind.figures import Picture
from crosswind.runs import Runs
from crosswind.scenario import Scenario

PLAIN, STAMPED, EIFEL_ON = "no timestamps", "timestamps", "timestamps and Eifel"
RENO = {"recovery": "ns2-reno", "sack": "off"}
END_s, LAST_s = SPIKE_AT_s + SPIKE_s, 80.0


def configurations(window: int = WINDOW) -> dict[str, Scenario]:
    """Three timers."""
    limit = {"window_limit_segments": window, "initial_ssthresh": f"{window * MSS} B"}
    return {
        PLAIN: trace("f4-7a", RENO | limit | {"timestamps": "off"}, duration_s=LAST_s),
        STAMPED: trace("f4-7b", RENO | limit, duration_s=LAST_s),
        EIFEL_ON: trace("f4-7c", RENO | limit | EIFEL | {"spurious_response": "option-1"}, duration_s=LAST_s),
    }


def _rto(runs: Runs, c: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    s = runs.sample("rto_ns", "tcp").filter((pl.col("configuration") == c) & (pl.col("rep") == 0))
    return s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy() / 1e9


def _before(runs: Runs, c: str) -> float:
    t, v = _rto(runs, c)
    return float(v[t < SPIKE_AT_s][-1])


def _at_first_sample(runs: Runs, c: str) -> float:
    """The timeout right after the first sample that follows the timeout."""
    trace_ = Trace(runs, c)
    e = trace_.events
    samples = e.filter((pl.col("kind") == "rtt") & (pl.col("time_ns") > trace_.first("timeout") * 1e9))["time_ns"] / 1e9
    t, v = _rto(runs, c)
    return float(v[t > samples[0]][0])


def _back(runs: Runs, c: str) -> float:
    """Seconds from the end of the spike until the timeout is at its value of before again."""
    t, v = _rto(runs, c)
    above_before = t[(t > END_s) & (v > _before(runs, c))]
    return float(above_before[-1] - END_s) if len(above_before) else 0.0


CLAIMS = (
    Claim(
        "G27",
        "The timer: as before without timestamps; with them higher, and back within 10 s; slower with Eifel",
        "near 1; 10 s (5-15 s); slower",
        [
            fact(
                "no timestamps: first / before",
                lambda r: _at_first_sample(r, PLAIN) / _before(r, PLAIN),
                at_most(2.0),
                "1",
                digits=2,
            ),
            fact(
                "timestamps: highest / before",
                lambda r: float(_rto(r, STAMPED)[1][_rto(r, STAMPED)[0] > END_s].max()) / _before(r, STAMPED),
                above(2.0),
                "",
                digits=2,
            ),
            fact("timestamps: back after", lambda r: _back(r, STAMPED), between(5, 15), "10 s", "s", 1),
            fact(
                "Eifel later than timestamps alone",
                lambda r: _back(r, EIFEL_ON) - _back(r, STAMPED),
                above(0),
                "",
                "s",
                1,
            ),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """The three timers."""
    return [
        timer_figure(r, c, f"f4-7{x}", f"Retransmission timer, Reno, {c}.", LAST_s)
        for c, x in ((PLAIN, "a"), (STAMPED, "b"), (EIFEL_ON, "c"))
    ]


EXPERIMENT = study.experiment(
    "f4-7",
    "The retransmission timer around a spurious timeout",
    __doc__,
    configurations,
    CLAIMS,
    where="figure 4.7",
    tables=transfers,
    figures=pictures,
    variants={"wide": Variant("a window of 30 segments", {"window": 30})},
)
