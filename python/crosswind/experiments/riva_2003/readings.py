"""Open points of the source, as other readings that can be run beside the main one."""

from __future__ import annotations

from crosswind.experiments.base import Variant

_RFC = {
    "limited_transmit": "off",
    "reduce_from": "flight",
    "resend_overdue": "off",
    "delayed_ack": "40 ms",
    "quick_acks": 16,
}

ALL: dict[str, Variant] = {
    "specified": Variant(
        "only what is documented: RFC behaviour, no memory, ACKs quick 16 times and then within 40 ms, "
        "a shaper that charges the IP length",
        {"memory": "none", "overhead": 0, "cell": 1, "tcp": _RFC},
    ),
    "no-memory": Variant("hosts remember nothing from one repetition to the next", {"memory": "none"}),
    "exact-fit": Variant("a queue takes a packet only if it fits (O-6)", {"admission": "fits"}),
    "delayed-acks": Variant(
        "16 quick ACKs, then two segments or 40 ms (O-15)", {"tcp": {"delayed_ack": "40 ms", "quick_acks": 16}}
    ),
    "ack-every-second": Variant("two segments or 200 ms", {"tcp": {"delayed_ack": "200 ms"}}),
    "ip-length": Variant("the shaper charges the IP length (O-2)", {"overhead": 0, "cell": 1}),
    "kbit-1000": Variant("1 kbit is 1000 bit (O-2)", {"kbit": 1000}),
    "red-clock-10mbit": Variant(
        "RED's damping in idle time as for tc's default of 10 Mbit/s (O-8)", {"red_clock": "10 Mbit/s"}
    ),
    "red-floyd-jacobson": Variant(
        "RED as published, with the weight that tc chose (O-27)", {"red_law": "floyd-jacobson"}
    ),
    "window-32k": Variant("receive window of 32 kB (O-13)", {"tcp": {"receive_buffer": "32768 B"}}),
    "rto-1s": Variant("timeouts of at least 1 s (O-14)", {"tcp": {"rto": "rfc6298", "rto_min": "1 s"}}),
    "mss-1460": Variant("no timestamps, 1460 B (O-1)", {"tcp": {"mss": "1460 B", "timestamps": "off"}}),
    "wide-class-2": Variant("the class of UDP may borrow up to the whole link (O-4)", {"ceil_2": 140}),
}
