"""Open points of the source, as other readings that can be run beside the main one (decision 0024).

`former` was the main reading before the study was corrected: it takes every resolution that was suggested before
anything was measured, and counts a timeout as spurious where any later ACK covers old data.
"""

from typing import Any

from crosswind.reproduce import Variant
from crosswind.reproduce.readings import FORMER


def _tcp(title: str, **changes: Any) -> Variant:
    """The main reading with other keys of TCP."""
    return Variant(title, {"tcp": changes})


_KERNEL = {"recovery": "linux-2.4", "receive_window": "linux-2.4", "receive_buffer": "87380 B"}
_SUGGESTED = {
    "tick": None,
    "max_p": "nominal",
    "class_rate": "above",
    "spread": "0 s",
    "admission": "fits",
    "tcp": {"flight_bound": "off", "receive_buffer": "87380 B"},
}
MAIN: dict[str, Variant] = {
    FORMER: Variant(
        "the main reading before the study was corrected: every suggested resolution, transmission in exact time, no "
        "bound of the window, both bulk flows at once",
        _SUGGESTED,
    )
}
COMMON: dict[str, Variant] = {
    **MAIN,
    "exact-time": Variant("packets are transmitted in exact time, not in whole milliseconds", {"tick": None}),
    "nominal-max-p": Variant(
        "RED's maximum probability as printed, 0.1, not as the tool of Linux rounds it", {"max_p": "nominal"}
    ),
    "what-fits": Variant(
        "router queues take only what fits, as Linux does from 2.4.25 on, not all while their backlog is not above the "
        "limit",
        {"admission": "fits"},
    ),
    "no-bound": _tcp("the window in a recovery is not bounded by what is in flight", flight_bound="off"),
    "rate-halving": _tcp("the window is halved by one segment for every second ACK", reduction="linux-2.4"),
    "linux-recovery": _tcp(
        "losses are found as by Linux 2.4 without FACK: the first hole, and all once data sent later is SACKed",
        recovery="linux-2.4",
    ),
    "linux-window": _tcp(
        "receive window as Linux 2.4 lets it grow with small segments: 17152 B, 32 segments",
        receive_window="linux-2.4",
        receive_buffer="87380 B",
    ),
    "linux-kernel": Variant(
        "receive window, recovery and moderation of the window all as in Linux 2.4's code",
        {"tcp": {**_KERNEL, "window_moderation": "linux-2.4"}},
    ),
    "spread-50-ms": Variant("the bulk flows start within 0.05 s", {"spread": "0.05 s"}),
    "spread-500-ms": Variant("the bulk flows start within 0.5 s", {"spread": "0.5 s"}),
}
TCP: dict[str, Variant] = {
    **COMMON,
    "lan-damping": Variant(
        "RED's average damped in idle time as for a 10 Mbit/s card, not for the last hop", {"damping_rate": "10 Mbit/s"}
    ),
    "exact-damping": Variant(
        "RED's average damped by the exponential of the source, not by the kernel's line", {"idle_damping": "exact"}
    ),
    "cache-forever": Variant("shared thresholds are never forgotten", {"lifetime": None}),
    "byte-counting": _tcp(
        "congestion avoidance grows by a segment per round trip, whatever the rate of ACKs", avoidance_counting="bytes"
    ),
}
OVERFLOW = Variant(
    "RED's average damped with the 32-bit overflow that the source says it had mended", {"idle_damping": "overflow32"}
)
PACKET_LIMIT = Variant("the drop-tail limit is 20 packets instead of 11520 B", {"limit_unit": "packets"})
STREAM: dict[str, Variant] = {
    **COMMON,
    "packet-limit": PACKET_LIMIT,
    "shaped-audio": Variant(
        "the shaper of the stream's class meters packets when they could leave, as the kernel's does: its bucket of "
        "one MTU overflows while the link takes nothing",
        {"audio_limit": "departure"},
    ),
}
PAGE: dict[str, Variant] = {
    **COMMON,
    "rates-above": Variant(
        "the rates of the classes lie above the link's, which does the limiting", {"class_rate": "above"}
    ),
    "htb-quantum": Variant("the classes' quanta are those that HTB computes from their rates", {"quantum": "htb"}),
    "repaired-frto": _tcp("F-RTO ignores what the peer sends again", frto_peer_resends="ignore"),
}
ARQ: dict[str, Variant] = {
    **COMMON,
    "short-hold": Variant(
        "on ARQ links the send buffer is free at delivery, one propagation delay after transmission",
        {"ack_delay": "0 ms"},
    ),
    "frozen-state": Variant("all attempts of a frame meet the channel state of the first", {"state_at": "first"}),
    "own-histories": Variant("every repetition meets a history of the channel of its own", {"history": "each"}),
    "clamped-states": Variant("state lengths outside their limits are clamped, not drawn again", {"outside": "clamp"}),
}
