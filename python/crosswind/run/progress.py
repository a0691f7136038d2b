"""Progress on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress


class Listener(Protocol):
    """What `run` tells about its progress: after each part of the work, and twice a second meanwhile.

    What it raises ends the runs, and comes out of `run`.
    """

    def __call__(self, done: int, total: int) -> None: ...


class Bar:
    """A progress bar with the time left, on stderr; draws nothing when stderr is not a terminal.

    Use as a context manager and as the listener of `crosswind.run`.
    """

    def __init__(self, what: str) -> None:
        self._progress = _drawn() if sys.stderr.isatty() else None
        self._task = self._progress.add_task(what, total=None) if self._progress else None

    def __enter__(self) -> Bar:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        if self._progress:
            self._progress.stop()

    def __call__(self, done: int, total: int) -> None:
        if self._progress and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)


def _drawn() -> Progress:
    from rich import progress  # takes long to load, and a pipe does not need it
    from rich.console import Console

    console = Console(stderr=True)
    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=32),
        progress.MofNCompleteColumn(),
        progress.TextColumn("runs"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
