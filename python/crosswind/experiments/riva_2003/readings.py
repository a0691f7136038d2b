"""Open points of the source, as other readings that can be run beside the main one.

The main one is what the machines of the source ran, as far as its words and their code tell (decision 0016). `former`
takes every resolution that was suggested before anything was measured; `kernel` is the reading that stood beside it.
The others change one thing in the main one.
"""

from typing import Any

from crosswind.reproduce import Variant

_KERNEL = {"hosts": "kernel", "memory": "kept", "peer": "known", "overhead": 14, "cell": 8, "tick": "10 ms"}


def _tcp(title: str, **change: Any) -> Variant:
    """The main reading with other keys of TCP."""
    return Variant(title, {"tcp": change})


ALL: dict[str, Variant] = {
    "former": Variant(
        "what was suggested before: RFC behaviour, 16 quick ACKs, IP lengths, a steady shaper, hosts that forget",
        {"base": "suggested"},
    ),
    "kernel": Variant(
        "hosts of 2.4.17 that knew their peer, an ACK for each segment at once, frames charged but not counted, a "
        "shaper without debt",
        {"base": "suggested", **_KERNEL},
    ),
    "no-memory": Variant("hosts remember nothing of earlier connections", {"memory": "none"}),
    "peer-known": Variant("hosts knew a threshold before a test case with a stream", {"peer": "known"}),
    "known-window-3": _tcp("3 segments to begin with towards a known peer", initial_window_known_segments=3),
    "known-window-4": _tcp("4 segments to begin with towards a known peer", initial_window_known_segments=4),
    "acks-at-once": _tcp(
        "an ACK for each segment at once (O-15, as section 6 words it)",
        delayed_ack="0 ms",
        quick_acks=0,
        delayed_ack_timer="per-segment",
    ),
    "window-131070": _tcp("a receive buffer of 131 070 B", receive_buffer="131070 B"),
    "window-32k": _tcp("a receive buffer of 32 kB (O-13)", receive_buffer="32768 B"),
    "no-debt": Variant("the shaper's classes do not go into debt", {"hysteresis": "off"}),
    "bucket-3000": Variant("no debt, but buckets of 3000 B", {"hysteresis": "off", "bucket": 3000}),
    "no-tick": Variant("the shaper gives credit back at once, not every 10 ms", {"tick": "0 ms"}),
    "ip-length": Variant("the shaper charges the IP length (O-2)", {"overhead": 0, "cell": 1}),
    "queue-ip-length": Variant("queues count the IP length", {"counted": 0}),
    "kbit-1000": Variant("1 kbit is 1000 bit (O-2)", {"kbit": 1000}),
    "exact-fit": Variant("a queue takes a packet only if it fits (O-6)", {"admission": "fits"}),
    "red-clock-10mbit": Variant("RED's idle damping is that of 10 Mbit/s (O-8)", {"red_clock": "10 Mbit/s"}),
    "red-floyd-jacobson": Variant("RED is the published one (O-27)", {"red_law": "floyd-jacobson"}),
    "wide-class-2": Variant("the class of UDP may borrow up to the whole link (O-4)", {"ceil_2": 140}),
    "final-in-window": _tcp("the last segment, with the FIN, keeps to the window (O-14)", final_segment="window"),
    "two-duplicates-wait": _tcp("no new segment leaves on the first two duplicate ACKs", limited_transmit="off"),
    "sack": _tcp("losses and window by RFC 6675 (O-14)", recovery="sack", reduction="at-once", window_moderation="off"),
    "no-fack": _tcp("forward acknowledgement is switched off (O-14)", recovery="linux-2.4"),
    "rfc-timer": _tcp("the timer of RFC 6298 (O-14)", rto="rfc6298"),
    "later-timer": _tcp("the timer of later releases: three round trips at first", rto="linux-2.4"),
    "mss-1460": _tcp("no timestamps, 1460 B (O-1)", mss="1460 B", timestamps="off"),
}
