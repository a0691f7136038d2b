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

from crosswind.core import registry, version
from crosswind.errors import CrosswindError, InputError

if TYPE_CHECKING:
    from crosswind import figures, stats
    from crosswind.reproduce import claims, reproduce
    from crosswind.results import Metric, Runs, delays, export, metric, place
    from crosswind.run import WindowLaw, run, window_law
    from crosswind.scenario import Scenario, topology
    from crosswind.suites import audit, characterise, evaluate
    from crosswind.sweep import Sweep, design, sweep
    from crosswind.theory import early_discard


#: Where the other public names are: modules, and what is in one. They are loaded when somebody asks for them.
_MODULES = {
    **{"figures": "figures", "stats": "stats", "claims": "reproduce.claims", "topology": "scenario.topology"},
    **{name: f"results.{name}" for name in ("delays", "export", "place")},
    **{"design": "sweep.design", "early_discard": "theory.early_discard"},
}
_INSIDE = {
    **dict.fromkeys(("Metric", "Runs", "metric"), "results"),
    **dict.fromkeys(("WindowLaw", "run", "window_law"), "run"),
    **dict.fromkeys(("Sweep", "sweep"), "sweep"),
    **{"Scenario": "scenario", "reproduce": "reproduce"},
    **dict.fromkeys(("audit", "characterise", "evaluate"), "suites"),
}
_VERBS = ("run", "sweep", "reproduce")


class _Room(ModuleType):
    """A room that has the name of a verb. `crosswind.sweep` is the verb, and the modules of the room hang on it."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            setattr(vars(self)[self.__name__.rpartition(".")[2]], name, value)


class _Package(ModuleType):
    """This package. When such a room has been loaded, whoever first asked for it, its verb takes its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            value.__class__ = _Room
            for n, v in list(vars(value).items()):
                setattr(value, n, v)
            value = vars(value)[name]
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"crosswind.{_MODULES[name]}")
    if name in _INSIDE:
        return getattr(importlib.import_module(f"crosswind.{_INSIDE[name]}"), name)
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
    "audit",
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
