"""How does TCP take a handover between GPRS and UMTS, and does a queue as large as the largest path help?

One TCP download; at 30 s the last hop becomes another system at one moment: rate, delay and queue of table 2.1 (7
packets for GPRS, 20 for UMTS). Then the same with 20 packets everywhere, "overbuffering" (figures 6.4 and 6.8).

What the source printed: GPRS to UMTS takes about 10 s until UMTS is used in full (4 s of underutilisation in another
place); UMTS to GPRS overflows the queue, loses many segments, and waits several seconds for a timeout. With 20 packets
everywhere the first has no visible underutilisation and the second neither losses nor a timeout.

What may differ here: segments of 1000 bytes as in the source's chapters 4 and 5, ten start times instead of one trace
(decision 0028). "In full" is the first time after which 95 % of what a second can carry is delivered in each of three
seconds running, the end of the run where that never is. The uplink has 10 and 64 kbit/s. The threshold of slow start
begins at the window, as in ns-2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    REPS,
    SEGMENT_BYTES,
    SYSTEMS,
    UP,
    arrivals,
    handover,
    label,
    tcp,
)
from crosswind.reproduce import Measure, MissingDataError, Picture, Results, Scenario, measures

UMTS_BPS = SYSTEMS["UMTS"]["bps"]


def configurations(segment_bytes: int = SEGMENT_BYTES, **sender: Any) -> dict[str, Scenario]:
    """Both ways, with the queues of each system and with 20 packets everywhere; `sender` are keys of the TCP."""
    flow = tcp(segment_bytes)
    flow["tcp"] |= sender
    queues = (("", None), ("overbuffered", 20))
    return {label(p, w): handover("f6-4", p, {"tcp": flow}, n) for p in (UP, DOWN) for w, n in queues}


def adaptation(r: Results, configuration: str, rep: int, bps: float = UMTS_BPS, share: float = 0.95) -> float:
    """Seconds from the handover until each of three seconds running carries `share` of the new link."""
    e = arrivals(r, configuration, "tcp", rep)
    edges = np.arange(HANDOVER_S, END_S + 0.5)
    sizes, _ = np.histogram(e["t"].to_numpy(), bins=edges, weights=e["bytes"].to_numpy())
    full = sizes * 8 >= share * bps
    return next((float(i) for i in range(len(full) - 2) if full[i : i + 3].all()), END_S - HANDOVER_S)


def _window(r: Results, configuration: str, kind: str, rep: int, length: float = 30.0) -> int:
    try:
        e = overlay.events(r, configuration, "tcp", kind, "sender", rep)
    except MissingDataError:
        return 0
    return e.filter((pl.col("t") >= HANDOVER_S) & (pl.col("t") < HANDOVER_S + length)).height


def _idle(r: Results, rep: int) -> float:
    """Longest time without sending in the 20 s after the handover to GPRS."""
    e = r.runs.events(flow="tcp").filter(
        (pl.col("configuration") == label(DOWN))
        & (pl.col("rep") == rep)
        & (pl.col("end") == "sender")
        & pl.col("kind").is_in(["send", "resend"])
    )
    t = np.sort(e["time_ns"].to_numpy() / 1e9)
    near = t[(t >= HANDOVER_S - 2) & (t <= HANDOVER_S + 20)]
    return float(np.max(np.diff(near)))


def _count(configuration: str, kind: str, length: float = 30.0) -> Measure:
    return overlay.over_starts(lambda r, rep: _window(r, configuration, kind, rep, length))


def _exceptions(configuration: str, of: Callable[[int], bool]) -> Measure:
    """How many of the starts contradict what was printed of timeouts after the handover (rule S7)."""
    return measures.number(
        lambda r: [bool(n) for n in overlay.of_starts(r, lambda r, rep: of(_window(r, configuration, "timeout", rep)))]
    )


OVER_UP, OVER_DOWN = label(UP, "overbuffered"), label(DOWN, "overbuffered")
FLIGHT_S = 5.0
CLAIMS = {
    "G60": {"time to full use": overlay.over_starts(lambda r, rep: adaptation(r, label(UP), rep))},
    "G61": {
        "drops after the handover": _count(label(DOWN), "drop"),
        "timeouts": _count(label(DOWN), "timeout"),
        "starts without a timeout": _exceptions(label(DOWN), lambda timeouts: timeouts < 1),
        "longest pause of the sender": overlay.over_starts(_idle),
    },
    "G62": {
        "down: drops in the whole run": _count(OVER_DOWN, "drop"),
        "down: drops in the first 5 s": _count(OVER_DOWN, "drop", FLIGHT_S),
        "down: timeouts": _count(OVER_DOWN, "timeout"),
        "down: starts with a timeout": _exceptions(OVER_DOWN, lambda timeouts: timeouts > 0),
        "up: time to full use, relative to 7 packets": overlay.means_over_starts(
            lambda r, rep: adaptation(r, OVER_UP, rep), lambda r, rep: adaptation(r, label(UP), rep)
        ),
        "up: time to full use": overlay.over_starts(lambda r, rep: adaptation(r, OVER_UP, rep)),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Time-sequence graphs around the handover (figures 6.4 and 6.8)."""
    out = []
    for name, configuration in (("6-4a", label(UP)), ("6-4b", label(DOWN)), ("6-8a", OVER_UP), ("6-8b", OVER_DOWN)):
        e = (
            r.runs.only(configuration, [0])
            .events(flow="tcp")
            .filter((pl.col("time_ns") > 20e9) & (pl.col("time_ns") < 60e9))
        )
        out.append(figures.time_sequence(f"fig-{name}", f"TCP and a handover at 30 s, {configuration}.", e))
    return out


EXPERIMENT = study.experiment(
    __name__,
    "TCP and ideal handovers between GPRS and UMTS, with and without overbuffering",
    where="figures 6.4 and 6.8",
    tables=overlay.repetition,
    reps=REPS,
)
