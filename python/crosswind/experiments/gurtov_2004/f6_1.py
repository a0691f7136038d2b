"""Which sender comes back by itself when a handover loses a whole flight?

TCP over the handover GPRS to WLAN of table 6.1: at 30 s the link stops for 1 s, and of the flight of 20 segments only
the last one that waited in the router survives; then it is the other system. FACK and Reno-SACK (figure 6.1a).

What the source printed: nearly all data is lost; one ACK after the handover starts FACK's fast retransmit, and the flow
resumes; in runs that needed the timeout the break lasted more than 10 s.

What may differ here: the source lost about 95 % at random, so that now and then nothing came back at all. Here what
comes back is fixed. Three segments were past the router when the link stopped; their ACKs release three new segments,
so Reno-SACK has its three duplicate ACKs too. It sends one segment again, but its pipe holds all the lost ones to be on
their way, so it falls silent at the first partial ACK, and the timer has to help; FACK knows them to be lost, and sends
eight at the first duplicate. Variants let two and three segments of the queue survive.
"""

from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Results, Scenario, measured

AT_S = 30.0
LENGTH_S = 1.0
FLIGHT = 20
SENDERS = {"FACK": "gurtov-fack", "Reno-SACK": "gurtov-reno-sack"}


def configurations(survives: int = 1) -> dict[str, Scenario]:
    """Two senders; of what waits in the old system's router the last `survives` packets are not lost."""
    at = f"{AT_S:g} s"
    spikes = {"at": [at], "length": f"{LENGTH_S:g} s", "holds": "queue", "loss": 1.0}
    # Of the flight one segment is on the line, and one has just arrived.
    hop = {
        "profile": "gprs",
        "queue": {"type": "droptail", "limit": f"{FLIGHT} packets"},
        "spikes": spikes | {"discard": FLIGHT - 2 - survives},
        "reverse": {"spikes": spikes | {"loss": 0.0}},
    }
    then = {"profile": "wlan", "queue": {"limit": f"{FLIGHT} packets"}}
    timeline = [{"at": at, "link": overlay.HOP, "set": then}]
    out = {}
    for name, preset in SENDERS.items():
        tcp = {"preset": preset, "mss": "1000 B", "window_limit_segments": FLIGHT, "rto_min": "1 s"}
        flow: dict[str, Any] = {"workload": {"type": "bulk"}, "tcp": tcp}
        record = {"events": "all"}
        out[name] = overlay.world("f6-1", {"tcp": flow}, "60 s", hop=hop, timeline=timeline, record=record)
    return out


@measured
def _timeouts(r: Results, name: str) -> int:
    """In the fifteen seconds from the handover on."""
    return r.events(name, "tcp", "timeout").filter(pl.col("t").is_between(AT_S, AT_S + 15, closed="left")).height


@measured
def _break(r: Results, name: str) -> float:
    """Seconds from the handover until all that was sent before it has been acknowledged."""
    sent = r.events(name, "tcp", "send").filter(pl.col("t") < AT_S)
    end = (sent["seq"] + sent["len"]).max()
    return float(r.events(name, "tcp", "ack").filter(pl.col("seq") >= end)["t"][0]) - AT_S


CLAIMS = {
    "G75": {
        **{f"{s}: timeouts": _timeouts(s) for s in SENDERS},
        **{f"{s}: all repaired after": _break(s) for s in SENDERS},
    }
}


def pictures(r: Results) -> list[Picture]:
    """Time-sequence graphs around the handover (figure 6.1a)."""
    out = []
    for name in SENDERS:
        e = r.runs.only(name, [0]).events(flow="tcp").filter((pl.col("time_ns") > 25e9) & (pl.col("time_ns") < 45e9))
        caption = f"{name} and a handover from GPRS to WLAN at 30 s that loses the flight (figure 6.1a)."
        known = {"all repaired": AT_S + study.BOOK.number("G75", "FACK: all repaired after")} if name == "FACK" else {}
        out.append(figures.time_sequence(f"fig-6-1-{name.lower()}", caption, e, known))
    return out


EXPERIMENT = overlay.experiment(__name__, "A handover that loses a whole flight", where="figure 6.1a")
