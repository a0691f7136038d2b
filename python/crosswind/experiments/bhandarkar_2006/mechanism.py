"""Does TCP-DCR wait as it says, and do nothing else?

One flow on 8 Mbit/s with a round trip of 104 ms and room for its whole window: a packet that is late, a packet that
is lost, two lost in one window, a loss in slow start, a full receive window, a receiver that delays ACKs, a
wireless link that repairs a packet, random congestion losses. Everything is read from the sender's events.

What the source printed: the rules of II.A and equation 2.6; figures 1 and 2 are sketches.

What may differ here: the wireless repair is on the middle line of the path, with a round trip of 60 ms; random losses
for equation 2.6 are drawn per packet. Duplicates come a packet of the line (1.04 ms) apart; errors of the repaired
line are rare enough (one packet in 500) that one is repaired before the next. The detector's own tests are
`crates/transport/tests/delayed_response.rs`.
"""

import math
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Quantity, Results, Scenario, measured, needed
from crosswind.reproduce.claims.quantities import mean
from crosswind.stats import Estimate, exact

BASE = {"initial_window_segments": 40, "initial_ssthresh": "40000 B"}
WIDE = {**BASE, "window_limit_segments": 0}
VICTIM, RTT_s = 300, 0.104
PROTOCOLS = ("SACK", "DCR")
LOSSES = (0.001, 0.003, 0.01)
# One-way delays of the line after a silence: the next round trip takes twice or half as long as those before.
OTHER_ROUND_TRIPS = {"twice": 102, "half": 24}


def single(name: str, protocol: str, line: dict[str, Any], seconds: float = 8.0, **tcp: Any) -> Scenario:
    """One flow whose events are recorded."""
    flow = {"one": nets.bulk(protocol, **{**BASE, **tcp})}
    record = {"events": ["one"]}
    return nets.dumbbell(name, line, nets.wire(100, 1), flow, duration_s=seconds, warm_up_s=seconds / 2, record=record)


def lossy(*numbers: int, **more: Any) -> dict[str, Any]:
    """The line, with these data packets lost (counted from 1)."""
    return nets.wire(8, 50, loss={"type": "list", "packets": list(numbers)}, reverse={"loss": "none"}, **more)


def late(*numbers: int) -> dict[str, Any]:
    """The line, with these data packets late by 30 ms (counted from 0)."""
    line = nets.wire(8, 50, packets=list(numbers), late_mean="30 ms")
    return {**line, "type": "reordering", "reverse": {**line["reverse"], "packets": []}}


def _changing(delay_ms: float) -> Scenario:
    """300 packets, silence, then more on a line of another delay: the second is lost, the first told the round trip."""
    made = single(f"loss duplicates {delay_ms}", "DCR", lossy(VICTIM + 2), dcr={"wait": "duplicates"})
    size = {"size": f"{VICTIM * nets.PAYLOAD} B", "close": "never"}
    timeline = [
        {"at": "2.5 s", "link": "bottleneck", "set": {"delay": f"{delay_ms} ms"}},
        {"at": "3 s", "flow": "one", "set": {"size": "100 MB"}},
    ]
    return made.with_({"flow.one.workload": {"type": "bulk", **size}, "timeline": timeline})


def configurations(**_: Any) -> dict[str, Scenario]:
    """`<what> <protocol>`."""
    out = {}
    for p in PROTOCOLS:
        out[f"late {p}"] = single(f"late {p}", p, late(VICTIM))
        out[f"loss {p}"] = single(f"loss {p}", p, lossy(VICTIM + 1))
        out[f"two {p}"] = single(f"two {p}", p, lossy(VICTIM + 1, VICTIM + 5))
        slow: dict[str, Any] = {"initial_window_segments": 2, "initial_ssthresh": "1000000000 B"}
        out[f"slow start {p}"] = single(f"slow start {p}", p, lossy(60), 1.5, **slow)
        out[f"window {p}"] = single(f"window {p}", p, lossy(VICTIM + 1), window_limit_segments=40)
        acks: dict[str, Any] = {"delayed_ack": "40 ms", "ack_every_segments": 2}
        out[f"delayed ACKs {p}"] = single(f"delayed ACKs {p}", p, late(VICTIM + 1), **acks)
        for loss in LOSSES:
            line = nets.wire(200, 50, loss={"type": "uniform", "probability": loss, "counts": "data"})
            line["reverse"]["loss"] = "none"
            flow = {"one": nets.bulk(p, initial_ssthresh="20000 B", initial_window_segments=20)}
            out[f"random {loss} {p}"] = nets.dumbbell(
                f"random {loss} {p}", line, nets.wire(200, 1), flow, duration_s=2100, warm_up_s=100
            )
    dcr: dict[str, Any] = {"dcr": {"wait": "duplicates"}}
    out["loss duplicates"] = single("loss duplicates", "DCR", lossy(VICTIM + 1), **dcr)
    out |= {f"loss duplicates {k}": _changing(delay) for k, delay in OTHER_ROUND_TRIPS.items()}
    repair = {**nets.wire(8, 30), "type": "arq", "error": 0.002}
    repair["reverse"] = {**repair["reverse"], "error": 0.0}
    # A window below the 61 packets that the path holds: no queue.
    out["repair DCR"] = single("repair DCR", "DCR", repair, 60.0, window_limit_segments=55)
    return out


