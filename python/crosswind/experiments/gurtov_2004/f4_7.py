"""What does the retransmission timer learn from a spurious timeout?

Reno without timestamps, with timestamps, and with timestamps and Eifel, one spike: timeout, smoothed round-trip
time, its variation and the samples over time.

What the source shows: without timestamps nothing is learnt, and the timeout is back at its old level at the first
new sample; with timestamps it jumps up and settles within about ten seconds, with a gap while duplicates come; with
Eifel there is no gap, and it falls more slowly.

What may differ here: as in the traces of figure 4.2. The source gives no number for near and higher: near the level of
before the spike is taken to mean within a quarter of it, higher is more than that. Back is the time from the timeout
until the value is near again; counted from the end of the spike it is reported beside.

G27 fails in three of its parts. Without timestamps the first new sample comes from the segment that is sent behind the
needless copies and waits for them (5.0 s, where 3.3 s were usual), so the timer is half as high again as before and
takes two more samples to its old level. With timestamps the copies keep the samples at 5 s until 27 s, nine seconds
after the spike; the timer is near its old value 16 s after it expired, 14 s after the end of the spike. With Eifel
there are no copies: the samples are at their old value at once, one for each segment, and the timer falls sooner. The
source has it fall more slowly, because its window goes on growing after the spike and the queue with it; here one
segment per round trip is little beside the 14 in flight. With a window of 30 (variant) the order is the source's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, fact, timer_figure, transfers
from crosswind.experiments.gurtov_2004.worlds import EIFEL, MSS, WINDOW, SPIKE_AT_s, SPIKE_s, trace
from crosswind.figures import Picture
from crosswind.runs import Runs
from crosswind.scenario import Scenario

PLAIN, STAMPED, EIFEL_ON = "no timestamps", "timestamps", "timestamps and Eifel"
RENO = {"recovery": "ns2-reno", "sack": "off"}
END_s, LAST_s = SPIKE_AT_s + SPIKE_s, 80.0
NEAR = 0.25


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


def _from_first_sample(runs: Runs, c: str) -> np.ndarray[Any, Any]:
    """The timeout, of its value before the spike, from the first sample on that follows the timer's expiry."""
    trace_ = Trace(runs, c)
    samples = trace_.times("rtt")
    first = samples[samples > trace_.first("timeout")][0]
    t, v = _rto(runs, c)
    return np.asarray(v[t > first] / _before(runs, c))


def _back(runs: Runs, c: str, since_s: float | None = None) -> float:
    """Seconds from the timeout (or another moment) until the timer is near its value of before the spike again."""
    t, v = _rto(runs, c)
    since = Trace(runs, c).first("timeout") if since_s is None else since_s
    late, value = t[t > since], v[t > since]
    near = late[(late >= late[value.argmax()]) & (value <= (1 + NEAR) * _before(runs, c))]
    return float(near[0] - since) if len(near) else float("nan")


CLAIMS = study.BOOK.claims(
    {
        "G27": {
            "no timestamps: at the first sample / before": fact(lambda r: _from_first_sample(r, PLAIN)[0]),
            "timestamps: highest from the first sample on / before": fact(
                lambda r: _from_first_sample(r, STAMPED).max()
            ),
            "timestamps: back after": fact(lambda r: _back(r, STAMPED)),
            "counted from the end of the spike": fact(lambda r: _back(r, STAMPED, END_s)),
            "Eifel later than timestamps alone": fact(lambda r: _back(r, EIFEL_ON) - _back(r, STAMPED)),
        }
    }
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
