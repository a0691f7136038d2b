"""Do burstier sources change the order of the schemes?

Mean active and silent periods of 250/650, 450/650 and 3500/6500 ms at the same mean rate, model 2 at 96 % load,
limit 10 ms: none, MTQ 3.3, MTQ 5, QTL 10, MTQ 5 with QTL 10.

What the source printed: tried and found similar, not shown.
"""

from dataclasses import replace
from typing import Any

from crosswind import figures
from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.reproduce import Picture, Results, Scenario

BURSTS = ((250, 650), (450, 650), (3500, 6500))
SCHEMES = (Limits(), Limits(mtq=3.3), Limits(mtq=5), Limits(qtl=10), Limits(mtq=5, qtl=10))
NONE, BEST, MTQ, QTL, BOTH = (x.label() for x in SCHEMES)
# Which scheme serves the longest path better than which.
ORDERS = ((BEST, QTL), (BEST, MTQ), (BOTH, MTQ), (BOTH, QTL), (QTL, NONE))


def configurations(**_: Any) -> dict[str, Scenario]:
    """Every scheme at each burst length."""
    return {
        f"{on}-{off} {x.label()}": discard.scenario(replace(MODEL_2, on_ms=on, off_ms=off, limits=x))
        for on, off in BURSTS
        for x in SCHEMES
    }


CLAIMS = {
    "IC7.26": {
        f"g0, {on}/{off}: {better} against {worse}": discard.over(f"{on}-{off} {better}", f"{on}-{off} {worse}")
        for on, off in BURSTS
        for better, worse in ORDERS
    }
}


def pictures(r: Results) -> list[Picture]:
    """The longest path's EPLR by scheme and burst length."""
    bars = {
        f"{on}/{off} ms": {
            x.label(): discard.percent(r, discard.eplr(f"{on}-{off} {x.label()}", "g0")) for x in SCHEMES
        }
        for on, off in BURSTS
    }
    return [figures.bars("e7-15", "EPLR of group 0 by scheme and length of bursts.", bars, "EPLR of g0 (%)")]


EXPERIMENT = discard.experiment(__name__, "Other lengths of bursts")
