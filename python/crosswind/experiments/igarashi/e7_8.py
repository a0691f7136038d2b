"""How do the schemes compare, at 96 % load and at less?

Five settings: none; the best MTQ; a careless MTQ; QTL; QTL with that MTQ: (a) model 1 and 10 ms, (b) model 2 and
10 ms, (c) model 2 and 20 ms, (d) model 2 at 84 % load and 10 ms, and at 72 and 48 %. The runs at 96 % are those of
E7.1 to E7.5.

What the source printed (Fig. 7.9, Table 7.5): any control is drastically better than none; the best MTQ is best
but hard to find; QTL with MTQ is better than either careless choice for the worst group. At 72 and 48 % nothing is
lost or late.

What may differ here: as in E7.2.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.igarashi import discard
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import largest

SETTINGS = {
    "(1)": Limits(),
    "(2)": Limits(mtq=3.3),
    "(3)": Limits(mtq=5),
    "(4)": Limits(qtl=10),
    "(5)": Limits(mtq=5, qtl=10),
}
LOADS = {84: 70, 72: 60, 48: 40}
AT_96 = {
    "(a) model 1, 10 ms": (
        1,
        10,
        ["e7-1/model 1", "e7-3/MTQ 3.3", "e7-3/MTQ 5", "e7-4/model 1, QTL 10", "e7-5/model 1, MTQ 5, QTL 10"],
    ),
    "(b) model 2, 10 ms": (2, 10, ["e7-2/none", "e7-2/MTQ 3.3", "e7-2/MTQ 5", "e7-4/QTL 10", "e7-5/MTQ 5, QTL 10"]),
    "(c) model 2, 20 ms": (2, 20, ["e7-2/none", "e7-2/MTQ 6.6", "e7-4/QTL 20", "e7-5/MTQ 10, QTL 20"]),
}


def configurations(**_: Any) -> dict[str, Scenario]:
    """Every setting at each load below 96 %."""
    return {
        f"{load} % {x.label()}": discard.scenario(replace(MODEL_2, flows=(n,) * 5, limits=x))
        for load, n in LOADS.items()
        for x in SETTINGS.values()
    }


def _worst(load: int) -> Quantity:
    """The EPLR of the worst group in the worst setting, seed by seed."""
    return largest(discard.worst(f"{load} % {x.label()}", discard.alike()) for x in SETTINGS.values())


CONTROLS = [f"84 % {x.label()}" for name, x in SETTINGS.items() if name != "(1)"]
CLAIMS = {
    "IC7.16": {
        "g0, none": measures.value("84 % none", "g0_eplr_10"),
        "g0, worst of the controls": measures.median(largest(discard.eplr(c, "g0") for c in CONTROLS)),
        **{f"g0, {c.removeprefix('84 % ')} less none": discard.changed(c, "84 % none") for c in CONTROLS},
    },
    "IC7.17": {f"worst group of all settings, {load} %": _worst(load).then(np.max) for load in (72, 48)},
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.9, one figure for each case."""
    out = []
    for case, (model, ms, names) in AT_96.items():
        bars = {
            c.split("/")[1].removeprefix("model 1, "): {
                g: discard.percent(r, discard.eplr(c, g, ms)) for g in discard.MODELS[model]
            }
            for c in names
        }
        out.append(figures.bars(f"fig-7-9{case[1]}", f"EPLR by scheme, {case} (Fig. 7.9).", bars, "EPLR (%)"))
    bars = {
        x.label(): {g: discard.percent(r, discard.eplr(f"84 % {x.label()}", g)) for g in discard.MODELS[2]}
        for x in SETTINGS.values()
    }
    out.append(figures.bars("fig-7-9d", "EPLR by scheme, (d) 84 % load, 10 ms (Fig. 7.9).", bars, "EPLR (%)"))
    return out


EXPERIMENT = discard.experiment(
    __name__, "Summary of the schemes, and lower loads", uses=("e7-1", "e7-2", "e7-3", "e7-4", "e7-5")
)
