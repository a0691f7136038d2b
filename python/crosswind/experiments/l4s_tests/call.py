"""What does a call cost a long flow: in the L queue of DualPI2, in its Classic queue, behind one CoDel queue?

One greedy flow over 20 Mbit/s and 160 ms for 120 s, as in `one_flow`, and beside it a call of 2.3 Mbit/s (Prague) or
1.8 Mbit/s (CUBIC); goodput of the flow is the mean of the last 60 s.

What the source says: one run each over a real path (2021), with a call of Skype whose packets of more than 1024 bytes
were put into L, or with nothing changed.

What may differ here: the call has a constant rate and datagrams of 1200 bytes, all of which count as long; a real one
has short packets of sound, too, and a rate that moves. In L they are ECT(1), and marked like others; a call does not
answer. The path is a line without losses and jitter, Prague is 0.6. Five repetitions.
"""

from typing import Any

import numpy as np

from crosswind.experiments.l4s_tests import one_flow, study
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

SECONDS = one_flow.SECONDS
HEADERS_B, DATAGRAM_B = 28, 1200
CALL_MBPS = {"prague": 2.3, "cubic": 1.8}
LARGE = {"type": "droptail", "limit": "100000 packets"}
#: Cell of `one_flow`, and the queue of the call; behind CoDel there is one.
CELLS = {
    "DualPI2, prague, call in L": ("DualPI2, prague", "L"),
    "DualPI2, prague, call in C": ("DualPI2, prague", "C"),
    "DualPI2, cubic, call in L": ("DualPI2, cubic", "L"),
    "DualPI2, cubic, call in C": ("DualPI2, cubic", "C"),
    "CoDel, cubic, call": ("CoDel, cubic", "C"),
}


def configurations() -> dict[str, Scenario]:
    """Two queues, two laws, two places of the call."""
    return {cell: _scenario(alone, place) for cell, (alone, place) in CELLS.items()}


def _scenario(alone: str, place: str) -> Scenario:
    """The run without a call, with a second host whose datagrams reach the queue with or without ECT(1)."""
    whole = one_flow.configurations()[alone]
    access = {"to": "middle", "rate": "10 Gbit/s", "delay": "0 ms", "queue": LARGE}
    caller: dict[str, Any] = {"from": "caller", **access}
    if place == "L":
        caller |= {"loss": {"type": "ecn-field", "becomes": "ect1"}, "reverse": {"loss": {"type": "none"}}}
    law = "prague" if "prague" in alone else "cubic"
    datagrams = {"type": "cbr", "payload": f"{DATAGRAM_B - HEADERS_B} B", "rate": f"{CALL_MBPS[law]} Mbit/s"}
    ends = {"from": "caller", "to": "receiver", "start": {"uniform": ["0 s", "50 ms"]}}
    changes: dict[str, Any] = {
        "name": "call",
        "link.line.from": "middle",
        "link.sender": {"from": "sender", **access},
        "link.caller": caller,
        "flow.call": {**ends, "workload": datagrams},
    }
    return whole.with_(changes)


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of the long flow in the steady part (Mbit/s)."""
    return one_flow.tables(runs)


def _over(first: str, second: str) -> Any:
    def ratio(r: Results) -> float:
        return r.mean(first, "goodput") / r.mean(second, "goodput")

    return ratio


def _goodput(cell: str) -> Any:
    return measures.value(cell, "goodput", np.mean)


PRAGUE_L, PRAGUE_C, CUBIC_L, CUBIC_C, CODEL = CELLS
CLAIMS: dict[str, Any] = {
    "LR5": {
        "CUBIC, call in C over call in L": _over(CUBIC_C, CUBIC_L),
        "CUBIC, CoDel over DualPI2 with the call in C": _over(CODEL, CUBIC_C),
        "call in C, CUBIC over Prague": _over(CUBIC_C, PRAGUE_C),
        "Prague, call in C": _goodput(PRAGUE_C),
        "CUBIC, call in L": _goodput(CUBIC_L),
        "CUBIC, call in C": _goodput(CUBIC_C),
        "CUBIC, CoDel": _goodput(CODEL),
    },
    "LR5b": {"Prague, call in L": _goodput(PRAGUE_L)},
}

EXPERIMENT = study.STUDY.experiment(__name__, "A call beside a long flow", where="field runs", reps=5)
