"""Published experiments, one file each: `experiments/<source>/<id>.py` holds an `EXPERIMENT`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from crosswind.errors import InputError, did_you_mean
from crosswind.experiments.base import Experiment, Results

__all__ = ["Experiment", "Results", "find", "registry"]


@cache
def registry() -> dict[str, Experiment]:
    """Every experiment by id (`jarvinen-2006/w2-e0`), discovered by looking at the files."""
    found: dict[str, Experiment] = {}
    for package in pkgutil.iter_modules(__path__):
        if package.ispkg:
            inside = importlib.import_module(f"{__name__}.{package.name}")
            for module in pkgutil.iter_modules(inside.__path__):
                loaded = importlib.import_module(f"{inside.__name__}.{module.name}")
                experiment = getattr(loaded, "EXPERIMENT", None)
                if isinstance(experiment, Experiment):
                    found[experiment.id] = experiment
    return dict(sorted(found.items()))


def find(name: str) -> list[Experiment]:
    """The experiments that `name` means: one id, all of a source, or "all". Raises InputError for an unknown name."""
    known = registry()
    name = name.strip().strip("/")
    if name == "all":
        return list(known.values())
    if name in known:
        return [known[name]]
    of_source = [e for i, e in known.items() if i.split("/")[0] == name]
    if of_source:
        return of_source
    sources = sorted({i.split("/")[0] for i in known})
    valid = ["all", *sources, *known]
    short = [i for i in known if i.split("/")[1] == name]
    hint = f"did you mean `{short[0]}`?" if short else did_you_mean(name, valid)
    raise InputError("experiment", found=f"`{name}`", expected=f"one of {', '.join(valid)}", hint=hint)
