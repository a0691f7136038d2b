"""All experiments, found by their place: `experiments/<study>/<id>.py` holds an `EXPERIMENT`.

This is the one arrow that points upwards, and it names no file: nothing here knows a study before it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from crosswind.errors import InputError, did_you_mean
from crosswind.reproduce.experiment import Experiment

PLACE = "crosswind.experiments"


@cache
def registry() -> dict[str, Experiment]:
    """Every experiment by id (`jarvinen-2006/w2-e0`), discovered by looking at the files."""
    return dict(sorted((e.id, e) for name in _packages() for e in _of_package(name)))


def _packages() -> list[str]:
    return [p.name for p in pkgutil.iter_modules(importlib.import_module(PLACE).__path__) if p.ispkg]


def phenomena() -> list[Any]:
    """What the studies show in small: all `PHENOMENA` of the files `experiments/<study>/phenomena.py`."""
    names = [f"{PLACE}.{package}.phenomena" for package in _packages()]
    return [p for n in names if importlib.util.find_spec(n) for p in importlib.import_module(n).PHENOMENA]


@cache
def _of_package(name: str) -> tuple[Experiment, ...]:
    inside = importlib.import_module(f"{PLACE}.{name}")
    modules = [importlib.import_module(f"{inside.__name__}.{m.name}") for m in pkgutil.iter_modules(inside.__path__)]
    return tuple(e for m in modules if isinstance(e := getattr(m, "EXPERIMENT", None), Experiment))


def of_study(id: str) -> dict[str, Experiment]:
    """The experiments of one source, `jarvinen-2006` or the id of one of them, without loading the others; or none."""
    study = id.split("/")[0]
    package = study.replace("-", "_")
    found = _of_package(package) if package in _packages() else ()
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
    expected = every
    if own:  # where the nearest one is named, the others are not
        source = own[0].split("/")[0]
        expected = f"an experiment of {source} (`crosswind show {source}`)" if hint else f"one of {', '.join(own)}"
    raise InputError("experiment", found=f"`{name}`", expected=expected, hint=hint)
