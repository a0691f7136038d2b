"""matplotlib, loaded when the first figure is drawn: a run without figures does not wait for it."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any


@cache
def _pyplot() -> ModuleType:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


class _Late:
    """Stands for `matplotlib.pyplot`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_pyplot(), name)


plt: Any = _Late()
