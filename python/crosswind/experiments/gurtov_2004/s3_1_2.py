"""What do buffers of the GPRS network that are too large or too small do to TCP?

Downlink of 30 kbit/s with the measured buffer of 50 KB and a window of 200 KB; uplink of 20 kbit/s with buffers of
3, 5 and 10 packets of 1500 bytes.

What the source says: 50 KB are far more than the product of rate and round-trip time, below 5 KB, and add 13 s of
delay; a terminal with a buffer of 3 KB reaches a third of the others' throughput, because of repeated timeouts.

What decides: three packets and a link that holds one or two more suffice for a sawtooth between two and five
segments, with duplicates enough for fast retransmit; the measured terminal must have lost more than its buffer
explains.

What may differ here: the terminals themselves. The sender is Linux-like without SACK here (a phone's of that time)
and sees no other loss than that of the buffer.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Claim, below, between
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.measures import Trace, fact, transfers
from crosswind.experiments.gurtov_2004.worlds import trace
from crosswind.runs import Runs
from crosswind.scenario import Scenario

LARGE = "50 KB downlink"
UPLINK = (3, 5, 10)


def configurations() -> dict[str, Scenario]:
    """The large buffer and three uplinks."""
    window = {"window_limit_segments": 200, "initial_ssthresh": "200000 B"}
    out = {
        LARGE: trace(
            "s3-1-2-large",
            window,
            {"spikes": None, "queue": {"type": "droptail", "limit": "50000 B"}},
            duration_s=120.0,
        )
    }
    phone: dict[str, Any] = {
        "recovery": "ns2-reno",
        "sack": "off",
        "timestamps": "off",
        "mss": "1460 B",
        "limited_transmit": "off",
        "window_limit_segments": 20,
        "initial_ssthresh": "29200 B",
        "delayed_ack": "200 ms",
    }
    for n in UPLINK:
        link = {
            "spikes": None,
            "rate": "20 kbit/s",
            "delay": "350 ms",
            "queue": {"type": "droptail", "limit": f"{n - 1} packets"},
        }
        out[f"{n} packets"] = trace(f"s3-1-2-{n}", phone, link, duration_s=600.0)
    return out


def _added(runs: Runs) -> float:
    """Largest less smallest round-trip time, in seconds."""
    t = Trace(runs, LARGE)
    return (t.value("rtt_max_ns") - t.value("rtt_min_ns")) / 1e9


CLAIMS = (
    Claim(
        "G86",
        "A buffer of 50 KB adds 13 s at 30 kbit/s; the product of rate and round-trip time is below 5 KB",
        "13 s; < 5 KB",
        [
            fact("delay added", _added, between(12.5, 14.0), "13 s", "s", 1),
            fact(
                "rate times round-trip time",
                lambda r: Trace(r, LARGE).value("rtt_min_ns") / 1e9 * 30 / 8,
                below(5.0),
                "< 5 KB",
                "KB",
                1,
            ),
        ],
    ),
    Claim(
        "G87",
        "A buffer of three packets: about a third of the throughput of five to ten packets",
        "about 1/3",
        [
            fact(
                f"3 packets / {n} packets",
                lambda r, n=n: (
                    Trace(r, "3 packets").value("goodput_bps") / Trace(r, f"{n} packets").value("goodput_bps")
                ),
                between(0.2, 0.5),
                "1/3",
                digits=2,
            )
            for n in UPLINK[1:]
        ]
        + [
            fact(
                "timeouts with 3 packets",
                lambda r: Trace(r, "3 packets").value("timeouts"),
                between(2, 1e9),
                "repeated",
            )
        ],
    ),
)

EXPERIMENT = study.experiment(
    "s3-1-2",
    "Buffers too large and too small",
    __doc__,
    configurations,
    CLAIMS,
    where="section 3.1.2",
    tables=transfers,
)
