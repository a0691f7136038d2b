"""What does BBR version 3 do when an application, a loss or a late packet comes at one exact moment?

One flow over 10 Mbit/s and 40 ms behind two products of queue, as in `states`; what happens to it is listed by packet
or by time, from runs in which nothing happens.

What the source states: sequences of states, and what is remembered and restored; few numbers. Those that follow from
its rules, and the bands, are our summary's.

What may differ here: where the wait before a probe is drawn, a moment can miss its state; such repetitions do not
count. Losses that end Startup are listed in two rounds of one recovery. ACKs in clumps leave a link that sends at
multiples of 20 or 60 ms only. A source that is limited from the first UP on writes a little more than the line takes
until it is cut to half of that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from crosswind.experiments.bbr_draft import study
from crosswind.experiments.bbr_draft.states import D0, begins, each, stay_rounds
from crosswind.experiments.bbr_draft.study import (
    CRUISE,
    DOWN,
    DRAIN,
    PACKET_B,
    PAYLOAD_B,
    REFILL,
    STARTUP,
    UP,
    Line,
    Probe,
)
from crosswind.reproduce import Results, Scenario

Table = dict[str, Any]
LOST = [200 + 2 * i for i in range(7)] + [225 + 2 * i for i in range(7)]
#: In the first UP of the undisturbed runs; in UP of the limited source.
LATE, LOST_IN_UP = 1500, [1700]
SPIKE_UP_S, SPIKE_STARTUP_S = 1.93, 0.3
CUT_S, PAUSE_S, CLUMPS_S = 1.2, 1.858, 1.3
TOKENS = Line(100, 40, 67)


def _source(mbps: float) -> Table:
    """Messages over TCP; a rate counts headers of 28 bytes with each."""
    bits = mbps * 1e6 * (PAYLOAD_B + 28) / PAYLOAD_B
    return {"workload": {"type": "cbr", "payload": f"{PAYLOAD_B} B", "rate": f"{bits:.0f} bit/s"}, "transport": "tcp"}


def _sending(seconds: float, activity: str) -> Table:
    return {"at": f"{seconds:g} s", "flow": "one", "set": {"sending": activity}}


def _lost(packets: list[int]) -> Table:
    return {"loss": {"type": "list", "packets": packets}}


def _clumps(every_ms: int) -> Table:
    reverse = {"type": "trace", "opportunities_ms": [every_ms], "opportunity": "100000 B", "delay": "19.4 ms"}
    return {"reverse": reverse | {"queue": {"type": "droptail", "limit": "100000 packets"}}}


def _spike(at_s: float, length: str) -> Table:
    return {"spikes": {"first": f"{at_s:g} s", "every": "1000 s", "length": length}}


def _late(packet: int) -> Table:
    return {"type": "reordering", "packets": [packet], "late_mean": "20 ms", "late_deviation": "0 ms"}


def configurations() -> dict[str, Scenario]:
    """The cases."""
    make = study.scenario
    limited = [{"at": f"{CUT_S:g} s", "flow": "one", "set": {"rate": "5 Mbit/s"}}]
    slower_acks = {"at": f"{CLUMPS_S:g} s", "link": "line", "direction": "reverse", "set": {"opportunities_ms": [20]}}
    bucket = {"type": "tbf", "rate": "10 Mbit/s", "burst": f"{50 * PACKET_B} B"}
    policer = {"queue": bucket | {"queue": {"type": "droptail", "limit": f"{PACKET_B} B"}}}
    pause = [_sending(PAUSE_S, "off"), _sending(PAUSE_S + 0.02, "on")]
    return {
        "limited": make(D0, 3, **_source(0.6 * D0.payload_mbps)),
        "limited, losses": make(D0, 3, line_keys=_lost(LOST), **_source(0.6 * D0.payload_mbps)),
        "limited in UP": make(D0, 6, timeline=limited, **_source(9.8)),
        "limited in UP, a loss": make(D0, 4, timeline=limited, line_keys=_lost(LOST_IN_UP), **_source(9.8)),
        "plain": make(D0, 3),
        "clumps of 20 ms": make(D0, 5, line_keys=_clumps(20)),
        "clumps of 60 ms": make(D0, 5, line_keys=_clumps(60)),
        "clumps in CRUISE": make(D0, 5, line_keys=_clumps(1), timeline=[slower_acks]),
        "tokens": make(TOKENS, 60, sample="5 ms", line_keys=policer),
        "late in UP": make(D0, 3, line_keys=_late(LATE)),
        "spike in UP": make(D0, 5, line_keys=_spike(SPIKE_UP_S, "450 ms")),
        "long spike in UP": make(D0, 5, line_keys=_spike(SPIKE_UP_S, "1500 ms")),
        "long spike in Startup": make(D0, 5, line_keys=_spike(SPIKE_STARTUP_S, "1500 ms")),
        "pause": make(D0, 3, timeline=pause),
    }


def _exit(p: Probe) -> int:
    """The first sample after Startup; the last of the run if it never ends."""
    return min(p.stays(STARTUP)[0][1] + 1, len(p.t) - 1)


def _limited_up(p: Probe) -> tuple[int, int]:
    """The UP that begins first after the source was cut."""
    return next((a, b) for a, b in p.stays(UP) if p.t[a] > CUT_S)


def _after_limited_up(p: Probe) -> float:
    return float(p.state[min(_limited_up(p)[1] + 1, len(p.t) - 1)])


def _hit(state: int, at_s: float, then: Callable[[Probe, int, int], float]) -> Callable[[Probe], float]:
    """A value of the stay in which a moment lies; none where it lies in another state."""

    def value(p: Probe) -> float:
        for first, last in p.stays(state):
            if p.t[first] <= at_s <= p.t[last]:
                return then(p, first, last)
        return float("nan")

    return value


def _next_but_down(p: Probe, _first: int, last: int) -> float:
    """The state that follows, DOWN left out."""
    later = p.state[last + 1 :]
    return float(later[later != DOWN][0])


def _window_kept(p: Probe, first: int, last: int) -> float:
    """The window in the state after, over the largest before or the two products that are allowed there; no DOWN."""
    after = last + 1 + int(np.argmax(p.state[last + 1 :] != DOWN))
    window = p.get("cwnd_bytes")
    allowed = 2 * p.get("path_rate_bps")[after] / 8 * p.get("least_rtt_ns")[after] / 1e9
    return float(window[after] / min(window[first:last].max(), allowed))


def _rounds_to_full(p: Probe) -> float:
    rate = p.get("path_rate_bps", 0.0)
    return float(p.get("bbr_rounds")[int(np.argmax(rate >= 0.98 * D0.payload_mbps * 1e6))])


def _clump_parts(ms: int) -> dict[str, Any]:
    cell = f"clumps of {ms} ms"
    return {
        f"{ms} ms: bunch": each(cell, lambda p: float(p.get("bbr_bunches_bytes")[_exit(p)]) / PAYLOAD_B),
        f"{ms} ms: window": each(cell, lambda p: float(p.get("cwnd_bytes")[_exit(p)]) / D0.product_b),
        f"{ms} ms: rounds to full": each(cell, _rounds_to_full),
        f"{ms} ms: largest rate": each(cell, lambda p: float(p.get("path_rate_bps", 0.0).max()) / 1e6),
    }


def _in_cruise(p: Probe, metric: str) -> float:
    """The largest in the last CRUISE, which begins long after the clumps have."""
    first, last = p.stays(CRUISE)[-1]
    return float(p.get(metric)[first + 1 : last].max())


def _window_beyond(p: Probe) -> float:
    """Packets of the window beyond two products and the bunch, in the last CRUISE."""
    rate, rtt = _in_cruise(p, "path_rate_bps") / 8, _in_cruise(p, "least_rtt_ns") / 1e9
    return (_in_cruise(p, "cwnd_bytes") - 2 * rate * rtt - _in_cruise(p, "bbr_bunches_bytes")) / PAYLOAD_B


def _use(first_s: float) -> Callable[[Probe], float]:
    return lambda p: float(p.get("goodput_bps", 0.0)[p.t > first_s].mean()) / D0.payload_mbps / 1e6


def _lost_share(r: Results) -> float:
    flows = r.runs.only("tokens").flows()
    lost, data = (float(np.sum(flows[c].to_numpy())) for c in ("drops_packets", "size_bytes"))
    return lost / (data / PAYLOAD_B + lost)


CLAIMS: dict[str, Any] = {
    "BB2": {
        "still in Startup without losses": each("limited", lambda p: float(p.state[-1] == STARTUP)),
        "next state": each("limited, losses", lambda p: float(p.state[_exit(p)])),
        "rate of the path": each("limited, losses", lambda p: float(p.get("path_rate_bps")[_exit(p)]) / 1e6),
    },
    "BB6": {
        "next state": each("limited in UP, a loss", _after_limited_up),
        "cap": each(
            "limited in UP, a loss", lambda p: float(p.get("flight_cap_bytes")[_limited_up(p)[1] + 1] / PAYLOAD_B)
        ),
    },
    "BB7b": {
        "seconds of UP": each("limited in UP", lambda p: float(np.diff(p.t[list(_limited_up(p))])[0])),
        "next state": each("limited in UP", _after_limited_up),
        "least rate of the path in it": each(
            "limited in UP", lambda p: float(p.get("path_rate_bps")[slice(*_limited_up(p))].min()) / 1e6
        ),
    },
    "BB12": _clump_parts(20) | _clump_parts(60) | {"no clumps: rounds to full": each("plain", _rounds_to_full)},
    "BB13": {
        "bunch": each("clumps in CRUISE", lambda p: _in_cruise(p, "bbr_bunches_bytes") / PAYLOAD_B),
        "window beyond it": each("clumps in CRUISE", _window_beyond),
        "use of the line": each("clumps in CRUISE", _use(2.0)),
    },
    "BB17": {
        "goodput": each("tokens", lambda p: float(p.get("goodput_bps", 0.0)[p.t > 10].mean()) / 1e6),
        "lost": _lost_share,
    },
    "BB18": {
        "next state": each("late in UP", lambda p: _next_but_down(p, *_first_up(p))),
        "window kept": each("late in UP", lambda p: _window_kept(p, *_first_up(p))),
    },
    "BB19": {
        "next state": each("spike in UP", _hit(UP, SPIKE_UP_S, _next_but_down)),
        "window kept": each("spike in UP", _hit(UP, SPIKE_UP_S, _window_kept)),
    },
    "BB19b": {
        "Startup, Drain": begins("long spike in Startup", (STARTUP, DRAIN)),
        "next state": each("long spike in UP", _hit(UP, SPIKE_UP_S, _next_but_down)),
        "window kept": each("long spike in UP", _hit(UP, SPIKE_UP_S, _window_kept)),
    },
    "BB22": {
        "least over largest rate of the path": each("pause", _hit(REFILL, PAUSE_S, lambda p, a, b: _steady(p, a))),
        "rounds to UP": each("pause", _hit(REFILL, PAUSE_S, lambda p, a, b: stay_rounds(REFILL)(p))),
        "next state": each("pause", _hit(REFILL, PAUSE_S, lambda p, a, b: float(p.state[b + 1]))),
    },
}


def _first_up(p: Probe) -> tuple[int, int]:
    return p.stays(UP)[0]


def _steady(p: Probe, first: int) -> float:
    """From the pause on for 300 ms."""
    rate = p.get("path_rate_bps")[first : first + 300]
    return float(rate.min() / rate.max())


EXPERIMENT = study.STUDY.experiment(__name__, "Exact moments of BBR version 3", where="appendix: example test cases")
