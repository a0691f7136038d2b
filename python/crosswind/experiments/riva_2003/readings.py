"""Open points of the source, as other readings that can be run beside the main one.

The main one is what the machines of the source ran (docs/decisions/0016). Those named `suggested` take every resolution
that was suggested before anything was measured; the others change one thing in the main reading.
"""

from __future__ import annotations

from typing import Any

from crosswind.experiments.base import Variant

_IP_LENGTH = {"overhead": 0, "cell": 1, "tick": "0 ms"}
_SUGGESTED = {"hosts": "rfc", "memory": "none", **_IP_LENGTH}
_ONE_BY_ONE = {"recovery": "sack", "reduction": "at-once", "window_moderation": "off"}


def _suggested(title: str, **change: Any) -> Variant:
    """`suggested` with one thing changed."""
    return Variant(f"`suggested`, but {title}", _SUGGESTED | change)


def _tcp(title: str, **change: Any) -> Variant:
    """The main reading with other keys of TCP."""
    return Variant(title, {"tcp": change})


ALL: dict[str, Variant] = {
    "forgetful": Variant("hosts remember nothing of earlier connections", {"memory": "none"}),
    "exact-fit": Variant("a queue takes a packet only if it fits (O-6)", {"admission": "fits"}),
    "queue-counts-frames": Variant(
        "queues count 14 B of link layer for each packet, as the kernel does", {"counted": 14}
    ),
    "delayed-acks": _tcp("16 quick ACKs, then two segments or 40 ms (O-15)", delayed_ack="40 ms", quick_acks=16),
    "ack-every-second": _tcp("two segments or 200 ms (O-15)", delayed_ack="200 ms"),
    "ip-length": Variant("the shaper charges the IP length (O-2)", {"overhead": 0, "cell": 1}),
    "kbit-1000": Variant("1 kbit is 1000 bit (O-2)", {"kbit": 1000}),
    "no-tick": Variant("the shaper gives credit back at once, not every 10 ms", {"tick": "0 ms"}),
    "hysteresis": Variant("the shaper's classes go into debt, as in later releases of it", {"hysteresis": "on"}),
    "red-clock-10mbit": Variant(
        "RED's damping in idle time as for tc's default of 10 Mbit/s (O-8)", {"red_clock": "10 Mbit/s"}
    ),
    "red-floyd-jacobson": Variant(
        "RED as published, with the weight that tc chose (O-27)", {"red_law": "floyd-jacobson"}
    ),
    "sack": _tcp("losses and window by RFC 6675 instead of FACK and rate halving (O-14)", **_ONE_BY_ONE),
    "no-fack": _tcp("the kernel's recovery with forward acknowledgement switched off (O-14)", recovery="linux-2.4"),
    "at-once": _tcp("the window is halved at once instead of the rate (O-14)", reduction="at-once"),
    "two-duplicates-wait": _tcp("no new segment leaves on the first two duplicate ACKs", limited_transmit="off"),
    "rto-1s": _tcp("timeouts of at least 1 s (O-14)", rto="rfc6298", rto_min="1 s"),
    "window-32k": _tcp("receive window of 32 kB (O-13)", receive_buffer="32768 B"),
    "mss-1460": _tcp("no timestamps, 1460 B (O-1)", mss="1460 B", timestamps="off"),
    "wide-class-2": Variant("the class of UDP may borrow up to the whole link (O-4)", {"ceil_2": 140}),
    "suggested": Variant(
        "every resolution as suggested: RFC behaviour, forgetful hosts, 16 quick ACKs, IP lengths", _SUGGESTED
    ),
    "suggested-memory": _suggested("hosts remember thresholds and round-trip times", memory="kept"),
    "suggested-exact-fit": _suggested("a queue takes a packet only if it fits", admission="fits"),
    "suggested-ack-each": _suggested(
        "an ACK for each segment at once (as section 6 words O-15)", tcp={"delayed_ack": "0 ms", "quick_acks": 0}
    ),
    "suggested-frames": _suggested("the shaper charges frames, rounded down to cells of 8 bytes", overhead=14, cell=8),
    "suggested-kbit-1000": _suggested("1 kbit is 1000 bit", kbit=1000),
    "suggested-red-clock-10mbit": _suggested("RED's idle damping is that of 10 Mbit/s", red_clock="10 Mbit/s"),
    "suggested-red-floyd-jacobson": _suggested("RED is the published one", red_law="floyd-jacobson"),
}
