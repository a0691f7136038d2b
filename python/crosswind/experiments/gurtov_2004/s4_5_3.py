"""How many lost ACKs deceive the ACK heuristic, and how many with delayed ACKs?

The scenario of figure 4.13: the rest of a flight is lost, and one of the segments that the timeout retransmits is lost
a second time. One to five ACKs in a row are lost as well, wherever they lie between the timeout and the duplicates.
The heuristic is deceived when it waits for another timeout where a sender without bugfix retransmits at the third
duplicate. Each segment acknowledged by itself, and delayed ACKs.

What the source says (section 4.5.4): with delayed ACKs fewer lost ACKs suffice, about half.

What may differ here: the source gives no scenario for it. With delayed ACKs the flight before the timeout is shorter,
so other packets are to be dropped for as long a loss: the 15 of the flight from segment 25 on, and the fourth last of
those that are retransmitted, as in figure 4.13. "About half" is taken to mean 0.25 to 0.75: the source gives no number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosswind.experiments.gurtov_2004 import f4_10
from crosswind.experiments.gurtov_2004.traces import experiment
from crosswind.experiments.gurtov_2004.worlds import LOSS_ACKS, RFC1323, listed
from crosswind.reproduce import Results, Scenario, measured


@dataclass(frozen=True)
class Receiver:
    """How it acknowledges, which packets are lost, and the ACKs (from 0) between the timeout and the duplicates."""

    tcp: Mapping[str, Any]
    drops: Sequence[int]
    acks: Sequence[int]


RECEIVERS = {
    "every segment": Receiver({}, LOSS_ACKS, range(15, 27)),
    "delayed": Receiver({"delayed_ack": "100 ms"}, (*range(25, 40), 51), range(14, 21)),
}
RULES = ("no bugfix", "ACK heuristic")
LOST = range(1, 6)


def _places(mode: str, lost: int) -> range:
    acks = RECEIVERS[mode].acks
    return range(acks[0], acks[-1] + 2 - lost)


def _label(mode: str, rule: str, lost: int, place: int) -> str:
    return f"{mode}, {rule}, {lost} lost from {place}"


def configurations() -> dict[str, Scenario]:
    """Every number of lost ACKs at every place, both receivers, the heuristic and the control."""
    out = {}
    for mode, receiver in RECEIVERS.items():
        for rule in RULES:
            tcp = {**RFC1323, **f4_10.RULES[rule], **receiver.tcp}
            for n in LOST:
                for p in _places(mode, n):
                    acks = tuple(range(p, p + n))
                    out[_label(mode, rule, n, p)] = listed("s4-5-3", receiver.drops, tcp, acks)
    return out


def _deceived(r: Results, mode: str, lost: int) -> int:
    """At how many places that many lost ACKs deceive the heuristic."""
    quick = {
        rule: [f4_10.first_is_recovery(_label(mode, rule, lost, p))(r) for p in _places(mode, lost)] for rule in RULES
    }
    return sum(control > heuristic for control, heuristic in zip(*quick.values(), strict=True))


@measured
def _fewest(r: Results, mode: str) -> float:
    """The fewest lost ACKs that deceive the heuristic at some place."""
    return float(next((n for n in LOST if _deceived(r, mode, n)), "nan"))


EVERY, DELAYED = _fewest("every segment"), _fewest("delayed")
CLAIMS = {
    "G39": {
        "every segment acknowledged": EVERY,
        "delayed less every": DELAYED - EVERY,
        "delayed over every": DELAYED / EVERY,
        "delayed / every": DELAYED / EVERY,
    }
}

EXPERIMENT = experiment(__name__, "How many lost ACKs deceive the ACK heuristic", where="section 4.5.4")
