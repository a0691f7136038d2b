"""How many packets of voice-like flows are of no use when nothing limits their delay?

Four cases without control: model 1 and model 2 at 96 % load, judged by 10 and by 20 ms of queueing in all. The fifth,
unequal flow numbers, is in E7.9.

What the source printed (Fig. 7.2, Table 7.2): very high EPLR even with 20 ms, worst for the longest path.

What may differ here: as in E7.2. A single seed scatters by several points without control.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crosswind import figures
from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_1
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import largest, runs

MODEL_2 = "e7-2/none"
CASES = {
    "(1) model 1, 10 ms": ("model 1", 1, 10),
    "(2) model 1, 20 ms": ("model 1", 1, 20),
    "(3) model 2, 10 ms": (MODEL_2, 2, 10),
    "(4) model 2, 20 ms": (MODEL_2, 2, 20),
}


def configurations(**reading: Any) -> dict[str, Scenario]:
    """Model 1; model 2 is that of E7.2."""
    return {"model 1": discard.scenario(replace(MODEL_1, **reading))}


def _eplr(groups: Sequence[str], limit_ms: int) -> dict[str, Measure]:
    return {
        f"{g}, {limit_ms} ms": measures.with_seeds(measures.value(MODEL_2, f"{g}_eplr_{limit_ms}"), 5) for g in groups
    }


NEXT = largest(discard.eplr(MODEL_2, g, 20) for g in ("g1", "g2", "g3", "g4"))
CLAIMS = {
    "IC7.1": _eplr(("g0", "g1", "g3", "g4"), 10),
    "IC7.3": {
        **_eplr(("g0", "g3", "g4"), 20),
        "g0 over the next worst": measures.median(discard.eplr(MODEL_2, "g0", 20) / NEXT),
        "late packets of g3 and g4": measures.median(runs(MODEL_2, "g3_late_20") + runs(MODEL_2, "g4_late_20")),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.2."""
    bars = {
        case: {g: discard.percent(r, discard.eplr(c, g, ms)) for g in discard.MODELS[model]}
        for case, (c, model, ms) in CASES.items()
    }
    return [figures.bars("fig-7-2", "EPLR without control (Fig. 7.2).", bars, "EPLR (%)")]


EXPERIMENT = discard.read_two_ways(__name__, "EPLR without control", uses=("e7-2",))