@measured
def count(r: Results, label: str, *kinds: str) -> int:
    """How many events of these kinds there are at the sender."""
    return r.events(label, "one", *kinds).height


def first_duplicate(r: Results, label: str) -> tuple[float, int]:
    """When the first duplicate ACK arrived, and what it acknowledges."""
    acks = r.events(label, "one", "ack")
    same = acks.filter((pl.col("seq") == pl.col("seq").shift(1)) & (pl.col("seq") > 1))
    needed(same, f"no duplicate ACK in {label}")
    return float(same["t"][0]), int(same["seq"][0])


def response(r: Results, label: str) -> float:
    """When the first segment was retransmitted."""
    return float(needed(r.events(label, "one", "retransmit"), f"nothing is retransmitted in {label}")["t"][0])


def wait(r: Results, label: str) -> tuple[float, float]:
    """When the first duplicate arrives, and when the response follows."""
    return first_duplicate(r, label)[0], response(r, label)


@measured
def waited(r: Results, label: str) -> float:
    """From the first duplicate to the retransmission, in seconds."""
    begins, ends = wait(r, label)
    return ends - begins


@measured
def sent_in_wait(r: Results, label: str, kind: str = "send") -> int:
    """Events between the first duplicate and the retransmission."""
    begins, ends = wait(r, label)
    return r.events(label, "one", kind).filter((pl.col("t") >= begins) & (pl.col("t") < ends)).height


def srtt_at(r: Results, label: str, at: float) -> float:
    """The smoothed round-trip time at some moment: gain 1/8 over the samples until then."""
    samples = r.events(label, "one", "rtt").filter(pl.col("t") <= at)["seq"].to_numpy() / 1e9
    smoothed = samples[0]
    for x in samples[1:]:
        smoothed += (x - smoothed) / 8
    return float(smoothed)


@measured
def beyond_srtt(r: Results, label: str) -> float:
    """From the first duplicate to the retransmission, less the smoothed round-trip time at the first duplicate."""
    begins, ends = wait(r, label)
    return ends - begins - srtt_at(r, label, begins)


@measured
def duplicates_waited(r: Results, label: str) -> float:
    """Duplicates from the first to the one that triggers the response, less `W srtt / rtt` of the first."""
    (begins, acked), ends = first_duplicate(r, label), response(r, label)
    heard = r.events(label, "one", "ack").filter(
        (pl.col("t") >= begins) & (pl.col("t") <= ends) & (pl.col("seq") == acked)
    )
    sent = r.events(label, "one", "send").filter((pl.col("t") < begins) & (pl.col("seq") >= acked))
    return heard.height - sent.height * srtt_over_last(label)(r)


@measured
def srtt_over_last(r: Results, label: str) -> float:
    """The smoothed over the last round-trip time at the first duplicate."""
    at, _ = first_duplicate(r, label)
    last = r.events(label, "one", "rtt").filter(pl.col("t") <= at)["seq"][-1] / 1e9
    return srtt_at(r, label, at) / float(last)


def per_duplicate(r: Results) -> Estimate:
    """New packets less duplicate ACKs during the wait, the first duplicate and its packet counted."""
    acks, sent = (sent_in_wait("loss DCR", kind)(r) for kind in ("ack", "send"))
    return exact(sent - acks, acks)


def rate_during(r: Results) -> float:
    """New packets in the time of the wait, over those in as long a time before."""
    begins, ends = wait(r, "loss DCR")
    sent = r.events("loss DCR", "one", "send")["t"].to_numpy()
    during, before = (np.sum((sent >= a) & (sent < a + ends - begins)) for a in (begins, begins - (ends - begins)))
    return float(during / before)


def window_at(r: Results, label: str, at: float) -> tuple[float, float]:
    """Window just before a time, and threshold just after, in segments."""
    cwnd = r.events(label, "one", "cwnd")
    before, after = cwnd.filter(pl.col("t") < at - 1e-9), cwnd.filter(pl.col("t") >= at - 1e-9)
    return float(before["seq"][-1]) / nets.PAYLOAD, float(after["aux"][0]) / nets.PAYLOAD


