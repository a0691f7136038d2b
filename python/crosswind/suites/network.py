"""The dumbbell of all cases of RFC 7928, section 3.1, and what runs over it.

Hosts stand behind access links of ten times the bottleneck's rate, which hold the round trip; the queue under test is
on the bottleneck from `left` to `right`. All other queues are too large to matter.
"""

from __future__ import annotations

from typing import Any

from crosswind.suites.case import PACKET_B, Setting, Table

BOTTLENECK_MS = 1.0
LARGE: Table = {"type": "droptail", "limit": "100000 packets"}
FRIENDLY, CUBIC = "linux-6", "linux-6-cubic"
HEADERS_B = 28


def dumbbell(
    s: Setting, queue: Table, flows: Table, *, reverse: Table | None = None, seconds: float | None = None
) -> Table:
    """A scenario: the queue at the bottleneck, an access link for every round trip that a flow names.

    A flow comes from `@100` (a host 100 ms away, there and back) or goes to it.
    """
    links: Table = {
        "bottleneck": {
            "from": "left",
            "to": "right",
            "rate": f"{s.rate_bps} bit/s",
            "delay": f"{BOTTLENECK_MS} ms",
            "queue": queue,
            "reverse": {"queue": reverse or LARGE},
        }
    }
    told: Table = {}
    for name, flow in flows.items():
        ends = {end: _host(s, str(flow[end]), links) for end in ("from", "to")}
        told[name] = {**flow, **ends}
    record = {"sample": "100 ms", "sampled": ["bottleneck"]}
    return {"duration": f"{seconds or s.seconds} s", "link": links, "flow": told, "record": record}


def _host(s: Setting, name: str, links: Table) -> str:
    if not name.startswith("@"):
        return name
    node = f"host-{name[1:]}ms"
    one_way = float(name[1:]) / 2 - BOTTLENECK_MS
    links[f"access-{name[1:]}ms"] = {
        "from": node,
        "to": "left",
        "rate": f"{10 * s.rate_bps} bit/s",
        "delay": f"{one_way:g} ms",
        "queue": LARGE,
    }
    return node


def host(rtt_ms: float) -> str:
    """The name of a host that far away, for `dumbbell`."""
    return f"@{rtt_ms:g}"


def _ecn(s: Setting) -> Table:
    return {"ecn": "on"} if s.ecn == "on" else {}


def bulk(s: Setting, *, preset: str = FRIENDLY, rtt_ms: float | None = None, **more: Any) -> Table:
    """Greedy flows towards `right`; `tcp` in `more` adds to the preset."""
    tcp = {"preset": preset, **_ecn(s), **more.pop("tcp", {})}
    start = more.pop("start", {"uniform": ["0 s", "1 s"]})
    return {
        "from": host(rtt_ms or s.rtt_ms), "to": "right", "start": start,
        "workload": {"type": "bulk"}, "tcp": tcp, **more,
    }  # fmt: skip


def constant(s: Setting, share: float, **more: Any) -> Table:
    """A stream that heeds nothing, at a share of the bottleneck's rate with its headers."""
    payload = PACKET_B - HEADERS_B
    interval_us = PACKET_B * 8 / (share * s.rate_bps) * 1e6
    workload = {"type": "cbr", "payload": f"{payload} B", "interval": f"{interval_us:.3f} us"}
    return {"from": host(s.rtt_ms), "to": "right", "workload": workload, **more}


def voice(s: Setting, **more: Any) -> Table:
    """A call by G.711: 20 ms of speech in each packet, marked as voice."""
    workload = {"type": "cbr", "payload": "172 B", "interval": "20 ms"}
    return {"from": host(s.rtt_ms), "to": "right", "dscp": "EF", "workload": workload, **more}


def pages(s: Setting, every_s: float, **more: Any) -> Table:
    """Pages of fifty objects of 2 kB over six connections at a time, one after the other."""
    count = max(1, int((s.seconds - 10.0) / every_s))
    workload = {"type": "page", "body": "20 kB", "objects": 50, "object": "2 kB", "parallel": 6}
    return {
        "from": host(s.rtt_ms), "to": "right", "count": count, "start": {"every": f"{every_s:g} s"},
        "workload": workload, "tcp": {"preset": CUBIC, **_ecn(s)}, **more,
    }  # fmt: skip


def video(s: Setting, share: float = 0.6) -> Table:
    """A video at a share of the bottleneck: 25 frames a second, each twelfth ten times as large as the others.

    Each frame leaves at the rate of the access link. Two flows: the large frames, the others.
    """
    frame_b = share * s.rate_bps / 8 / 25
    small_b = frame_b * 12 / 21
    return {"video-large": _frames(s, 10 * small_b, 0.48), "video": _frames(s, small_b, 0.04)}


def _frames(s: Setting, size_b: float, every_s: float) -> Table:
    on_s = size_b * 8 / (10 * s.rate_bps)
    workload = {
        "type": "on-off", "payload": "1200 B", "rate": f"{10 * s.rate_bps} bit/s", "on": f"{on_s * 1e6:.0f} us",
        "off": f"{(every_s - on_s) * 1e6:.0f} us", "rounding": "nearest",
    }  # fmt: skip
    return {"from": host(s.rtt_ms), "to": "right", "workload": workload, "start": {"uniform": ["0 s", "480 ms"]}}


def ping(s: Setting, **more: Any) -> Table:
    """A probe of the round trip, ten times a second."""
    return {"from": host(s.rtt_ms), "to": "right", "workload": {"type": "ping", "interval": "100 ms"}, **more}
