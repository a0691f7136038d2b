"""The networks and protocols of [Bhandarkar 2006] as scenarios.

Segments carry 1000 bytes under 40 bytes of headers: a link of capacity C is full at a goodput of 1000/1040 C
(0.9615). Buffers are counted in packets. Time series hold totals at a fixed interval: what is measured lies between
the first sample and the last one, so the interval is the warm-up that the source leaves out.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

from crosswind.reproduce import Scenario

PAYLOAD, PACKET = 1000, 1040
CEILING = PAYLOAD / PACKET

# The protocols by the names that the source uses.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "SACK": {"preset": "sack-2006"},
    "DCR": {"preset": "sack-dcr"},
    "LTCP": {"preset": "ltcp"},
    "LTCP variable": {"preset": "ltcp-variable"},
    # A threshold of one window of duplicates, which is what the aggressive rule of RFC 4653 comes to. With its restored
    # window ("LTCP-NCR", a variant of f56-f70) and a tenth of the packets late one wait follows the other, and the
    # window never grows.
    "LTCP-DCR": {"preset": "ltcp-dcr", "dcr": {"wait": "window", "growth": "on"}},
    "LTCP-NCR": {"preset": "ltcp-dcr"},
    # Those of V.A: SACK and the LTCP of chapter III with the same threshold.
    "SACK-DCR": {"preset": "sack-2006", "dcr": {"wait": "window"}},
    "LTCP-DCR fixed": {"preset": "ltcp", "dcr": {"wait": "window"}},
    "LTCP-PERT": {"preset": "ltcp-pert"},
    "LDP": {"preset": "tcp-ldp"},
    "LDP-1Sample": {"preset": "ldp-1sample"},
    "LDP-100Sample": {"preset": "ldp-100sample"},
    "PERT": {"preset": "pert"},
    "PERT-REM": {"preset": "pert-rem"},
    "PERT-PI": {"preset": "pert-pi"},
    "SACK-ECN": {"preset": "sack-2006", "ecn": "on"},
    "BIC": {"preset": "sack-2006", "law": "bic"},
    "HTCP": {"preset": "sack-2006", "law": "htcp"},
    "HSTCP": {"preset": "sack-2006", "law": "hstcp"},
    "Scalable": {"preset": "sack-2006", "law": "scalable"},
    "FAST": {"preset": "sack-2006", "law": "fast"},
    "Vegas": {"preset": "sack-2006", "law": "vegas"},
    "Westwood": {"preset": "sack-2006", "law": "westwood"},
    "CUBIC": {"preset": "sack-2006", "law": "cubic"},
}


def tcp(protocol: str, **changes: Any) -> dict[str, Any]:
    """The `tcp` table of a protocol."""
    return {**PROTOCOLS[protocol], **changes}


def timed(protocol: str, samples: str) -> dict[str, Any]:
    """Which segments time TCP-LDP's round trips, where that is another rule than the preset's `per-ack`."""
    return {"rtt_sampling": samples} if protocol.startswith("LDP") and samples != "per-ack" else {}


def waiting(scenario: Scenario, rto_min: str) -> Scenario:
    """The same with another least wait for a timeout in all TCP flows."""
    flows = scenario.data["flow"]
    return scenario.with_({f"flow.{name}.tcp.rto_min": rto_min for name, f in flows.items() if "tcp" in f})


def slug(name: str) -> str:
    """A label as the name of a scenario."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()).strip("-")


def packets_per_s(rate_mbps: float) -> float:
    """Full packets that a link carries in a second."""
    return rate_mbps * 1e6 / 8 / PACKET


def bdp(rate_mbps: float, rtt_ms: float) -> int:
    """The product of capacity and round-trip time, in whole packets."""
    return max(1, round(packets_per_s(rate_mbps) * rtt_ms / 1e3))


def droptail(packets: float) -> dict[str, Any]:
    """A drop-tail queue."""
    return {"type": "droptail", "limit": f"{max(1, round(packets))} packets"}


