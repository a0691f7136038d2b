"""Open points of the source, as other readings that can be run beside the suggested one."""

from __future__ import annotations

from crosswind.experiments.base import Variant

_MAX_P = "RED's maximum probability as Linux's traffic-control tool rounds it: 0.0527 in effect"
_LAN = "RED's average damped in idle time as for a 10 Mbit/s card, not for the last hop"
_EXACT = "RED's average damped by the exponential of the source, not by the kernel's line"
_WINDOW = {"receive_window": "linux-2.4"}
_RECOVERY = {"recovery": "linux-2.4"}
_MODERATION = {"window_moderation": "linux-2.4"}

TCP: dict[str, Variant] = {
    "linux-plog": Variant(_MAX_P, {"max_p": "linux-plog"}),
    "lan-damping": Variant(_LAN, {"damping_rate": "10 Mbit/s"}),
    "exact-damping": Variant(_EXACT, {"idle_damping": "exact"}),
    "cache-forever": Variant("shared thresholds are never forgotten", {"lifetime": None}),
    "linux-window": Variant(
        "receive window as Linux 2.4 lets it grow with small segments: 17152 B, 32 segments", {"tcp": _WINDOW}
    ),
    "byte-counting": Variant(
        "congestion avoidance grows by a segment per round trip, whatever the rate of ACKs",
        {"tcp": {"avoidance_counting": "bytes"}},
    ),
    "heartbeat": Variant(
        "delayed ACKs by one 200 ms clock of the host, as in BSD, instead of 200 ms after each first segment",
        {"tcp": {"delayed_ack_timer": "heartbeat"}},
    ),
    "heartbeat-linux-window": Variant(
        "the two receiver readings together", {"tcp": {"delayed_ack_timer": "heartbeat", **_WINDOW}}
    ),
    "newreno": Variant(
        "for orientation: recovery repairs one hole per round trip (NewReno, no SACK)",
        {"tcp": {"recovery": "newreno", "sack": "off"}},
    ),
}

KERNEL_FIFO = Variant(
    "router queues take a packet while their backlog is not above the limit, as the code of Linux 2.4 does, instead of "
    "only what fits",
    {"admission": "linux-2.4"},
)
RECOVERY = Variant(
    "losses are found as by Linux 2.4 without FACK: the first hole, and all once data sent later is SACKed",
    {"tcp": _RECOVERY},
)
MODERATION = Variant(
    "an ACK out of the ordinary releases three segments at most, and the window falls with it, as in Linux 2.4",
    {"tcp": _MODERATION},
)
KERNEL = Variant(
    "receive window, rounding of the maximum probability, recovery, moderation of the window and the router's "
    "admission all as in Linux 2.4's code",
    {"max_p": "linux-plog", "admission": "linux-2.4", "tcp": {**_WINDOW, **_RECOVERY, **_MODERATION}},
)
OVERFLOW = Variant(
    "RED's average damped with the 32-bit overflow that the source says it had mended", {"idle_damping": "overflow32"}
)
TCP |= {
    "kernel-fifo": KERNEL_FIFO,
    "linux-recovery": RECOVERY,
    "linux-moderation": MODERATION,
    "linux-kernel": KERNEL,
}
_SHARED = {
    k: TCP[k]
    for k in (
        "linux-plog",
        "cache-forever",
        "linux-window",
        "kernel-fifo",
        "linux-recovery",
        "linux-moderation",
        "linux-kernel",
    )
}
PACKET_LIMIT = Variant("the drop-tail limit is 20 packets instead of 11520 B", {"limit_unit": "packets"})
SHAPED = Variant(
    "the shaper of the stream's class meters packets when they could leave, as the kernel's does: its bucket of one "
    "MTU overflows while the link takes nothing",
    {"audio_limit": "departure"},
)
STREAM: dict[str, Variant] = {**_SHARED, "packet-limit": PACKET_LIMIT, "shaped-audio": SHAPED}
PAGE: dict[str, Variant] = {
    **_SHARED,
    "htb-quantum": Variant("the classes' quanta are those that HTB computes from their rates", {"quantum": "htb"}),
    "repaired-frto": Variant("F-RTO ignores what the peer sends again", {"tcp": {"frto_peer_resends": "ignore"}}),
}
ARQ: dict[str, Variant] = {
    **_SHARED,
    "short-hold": Variant(
        "on ARQ links the send buffer is free at delivery, one propagation delay after transmission",
        {"ack_delay": "0 ms"},
    ),
    "frozen-state": Variant("all attempts of a frame meet the channel state of the first", {"state_at": "first"}),
    "own-histories": Variant("every repetition meets a history of the channel of its own", {"history": "each"}),
    "clamped-states": Variant("state lengths outside their limits are clamped, not drawn again", {"outside": "clamp"}),
}
