"""Open points of the source, as other readings that can be run beside the main one.

The main one takes every suggested resolution. Those without `kernel` in their name change one thing in it.
"""

from __future__ import annotations

from typing import Any

from crosswind.experiments.base import Variant

_FRAMES = {"overhead": 14, "cell": 8}
_KERNEL = {"hosts": "kernel", "memory": "kept", **_FRAMES}


def _kernel(title: str, **change: Any) -> Variant:
    """`kernel` with one thing changed: what explains the pattern of losses."""
    return Variant(f"`kernel`, but {title}", _KERNEL | change)


ALL: dict[str, Variant] = {
    "kernel": Variant(
        "what the kernel's code and tc's rate table do: hosts that remember, an initial window of 3 towards a known "
        "host, an ACK for each segment, new segments on the first duplicates, frames charged",
        _KERNEL,
    ),
    "kernel-no-memory": _kernel("hosts remember nothing", memory="none"),
    "kernel-exact-fit": _kernel("a queue takes a packet only if it fits", admission="fits"),
    "kernel-delayed-acks": _kernel(
        "16 quick ACKs, then two segments or 40 ms", tcp={"delayed_ack": "40 ms", "quick_acks": 16}
    ),
    "kernel-ack-every-second": _kernel("two segments or 200 ms", tcp={"delayed_ack": "200 ms"}),
    "kernel-ip-length": _kernel("the shaper charges the IP length", overhead=0, cell=1),
    "kernel-kbit-1000": _kernel("1 kbit is 1000 bit", kbit=1000),
    "kernel-red-clock-10mbit": _kernel("RED's idle damping is that of 10 Mbit/s", red_clock="10 Mbit/s"),
    "kernel-red-floyd-jacobson": _kernel("RED is the published one", red_law="floyd-jacobson"),
    "kernel-fack": _kernel("losses are found by forward acknowledgement", tcp={"recovery": "fack"}),
    "kernel-moderation": _kernel(
        "the window is held to what is in flight on odd ACKs", tcp={"window_moderation": "linux-2.4"}
    ),
    "memory": Variant("RFC behaviour, but hosts remember thresholds and round-trip times", {"memory": "kept"}),
    "exact-fit": Variant("a queue takes a packet only if it fits (O-6)", {"admission": "fits"}),
    "ack-each": Variant(
        "an ACK for each segment at once (O-15, as section 6 words it)",
        {"tcp": {"delayed_ack": "0 ms", "quick_acks": 0}},
    ),
    "ack-every-second": Variant("two segments or 200 ms (O-15)", {"tcp": {"delayed_ack": "200 ms", "quick_acks": 0}}),
    "frames": Variant("the shaper charges frames, rounded down to cells of 8 bytes (O-2)", _FRAMES),
    "kbit-1000": Variant("1 kbit is 1000 bit (O-2)", {"kbit": 1000}),
    "red-clock-10mbit": Variant(
        "RED's damping in idle time as for tc's default of 10 Mbit/s (O-8)", {"red_clock": "10 Mbit/s"}
    ),
    "red-floyd-jacobson": Variant(
        "RED as published, with the weight that tc chose (O-27)", {"red_law": "floyd-jacobson"}
    ),
    "window-32k": Variant("receive window of 32 kB (O-13)", {"tcp": {"receive_buffer": "32768 B"}}),
    "timer-restarts": Variant(
        "the timer starts afresh when the first segment is sent again, as in the kernel (O-14)",
        {"tcp": {"restart_timer_on_resend": "on"}},
    ),
    "rto-linux": Variant(
        "the floor of 200 ms is that of the variance term, as in the kernel (O-14)", {"tcp": {"rto": "linux-2.4"}}
    ),
    "rto-1s": Variant("timeouts of at least 1 s (O-14)", {"tcp": {"rto": "rfc6298", "rto_min": "1 s"}}),
    "mss-1460": Variant("no timestamps, 1460 B (O-1)", {"tcp": {"mss": "1460 B", "timestamps": "off"}}),
    "fack": Variant("losses are found by forward acknowledgement (O-14)", {"tcp": {"recovery": "fack"}}),
    "sack-kept": Variant(
        "what SACK reported before a timeout is not sent again, a timeout in a recovery does not reduce twice (O-14)",
        {"tcp": {"sack_after_timeout": "keep", "timeout_in_recovery": "hold"}},
    ),
    "wide-class-2": Variant("the class of UDP may borrow up to the whole link (O-4)", {"ceil_2": 140}),
}
