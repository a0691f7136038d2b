"""Open points of the source, as other readings that can be run beside the main one.

The main one takes every suggested resolution. `kernel` is what the machines of the source ran as far as its numbers
tell (docs/decisions/0016); those with `kernel` in their name change one thing in that, the others one in the main one.
"""

from __future__ import annotations

from typing import Any

from crosswind.experiments.base import Variant

_FRAMES = {"overhead": 14, "cell": 8}
_KERNEL = {"hosts": "kernel", "memory": "kept", "peer": "known", **_FRAMES, "tick": "10 ms"}
_ONE_BY_ONE = {"recovery": "sack", "reduction": "at-once", "window_moderation": "off"}
_SLOW_FLOOR = {"rto": "rfc6298", "rto_min": "1 s"}
_LEARNT_ACKS = {
    "delayed_ack": "40 ms",
    "delayed_ack_timer": "linux-2.4",
    "writing": "linux-2.4",
    "receive_window": "linux-2.4",
    "receive_buffer": "87380 B",
}


def _kernel(title: str, **change: Any) -> Variant:
    """`kernel` with one thing changed."""
    return Variant(f"`kernel`, but {title}", _KERNEL | change)


def _tcp(title: str, **change: Any) -> Variant:
    """The main reading with other keys of TCP."""
    return Variant(title, {"tcp": change})


def _kernel_tcp(title: str, **change: Any) -> Variant:
    """`kernel` with other keys of TCP."""
    return _kernel(title, tcp=change)


_OF_KERNEL: dict[str, Variant] = {
    "kernel": Variant(
        "what the kernel's code and tc's rate table do: hosts that remember, forward acknowledgement and rate halving, "
        "an ACK for each segment, frames charged, credit given back every 10 ms",
        _KERNEL,
    ),
    "kernel-no-memory": _kernel("hosts remember nothing of earlier connections", memory="none"),
    "kernel-unknown-peer": _kernel(
        "hosts know no threshold before a test case with a stream: 2 segments to begin with", peer="unknown"
    ),
    "kernel-exact-fit": _kernel("a queue takes a packet only if it fits (O-6)", admission="fits"),
    "kernel-queue-counts-frames": _kernel("queues count 14 B of link layer for each packet, as it does", counted=14),
    "kernel-delayed-acks": _kernel_tcp(
        "16 quick ACKs, then two segments or 40 ms (O-15)", delayed_ack="40 ms", quick_acks=16
    ),
    "kernel-ack-every-second": _kernel_tcp("two segments or 200 ms (O-15)", delayed_ack="200 ms"),
    "kernel-learnt-acks": _kernel_tcp(
        "ACKs are quick or wait as its receiver learns, and its sender pushes segments (O-15)", **_LEARNT_ACKS
    ),
    "kernel-learnt-acks-long": _kernel_tcp(
        "the same, and the window may grow to 128 kB, so that ACKs are quick for longer (O-13, O-15)",
        **_LEARNT_ACKS | {"receive_buffer": "174760 B", "window_scaling": "on"},
    ),
    "kernel-final-in-window": _kernel_tcp(
        "the last segment, with the FIN, keeps to the window (O-14)", final_segment="window"
    ),
    "kernel-ip-length": _kernel("the shaper charges the IP length (O-2)", overhead=0, cell=1),
    "kernel-kbit-1000": _kernel("1 kbit is 1000 bit (O-2)", kbit=1000),
    "kernel-no-tick": _kernel("the shaper gives credit back at once, not every 10 ms", tick="0 ms"),
    "kernel-hysteresis": _kernel("the shaper's classes go into debt, as in later releases of it", hysteresis="on"),
    "kernel-red-clock-10mbit": _kernel("RED's idle damping is that of 10 Mbit/s (O-8)", red_clock="10 Mbit/s"),
    "kernel-red-floyd-jacobson": _kernel("RED is the published one (O-27)", red_law="floyd-jacobson"),
    "kernel-sack": _kernel_tcp("losses and window by RFC 6675 (O-14)", **_ONE_BY_ONE),
    "kernel-later-timer": _kernel_tcp(
        "the timer is that of later releases: three round trips at first, falling once per window", rto="linux-2.4"
    ),
    "kernel-no-fack": _kernel_tcp("forward acknowledgement is switched off (O-14)", recovery="linux-2.4"),
    "kernel-at-once": _kernel_tcp("the window is halved at once instead of the rate (O-14)", reduction="at-once"),
    "kernel-two-duplicates-wait": _kernel_tcp(
        "no new segment leaves on the first two duplicate ACKs", limited_transmit="off"
    ),
    "kernel-rto-1s": _kernel_tcp("timeouts of at least 1 s (O-14)", **_SLOW_FLOOR),
    "kernel-window-32k": _kernel_tcp("receive window of 32 kB (O-13)", receive_buffer="32768 B"),
    "kernel-mss-1460": _kernel_tcp("no timestamps, 1460 B (O-1)", mss="1460 B", timestamps="off"),
    "kernel-wide-class-2": _kernel("the class of UDP may borrow up to the whole link (O-4)", ceil_2=140),
}

ALL: dict[str, Variant] = {
    **_OF_KERNEL,
    "memory": Variant("RFC behaviour, but hosts remember thresholds and round-trip times", {"memory": "kept"}),
    "exact-fit": Variant("a queue takes a packet only if it fits (O-6)", {"admission": "fits"}),
    "ack-each": _tcp("an ACK for each segment at once (O-15, as section 6 words it)", delayed_ack="0 ms", quick_acks=0),
    "ack-every-second": _tcp("two segments or 200 ms (O-15)", delayed_ack="200 ms", quick_acks=0),
    "frames": Variant("the shaper charges frames, rounded down to cells of 8 bytes (O-2)", _FRAMES),
    "kbit-1000": Variant("1 kbit is 1000 bit (O-2)", {"kbit": 1000}),
    "red-clock-10mbit": Variant(
        "RED's damping in idle time as for tc's default of 10 Mbit/s (O-8)", {"red_clock": "10 Mbit/s"}
    ),
    "red-floyd-jacobson": Variant(
        "RED as published, with the weight that tc chose (O-27)", {"red_law": "floyd-jacobson"}
    ),
    "window-32k": _tcp("receive window of 32 kB (O-13)", receive_buffer="32768 B"),
    "timer-restarts": _tcp(
        "the timer starts afresh when the first segment is sent again, as in the kernel (O-14)",
        restart_timer_on_resend="on",
    ),
    "rto-linux": _tcp("the floor of 200 ms is that of the variance term, as in the kernel (O-14)", rto="linux-2.4"),
    "rto-1s": _tcp("timeouts of at least 1 s (O-14)", **_SLOW_FLOOR),
    "mss-1460": _tcp("no timestamps, 1460 B (O-1)", mss="1460 B", timestamps="off"),
    "fack": _tcp("losses are found by forward acknowledgement (O-14)", recovery="fack"),
    "sack-kept": _tcp(
        "what SACK reported before a timeout is not sent again, a timeout in a recovery does not reduce twice (O-14)",
        sack_after_timeout="keep",
        timeout_in_recovery="hold",
    ),
    "wide-class-2": Variant("the class of UDP may borrow up to the whole link (O-4)", {"ceil_2": 140}),
}
