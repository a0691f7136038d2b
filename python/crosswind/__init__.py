"""Crosswind: a packet-level laboratory for congestion control, queue management and wireless links.

>>> import crosswind as cw                                                    # doctest: +SKIP
>>> runs = cw.run(cw.Scenario.load("scenarios/gprs.toml"), reps=10)           # doctest: +SKIP
>>> runs.flows().group_by("name").agg(cw.pl.median("goodput_bps"))            # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl

from crosswind import stats
from crosswind.core import registry, version
from crosswind.errors import CrosswindError, InputError
from crosswind.results import Metric, Runs, metric, place
from crosswind.run import WindowLaw, run, window_law
from crosswind.scenario import Scenario
from crosswind.sweep import Sweep, design, sweep
from crosswind.theory import early_discard

if TYPE_CHECKING:
    from crosswind import figures
    from crosswind.reproduce import claims
    from crosswind.results import export
    from crosswind.scenario import topology


_LATER = {"claims": "reproduce", "export": "results", "figures": "", "topology": "scenario"}


def __getattr__(name: str) -> ModuleType:
    """Loads what takes long only when it is asked for."""
    if name in _LATER:
        return importlib.import_module(".".join(filter(None, ("crosswind", _LATER[name], name))))
    raise AttributeError(f"module 'crosswind' has no attribute {name!r}")


__all__ = [
    "CrosswindError",
    "InputError",
    "Metric",
    "Runs",
    "Scenario",
    "Sweep",
    "WindowLaw",
    "claims",
    "design",
    "early_discard",
    "export",
    "figures",
    "metric",
    "pl",
    "place",
    "registry",
    "run",
    "stats",
    "sweep",
    "topology",
    "version",
    "window_law",
]
