"""And a transfer of medium size?

One transfer of 116 800 B, a stream of 601 packets (12 s); four configurations (G). The source's starts and its
outcome are not known here: starts of 0 to 4 s are run (O-19) and reported.

What may differ here: the starts. Everything else is as in the other tests with a stream.
"""

from __future__ import annotations

from typing import Any

from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import mixes, parts, study, testbed
from crosswind.experiments.riva_2003.parts import across, report
from crosswind.figures import Picture
from crosswind.scenario import Scenario

MIX = testbed.MEDIUM
TD, RED, TD_DS, RED_DS = (MIX.labels(c) for c in testbed.FOUR)
EVERY = [*TD, *RED, *TD_DS, *RED_DS]


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twenty cells."""
    return mixes.cells(MIX, variant)


CLAIMS = (
    parts.withheld(
        99,
        "Elapsed time and packets sent again by start of the stream, and their trend",
        [
            *report(EVERY, "tcp_elapsed_s"),
            *report(EVERY, "tcp_retx", unit="", digits=1, word=", sent again"),
            *(
                across(
                    f"{c}: latest minus earliest start",
                    [cells[-1], cells[0]],
                    "tcp_elapsed_s",
                    lambda m: m[0] - m[1],
                    unit="s",
                )
                for c, cells in zip(testbed.FOUR, (TD, RED, TD_DS, RED_DS), strict=True)
            ),
            *(
                across(
                    f"{c}: sent again, latest minus earliest start",
                    [cells[-1], cells[0]],
                    "tcp_retx",
                    lambda m: m[0] - m[1],
                    digits=1,
                )
                for c, cells in zip(testbed.FOUR, (TD, RED, TD_DS, RED_DS), strict=True)
            ),
        ],
    ),
)


def pictures_of(r: Results) -> list[Picture]:
    """Figure 5-21."""
    return [
        mixes.statistics_picture(
            r, MIX, "fig-5-21", "A medium transfer beside a stream (Fig. 5-21): medians and quartiles."
        )
    ]


EXPERIMENT = study.experiment(
    "g",
    "A medium transfer beside a stream",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    headline=mixes.headline(MIX, (0.0, 4.0)),
)
