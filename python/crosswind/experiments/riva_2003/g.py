"""And a transfer of medium size?

One transfer of 116 800 B, a stream of 601 packets (12 s); four configurations (G). The source's starts and its
outcome are not known here: starts of 0 to 4 s are run (O-19) and reported.

What may differ here: the starts. Everything else is as in the other tests with a stream.
"""

from crosswind.experiments.riva_2003 import mixes, testbed
from crosswind.reproduce import measures

MIX = testbed.MEDIUM
CELLS = {c: MIX.labels(c) for c in testbed.FOUR}
EVERY = [c for cells in CELLS.values() for c in cells]
TRENDS = [(cells[-1], cells[0]) for cells in CELLS.values()]
AGAIN = measures.differences(TRENDS, "tcp_retx")
CLAIMS = {
    "R99": measures.each(EVERY, "tcp_elapsed_s")
    | measures.each(EVERY, "tcp_retx", word=", retransmitted")
    | measures.differences(TRENDS, "tcp_elapsed_s")
    | {f"{label}, retransmitted": m for label, m in AGAIN.items()}
}


EXPERIMENT = mixes.declare(__name__, MIX, "A medium transfer beside a stream", "5-21", starts_s=(0.0, 4.0))
