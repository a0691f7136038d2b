"""Progress on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Listener(Protocol):
    """What `run` tells about its progress; called about ten times a second."""

    def __call__(self, done: int, total: int) -> None: ...


class Bar:
    """A progress bar with the time left, on stderr; draws nothing when stderr is not a terminal.

    Use as a context manager and as the listener of `crosswind.run`.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TextColumn("runs"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (console.is_terminal and sys.stderr.isatty()),
        )
        self._task = self._progress.add_task(what, total=None)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self._progress.stop()

    def __call__(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)
