"""The set-ups E1 to E4 of the source's chapter 4, in their suggested readings.

A sender behind an access link, a router, the link that the source is about, a receiver. Queues of ns-2 refuse a
packet when `limit - 1` wait; Crosswind's hold `limit`, so one less is asked for here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crosswind.reproduce import Scenario

MSS = 1000
WIDE = {"type": "droptail", "limit": "100000 packets"}


def world(name: str, link: Mapping[str, Any], flows: Mapping[str, Any], duration_s: float, **more: Any) -> Scenario:
    """A path with one link of interest, called `bottleneck`; `more` are further tables of the scenario."""
    access = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": WIDE}
    return Scenario.from_dict(
        {
            "name": name,
            "duration": f"{duration_s:g} s",
            "link": {
                "access": {"from": "sender", "to": "router", **access},
                "bottleneck": {"from": "router", "to": "receiver", **link},
            },
            "flow": dict(flows),
            **more,
        }
    )


# -- E1: microscopes of one timeout ------------------------------------------------------------------------------------

# The source gives no parameters of the path. What it says of the traces is that segments 9 to 15 of a slow start are
# hit, that a partial ACK comes on the 11th and go-back-N on the 18th second, and that there are no samples from 10 to
# 13 s: of 5268 paths this one has the flight and the four times, each within 1.1 s (decision 0028).


@dataclass(frozen=True)
class Path:
    """A path with one delay spike, and the keys of its sender."""

    rate_bps: int
    delay: str
    spike_at_s: float
    spike_s: float
    tcp: Mapping[str, Any]


E1 = Path(
    36_000,
    "150 ms",
    3.0,
    5.0,
    {"window_limit_segments": 50, "initial_ssthresh": "50000 B", "initial_window_segments": 1},
)
# The rate and delay of GPRS, and a flight that the threshold of slow start bounds: for traces without that spike, and
# before for those with it.
SLOW = Path(
    30_000, "300 ms", 10.0, 8.0, {"window_limit_segments": 60, "initial_ssthresh": "12000 B", "delayed_ack": "0 s"}
)
SLOW_START = replace(SLOW, spike_at_s=4.0, spike_s=7.0, tcp={**SLOW.tcp, "initial_window_segments": 1})
PATHS = {"chosen": E1, "gprs": SLOW, "gprs-slow-start": SLOW_START}
HEADERS = 52
TRACE_TCP = {"preset": "gurtov-reno-sack", "mss": f"{MSS} B"}
EIFEL = {"eifel": "on"}


def trace(
    name: str,
    tcp: Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    *,
    segments: int = 0,
    duration_s: float = 60.0,
    path: str = "chosen",
    **more: Any,
) -> Scenario:
    """One connection over a slow link (of `PATHS`) with one delay spike, everything logged (E1)."""
    way = PATHS[path]
    body = {
        "rate": f"{way.rate_bps} bit/s",
        "delay": way.delay,
        "queue": {"type": "droptail", "limit": "19 packets"},
        "spikes": {"at": [f"{way.spike_at_s:g} s"], "length": f"{way.spike_s:g} s"},
        "reverse": {"queue": WIDE, "loss": {"type": "none"}},
        **(link or {}),
    }
    body = {k: v for k, v in body.items() if v is not None}
    workload: dict[str, Any] = {"type": "bulk"} | ({"size": f"{segments * MSS} B"} if segments else {"close": "never"})
    flow = {"from": "sender", "to": "receiver", "workload": workload, "tcp": {**TRACE_TCP, **way.tcp, **(tcp or {})}}
    record = {"events": "all", "sample": "100 ms"}
    return world(name, body, {"tcp": flow}, duration_s, record=record, **more)


# -- E2: Eifel over many spikes ----------------------------------------------------------------------------------------

SEGMENTS = 5000
SPIKES = {
    "first": {"uniform": ["0 s", "5 s"]},
    "every": {"uniform": ["20 s", "40 s"]},
    "length": {"uniform": ["3 s", "15 s"]},
}
VARIANTS = {"Reno-SACK": "gurtov-reno-sack", "NewReno-SACK": "gurtov-newreno-sack", "FACK": "gurtov-fack"}


def transfer(
    name: str,
    variant: str,
    tcp: Mapping[str, Any] | None = None,
    *,
    cbr_bytes: int = 0,
    queue: Mapping[str, Any] | None = None,
    spikes: Mapping[str, Any] | None = None,
    access_ms: float = 1.0,
    dumb_bell: bool = False,
    reverse_limit: int = 0,
) -> Scenario:
    """5 MB over 2 Mbit/s with delay spikes, alone or beside a stream of 1 Mbit/s in packets of `cbr_bytes` (E2).

    `dumb_bell`: the receivers have an access link like that of the sender.
    """
    link = {
        "rate": "2 Mbit/s",
        "delay": "150 ms",
        "queue": dict(queue or {"type": "droptail", "limit": "74 packets"}),
        "spikes": {**SPIKES, **(spikes or {})},
        "reverse": {"queue": {"type": "droptail", "limit": f"{reverse_limit} packets"} if reverse_limit else WIDE},
    }
    flows: dict[str, Any] = {
        "tcp": {
            "from": "sender",
            "to": "receiver",
            "workload": {"type": "bulk", "size": f"{SEGMENTS * MSS} B"},
            "tcp": {"preset": VARIANTS[variant], **(tcp or {})},
        }
    }
    if cbr_bytes:
        flows["cbr"] = {
            "from": "router",
            "to": "receiver",
            "workload": {"type": "cbr", "payload": f"{cbr_bytes - 28} B", "rate": "1 Mbit/s"},
        }
    out = world(name, link, flows, 2000.0, until=["tcp"])
    out = out.with_({"link.access.delay": f"{access_ms:g} ms"}) if access_ms != 1.0 else out
    if not dumb_bell:
        return out
    far = {**out.data["link"]["access"], "from": "far", "to": "receiver"}
    changes: dict[str, Any] = {"link.bottleneck.to": "far", "link.far": far}
    return out.with_(changes | ({"flow.cbr.to": "far"} if cbr_bytes else {}))


# -- E3: listed drops --------------------------------------------------------------------------------------------------

LOSS = (*range(15, 31), 37)
LOSS_ACKS = (*range(15, 31), 43)
DUP = (24, 25, 26, 28, 31, 35, 40, 45, 46, 47, 48, 51)
ACKS = (23, 24, 25, 26)
# The `dup` tests of the suite run NewReno slow but steady and without deflation.
STEADY = {"newreno": {"patience": "slow-but-steady", "deflation": "off"}}
STAMPS = {"timestamps": "on", "timestamp_tick": "10 us"}
RFC1323 = {"timestamp_echo": "rfc1323"}


def listed(name: str, drops: Sequence[int], tcp: Mapping[str, Any] | None = None, acks: Sequence[int] = ()) -> Scenario:
    """ns-2's topology net4 with a window of 28 segments; packets to drop count from 0 with the SYN (E3)."""
    limit = {"type": "droptail", "limit": "7 packets"}
    link = {
        "rate": "800 kbit/s",
        "delay": "100 ms",
        "queue": limit,
        "loss": {"type": "list", "packets": [n + 1 for n in drops], "counts": "all", "at": "entry"},
        "reverse": {
            "queue": limit,
            "loss": {"type": "list", "packets": [n + 1 for n in acks], "counts": "all", "at": "entry"},
        },
    }
    sender = {
        "preset": "ns2-newreno",
        "window_limit_segments": 28,
        "initial_ssthresh": "28000 B",
        "rto_initial": "6 s",
        "rto_min": "1 s",
        **(tcp or {}),
    }
    flow = {
        "from": "sender",
        "to": "receiver",
        "start": "1 s",
        "workload": {"type": "bulk", "close": "never"},
        "tcp": sender,
    }
    out = world(name, link, {"tcp": flow}, 6.0, record={"events": "all"})
    return out.with_({"link.access.rate": "8 Mbit/s", "link.access.delay": "0 ms"})


# -- E4: three states of loss ------------------------------------------------------------------------------------------


def three_states(
    name: str, phases: Sequence[Mapping[str, Any]], tcp: Mapping[str, Any], rate_kbps: float, duration_s: float
) -> Scenario:
    """One short-lived connection through three states of loss (E4)."""
    link = {
        "rate": f"{rate_kbps:g} kbit/s",
        "delay": "100 ms",
        "queue": {"type": "droptail", "limit": "50 packets"},
        "loss": {"type": "phases", "phase": [dict(p) for p in phases], "at": "entry"},
        "reverse": {"queue": WIDE, "loss": {"type": "none"}},
    }
    sender = {
        "preset": "ns2-newreno",
        "window_limit_segments": 28,
        "initial_ssthresh": "28000 B",
        "rto_min": "1 s",
        **tcp,
    }
    flow = {"from": "sender", "to": "receiver", "workload": {"type": "bulk", "close": "never"}, "tcp": sender}
    return world(name, link, {"tcp": flow}, duration_s)