def wire(rate_mbps: float, delay_ms: float, queue: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A line; what comes back on it never meets a full queue."""
    out: dict[str, Any] = {"type": "wire", "rate": f"{rate_mbps} Mbit/s", "delay": f"{delay_ms} ms"}
    out["queue"] = dict(queue) if queue else droptail(1_000_000)
    return {**out, "reverse": {"queue": droptail(1_000_000), **more.pop("reverse", {})}, **more}


def reordering(rate_mbps: float, delay_ms: float, queue: Mapping[str, Any], share: float) -> dict[str, Any]:
    """A line on which a share of the data packets is late by N(25 ms, 8 ms)."""
    body = wire(rate_mbps, delay_ms, queue, share=share)
    return {**body, "type": "reordering", "reverse": {**body["reverse"], "share": 0.0}}


def repairing(rate_mbps: float, delay_ms: float, error: float) -> dict[str, Any]:
    """A wireless line that repairs its errors without order; acknowledgements are not touched.

    The distance from one error to the next is exponential with a mean of 1/`error` packets (the source's error model):
    a packet is hit by one or more of them with probability 1 - exp(-error), and retransmitted once.
    """
    body = wire(rate_mbps, delay_ms, error=-math.expm1(-error))
    return {**body, "type": "arq", "reverse": {**body["reverse"], "error": 0.0}}


def processing(
    rate_mbps: float, delay_ms: float, up_to_us: float, queue: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """An access line on which every packet takes up to so much longer, in order: ns-2's `overhead_`.

    The source's 8 us at 1 Gbit/s are one packet's time at the bottleneck. Without it, a simulation is so regular that
    one flow, in step with the departures of a full drop-tail queue, can keep all others out.
    """
    body = wire(rate_mbps, delay_ms, queue, jitter=f"{up_to_us:.3f} us")
    return {**body, "type": "reordering", "reverse": {**body["reverse"], "jitter": "0 s"}}


def host(rate_mbps: float, delay_ms: float, bottleneck_mbps: float, **more: Any) -> dict[str, Any]:
    """An access line whose host takes up to one packet's time at the bottleneck over each packet."""
    return processing(rate_mbps, delay_ms, PACKET * 8 / bottleneck_mbps, **more)


def bulk(protocol: str, count: int = 1, start: Any = "0 s", **changes: Any) -> dict[str, Any]:
    """Endless transfers from the left to the right."""
    return {
        "from": "left",
        "to": "right",
        "count": count,
        "start": start,
        "tcp": tcp(protocol, **changes),
        "workload": {"type": "bulk"},
    }


def wave(mbps: float, period: str) -> dict[str, Any]:
    """UDP that is silent for a time, then sends for as long, and so on."""
    work = {"type": "on-off", "payload": "1012 B", "rate": f"{mbps} Mbit/s", "on": period, "off": period}
    return {"from": "left", "to": "right", "workload": {**work, "first": "off"}}


def world(
    name: str, links: Mapping[str, Any], flows: Mapping[str, Any], duration: str, sample: str, **more: Any
) -> Scenario:
    """Links and flows whose totals are sampled; `more` are further keys of what is recorded."""
    record = {"sample": sample, "series": "totals", **more}
    data = {"name": slug(name), "title": name, "duration": duration, "link": dict(links), "flow": dict(flows)}
    return Scenario.from_dict({**data, "record": record})


def dumbbell(
    name: str,
    bottleneck: Mapping[str, Any],
    access: Mapping[str, Any],
    flows: Mapping[str, Any],
    *,
    pairs: int = 1,
    duration_s: float,
    warm_up_s: float,
    record: Mapping[str, Any] | None = None,
) -> Scenario:
    """A dumbbell whose totals are sampled every `warm_up_s`; the run ends with the last sample."""
    samples = math.floor(duration_s / warm_up_s + 1e-9)
    return Scenario.from_dict(
        {
            "name": slug(name),
            "title": name,
            "seed": 1,
            "duration": f"{samples * warm_up_s:.6f} s",
            "topology": {
                "template": "dumbbell",
                "pairs": pairs,
                "access": dict(access),
                "bottleneck": dict(bottleneck),
            },
            "flow": dict(flows),
            "record": {"sample": f"{warm_up_s:.6f} s", "series": "totals", **(record or {})},
        }
    )


def high_speed(
    name: str,
    flows: Mapping[str, Any],
    *,
    rate_mbps: float,
    buffer: float,
    rtt_ms: float = 120,
    pairs: int = 1,
    duration_s: float,
    warm_up_s: float,
    hosts: Literal["instant", "busy"] = "instant",
    **more: Any,
) -> Scenario:
    """N5: access links of 2.4 Gbit/s, one bottleneck, end-to-end round trip `rtt_ms`.

    In front of a bottleneck of 2.4 Gbit/s they have twice that: were they as fast as it, the endless queue of the host
    would take what is to overflow the router's. With `hosts = "busy"` they take up to a packet's time over each packet,
    as in the source's N6.
    """
    bottleneck = wire(rate_mbps, rtt_ms / 2 - 2, droptail(buffer), **more)
    access_mbps = 2400 if rate_mbps < 2400 else 2 * rate_mbps
    access = host(access_mbps, 1, rate_mbps) if hosts == "busy" else wire(access_mbps, 1)
    return dumbbell(name, bottleneck, access, flows, pairs=pairs, duration_s=duration_s, warm_up_s=warm_up_s)
