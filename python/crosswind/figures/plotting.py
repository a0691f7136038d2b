"""matplotlib, loaded when the first figure is drawn: a run without figures does not wait for it."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from crosswind.optional import load


@cache
def _pyplot() -> ModuleType:
    load("matplotlib", "drawing figures as SVG, PDF or PNG").use("Agg")
    return importlib.import_module("matplotlib.pyplot")


class _Late:
    """Stands for `matplotlib.pyplot`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_pyplot(), name)


plt: Any = _Late()
