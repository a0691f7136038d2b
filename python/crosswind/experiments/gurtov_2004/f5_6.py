"""Does lifetime packet discard remove the needless second copies after a spurious timeout of TCP?

One TCP download over 30 kbit/s, a spike from 10 s to 20 s, the lifetime of each packet is the sender's retransmission
timeout (figure 5.6).

What the source printed: with drop-tail the timeout at 17 s is followed by go-back-N of everything, and duplicates reach
the receiver from 30 s on; with discard the router has thrown the flight away by the time of the timeout, and no
duplicate arrives.

What may differ here: a queue of 20 packets and a window of 50 segments, as the source gives them for this chapter; the
time of the timeout follows from them.
"""

from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Results, Scenario, measured


def download(kind: str, size: str | None = None) -> dict[str, Any]:
    """A TCP flow; where there is discard, with the timeout as lifetime."""
    flow: dict[str, Any] = {"workload": {"type": "bulk"} | ({"size": size} if size else {}), "tcp": overlay.sender()}
    return flow | ({"lifetime": "rto"} if kind == "LPD" else {})


def configurations(**_: Any) -> dict[str, Scenario]:
    """Drop-tail and discard."""
    return {
        kind: overlay.world(
            "f5-6",
            {"tcp": download(kind)},
            "60 s",
            hop=overlay.slow_hop(overlay.queue(kind, 20), overlay.SPIKE_ONCE),
            record={"events": "all", "sample": "100 ms"},
        )
        for kind in ("DT", "LPD")
    }


def _timeout(r: Results, kind: str) -> float:
    """The first timeout within the spike."""
    return float(r.events(kind, "tcp", "timeout").filter((pl.col("t") > 10.0) & (pl.col("t") < 20.5))["t"][0])


@measured
def _queued_at_timeout(r: Results, kind: str) -> float:
    t, queued = r.series(kind, "queue_packets", f"{overlay.HOP}/forward")
    # What was retransmitted takes one place.
    return max(float(queued[t >= _timeout(r, kind)][0]) - 1.0, 0.0)


@measured
def _flight(r: Results, kind: str) -> float:
    """Segments sent and not acknowledged at the first timeout within the spike."""
    before = r.events(kind, "tcp").filter(pl.col("t") < _timeout(r, kind))
    acked = before.filter(pl.col("kind") == "ack")["seq"].max()
    return float(before.filter((pl.col("kind") == "send") & (pl.col("len") > 0) & (pl.col("seq") >= acked)).height)


@measured
def _first(r: Results, kind: str, what: str, after_s: float = 10.0) -> float:
    """When something first happened at the sender after the spike began (or another moment)."""
    return float(r.events(kind, "tcp", what).filter(pl.col("t") > after_s)["t"][0])


def _first_duplicate(r: Results) -> float:
    """When the receiver first saw, after the spike, a segment that it had seen before."""
    e = r.events("DT", "tcp", "receive", end="receiver").filter(pl.col("len") > 0)
    again = e.filter(~pl.col("seq").is_first_distinct() & (pl.col("t") > 20.0))
    return float(again["t"][0])


@measured
def _duplicates(r: Results, kind: str) -> float:
    return float(r.of(kind, "tcp_unnecessary_retransmissions_packets")[0])


CLAIMS = {
    "G44": {
        "drop-tail": _duplicates("DT"),
        "flight at the timeout, drop-tail": _flight("DT"),
        "discard": _duplicates("LPD"),
    },
    "G92": {
        "drop-tail: first retransmission": _first("DT", "retransmit"),
        "drop-tail: first duplicate at the receiver": _first_duplicate,
    },
    "G93": {"first ACK after the end of the spike": _first("LPD", "ack", 20.0) - 20.0},
    "G45": {"discard": _queued_at_timeout("LPD"), "drop-tail": _queued_at_timeout("DT")},
}


def pictures(r: Results) -> list[Picture]:
    """Time-sequence graphs of the sender (figure 5.6)."""
    out = []
    for kind, name in (("DT", "drop-tail"), ("LPD", "lifetime discard")):
        e = r.runs.only(kind, [0]).events(flow="tcp")
        caption = f"TCP and a spike from 10 to 20 s, {name} (figure 5.6)."
        times = study.BOOK.numbers("G92").values() if kind == "DT" else ()
        known = dict(zip(("retransmitted", "duplicate"), times, strict=False))
        out.append(figures.time_sequence(f"fig-5-6-{kind.lower()}", caption, e, known))
    return out


EXPERIMENT = overlay.experiment(
    __name__, "A spurious timeout of TCP, with and without lifetime discard", where="figure 5.6"
)
