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

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004 import overlay
from crosswind.experiments.gurtov_2004.overlay import by_start
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
from crosswind.reproduce import Results, Scenario, seeds

UMTS_BPS = SYSTEMS["UMTS"]["bps"]


def configurations(segment_bytes: int = SEGMENT_BYTES, **sender: Any) -> dict[str, Scenario]:
    """Both ways, with the queues of each system and with 20 packets everywhere; `sender` are keys of the TCP."""
    flow = tcp(segment_bytes)
    flow["tcp"] |= sender
    queues = (("", None), ("overbuffered", 20))
    return {label(p, w): handover("f6-4", p, {"tcp": flow}, n) for p in (UP, DOWN) for w, n in queues}


@by_start
def adaptation(r: Results, rep: int, configuration: str, bps: float = UMTS_BPS, share: float = 0.95) -> float:
    """Seconds from the handover until each of three seconds running carries `share` of the new link."""
    e = arrivals(r, configuration, "tcp", rep)
    edges = np.arange(HANDOVER_S, END_S + 0.5)
    sizes, _ = np.histogram(e["t"].to_numpy(), bins=edges, weights=e["bytes"].to_numpy())
    full = sizes * 8 >= share * bps
    return next((float(i) for i in range(len(full) - 2) if full[i : i + 3].all()), END_S - HANDOVER_S)


@by_start
def _count(r: Results, rep: int, configuration: str, kind: str, length: float = 30.0) -> float:
    """Events from the handover on."""
    e = r.events(configuration, "tcp", kind, rep=rep)
    return e.filter(pl.col("t").is_between(HANDOVER_S, HANDOVER_S + length, closed="left")).height


@by_start
def _idle(r: Results, rep: int) -> float:
    """Longest time without sending in the 20 s after the handover to GPRS."""
    t = np.sort(r.events(label(DOWN), "tcp", "send", "retransmit", rep=rep)["t"].to_numpy())
    near = t[(t >= HANDOVER_S - 2) & (t <= HANDOVER_S + 20)]
    return float(np.max(np.diff(near)))


OVER_UP, OVER_DOWN = label(UP, "overbuffered"), label(DOWN, "overbuffered")
FLIGHT_S = 5.0
CLAIMS = {
    "G60": {"time to full use": seeds(adaptation(label(UP)))},
    "G61": {
        "drops after the handover": seeds(_count(label(DOWN), "drop")),
        "timeouts": seeds(_count(label(DOWN), "timeout")),
        "longest pause of the sender": seeds(_idle()),
    },
    "G62": {
        "down: drops in the whole run": seeds(_count(OVER_DOWN, "drop")),
        "down: drops in the first 5 s": seeds(_count(OVER_DOWN, "drop", FLIGHT_S)),
        "down: timeouts": seeds(_count(OVER_DOWN, "timeout")),
        "up: time to full use, relative to 7 packets": overlay.of_means(adaptation(OVER_UP), adaptation(label(UP))),
        "up: time to full use": seeds(adaptation(OVER_UP)),
    },
}

SHOWN = {"6-4a": label(UP), "6-4b": label(DOWN), "6-8a": OVER_UP, "6-8b": OVER_DOWN}
pictures = overlay.time_sequences(SHOWN, "tcp", "TCP and a handover at 30 s, {}.", 20, 60)

EXPERIMENT = overlay.experiment(
    __name__,
    "TCP and ideal handovers between GPRS and UMTS, with and without overbuffering",
    where="figures 6.4 and 6.8",
    reps=REPS,
)
