"""How much of the congestion state should a sender restore after a spurious timeout?

FACK with Eifel and the standard timer on the congested path of table 4.2, restoration options 1 to 4: everything;
half the window; half the window and slow start; the old window as threshold. The same spikes in all four.

What the source printed is withheld here; the values are measured and reported.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Band
from crosswind.experiments.gurtov_2004 import measures, study
from crosswind.experiments.gurtov_2004.measures import mean_part, ratio_part
from crosswind.experiments.gurtov_2004.worlds import transfer
from crosswind.scenario import Scenario

OPTIONS = tuple(f"option {n}" for n in (1, 2, 3, 4))


def configurations(cbr_bytes: int = 210, **reading: Any) -> dict[str, Scenario]:
    """The four options."""
    return {
        o: transfer(
            f"t4-3-{o.replace(' ', '-')}",
            "FACK",
            {"eifel": "on", "spurious_response": o.replace(" ", "-")},
            cbr_bytes=cbr_bytes,
            **reading,
        )
        for o in OPTIONS
    }


CLAIMS = (
    study.withheld(
        20,
        "Download time by restoration option",
        [mean_part(o, o, "time_s", Band(), "", "s") for o in OPTIONS]
        + [ratio_part(f"{o} / option 1", o, "option 1", "time_s", Band()) for o in OPTIONS[1:]],
    ),
    study.withheld(
        21,
        "Segments, spurious and genuine timeouts by restoration option",
        measures.report(OPTIONS, (("segments", "", 0), ("spurious", "", 2), ("genuine", "", 2))),
    ),
)

EXPERIMENT = study.experiment(
    "t4-3",
    "Restoring the congestion state after a spurious timeout",
    __doc__,
    configurations,
    CLAIMS,
    where="table 4.3",
    tables=measures.transfers,
    reps=100,
)
