"""Do timestamps help a sender on a slow link?

A SACK sender over a link of 9.6 kbit/s and 500 ms with a buffer of ten packets, 50 s, without and with timestamps.
No delay spike: slow start overflows the buffer, and the round-trip time grows as it fills.

What the source shows (figure 4.1): without timestamps the round-trip time is underestimated and a spurious timeout
falls into the fast recovery; with timestamps there is none, and more data gets through.

What may differ here: the source gives no parameters. Its axes end at 70 KB in 50 s, which fits the GSM link of the
author's scripts (9.6 kbit/s, 500 ms, ten packets). Segments have 1000 bytes as in the rest of chapter 4; the timer is
that of RFC 2988, one segment is timed per window without timestamps. Other rates and segments are variants.
"""

from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import MSS, SLOW, trace
from crosswind.reproduce import Picture, Results, Scenario

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
        c: trace(f"f4-1-{x}", tcp | {"timestamps": x}, link, duration_s=50.0, path=SLOW)
        for c, x in ((WITHOUT, "off"), (WITH, "on"))
    }


def _data_sent(r: Results, c: str) -> float:
    """Throughput as the source defines it: all data that leaves the sender, sent again or not, in segments."""
    return Trace(r, c).value("sent_packets") - 1


CLAIMS = {
    "G28": {
        "spurious timeouts without": lambda r: Trace(r, WITHOUT).value("spurious_episodes"),
        "with": lambda r: Trace(r, WITH).value("spurious_episodes"),
        "data acknowledged with / without": lambda r: (
            Trace(r, WITH).value("size_bytes") / Trace(r, WITHOUT).value("size_bytes")
        ),
        "data sent with / without": lambda r: _data_sent(r, WITH) / _data_sent(r, WITHOUT),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Both traces."""
    return [
        figure_of(r, c, f"f4-1{x}", f"SACK sender on a slow link, {c}.", 50.0) for c, x in ((WITHOUT, "a"), (WITH, "b"))
    ]


EXPERIMENT = study.experiment(__name__, "Timestamps on a slow link", where="figure 4.1", tables=transfers)
