"""How many lost ACKs deceive the ACK heuristic, and how many with delayed ACKs?

The `loss` scenario of figure 4.10 with the ACK heuristic, with the second loss at several places and runs of up to
five lost ACKs at every place of the slow start after the timeout; each segment acknowledged by itself, and delayed
ACKs. The heuristic fails where it sends the lost retransmission again without lost ACKs and waits for the timer
with them.

What the source says (section 4.5.4): with delayed ACKs fewer lost ACKs suffice, about half.

What may differ here: the source gives no scenario.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Claim, above, between
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.f4_10 import RULES, first_is_recovery
from crosswind.experiments.gurtov_2004.measures import fact, transfers
from crosswind.experiments.gurtov_2004.worlds import RFC1323, listed
from crosswind.runs import Runs
from crosswind.scenario import Scenario

MODES: dict[str, dict[str, Any]] = {"every segment": {}, "delayed": {"delayed_ack": "100 ms"}}
SECOND = (35, 37, 39, 41, 43)
RUNS = range(6)
PLACES = range(12, 30)
BURST = tuple(range(15, 31))


def _label(mode: str, second: int, lost: int, place: int) -> str:
    return f"{mode}, {second}, {lost} from {place}"


def configurations() -> dict[str, Scenario]:
    """Every place and number of lost ACKs."""
    out = {}
    for mode, tcp in MODES.items():
        for second in SECOND:
            for lost in RUNS:
                for place in PLACES if lost else PLACES[:1]:
                    out[_label(mode, second, lost, place)] = listed(
                        "s4-5-3",
                        (*BURST, second),
                        RFC1323 | RULES["ACK heuristic"] | tcp,
                        tuple(range(place, place + lost)),
                    )
    return out


def _fewest(mode: str) -> Any:
    """The smallest number of lost ACKs with which the heuristic fails somewhere."""

    def measure(runs: Runs) -> float:
        for lost in RUNS[1:]:
            for second in SECOND:
                if not first_is_recovery(_label(mode, second, 0, PLACES[0]))(runs):
                    continue
                if any(not first_is_recovery(_label(mode, second, lost, p))(runs) for p in PLACES):
                    return float(lost)
        return float("nan")

    return measure


CLAIMS = (
    Claim(
        "G39",
        "With delayed ACKs fewer lost ACKs (about half) make the ACK heuristic fail",
        "about half",
        [
            fact("fewest lost ACKs, every segment acknowledged", _fewest("every segment"), above(0)),
            fact("fewest lost ACKs, delayed", _fewest("delayed"), above(0)),
            fact(
                "delayed / every",
                lambda r: _fewest("delayed")(r) / _fewest("every segment")(r),
                between(0.0, 0.75),
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