def _half(r: Results) -> float:
    window, threshold = window_at(r, "loss DCR", response(r, "loss DCR"))
    return threshold - window / 2


def _grown(r: Results) -> float:
    at_first, at_end = (window_at(r, "loss DCR", at)[0] for at in wait(r, "loss DCR"))
    return at_end - at_first


def _same_slow_start(r: Results) -> bool:
    traces = [
        r.events(f"slow start {p}", "one", "send", "retransmit").select("time_ns", "seq", "kind") for p in PROTOCOLS
    ]
    first = [r.events(f"slow start {p}", "one", "recovered") for p in PROTOCOLS]
    until = min((int(f["time_ns"][0]) for f in first if f.height), default=1_500_000_000)
    cut = [t.filter(pl.col("time_ns") <= until) for t in traces]
    return cut[0].equals(cut[1]) and r.events("slow start DCR", "one", "retransmit").height > 0


def _second(r: Results) -> float:
    again = r.events("two DCR", "one", "retransmit")["t"].to_numpy()
    needed(again.size >= 2, "fewer than two retransmissions")
    return float(again[1] - again[0])


def _repaired(r: Results) -> Estimate:
    """Most frequent extra delay of ACKs that fill a hole, over the round trip of the wireless line."""
    acks = r.events("repair DCR", "one", "ack").with_columns(step=pl.col("seq") - pl.col("seq").shift(1))
    t, seq = acks["t"].to_numpy(), acks["seq"].to_numpy()
    waits, begun = [], None
    for i in range(1, len(t)):
        if seq[i] == seq[i - 1] and begun is None:
            begun = t[i]
        elif seq[i] > seq[i - 1] and begun is not None:
            waits.append(t[i] - begun)
            begun = None
    # The first duplicate comes one packet after the ACK that is missing.
    spacing = nets.PACKET * 8 / 8e6
    return exact(float(np.median(waits)) + spacing, len(waits))


def throughput(label: str) -> Quantity:
    """Payload packets per second between the samples."""
    return mean(label, "one_bps") / 8 / nets.PAYLOAD


def law(loss: float, protocol: str) -> Quantity:
    """Throughput over equation 2.6."""
    return throughput(f"random {loss} {protocol}") / (1.2247 / (RTT_s * math.sqrt(loss)))


CLAIMS = {
    "B1": {
        "DCR: retransmitted": count("late DCR", "retransmit"),
        "DCR: recoveries": count("late DCR", "recovery"),
        "SACK: retransmitted": count("late SACK", "retransmit"),
        "SACK: recoveries": count("late SACK", "recovery"),
    },
    "B2": {"DCR waits longer than srtt by": beyond_srtt("loss DCR"), "SACK waits": waited("loss SACK")},
    "B3": {"new packets less duplicates": per_duplicate, "rate over that before": rate_during},
    "B4": {"threshold - window/2": _half, "growth during the wait": _grown},
    "B5": {"same trace": _same_slow_start},
    "B6": {"extra delay": _repaired, "recoveries": count("repair DCR", "recovery")},
    "B7": {x: count(f"{x} DCR", "timeout") - count(f"{x} SACK", "timeout") for x in ("late", "loss", "window")},
    "B8": {"new packets during the wait": sent_in_wait("window DCR"), "longer than srtt by": beyond_srtt("window DCR")},
    "B9": {"recoveries": count("two DCR", "recovery"), "second retransmission after the first": _second},
    "B10": {
        **{f"DCR at {p}, over the equation": law(p, "DCR") for p in LOSSES},
        **{f"DCR over SACK at {p}": throughput(f"random {p} DCR") / throughput(f"random {p} SACK") for p in LOSSES},
    },
    "B11": {
        "duplicates before the response, less W": duplicates_waited("loss duplicates"),
        **{
            f"{k} the round trip: duplicates, less W srtt/rtt": duplicates_waited(f"loss duplicates {k}")
            for k in OTHER_ROUND_TRIPS
        },
        **{f"{k} the round trip: srtt/rtt": srtt_over_last(f"loss duplicates {k}") for k in OTHER_ROUND_TRIPS},
        "wait": waited("loss duplicates"),
    },
    "B12": {
        "recoveries": count("delayed ACKs DCR", "recovery"),
        "retransmitted": count("delayed ACKs DCR", "retransmit"),
    },
}

EXPERIMENT = study.experiment(__name__, "TCP-DCR, one rule at a time", where="II.A", reps=1)
