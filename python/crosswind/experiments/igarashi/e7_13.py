"""Which MTQ serves flows best whose requirements differ by path?

Model 2; groups 0, 3 and 4 accept 10 ms of queueing, groups 1 and 2 accept 20 ms. EPLR against one MTQ for all,
from the runs of E7.2; MTQ 10 is run here.

What the source printed (Fig. 7.14): 3.3 ms is best again, by the mean over the flows. The values of the settings stand
in E7.14.
"""

from typing import Any

from crosswind import stats
from crosswind.experiments.igarashi import discard, drawing
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.experiments.igarashi.e7_2 import BY_MTQ
from crosswind.reproduce import Picture, Results, Scenario

LIMIT_MS = {"g0": 10, "g1": 20, "g2": 20, "g3": 10, "g4": 10}
TEN = Limits(mtq=10).label()


def configurations(**_: Any) -> dict[str, Scenario]:
    """The point of the sweep that E7.2 leaves out."""
    return discard.sweep(MODEL_2, [Limits(mtq=10)])


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.14."""
    shown = {x: f"e7-2/{c}" for x, c in BY_MTQ.items()} | {10.0: TEN}
    series = {g: discard.curve(r, shown, f"{g}_eplr_{ms}") for g, ms in LIMIT_MS.items()}
    series["mean"] = [(x, stats.median(discard.mean(c, LIMIT_MS)(r)).scaled(100)) for x, c in sorted(shown.items())]
    caption = "EPLR against MTQ with requirements that differ by path (Fig. 7.14)."
    return [drawing.against("fig-7-14", caption, {"": series}, "MTQ (ms)", "EPLR (%)")]


EXPERIMENT = discard.experiment(__name__, "Requirements that differ by path, one MTQ", uses=("e7-2",))
