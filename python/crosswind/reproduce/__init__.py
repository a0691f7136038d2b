"""Published experiments: what they are, what they claim, and what comes out when they are run again.

| file | holds |
|---|---|
| `experiment` | an experiment, the study it belongs to, its results |
| `claims/` | claims, their bands and verdicts |
| `one` | one experiment, run and judged |
| `campaign` | many, each in a process of its own |
| `report` | the page of one |
| `readings` | what a source leaves open, and how claims come out under each reading of it |
| `pages` | the pages of docs/reproduction |
| `scoreboard` | a page of all claims |
| `explain` | phenomena: small runs that show one effect each |
| `catalogue` | all experiments, found by their place |
| `new` | the files of a new experiment |
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crosswind.errors import InputError
from crosswind.run import Ties
from crosswind.run.progress import Listener

if TYPE_CHECKING:
    from crosswind.figures import Picture
    from crosswind.reproduce.claims import Measure, MissingDataError, measures, needed, quantities
    from crosswind.reproduce.claims.measures import Measures, seeds
    from crosswind.reproduce.claims.quantities import Quantity, measured
    from crosswind.reproduce.experiment import (
        Configurations,
        Definition,
        Experiment,
        Results,
        Study,
        Tables,
        Variant,
        definitions,
        published,
        variants,
    )
    from crosswind.reproduce.one import Outcome
    from crosswind.results import Runs
    from crosswind.scenario import Scenario

#: What an experiment is written with, and the function that runs one.
__all__ = [
    "Configurations",
    "Definition",
    "Experiment",
    "Measure",
    "Measures",
    "MissingDataError",
    "Picture",
    "Quantity",
    "Results",
    "Runs",
    "Scenario",
    "Study",
    "Tables",
    "Variant",
    "definitions",
    "measured",
    "measures",
    "needed",
    "published",
    "quantities",
    "reproduce",
    "seeds",
    "variants",
]
OF_CLAIMS = {
    "claim": ("Measure", "needed"),
    "measures": ("measures", "Measures", "seeds"),
    "quantities": ("quantities", "Quantity", "measured"),
}


def __getattr__(name: str) -> Any:
    """Loads what an experiment is made of when one asks for it, so that others do not wait for it."""
    for of, names in OF_CLAIMS.items():
        if name in names:
            module = importlib.import_module(f"crosswind.reproduce.claims.{of}")
            return module if name == of else getattr(module, name)
    if name in __all__:
        return getattr(importlib.import_module("crosswind.reproduce.experiment"), name)
    raise AttributeError(f"module 'crosswind.reproduce' has no attribute {name!r}")


def reproduce(
    experiment: str,
    *,
    out: str | Path | None = None,
    reps: int | None = None,
    size: Literal["full", "quick"] = "full",
    seed: int | None = None,
    workers: int | None = None,
    variant: str = "",
    ties: Ties = "fixed",
    changes: Sequence[str] = (),
    again: bool = False,
    progress: Listener | None = None,
) -> Outcome:
    """Runs a published experiment, checks its claims, and writes tables and report; returns all of it.

    `experiment`: its id, such as "jarvinen-2006/w2-e0" (`crosswind list experiments` names all).
    `out`: the folder for its results (default: `out/<id>`); runs that lie there already are not made again, unless
    `again`. `reps`, `seed`: repetitions and base seed instead of its own; `size="quick"` makes a tenth of the
    repetitions. `workers`: threads (default: all cores). `variant`: another reading of what its source leaves open.
    `ties`: "shuffled" permutes simultaneous events. `changes`: `path=value` for every scenario; claims are marked so.
    `progress`: called with (done, total) runs about ten times a second.

    The outcome has `rows`, a list of one dict for each claim: `claim`, `verdict`, `published`, `measured` (texts with
    units), and `results`, whose `runs` and `tables` hold frames with one row per configuration and repetition.

    Raises InputError for an unknown experiment, variant or change, InterruptedRunError after Ctrl-C (finished runs are
    kept), RunFailedError when a run broke down.
    """
    from crosswind.reproduce import catalogue, one

    chosen = catalogue.find(experiment)
    if len(chosen) != 1:
        raise InputError("experiment", found=f"`{experiment}`, which names {len(chosen)}", expected="one experiment")
    plan = one.Plan(
        reps=reps, size=size, seed=seed, workers=workers, variant=variant, ties=ties,
        figures="report", again=again, changes=tuple(changes),
    )  # fmt: skip
    return one.reproduce(chosen[0], Path(out or Path("out") / chosen[0].id), plan, progress=progress)
