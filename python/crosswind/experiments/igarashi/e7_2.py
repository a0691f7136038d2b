"""How far can the limit of one queue (MTQ) be lowered before the network itself loses packets?

Model 2 of chapter 7 at 96 % load: five groups of 80 flows over three congested nodes. All packets carry the same
MTQ, from 16 ms (a full buffer: no effect) down to 0.4 ms, closely around a third of 10 and of 20 ms. The runs serve the
experiments on EPLR against MTQ too (E7.3, E7.10, E7.13), which differ in what the receivers accept, not in the network.

What the source printed (Fig. 7.3): about 2 % of the packets of the longest path are lost without control; losses
grow slightly as MTQ falls to 1.8 ms, and steeply below.

What may differ here: runs of 100 s, and the start of the sources (silent, with an exponential rest), are readings
of our summary. Equality of limit and expected wait admits the packet.
"""

from dataclasses import replace
from typing import Any

from crosswind.experiments.igarashi import discard, drawing
from crosswind.experiments.igarashi.discard import Limits
from crosswind.reproduce import Picture, Results, Scenario, measures

SWEEP = (0.4, 0.8, 1.8, 2.5, 3.1, 3.2, 3.3, 3.4, 4.0, 5.0, 6.0, 6.3, 6.4, 6.5, 6.6, 6.7, 6.8, 8.0, 12.0)
NONE = Limits().label()
BY_MTQ = {x: Limits(mtq=x).label() for x in SWEEP} | {discard.FULL_BUFFER_MS: NONE}


def configurations(**reading: Any) -> dict[str, Scenario]:
    """No limit, and every MTQ of the sweep."""
    return discard.sweep(replace(discard.MODEL_2, **reading), [Limits(), *(Limits(mtq=x) for x in SWEEP)])


def _loss(mtq: float) -> tuple[str, str]:
    return (BY_MTQ[mtq], "g0_loss")


CLAIMS = {
    "IC7.2": {"g0": measures.with_seeds(measures.value(NONE, "g0_loss"), 5)},
    "IC7.4": {
        "1.8 ms against none": measures.with_seeds(measures.ratio(_loss(1.8), _loss(16.0), pairing="paired"), 5),
        "0.4 against 0.8 ms": measures.ratio(_loss(0.4), _loss(0.8), pairing="paired"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.3."""
    panel = {"": discard.curves(r, BY_MTQ, list(discard.MODELS[2]), "loss")}
    return [drawing.against("fig-7-3", "Losses at the nodes against MTQ (Fig. 7.3).", panel, "MTQ (ms)", "lost (%)")]


EXPERIMENT = discard.read_two_ways(__name__, "Node losses against MTQ")
