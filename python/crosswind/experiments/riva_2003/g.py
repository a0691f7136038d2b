"""And a transfer of medium size?

One transfer of 116 800 B, a stream of 601 packets (12 s); four configurations (G). The source does not print its
starts: 0 to 4 s are run (O-19).

What the source printed, in words: when the stream starts at 0 s drop-tail is faster than later, and sends 13 packets
again where RED sends 5; RED takes the same time at every start.

What may differ here: the starts. Everything else is as in the other tests with a stream.
"""

from typing import Any

from crosswind.experiments.riva_2003 import mixes, testbed
from crosswind.reproduce import measures

MIX = testbed.MEDIUM
CELLS = {c: MIX.labels(c) for c in testbed.FOUR}
EVERY = [c for cells in CELLS.values() for c in cells]
TRENDS = [(cells[-1], cells[0]) for cells in CELLS.values()]
AGAIN = measures.differences(TRENDS, "tcp_retx")


def _change(m: Any) -> Any:
    """The relative change from the second cell to the first."""
    return m[0] / m[1] - 1.0


CLAIMS = {
    "R99": measures.each(EVERY, "tcp_elapsed_s")
    | measures.each(EVERY, "tcp_retx", word=", retransmitted")
    | measures.differences(TRENDS, "tcp_elapsed_s")
    | {f"{label}, retransmitted": m for label, m in AGAIN.items()}
    | measures.differences([(CELLS["TD"][0], later) for later in CELLS["TD"][1:]], "tcp_elapsed_s")
    | {"RED 4 against RED 0": measures.across(["RED 4", "RED 0"], "tcp_elapsed_s", _change)}
}


EXPERIMENT = mixes.declare(__name__, MIX, "A medium transfer beside a stream", "5-21", starts_s=(0.0, 4.0))
