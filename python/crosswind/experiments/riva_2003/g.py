"""And a transfer of medium size?

One transfer of 116 800 B, a stream of 601 packets (12 s); four configurations (G). The source's starts and its
outcome are not known here: starts of 0 to 4 s are run (O-19) and reported.

What may differ here: the starts. Everything else is as in the other tests with a stream.
"""

from __future__ import annotations

from crosswind.experiments.riva_2003 import mixes, parts, testbed
from crosswind.experiments.riva_2003.parts import report

MIX = testbed.MEDIUM
CELLS = {c: MIX.labels(c) for c in testbed.FOUR}
EVERY = [c for cells in CELLS.values() for c in cells]


CLAIMS = (
    parts.withheld(
        99,
        "Elapsed time and packets sent again by start of the stream, and their trend",
        [
            *report(EVERY, "tcp_elapsed_s"),
            *report(EVERY, "tcp_retx", unit="", digits=1, word=", sent again"),
            *(
                parts.minus(f"{c}: {word}latest minus earliest start", cells[-1], cells[0], column, unit=unit)
                for word, column, unit in (("", "tcp_elapsed_s", "s"), ("sent again, ", "tcp_retx", ""))
                for c, cells in CELLS.items()
            ),
        ],
    ),
)


EXPERIMENT = mixes.declare(MIX, "A medium transfer beside a stream", __doc__, CLAIMS, "5-21", starts_s=(0.0, 4.0))
