"""The C of a law, stepped ACK by ACK beside the law that it follows: how large is the error of whole numbers?"""

from __future__ import annotations

import ctypes
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind.core import core
from crosswind.emulate.port import objects

ACK, LOSS, TIMEOUT = 0, 1, 2
Array = npt.NDArray[Any]

#: Paths on which a law is stepped: round trip, probability of a loss, segments that it holds and where it overflows.
PATHS: tuple[dict[str, Any], ...] = (
    {"rtt": "60 ms", "loss": 1e-3},
    {"rtt": "20 ms", "loss": 1e-4},
    {"rtt": "100 ms", "loss": 1e-5},
    {"rtt": "60 ms", "capacity": 100.0, "limit": 200.0},
    {"rtt": "120 ms", "capacity": 2000.0, "limit": 3000.0},
    {"rtt": "10 ms", "capacity": 30.0, "limit": 40.0, "loss": 1e-3},
)
STEPS = 200_000
MSS_bytes = 1448


@dataclass(frozen=True)
class Error:
    """How far the C was from the law on one path: relative differences of the window, over all steps."""

    path: dict[str, Any]
    steps: int
    losses: int
    largest: float
    mean: float


def begun(law: ctypes.CDLL, now_us: int = 0, cwnd: int = 10, ssthresh: int = 0x7FFFFFFF) -> None:
    """Opens a connection of the C."""
    law.native_begin(ctypes.c_uint64(now_us), ctypes.c_uint32(cwnd), ctypes.c_uint32(ssthresh))


def stepped(law: ctypes.CDLL, kind: Array, now_us: Array, rtt_us: Array, acked: Array | None = None) -> Array:
    """The window of the C before each step, in segments. Arrays of one length; times in microseconds."""
    n = len(kind)
    columns = (
        kind.astype(np.uint8),
        now_us.astype(np.uint64),
        rtt_us.astype(np.int32),
        (np.ones(n) if acked is None else acked).astype(np.uint32),
    )
    seen = np.empty(n)
    law.native_steps(ctypes.c_uint64(n), *(c.ctypes.data_as(ctypes.c_void_p) for c in (*columns, seen)))
    return seen


def driven(tcp: Mapping[str, Any], path: Mapping[str, Any], steps: int, seed: int) -> dict[str, Any]:
    """The law itself, alone on a path: time in seconds and window in segments before every ACK or loss."""
    table = {"preset": "linux-6", "mss": f"{MSS_bytes} B", **tcp}
    how = {"skipped": 0, "counted": steps, "sample": "1 ns", **path}
    found: dict[str, Any] = core().law_drive(json.dumps(table), json.dumps(how), seed)
    return found


def error(library: ctypes.CDLL, tcp: Mapping[str, Any], path: dict[str, Any], steps: int, seed: int = 1) -> Error:
    """Steps both through the same ACKs and losses, and compares their windows at every step."""
    trace = driven(tcp, path, steps, seed)
    time_s, window = (np.asarray(trace[c], dtype=float) for c in ("time_s", "window"))
    base_s = float(path["rtt"].removesuffix(" ms")) / 1e3
    rtt_s = base_s * np.maximum(window / path.get("capacity", np.inf), 1.0)
    kind = np.append(np.where(np.diff(window) < 0, LOSS, ACK), ACK)
    begun(library)
    ours = stepped(library, kind, np.round(time_s * 1e6), np.round(rtt_s * 1e6))
    apart = np.abs(ours / window - 1)
    return Error(path, len(window), int((kind == LOSS).sum()), float(apart.max()), float(apart.mean()))


def errors(text: str, tcp: Mapping[str, Any], steps: int = STEPS, seed: int = 1) -> list[Error]:
    """The error on each of PATHS. Raises MissingError without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        library = objects.for_here(text, Path(folder))
        return [error(library, tcp, path, steps, seed) for path in PATHS]
