"""What do queues do to one aggressive flow over a slow line, as ns-3's suite for RFC 7928 has it?

One flow of BIC over 1 Mbit/s and 100 ms, room for 45 packets, 300 s: mean delay in the queue, goodput of the whole
run.

What the source shows: its stored output (section 5.2 of the RFC), a student's upgrade of the suite on a head of
January 2020; centres of ellipses, rates in units of 2^20 bit/s.

How the line is set up is what the suite's own program says: it gives the device of the bottleneck no queue, so ns-3's
of 100 packets stands between the discipline and the line (`DEVICE`), and the runner switches byte queue limits off. The
discipline holds packets only while the device is full, and the delay is counted in the discipline alone. This was read
after the first outcomes, without a device, had missed the source's delays; they are shown beside (`without a device`).

The same in ns-3.37 (`validation/ns3/suite.cc`), delay, goodput, and rate as the suite reckons it, from windows in which
data came: drop tail 69.2 ms, 0.743, 0.791; CoDel 2.7 ms, 0.670, 0.717; PIE 10.0 ms, 0.658, 0.721, with delays by rate
18.9 ms, 0.647, 0.709; COBALT 2.1 ms, 0.633, 0.729. So set-up and unit are the source's, and the rates are not goodput.

What may differ here: the sender is BIC by its paper with the recovery of RFC 6582 and ns-3's timer; RED and ARED have
ns-3's defaults as far as those are ns-2's. PIE spreads no drops, as ns-3 does not. Nothing is drawn by the traffic;
six repetitions differ in the draws of PIE and RED and in a start within 10 ms.
"""

from typing import Any

import numpy as np

from crosswind.experiments.aqm import study
from crosswind.reproduce import Results, Scenario, measures

SECONDS, LIMIT = 300, "45 packets"
MEBI = 2**20 / 1e6
TCP: dict[str, Any] = {
    "preset": "rfc",
    "law": "bic",
    "sack": "off",
    "recovery": "newreno",
    "mss": "698 B",
    "timestamps": "on",
    "initial_window_segments": 3,
}
RED: dict[str, Any] = {"type": "red-ns2", "limit": LIMIT, "measure": "packets", "mean_packet": "500 B", "max_p": 0.02}
#: Packets that the device in front of the bottleneck holds.
DEVICE = 100
QUEUES: dict[str, dict[str, Any]] = {
    "drop tail": {"type": "droptail", "limit": LIMIT},
    "CoDel": {"type": "codel", "profile": "linux", "limit": LIMIT, "mtu": "1499 B", "ecn": "drop"},
    "PIE": {"type": "pie", "limit": LIMIT, "target": "20 ms", "derandomise": False, "mean_packet": "750 B"},
    "RED": RED | {"min_th": "5 packets", "max_th": "15 packets", "w_q": 0.002},
    "ARED": RED | {"adaptive": True, "w_q": "capacity"},
    "COBALT": {"type": "cobalt", "profile": "ns3", "limit": "1500 kB", "ecn": "drop"},
}


NO_DEVICE, BY_RATE = "{}, without a device", "PIE, delays by rate"
#: Of those with a number that is no secret; what a device does to the others is not looked at before they are judged.
SHOWN = ("drop tail", "CoDel", "PIE", "COBALT")


def configurations() -> dict[str, Scenario]:
    """One flow behind each queue."""
    return {
        **{name: _scenario(queue, DEVICE) for name, queue in QUEUES.items()},
        BY_RATE: _scenario(QUEUES["PIE"] | {"estimator": "rate"}, DEVICE),
        **{NO_DEVICE.format(name): _scenario(QUEUES[name], 0) for name in SHOWN},
    }


def _scenario(queue: dict[str, Any], device: int) -> Scenario:
    large = {"type": "droptail", "limit": "100000 packets"}
    line: dict[str, Any] = {"from": "left", "to": "right", "rate": "1 Mbit/s", "delay": "48 ms", "queue": queue}
    line["device_packets"] = device
    access = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": large}
    links = {
        "bottleneck": line | {"reverse": {"queue": large}},
        "in": {"from": "sender", "to": "left"} | access,
        "out": {"from": "right", "to": "receiver"} | access,
    }
    flow = {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": TCP}
    flow["start"] = {"uniform": ["0 ms", "10 ms"]}
    return study.scenario("suite", {"duration": f"{SECONDS} s", "link": links, "flow": {"one": flow}})


def _both(name: str) -> dict[str, Any]:
    beside = {"without a device": NO_DEVICE.format(name)} if name in SHOWN else {}
    beside |= {"by rate": BY_RATE} if name == "PIE" else {}
    read = {"": name} | {f", {what}": other for what, other in beside.items()}
    return {f"{part}{what}": value for what, other in read.items() for part, value in _pair(other).items()}


def _pair(name: str) -> dict[str, Any]:
    return {
        "delay": measures.value(name, "mean_ms", np.mean),
        "goodput": lambda r: r.mean(name, "goodput") / MEBI,
    }


def _over(first: str, second: str, column: str) -> Any:
    return lambda r: _quotient(r, first, second, column)


def _quotient(r: Results, first: str, second: str, column: str) -> float:
    return r.mean(first, column) / r.mean(second, column)


CLAIMS: dict[str, Any] = {
    "AQ42": _both("drop tail"),
    "AQ43": _both("CoDel"),
    "AQ44": _both("PIE"),
    "AQ45": _both("RED"),
    "AQ46": _both("ARED"),
    "AQ47": {
        "PIE over CoDel": _over("PIE", "CoDel", "mean_ms"),
        "drop tail over PIE": _over("drop tail", "PIE", "mean_ms"),
    },
    "AQ48": {
        "drop tail over PIE": _over("drop tail", "PIE", "goodput"),
        "PIE over CoDel": _over("PIE", "CoDel", "goodput"),
    },
    "AQ49": _both("COBALT"),
}

EXPERIMENT = study.STUDY.experiment(__name__, "BIC over a slow line", where="ns-3's suite, 5.2")
