"""The compiled engine: JSON text in, columns out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class ScenarioError(Exception):
    """A scenario is wrong."""

    path: str
    found: str
    expected: str
    hint: str

def version() -> str: ...
def schema() -> str: ...
def registry() -> str: ...
def validate(scenario_json: str) -> str: ...
def run_many(
    scenarios: list[str],
    seed: int,
    reps: list[int],
    reps_total: int,
    workers: int,
    shuffle_ties: bool = False,
    progress: Callable[[int, int], None] | None = None,
    laws: dict[str, Callable[[], Any]] | None = None,
    look_ahead: bool = True,
    folder: str | None = None,
    block: int = 0,
) -> dict[str, Any]: ...

class LawFacts:
    """What a window law of one's own hears. Windows in segments, times in seconds."""

    now_s: float
    cwnd: float
    ssthresh: float
    flight: float
    acked: float
    rtt_s: float | None
    may_grow: bool
    delivered: float
    lost: float
    ce: float
    in_flight: float
    recovering: bool
    rate: float | None
    app_limited: bool
    least_rtt_s: float | None
    rounds: int
    why: str | None

def red_trace(
    params_json: str,
    seed: int,
    time_ns: npt.NDArray[np.int64],
    backlog_bytes: npt.NDArray[np.int64],
    ect: npt.NDArray[np.uint8],
) -> dict[str, npt.NDArray[Any]]: ...
def law_adaptor(stack: str) -> list[tuple[str, str]]: ...
def law_drive(tcp_json: str, drive_json: str, seed: int) -> dict[str, Any]: ...
def early_curve(tcp_json: str, delays_s: list[float]) -> npt.NDArray[np.float64]: ...
