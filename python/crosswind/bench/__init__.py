"""The benchmarks: how fast is the engine here, and how fast are ns-2 and ns-3 beside it?

`dumbbell`      the table of `crosswind bench`: 1 to 1000 flows, two rates, two queues, side by side with the others
`scale`         what the cost of a packet and the memory of a flow depend on
`many`          many runs on several cores, the start of a run, the cost of recording, an answer of the studio
`instructions`  instruction counts of hot paths, queues and senders, which do not depend on what else the machine does
`page`          all of it as `docs/performance.md` with figures

Everything of ours runs in a fresh process, so that memory is that of the run alone.
"""

from __future__ import annotations

from crosswind.bench.cell import Cell, Spec, all_cells, fresh
from crosswind.bench.dumbbell import cases

# What the page has beside the dumbbell.
PARTS = ("scale", "crowds", "long", "cores", "start", "recording", "answers", "instructions", "queues", "senders")

__all__ = ["PARTS", "Cell", "Spec", "all_cells", "cases", "fresh"]
