"""How do a web page and an audio stream fare together at 384 kbit/s, and with hardly any buffer in the link?

Two bulk transfers of 4800 segments, the page of W3 and two bursts of the stream; page and stream start independently
in the first 13.5 s. The router's queue is 20 packets (twelve configurations) or 80 (the six without ECN), the link's
send buffer as printed or a single packet (LSB1). 40 repetitions, as in the source.

What the source printed: no spurious timeouts of the page; Enhanced TCP has no drops with B80, and with B20 only the
slower flow has. Classes shorten the page's time by 29 % with B80, hardly with B20.

What may differ here: as for W4 at this speed. Repetitions whose hosts remember nothing (the first ones, and after a
flush of the cache) overshoot as Baseline TCP does; claims about Enhanced TCP leave them out, as the source does. The
comparison "more than 50 % cut" of LSB1 is read as classes against one queue with B80; the other one, against the
normal link buffer, is reported.

The claims about all workloads together are listed here, since this is the last one.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, stream, study, testbed, w5
from crosswind.experiments.jarvinen_2006.w5 import OVERALL, RESPONSE
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures

WORKLOAD = w5.workload("w5h", 4800 * testbed.MSS)
NORMAL = (*(f"B20 {c}" for c in testbed.TWELVE), *(f"B80 {c}" for c in testbed.TWELVE if not c.endswith("+ECN")))
MINIMAL = tuple(f"LSB1 {c}" for c in NORMAL)
WARM = (pl.col("slower_ssthresh_initial") < 65535) & (pl.col("faster_ssthresh_initial") < 65535)
ALL_WORKLOADS = {"W1": "w1-e0", "W2": "w2-e0", "W3": "w3-e0", "W4": "w4-e0", "W5": "w5-e0"}
PLACES = {"W1": "w1-e0/", "W2": "w2-e0/", "W3": "w3-e0/", "W4": "w4-e0/", "W4h": "w4h/B20 "}
STEADY = {
    f"IQR of the slower flow, {w} {c}": f"{ALL_WORKLOADS[w]}/{c}"
    for w, c in (("W1", "BL"), ("W1", "BL+ECN"), ("W1", "ETCP"), ("W1", "ETCP+ECN"), ("W3", "BL"), ("W4", "BL"))
}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Eighteen configurations, and the same with a minimal link buffer."""
    return testbed.configurations(WORKLOAD, (*NORMAL, *MINIMAL), variant, speed=384)


def _beyond_transmission(r: Results, cell: str, workload: str) -> Any:
    """Seconds from the first start to the last end in which the link does not transmit, in whole milliseconds."""
    segment, packet = (0.012, 0.001) if workload == "W4h" else (0.072, 0.009)
    heard = r.of(cell, "audio_sent") - r.of(cell, "audio_missing") if workload in ("W4", "W4h") else 0.0
    segments = (r.of(cell, "object_bytes") - heard * testbed.STREAM_PACKET_BYTES) / testbed.MTU
    return r.of(cell, "total_elapsed_s") - segments * segment - heard * packet


def _overhead(cell: str, workload: str) -> Measure:
    return lambda r: stats.median(_beyond_transmission(r, cell, workload))


def _more_overhead(place: str, workload: str) -> Measure:
    return lambda r: stats.difference(*(_beyond_transmission(r, place + tcp, workload) for tcp in ("BL", "ETCP")))


def _uneven(r: Results) -> Any:
    """How unevenly drops hit the two bulk flows, ETCP in W4."""
    return np.abs(r.of("w4-e0/ETCP", "faster_drops") - r.of("w4-e0/ETCP", "slower_drops"))


CLAIMS = {
    "J124": measures.each([c for c in NORMAL if c.split()[1] in ("BL", "ETCP")], OVERALL)
    | measures.changes(((f"{b} ETCP", f"{b} BL") for b in ("B20", "B80")), OVERALL),
    "J125": measures.each(NORMAL, RESPONSE)
    | measures.changes(((f"{b} {t}+DS", f"{b} {t}") for b in ("B80", "B20") for t in ("BL", "ETCP")), RESPONSE),
    "J126": {
        "largest count of spurious timeouts": stream.extreme(NORMAL, "page_spurious", np.max),
        "repetitions with a spurious timeout": measures.number(
            lambda r: measures.pooled(r, NORMAL, "page_spurious") > 0
        ),
    }
    | measures.changes(((f"LSB1 B80 {t}+DS", f"LSB1 B80 {t}") for t in ("BL", "ETCP")), RESPONSE)
    | parts.changes(["LSB1 B80 BL+DS"], "B80 BL+DS", RESPONSE),
    "J127": {
        f"largest count, {role}, B80 ETCP": measures.value("B80 ETCP", f"{role}_drops", of=np.max, where=WARM)
        for role in w5.ROLES
    }
    | {
        "largest count, faster, B20 ETCP": measures.value("B20 ETCP", "faster_drops", of=np.max, where=WARM),
        "repetitions with drops of the faster flow, B20 ETCP": measures.number(
            lambda r: r.of("B20 ETCP", "faster_drops", WARM) > 0
        ),
        "median, slower, B20 ETCP": measures.value("B20 ETCP", "slower_drops", of=np.median, where=WARM),
    },
    "J128": {w: measures.change(f"{e}/ETCP", f"{e}/BL", OVERALL) for (w, e) in ALL_WORKLOADS.items()}
    | {
        "W4h, B20": measures.change("w4h/B20 ETCP", "w4h/B20 BL", OVERALL),
        "W5h, B20": measures.change("B20 ETCP", "B20 BL", OVERALL),
    },
    "J131": {
        "rank correlation of uneven drops and gap, W4 ETCP": measures.rank_correlation(
            _uneven, lambda r: r.of("w4-e0/ETCP", "bulk_gap_s")
        )
    }
    | measures.each(STEADY, "slower_elapsed_s", of=stats.iqr_of),
    "J134": {f"{w}, {tcp}": _overhead(f"{e}{tcp}", w) for w, e in PLACES.items() for tcp in ("BL", "ETCP")}
    | {f"{w}, BL minus ETCP": _more_overhead(e, w) for w, e in PLACES.items()},
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 43 and 44."""
    return [
        *boxes.pictures(r, "page", {"43a": "overall", "43b": "stream", "43c": "bulk", "43d": "response"}, only=NORMAL),
        *boxes.pictures(r, "page", {"44a": "response", "44b": "stream"}, only=MINIMAL, where=", minimal link buffer"),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows, a web page and an audio stream at 384 kbit/s, with a normal and a minimal link buffer",
    variants=readings.STREAM,
    headline=parts.headline(RESPONSE, "s", NORMAL),
    reps=w5.REPS,
    uses=(*ALL_WORKLOADS.values(), "w4h"),
)
