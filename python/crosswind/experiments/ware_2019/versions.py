"""Does the model fit version 3 of BBR better or worse than version 1?

The cells of `shares`, each with both versions.

What the source shows: its replication compares the mean distance of model and measurement of both versions.

What may differ here: as in `shares`; version 3 is that of Google's kernel, without ECN. Which cells the replication
averages is not said: all that are printed for version 1 are taken.
"""

from typing import Any

import numpy as np

from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.study import OTHERS, SETTINGS, Cell
from crosswind.reproduce import Results, Scenario

VERSIONS: dict[str, dict[str, Any]] = {"version 1": study.BBR, "version 3": {"preset": "bbr3-google"}}
CELLS = study.cells()


def _name(version: str, c: Cell) -> str:
    return f"{version}, {c.name}"


def configurations() -> dict[str, Scenario]:
    """Every cell with both versions."""
    return {_name(v, c): _scenario(tcp, c) for v, tcp in VERSIONS.items() for c in CELLS}


def _scenario(tcp: dict[str, Any], c: Cell) -> Scenario:
    path, other, seconds = SETTINGS[c.setting]
    return study.scenario(path, c.buffer_bdp, {"bbr": (c.flows, tcp), "other": (1, OTHERS[other])}, seconds)


def _away(r: Results, version: str) -> float:
    """The mean distance of model and measurement over all cells."""
    return float(np.mean([abs(c.model - np.mean(r.of(_name(version, c), "share"))) for c in CELLS]))


CLAIMS: dict[str, Any] = {
    "SA1": {
        "version 1": lambda r: _away(r, "version 1"),
        "version 3": lambda r: _away(r, "version 3"),
        "version 3 over version 1": lambda r: _away(r, "version 3") / _away(r, "version 1"),
    },
}

EXPERIMENT = study.STUDY.experiment(
    __name__, "The model and two versions of BBR", where="model against measurement", reps=2
)
