"""How many lost ACKs deceive the ACK heuristic, and how many with delayed ACKs?

The heuristic takes an ACK that jumps over more than three segments for the answer to needless retransmissions. One
to five ACKs in a row are lost of a connection without other losses; each segment acknowledged by itself, and
delayed ACKs. The heuristic is deceived from the number on with which the next ACK jumps over more than three
segments.

What the source says (section 4.5.4): with delayed ACKs fewer lost ACKs suffice, about half.

What may differ here: the source gives no scenario.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.claims import Claim, between, near
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.measures import Trace, fact, transfers
from crosswind.experiments.gurtov_2004.worlds import MSS, listed
from crosswind.runs import Runs
from crosswind.scenario import Scenario

MODES: dict[str, dict[str, Any]] = {"every segment": {}, "delayed": {"delayed_ack": "100 ms"}}
# Nothing overflows the queue.
SMALL = {"window_limit_segments": 8, "initial_ssthresh": "8000 B"}
LOST = range(6)
PLACE = 8
THRESHOLD = 3


def configurations() -> dict[str, Scenario]:
    """Every number of lost ACKs, both receivers."""
    return {
        f"{mode}, {n} lost": listed("s4-5-3", (), SMALL | tcp, tuple(range(PLACE, PLACE + n)))
        for mode, tcp in MODES.items()
        for n in LOST
    }


def _largest_jump(runs: Runs, configuration: str) -> float:
    """Segments that the largest step of the cumulative ACK covers."""
    acks = Trace(runs, configuration).events.filter(pl.col("kind") == "ack")["seq"].to_numpy()
    return float(np.diff(acks.astype(np.int64)).max() / MSS)


def _fewest(mode: str) -> Any:
    """The fewest lost ACKs that make the next one jump too far."""
    return lambda runs: float(min(n for n in LOST if _largest_jump(runs, f"{mode}, {n} lost") > THRESHOLD))


CLAIMS = (
    Claim(
        "G39",
        "With delayed ACKs fewer lost ACKs (about half) make the ACK heuristic fail",
        "about half",
        [
            fact("every segment acknowledged", _fewest("every segment"), near(3, 0)),
            fact("delayed", _fewest("delayed"), between(1, 2)),
            fact(
                "delayed / every",
                lambda r: _fewest("delayed")(r) / _fewest("every segment")(r),
                between(0.25, 0.75),
                "0.5",
                digits=2,
            ),
        ],
    ),
)

EXPERIMENT = study.experiment(
    "s4-5-3",
    "How many lost ACKs deceive the ACK heuristic",
    __doc__,
    configurations,
    CLAIMS,
    where="section 4.5.4",
    tables=transfers,
)
