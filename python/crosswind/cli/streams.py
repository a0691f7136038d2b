"""The process as it may be started: stdout closed, without room, or with an alphabet of its own; and Ctrl-C."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

NOWHERE = Path(os.devnull)


def make_usable() -> None:
    """What was closed leads nowhere; letters that a stream does not know become question marks; Ctrl-C is heard."""
    if sys.stdout is None:
        sys.stdout = NOWHERE.open("w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = NOWHERE.open("w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")
    # Polars, when it is imported, has waits go on after a signal: they would not end before what they wait for.
    signal.siginterrupt(signal.SIGINT, True)


def forget_stdout() -> None:
    """Nobody reads any more, or nothing fits any more: what is left is dropped, so that Python ends in silence."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = NOWHERE.open("w", encoding="utf-8")
