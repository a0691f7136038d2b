"""Can one limit serve flows of different requirements that share a path?

Every group of model 2 consists of 40 flows with a limit of 10 ms (`f0-1`, ..) and 40 with 20 ms (`f0-2`, ..). EPLR
of the ten subgroups against an MTQ that is the same for all, from the runs of E7.2; and MTQ 3.3 and 6.6 for the
two kinds, run here.

What the source printed (Fig. 7.11, Fig. 7.12, case (2)): the best MTQ is 3.3 ms for both kinds; an MTQ by requirement
favours those with 20 ms and hurts the others badly.
"""

from dataclasses import replace
from typing import Any

from crosswind.experiments.igarashi import discard, drawing, study
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.experiments.igarashi.e7_2 import BY_MTQ
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures

LIMIT_MS = {1: 10, 2: 20}
SUBGROUPS = {discard.half(g, n): LIMIT_MS[n] for g in discard.MODELS[2] for n in LIMIT_MS}
OWN = replace(MODEL_2, limits=Limits(mtq=3.3), second=Limits(mtq=6.6))


def configurations(**_: Any) -> dict[str, Scenario]:
    """MTQ by requirement."""
    return {OWN.label(): discard.scenario(OWN)}


def values(configuration: str, label: str) -> dict[str, Measure]:
    """The EPLR of every subgroup by its own limit."""
    return {f"{f}, {label}": measures.value(configuration, f"{f}_eplr_{limit}") for f, limit in SUBGROUPS.items()}


ONE = "e7-2/MTQ 3.3"
CLAIMS = {
    "IC7.20": {
        **values(ONE, "MTQ 3.3"),
        **values(OWN.label(), "MTQ 3.3 / 6.6"),
        **{
            f"{f}, MTQ 3.3 / 6.6 minus {f}, MTQ 3.3": study.difference(
                discard.eplr(OWN.label(), f, limit), discard.eplr(ONE, f, limit)
            )
            for f, limit in SUBGROUPS.items()
            if limit == LIMIT_MS[1]
        },
    }
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.11."""
    shown = {x: f"e7-2/{c}" for x, c in BY_MTQ.items()}
    panels = {
        f"limit {limit} ms": {
            f: discard.curve(r, shown, f"{f}_eplr_{of}") for f, of in SUBGROUPS.items() if of == limit
        }
        for limit in LIMIT_MS.values()
    }
    caption = "EPLR of subgroups with two requirements against one MTQ for all (Fig. 7.11)."
    return [drawing.against("fig-7-11", caption, panels, "MTQ (ms)", "EPLR (%)")]


EXPERIMENT = discard.experiment(__name__, "Two requirements on the same path, one MTQ", uses=("e7-2",))
