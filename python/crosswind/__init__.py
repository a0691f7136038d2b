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

from crosswind import design, early_discard, place, stats
from crosswind.core import registry, version
from crosswind.errors import CrosswindError, InputError
from crosswind.laws import WindowLaw, window_law
from crosswind.metrics import Metric, metric
from crosswind.run import run
from crosswind.runs import Runs
from crosswind.scenario import Scenario
from crosswind.sweep import Sweep, sweep

if TYPE_CHECKING:
    from crosswind import claims, export, figures, topology


def __getattr__(name: str) -> ModuleType:
    """Loads what needs matplotlib only when it is asked for."""
    if name in ("claims", "export", "figures", "topology"):
        return importlib.import_module(f"crosswind.{name}")
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
