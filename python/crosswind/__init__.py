"""Crosswind: a packet-level laboratory for congestion control, queue management and wireless links.

>>> import crosswind as cw                                                    # doctest: +SKIP
>>> runs = cw.run(cw.Scenario.load("scenarios/gprs.toml"), reps=10)           # doctest: +SKIP
>>> runs.flows().group_by("name").agg(cw.pl.median("goodput_bps"))            # doctest: +SKIP

What stands in `__all__` is public, and so are the modules named there; docs/python-interface.md lists it.
"""

from __future__ import annotations

from crosswind import starting  # isort: skip  # noqa: F401  before what takes long
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl

from crosswind import stats
from crosswind.core import registry, version
from crosswind.errors import CrosswindError, InputError
from crosswind.reproduce import reproduce
from crosswind.results import Metric, Runs, metric, place
from crosswind.run import WindowLaw, run, window_law
from crosswind.scenario import Scenario
from crosswind.sweep import Sweep, design, sweep
from crosswind.theory import early_discard

if TYPE_CHECKING:
    from crosswind import figures
    from crosswind.reproduce import claims
    from crosswind.results import delays, export
    from crosswind.scenario import topology
    from crosswind.suites import characterise, evaluate


class _Room(ModuleType):
    """A room that has the name of a verb. `crosswind.sweep` is the verb, and the modules of the room hang on it."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            setattr(globals()[self.__name__.rpartition(".")[2]], name, value)


for _verb in (run, sweep, reproduce):
    _room = sys.modules[f"crosswind.{_verb.__name__}"]
    _room.__class__ = _Room
    for _name, _value in list(vars(_room).items()):
        setattr(_room, _name, _value)

_LATER = {"claims": "reproduce", "delays": "results", "export": "results", "figures": "", "topology": "scenario"}


def __getattr__(name: str) -> Any:
    """Loads what takes long only when it is asked for."""
    if name in ("characterise", "evaluate"):
        return getattr(importlib.import_module("crosswind.suites"), name)
    if name in _LATER:
        return importlib.import_module(".".join(filter(None, ("crosswind", _LATER[name], name))))
    raise AttributeError(f"module 'crosswind' has no attribute {name!r}")


def compare(new: Runs, old: Runs, *, metrics: Sequence[str] = ()) -> pl.DataFrame:
    """Compares two sets of runs: medians, difference and change with 95 % intervals, effect sizes, p-values.

    `new`, `old`: runs with configurations of the same name, or with one each. With the same seed and repetitions they
    are compared pair by pair. `metrics`: columns of the flow table (default: goodput_bps, elapsed_ns, ...).

    Returns one row per configuration, flow group and metric; values are in the unit in which the metric's name ends,
    changes are shares of the old value. Missing values are null.

    Raises InputError when no configuration or metric fits, MissingExtraError without the extra `stats` (SciPy).
    """
    from crosswind.report import comparison

    return pl.DataFrame([row.as_dict() for row in comparison.results(new, old, metrics)], infer_schema_length=None)


__all__ = [
    "CrosswindError",
    "InputError",
    "Metric",
    "Runs",
    "Scenario",
    "Sweep",
    "WindowLaw",
    "characterise",
    "claims",
    "compare",
    "delays",
    "design",
    "early_discard",
    "evaluate",
    "export",
    "figures",
    "metric",
    "pl",
    "place",
    "registry",
    "reproduce",
    "run",
    "stats",
    "sweep",
    "topology",
    "version",
    "window_law",
]
