"""Do timestamps help a sender on a slow link?

A SACK sender over a link of 9.6 kbit/s and 500 ms with a buffer of ten packets, 50 s, without and with timestamps.
No delay spike: slow start overflows the buffer, and the round-trip time grows as it fills.

What the source shows (figure 4.1): without timestamps the round-trip time is underestimated and a spurious timeout
falls into the fast recovery; with timestamps there is none, and more data gets through.

What may differ here: the source gives no parameters. Its axes end at 70 KB in 50 s, which fits the GSM link of the
author's scripts (9.6 kbit/s, 500 ms, ten packets). Segments have 1000 bytes as in the rest of chapter 4; the timer is
that of RFC 2988, one segment is timed per window without timestamps. Other rates and segments are variants.
"""

from crosswind.experiments.gurtov_2004.traces import experiment, figures_of, flow
from crosswind.experiments.gurtov_2004.worlds import MSS, trace
from crosswind.reproduce import Quantity, Scenario

WITHOUT, WITH = "no timestamps", "timestamps"


def configurations(rate_bps: int = 9_600, mss: int = MSS) -> dict[str, Scenario]:
    """Without and with timestamps."""
    link = {
        "rate": f"{rate_bps} bit/s",
        "delay": "500 ms",
        "queue": {"type": "droptail", "limit": "9 packets"},
        "spikes": None,
    }
    tcp = {"mss": f"{mss} B", "window_limit_segments": 64, "initial_ssthresh": f"{64 * mss} B"}
    return {
        c: trace(f"f4-1-{x}", tcp | {"timestamps": x}, link, duration_s=50.0, path="gprs")
        for c, x in ((WITHOUT, "off"), (WITH, "on"))
    }


def _data_sent(c: str) -> Quantity:
    """Throughput as the source defines it: all data that leaves the sender, retransmitted or not, in segments."""
    return flow(c, "sent_packets") - 1


CLAIMS = {
    "G28": {
        "spurious timeouts without": flow(WITHOUT, "spurious_episodes"),
        "with": flow(WITH, "spurious_episodes"),
        "data acknowledged with / without": flow(WITH, "size_bytes") / flow(WITHOUT, "size_bytes"),
        "data sent with / without": _data_sent(WITH) / _data_sent(WITHOUT),
    }
}

pictures = figures_of({WITHOUT: "f4-1a", WITH: "f4-1b"}, "SACK sender on a slow link, {}.", 50.0)

EXPERIMENT = experiment(__name__, "Timestamps on a slow link", where="figure 4.1")
