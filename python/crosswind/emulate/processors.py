"""Who runs on which processor of the machine, and how it is kept from being late.

The thread that carries the packets gets a processor to itself where there are two or more: a program that shares one
with a thread of fixed priority waits for milliseconds until the kernel moves it elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from pathlib import Path
from typing import IO

PRIORITY = 10


@functools.cache
def clear() -> int | None:
    """Keeps this thread and all it starts off one processor, and returns that one; None where there is only one."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        return None
    kept = max(allowed)
    os.sched_setaffinity(0, allowed - {kept})
    return kept


def settle(thread: int, processor: int | None) -> bool:
    """Gives the driver's thread its processor and asks for a fixed priority; False where the latter is not allowed."""
    if processor is not None:
        os.sched_setaffinity(thread, {processor})
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        return False
    return True


def keep_awake() -> IO[bytes] | None:
    """Keeps idle processors from sleeps that take long to wake from, while the file is open; None if not allowed."""
    try:
        # Closed by whoever holds it, or by the end of the process.
        held = Path("/dev/cpu_dma_latency").open("wb", buffering=0)  # noqa: SIM115
        held.write((0).to_bytes(4, sys.byteorder))
    except OSError:
        return None
    return held


def stolen_s() -> float:
    """Processor time that the host of a virtual machine has given to others so far, all processors together."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        ticks = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[8]
        return int(ticks) / os.sysconf("SC_CLK_TCK")
    return 0.0
