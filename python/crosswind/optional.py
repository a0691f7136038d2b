"""Packages that a plain installation does not have, loaded where they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from crosswind.errors import MissingExtraError

#: Package -> the extra that brings it.
EXTRAS = {
    **{"matplotlib": "figures", "scipy": "stats", "pandas": "pandas"},
    **dict.fromkeys(("distributed", "fsspec"), "cluster"),
    **dict.fromkeys(("starlette", "uvicorn"), "studio"),
}


def load(module: str, why: str) -> Any:
    """A module by its dotted name. Raises MissingExtraError, which names the extra, when it is not installed."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        if e.name is None or e.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(why, package, EXTRAS[package]) from None
