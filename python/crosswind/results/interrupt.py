"""Ctrl-C: held back while something is being written."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Ends of pipes that can be read from when Ctrl-C was pressed.
_heeding: list[int] = []


@contextmanager
def held() -> Iterator[None]:
    """Lets the block finish when Ctrl-C is pressed inside it, then raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def heeded() -> Iterator[None]:
    """Inside of `held`: a long step that ends soon after Ctrl-C, with KeyboardInterrupt, for what it does can go.

    Polars does not stop a query for Ctrl-C, and Python's own handler waits for it; so tables that are made part by part
    ask `is_unwanted`, which a pipe tells.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told)
    _heeding.append(heard)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        _heeding.remove(heard)
        pressed = _readable(heard) and signal.SIGINT in os.read(heard, 64)
        os.close(heard)
        os.close(told)
    if pressed:
        raise KeyboardInterrupt


def is_unwanted() -> bool:
    """Whether Ctrl-C was pressed inside of `heeded`, seen from any thread."""
    return any(_readable(heard) for heard in tuple(_heeding))


def _readable(heard: int) -> bool:
    return bool(select.select([heard], [], [], 0)[0])
