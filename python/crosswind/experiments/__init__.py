"""Published experiments, one file each: `experiments/<source>/<id>.py` holds an `EXPERIMENT`."""

from __future__ import annotations

import importlib
import pkgutil
from fnmatch import fnmatchcase
from functools import cache

from crosswind.errors import InputError, did_you_mean
from crosswind.experiments.base import Experiment, Results

__all__ = ["Experiment", "Results", "find", "of_study", "registry"]


@cache
def registry() -> dict[str, Experiment]:
    """Every experiment by id (`jarvinen-2006/w2-e0`), discovered by looking at the files."""
    packages = [p.name for p in pkgutil.iter_modules(__path__) if p.ispkg]
    return dict(sorted((e.id, e) for name in packages for e in _of_package(name)))


@cache
def _of_package(name: str) -> tuple[Experiment, ...]:
    inside = importlib.import_module(f"{__name__}.{name}")
    modules = [importlib.import_module(f"{inside.__name__}.{m.name}") for m in pkgutil.iter_modules(inside.__path__)]
    return tuple(e for m in modules if isinstance(e := getattr(m, "EXPERIMENT", None), Experiment))


def of_study(id: str) -> dict[str, Experiment]:
    """The experiments of one source, `jarvinen-2006` or the id of one of them, without loading the others; or none."""
    study = id.split("/")[0]
    packages = {p.name for p in pkgutil.iter_modules(__path__) if p.ispkg}
    package = study.replace("-", "_")
    found = _of_package(package) if package in packages else ()
    return {e.id: e for e in sorted(found, key=lambda e: e.id) if e.id.split("/")[0] == study}


def find(name: str) -> list[Experiment]:
    """The experiments that `name` means: one id, all of a source, "all", or a pattern such as `igarashi/e[67]-*`.

    Raises InputError for an unknown name.
    """
    name = name.strip().strip("/")
    if matching := [e for id, e in registry().items() if fnmatchcase(id, name)] if set(name) & set("*?[") else []:
        return matching
    study = of_study(name)
    if name in study:
        return [study[name]]
    if study and "/" not in name:
        return list(study.values())
    known = registry()
    if name == "all":
        return list(known.values())
    sources = sorted({i.split("/")[0] for i in known})
    valid = ["all", *sources, *known]
    short = [i for i in known if i.split("/")[1] == name]
    hint = f"did you mean `{short[0]}`?" if short else did_you_mean(name, valid)
    own = [i for i in known if i.split("/")[0] == name.split("/")[0]]
    every = f"all, {', '.join(sources)}, or one experiment of them (`crosswind list experiments`)"
    raise InputError("experiment", found=f"`{name}`", expected=f"one of {', '.join(own)}" if own else every, hint=hint)
