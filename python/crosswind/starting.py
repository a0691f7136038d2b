"""Ctrl-C while the command is still being loaded: the same words and exit code as later, instead of a traceback.

Loading takes a good part of a second, more the first time. This module comes before everything that takes long; it does
nothing where Crosswind is used as a library.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType


def _is_command() -> bool:
    """Whether the interpreter was started as `crosswind ..` or `python -m crosswind ..`."""
    words = sys.orig_argv[1:6]
    script = bool(words) and words[0].split("/")[-1] == "crosswind"
    return script or ["-m", "crosswind"] in [words[i : i + 2] for i in range(len(words))]


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"crosswind: interrupted\n")
    os._exit(130)


def loading() -> None:
    """From now on Ctrl-C ends the process at once, if it is the command. A signal that is ignored stays ignored.

    Nothing that is loaded is given back: nobody need look for what could be, until all of it is there.
    """
    if not _is_command():
        return
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def loaded() -> None:
    """From now on Ctrl-C is an exception again: there may be something to keep."""
    if _is_command():
        gc.freeze()
        gc.enable()
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


loading()
