"""Does BBR version 3 go through its states as the example cases of the draft say?

One flow over 10 Mbit/s and 40 ms behind two products of queue, an ACK for each packet, unless a case needs more.

What the source states: sequences of states and what ends each; few numbers. Those that follow from its rules, and the
bands, are our summary's.

What may differ here: the law is observed every millisecond, not at every ACK, so that a value at a change is up to one
packet off. The cases that need an application, a loss or a late packet at one exact moment are in `moments`. Changes of
the path that belong to a state come when the undisturbed run enters it; runs are equal until then, but for the wait
before the first probe. What holds the queue in BB10 is a flow of CUBIC.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from crosswind.experiments.bbr_draft import study
from crosswind.experiments.bbr_draft.study import (
    CRUISE,
    DOWN,
    DRAIN,
    PAYLOAD_B,
    PROBE_RTT,
    REFILL,
    STARTUP,
    UP,
    Line,
    Probe,
)
from crosswind.reproduce import Results, Scenario

D0 = Line()
LONG = Line(rtt_ms=200, packets=333)
SLOW = Line(mbps=0.064, rtt_ms=10, packets=8)
FAR = Line(mbps=1, rtt_ms=1000, packets=167)
CUBIC = {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": {"preset": "linux-6-cubic"}}
#: When the undisturbed runs have just entered Drain, and the first two of them DOWN.
DRAIN_S, LONG_DOWN_S = 0.447, 9.87


def _at(seconds: float, **changes: Any) -> dict[str, Any]:
    return {"at": f"{seconds:g} s", "link": "line", "direction": "forward", "set": changes}


def _rate(mbps: float) -> str:
    return f"{mbps * 1e6:.0f} bit/s"


def _sending(seconds: float, activity: str) -> dict[str, Any]:
    return {"at": f"{seconds:g} s", "flow": "one", "set": {"sending": activity}}


def configurations() -> dict[str, Scenario]:
    """The cases."""
    make = study.scenario
    half = {"type": "cbr", "payload": f"{PAYLOAD_B} B", "rate": _rate(D0.payload_mbps / 2)}
    fast, slow_queue = Line(100, 40, 667), Line(100, 40, 167)
    return {
        "plain": make(D0._replace(packets=133), 30),
        "drain 10 %": make(D0, 3, timeline=[_at(DRAIN_S, rate=_rate(9))]),
        "drain 50 %": make(D0, 3, timeline=[_at(DRAIN_S, rate=_rate(5))]),
        "down 15 %": make(LONG, 12, timeline=[_at(LONG_DOWN_S, rate=_rate(8.5))]),
        "capped": make(D0._replace(packets=17), 40, timeline=[_at(20, queue={"limit": "133 packets"})]),
        "half": make(D0, 60, sample="20 ms", workload=half, transport="tcp"),
        "idle": make(D0, 14, timeline=[_sending(3, "off"), _sending(9, "on")]),
        "tiny": make(SLOW, 120, sample="20 ms"),
        "faster": make(fast._replace(mbps=10), 40, timeline=[_at(20, rate=_rate(100))]),
        "slower": make(slow_queue, 25, timeline=[_at(10, rate=_rate(10))]),
        "far": make(FAR, 60, sample="20 ms"),
        "queued": make(D0, 30, others={"other": CUBIC}),
        "lossy probe": make(D0._replace(packets=17), 20),
    }


def each(cell: str, of: Callable[[Probe], float]) -> Callable[[Results], float]:
    """The mean of a value over the repetitions."""

    def value(r: Results) -> float:
        reps = r.runs.only(cell).runs()["rep"].unique().to_list()
        return float(np.nanmean([of(Probe(r, cell, rep)) for rep in reps]))

    return value


def begins(cell: str, states: tuple[int, ...]) -> Callable[[Results], float]:
    """Whether the first states are these, in all repetitions."""

    def value(r: Results) -> float:
        reps = r.runs.only(cell).runs()["rep"].unique().to_list()
        return float(all(tuple(Probe(r, cell, rep).sequence()[: len(states)]) == states for rep in reps))

    return value


def _rounds_after_full(p: Probe) -> float:
    """From the round in which the line is full to the one that begins with the change to Drain."""
    rate, rounds = p.get("path_rate_bps", 0.0), p.get("bbr_rounds")
    full = int(np.argmax(rate >= 0.98 * D0.payload_mbps * 1e6))
    return float(rounds[p.stays(STARTUP)[0][1] + 1] - rounds[full])


def _gain(state: int) -> Callable[[Probe], float]:
    def value(p: Probe) -> float:
        there = p.state == state
        rate = np.minimum(p.get("path_rate_bps"), p.get("rate_cap_bps"))
        return float(np.median(p.get("pacing_rate_bps")[there] / rate[there] / 0.99))

    return value


def _last_in_flight(state: int, line: Line) -> Callable[[Probe], float]:
    """In flight at the end of the first stay, in packets above the product."""

    def value(p: Probe) -> float:
        after = p.stays(state)[0][1] + 1
        return float((p.get("in_flight_bytes")[after] - line.product_b) / PAYLOAD_B)

    return value


def stay_rounds(state: int, which: int = 0) -> Callable[[Probe], float]:
    """Rounds that begin after the state, the one with which it ends among them: states change as rounds begin."""

    def value(p: Probe) -> float:
        first, last = p.stays(state)[which]
        rounds = p.get("bbr_rounds")
        return float(rounds[min(last + 1, len(rounds) - 1)] - rounds[first])

    return value


def _after(state: int, since_s: float = 0.0) -> Callable[[Probe], float]:
    """The state that follows the first stay which ends after a time."""

    def value(p: Probe) -> float:
        return float(next(p.state[b + 1] for _, b in p.stays(state) if p.t[b] > since_s and b + 1 < len(p.t)))

    return value


def _reached(p: Probe, mbps: float) -> int:
    return int(np.argmax(p.get("path_rate_bps", 0.0) >= mbps * 1e6 * PAYLOAD_B / 1500))


def _rounds_to_new_rate(p: Probe) -> float:
    """Rounds from the start of the UP in which the rate reaches 90 of 100 Mbit/s."""
    there, rounds = _reached(p, 90), p.get("bbr_rounds")
    start = max(a for a, _ in p.stays(UP) if a <= there)
    return float(rounds[there] - rounds[start])


def _rounds_to_cap(p: Probe) -> float:
    """Rounds from the first cap on the rate to one of 11 Mbit/s at most, after 10 s."""
    cap, rounds = p.get("rate_cap_bps"), p.get("bbr_rounds")
    first = int(np.argmax((p.t > 10) & np.isfinite(cap)))
    low = int(np.argmax((p.t > 10) & (cap <= 11e6)))
    return float(rounds[low] - rounds[first]) if cap[low] <= 11e6 else float("nan")


def _share_in(states: tuple[int, ...]) -> Callable[[Probe], float]:
    return lambda p: float(np.isin(p.state, states).mean())


def _restart(p: Probe) -> float:
    """Pacing rate over that of the path, in the first sample with something in flight after the pause."""
    i = int(np.argmax((p.t > 9) & (p.get("in_flight_bytes") > 0)))
    return float(p.get("pacing_rate_bps")[i] / p.get("path_rate_bps")[i])


def _caps(p: Probe) -> tuple[float, float]:
    """The first long-term cap, and seven tenths of the product as the law sees it then (packets)."""
    cap = p.get("flight_cap_bytes")
    i = int(np.argmax(np.isfinite(cap)))
    product = p.get("path_rate_bps")[i] / 8 * p.get("least_rtt_ns")[i] / 1e9
    return float(cap[i]) / PAYLOAD_B, 0.7 * float(product) / PAYLOAD_B


def _probe_rtts(p: Probe) -> list[tuple[int, int]]:
    """Its stays but for the first: before that the flows have hardly met."""
    return [(a, b) for a, b in p.stays(PROBE_RTT) if b + 1 < len(p.t)][1:]


def _probe_rtt_after(p: Probe) -> float:
    """Seconds from the end of a ProbeRTT to the next, the least: a smaller round trip in between puts the next off."""
    return float(min(p.t[b[0]] - p.t[a[1] + 1] for a, b in pairwise(_probe_rtts(p))))


def _stay_beyond(p: Probe) -> float:
    """How much longer than 200 ms a stay is, in round trips as they are when it begins, queues included."""
    rtt = p.get("srtt_ns")
    return float(np.mean([(p.t[b + 1] - p.t[a] - 0.2) / (rtt[a] / 1e9) for a, b in _probe_rtts(p)]))


def _stay_beyond_empty(p: Probe) -> float:
    """The same in round trips of the path without queues."""
    return float(np.mean([(p.t[b + 1] - p.t[a] - 0.2) / (D0.rtt_ms / 1e3) for a, b in _probe_rtts(p)]))


def _least_in_probe_rtt(p: Probe) -> float:
    """In flight, over half a product as the law sees it; four packets are always allowed."""
    product = p.get("path_rate_bps", 0.0) / 8 * p.get("least_rtt_ns", 0.0) / 1e9
    bound = np.maximum(0.5 * product, 4 * PAYLOAD_B)
    return float(np.mean([(p.get("in_flight_bytes")[a:b] / bound[a:b]).min() for a, b in _probe_rtts(p)]))


CLAIMS: dict[str, Any] = {
    "BB1": {
        "Startup, Drain": begins("plain", (STARTUP, DRAIN)),
        "rate of the path": each("plain", lambda p: float(p.get("path_rate_bps")[p.stays(DRAIN)[0][0]]) / 1e6),
        "rounds from full to Drain": each("plain", _rounds_after_full),
    },
    "BB3": {
        "gain": each("plain", _gain(DRAIN)),
        "in flight at its end": each("plain", _last_in_flight(DRAIN, D0)),
        "rounds": each("plain", stay_rounds(DRAIN)),
    },
    "BB4": {
        "rounds, 10 %": each("drain 10 %", stay_rounds(DRAIN)),
        "rounds, 50 %": each("drain 50 %", stay_rounds(DRAIN)),
        "next state, 50 %": each("drain 50 %", _after(DRAIN)),
    },
    "BB5": {
        "rounds of UP": each("capped", lambda p: stay_rounds(UP, _index_after(p, UP, 24))(p)),
        "next state": each("capped", _after(UP, 24)),
    },
    "BB7": {
        "in Startup or ProbeRTT": each("half", _share_in((STARTUP, PROBE_RTT))),
        "least rate of the path after 5 s": each("half", lambda p: float(p.get("path_rate_bps")[p.t > 5].min()) / 1e6),
    },
    "BB8": {
        "gain": each("plain", _gain(DOWN)),
        "in flight at its end": each("plain", _last_in_flight(DOWN, D0)),
        "next state": each("plain", _after(DOWN)),
    },
    "BB9": {
        "next state": each("down 15 %", lambda p: _down_at(p)[0]),
        "seconds": each("down 15 %", lambda p: _down_at(p)[1]),
    },
    "BB10": {
        "from least round trip to ProbeRTT": each("queued", _probe_rtt_after),
        "stay beyond 200 ms": each("queued", _stay_beyond),
        "the same in round trips without queues": each("queued", _stay_beyond_empty),
        "least in flight": each("queued", _least_in_probe_rtt),
        "next state": each("queued", _after(PROBE_RTT)),
    },
    "BB11": {
        "pacing rate over the path's": each("idle", _restart),
        "ProbeRTT in the second after": each("idle", lambda p: _share_between(p, PROBE_RTT, 9.0, 10.0)),
    },
    "BB14": {
        "least window": each("tiny", lambda p: float(p.get("cwnd_bytes")[p.t > 5].min()) / PAYLOAD_B),
        "use of the line": lambda r: float(r.runs.only("tiny").flows()["goodput_bps"].mean()) / SLOW.payload_mbps / 1e6,
    },
    "BB15": {"rounds to 90 Mbit/s": each("faster", _rounds_to_new_rate)},
    "BB16": {
        "rounds to 11 Mbit/s": each("slower", _rounds_to_cap),
        "rate of the path after 10 s": each("slower", lambda p: float(p.get("path_rate_bps")[p.t > 20].max()) / 1e6),
    },
    "BB20": {"Startup, ProbeRTT, Startup": begins("far", (STARTUP, PROBE_RTT, STARTUP))},
    "BB21": {
        "next state": each("lossy probe", _after(UP)),
        "cap": each("lossy probe", lambda p: _caps(p)[0]),
        "lower bound": each("lossy probe", lambda p: _caps(p)[1]),
    },
}


def _index_after(p: Probe, state: int, seconds: float) -> int:
    return next(i for i, (a, _) in enumerate(p.stays(state)) if p.t[a] > seconds)


def _down_at(p: Probe) -> tuple[float, float]:
    """What follows the DOWN in which the line changes, and how long it lasts; where it began less than 0.3 s before."""
    for first, last in p.stays(DOWN):
        if p.t[first] < LONG_DOWN_S < p.t[first] + 0.3 and last + 1 < len(p.t):
            return float(p.state[last + 1]), float(p.t[last] - p.t[first])
    return float("nan"), float("nan")


def _share_between(p: Probe, state: int, first_s: float, last_s: float) -> float:
    return float((p.state[(p.t > first_s) & (p.t < last_s)] == state).mean())


STATES = (STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT)
EXPERIMENT = study.STUDY.experiment(__name__, "States of BBR version 3", where="appendix: example test cases")
