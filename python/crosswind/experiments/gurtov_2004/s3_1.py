"""What do the queue, the packet length and cell reselections of a GPRS link mean for TCP?

Bulk TCP over GPRS: a queue of 50 kB at 30 kbit/s; an uplink queue of 3 packets against 10; IP packets of 576, 1480 and
1500 bytes in LLC frames of 500 bytes; cell reselections that break the link for 3 to 5 s and throw ten packets of the
old cell's buffer away (section 3.1, measured in a live network).

What the source printed: 50 kB of queue add 13 s of delay where 5 kB would do; a queue of 3 packets gives a third of the
uplink throughput; 1480 bytes give 1 % more than 576, and 1500 slightly less than 1480; after a reselection TCP needs
another 5 to 10 s.

What may differ here: terminals and cells of a live network cannot be repeated. The uplink carries 12 kbit/s. Frames of
LLC have 500 bytes, six of them headers, so that 1480 bytes fill three and 1500 need a fourth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.claims import Claim, above, at_most, below, between, near
from crosswind.experiments.base import Results
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.scenario import Scenario

TCP = {"preset": "rfc", "timestamps": "off", "rto_min": "1 s"}
PACKETS = (576, 1480, 1500)
RESELECTION = {"at": ["40 s", "90 s"], "length": {"uniform": ["3 s", "5 s"]}, "discard": 10, "loss": 0.0}


def _bulk(mss: int, window_bytes: int, size: str | None = None) -> dict[str, Any]:
    settings = {
        **TCP,
        "mss": f"{mss} B",
        "window_limit_segments": max(window_bytes // mss, 1),
        "receive_buffer": "1 MB",
    }
    return {"workload": {"type": "bulk"} | ({"size": size} if size else {}), "tcp": settings}


def _framed(packet_bytes: int) -> Scenario:
    """LLC frames of 500 bytes with their headers, on a link of 30 kbit/s."""
    hop = {
        "type": "seawind",
        "rate": "30 kbit/s",
        "delay": "300 ms",
        "mtu": "1600 B",
        "fragment": "494 B",
        "overhead": "6 B",
        "send_buffer": "10 kB",
        "receive_buffer": "10 kB",
        "queue": {"limit": "20 packets"},
    }
    return overlay.world("s3-1", {"tcp": _bulk(packet_bytes - 40, 12_000)}, "600 s", hop=hop)


def configurations(**_: Any) -> dict[str, Scenario]:
    """Queues, packet lengths, reselections."""
    big = {"rate": "30 kbit/s", "delay": "300 ms", "queue": {"limit": "50 kB"}}
    out = {"50 kB": overlay.world("s3-1", {"tcp": _bulk(1460, 200_000)}, "120 s", hop=big)}
    for n in (3, 5, 10):
        hop = {"rate": "12 kbit/s", "delay": "300 ms", "queue": overlay.queue("DT", n)}
        out[f"uplink {n}"] = overlay.world("s3-1", {"tcp": _bulk(1460, 64_000)}, "600 s", hop=hop)
    out |= {f"packets {n}": _framed(n) for n in PACKETS}
    hop = {"rate": "36 kbit/s", "delay": "300 ms", "queue": {"limit": "50 kB"}, "spikes": RESELECTION}
    flow = {"tcp": _bulk(1460, 20_000)}
    out["reselection"] = overlay.world("s3-1", flow, "140 s", hop=hop, record={"events": "all"})
    return out


def _repair(r: Results) -> float:
    """Mean time from the end of a break until new data arrives at the receiver again, over breaks and repetitions."""
    times = []
    for rep in range(r.runs.runs().filter(pl.col("configuration") == "reselection").height):
        got = overlay.events(r, "reselection", "tcp", "receive", "receiver", rep).filter(pl.col("len") > 0)
        dropped = overlay.events(r, "reselection", "tcp", "lost", "sender", rep)
        for start in (40.0, 90.0):
            gone = dropped.filter((pl.col("t") >= start) & (pl.col("t") < start + 1))
            if gone.is_empty():
                continue
            highest = float(gone["seq"].max())  # type: ignore[arg-type]
            resumed = float(got.filter(pl.col("t") > start + 1.0)["t"].min())  # type: ignore[arg-type]
            needed = gone["seq"].to_list()
            arrived = got.filter((pl.col("t") > start) & pl.col("seq").is_in(needed) & (pl.col("seq") <= highest))
            times.append(float(arrived["t"].max()) - resumed)  # type: ignore[arg-type]
    return float(np.mean(times))


def _lost(r: Results) -> float:
    return float(np.mean(r.of("reselection", "hop_drops_handover_packets"))) / 2


CLAIMS = (
    Claim(
        "G86",
        "A queue of 50 kB at 30 kbit/s adds 13 s of delay",
        "13 s",
        [
            overlay.Part(
                "longest one-way delay less the empty link's",
                lambda r: overlay.estimate(np.mean, r.of("50 kB", "tcp_delay_max_ns") / 1e9 - 0.35 - 0.4),
                near(13.3, 0.7),
                "13 s",
                "s",
            )
        ],
    ),
    Claim(
        "G87",
        "A queue of 3 packets gives a third of the uplink throughput",
        "1/3",
        [
            overlay.ratio("3 over 10 packets", "uplink 3", "uplink 10", "tcp_goodput_bps", between(0.2, 0.5)),
            overlay.ratio("5 over 10 packets", "uplink 5", "uplink 10", "tcp_goodput_bps"),
        ],
    ),
    Claim(
        "G88",
        "IP packets of 1480 bytes give 1 % more than those of 576, and those of 1500 less than those of 1480",
        "+1 %; less",
        [
            overlay.ratio("1480 over 576", "packets 1480", "packets 576", "tcp_goodput_bps", above(1.0)),
            overlay.ratio("1500 over 1480", "packets 1500", "packets 1480", "tcp_goodput_bps", below(1.0)),
        ],
    ),
    Claim(
        "G89",
        "A reselection of 3 to 5 s that loses ten packets: TCP needs another 5 to 10 s",
        "5-10 s",
        [
            overlay.count("until what was lost has arrived", _repair, between(3, 12), "s", "5-10 s", 1),
            overlay.count("packets lost in a reselection", _lost, at_most(10), "", "about 10", 1),
        ],
    ),
)

EXPERIMENT = study.experiment(
    "s3-1",
    "Queue, packet length and cell reselection of a GPRS link",
    __doc__,
    configurations,
    CLAIMS,
    where="section 3.1",
    tables=overlay.repetition,
    reps=5,
)
