"""How does TCP take a handover between GPRS and UMTS, and does a queue as large as the largest path help?

One TCP download; at 30 s the last hop becomes another system at one moment: rate, delay and queue of table 2.1 (7
packets for GPRS, 20 for UMTS). Then the same with 20 packets everywhere, "overbuffering" (figures 6.4 and 6.8).

What the source printed: GPRS to UMTS takes about 10 s until UMTS is used in full (4 s of underutilisation in another
place); UMTS to GPRS overflows the queue, loses many segments, and waits several seconds for a timeout. With 20 packets
everywhere the first has no visible underutilisation and the second neither losses nor a timeout.

What may differ here: segments of 1500 bytes on the wire (the script's 1460 bytes of packet is a variant). "In full" is
the first time after which 95 % of what a second can carry is delivered in each of three seconds running. The uplink has
10 and 64 kbit/s. The threshold of slow start begins at the window, as in ns-2.

G62 fails. Upwards the first slow start, to a window of 50, overflows 20 packets by 24 segments from 11 s on; Reno-SACK
is silent after the first of them, and its timeout comes after the handover, at 43 s, so the queue that should fill
UMTS is empty. With seven packets the same happens 20 s earlier and is over by then. With the window of 30 and the ACK
for each segment of the author's script, or with a sender of today (variants), UMTS is full after 1 s. Downwards nothing
is lost at the handover itself; the two losses come 17 and 27 s later, when congestion avoidance fills 20 packets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.claims import MissingDataError, measures
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    PACKET_BYTES,
    SYSTEMS,
    UP,
    arrivals,
    handover,
    label,
    tcp,
)
from crosswind.figures import Picture
from crosswind.scenario import Scenario

UMTS_BPS = SYSTEMS["UMTS"]["bps"]


def configurations(packet_bytes: int = PACKET_BYTES, **sender: Any) -> dict[str, Scenario]:
    """Both ways, with the queues of each system and with 20 packets everywhere; `sender` are keys of the TCP."""
    flow = tcp(packet_bytes)
    flow["tcp"] |= sender
    queues = (("", None), ("overbuffered", 20))
    return {label(p, w): handover("f6-4", p, {"tcp": flow}, n) for p in (UP, DOWN) for w, n in queues}


def rates(r: Results, configuration: str, flow: str, step: float = 1.0) -> tuple[Any, Any]:
    """What reaches the receiver with its headers, in bits per second, per step."""
    e = arrivals(r, configuration, flow)
    edges = np.arange(0.0, END_S + step / 2, step)
    sizes, _ = np.histogram(e["t"].to_numpy(), bins=edges, weights=e["bytes"].to_numpy())
    return edges[:-1], sizes * 8 / step


def adaptation(r: Results, configuration: str, flow: str, bps: float, share: float = 0.95) -> float:
    """Seconds from the handover until each of three seconds running carries `share` of the new link."""
    t, rate = rates(r, configuration, flow)
    full = (rate >= share * bps) & (t >= HANDOVER_S)
    for i in range(len(t) - 2):
        if full[i : i + 3].all():
            return float(t[i] - HANDOVER_S)
    raise MissingDataError("the new link is never used in full")


def _window(r: Results, configuration: str, kind: str, length: float = 30.0) -> int:
    e = overlay.events(r, configuration, "tcp", kind, "sender")
    return e.filter((pl.col("t") >= HANDOVER_S) & (pl.col("t") < HANDOVER_S + length)).height


def _idle(r: Results, configuration: str) -> float:
    """Longest time without sending in the 20 s after the handover."""
    e = r.runs.events(flow="tcp").filter(
        (pl.col("configuration") == configuration)
        & (pl.col("end") == "sender")
        & pl.col("kind").is_in(["send", "resend"])
    )
    t = np.sort(e["time_ns"].to_numpy() / 1e9)
    near = t[(t >= HANDOVER_S - 2) & (t <= HANDOVER_S + 20)]
    return float(np.max(np.diff(near)))


def _adapts(configuration: str) -> Any:
    return lambda r: adaptation(r, configuration, "tcp", UMTS_BPS)


OVER_UP, OVER_DOWN = label(UP, "overbuffered"), label(DOWN, "overbuffered")
CLAIMS = study.BOOK.claims(
    {
        "G60": {"time to full use": measures.fact(_adapts(label(UP)))},
        "G61": {
            "drops after the handover": measures.fact(lambda r: _window(r, label(DOWN), "drop")),
            "timeouts": measures.fact(lambda r: _window(r, label(DOWN), "timeout")),
            "longest pause of the sender": measures.fact(lambda r: _idle(r, label(DOWN))),
        },
        "G62": {
            "down: drops": measures.fact(lambda r: _window(r, OVER_DOWN, "drop")),
            "down: timeouts": measures.fact(lambda r: _window(r, OVER_DOWN, "timeout")),
            "up: time to full use, relative to 7 packets": measures.fact(
                lambda r: adaptation(r, OVER_UP, "tcp", UMTS_BPS) / adaptation(r, label(UP), "tcp", UMTS_BPS)
            ),
            "up: time to full use": measures.fact(_adapts(OVER_UP)),
        },
    }
)


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
    "f6-4",
    "TCP and ideal handovers between GPRS and UMTS, with and without overbuffering",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 6.4 and 6.8",
    figures=pictures,
    tables=overlay.repetition,
    variants={
        "script-packet": Variant("packets of 1460 bytes, as in the author's script", {"packet_bytes": 1460}),
        "script-sender": Variant(
            "packets of 1460 bytes, a window of 30 and an ACK for each segment, as in the author's script",
            {"packet_bytes": 1460, "window_limit_segments": 30, "initial_ssthresh": "42240 B", "delayed_ack": "0 s"},
        ),
        "rfc-sender": Variant(
            "the sender that the RFCs recommend today",
            {"preset": "rfc", "initial_ssthresh": "1000000 B", "rto_min": "1 s", "timestamps": "on"},
        ),
    },
)
