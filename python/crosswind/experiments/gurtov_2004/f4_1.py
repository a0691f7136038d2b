"""Do timestamps help a sender on a slow link?

A SACK sender over a link of 14.4 kbit/s and 500 ms with a buffer of ten packets, 50 s, without and with timestamps.
No delay spike: slow start overflows the buffer, and the round-trip time grows as it fills.

What the source shows (figure 4.1): without timestamps the round-trip time is underestimated and a spurious timeout
falls into the fast recovery; with timestamps there is none, and more data gets through.

What may differ here: the source gives no parameters. Its axes end at 70 KB in 50 s, which fits 14.4 kbit/s;
segments of 536 bytes, RFC 2988 timer, one segment timed per window without timestamps. Whether a timeout falls into
the recovery depends on how far the queue has grown since the last sample: with 9.6 kbit/s it does for segments of
256 bytes and not for 536 (variants). With timestamps there was none in any set-up that was tried.
"""

from __future__ import annotations

from crosswind.claims import Claim, above, at_least, near
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.measures import Trace, fact, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import trace
from crosswind.figures import Picture
from crosswind.scenario import Scenario

WITHOUT, WITH = "no timestamps", "timestamps"


def configurations(rate_bps: int = 14_400, mss: int = 536) -> dict[str, Scenario]:
    """Without and with timestamps."""
    link = {
        "rate": f"{rate_bps} bit/s",
        "delay": "500 ms",
        "queue": {"type": "droptail", "limit": "9 packets"},
        "spikes": None,
    }
    tcp = {"mss": f"{mss} B", "window_limit_segments": 64, "initial_ssthresh": f"{64 * mss} B"}
    return {
        c: trace(f"f4-1-{x}", tcp | {"timestamps": x}, link, duration_s=50.0)
        for c, x in ((WITHOUT, "off"), (WITH, "on"))
    }


CLAIMS = (
    Claim(
        "G28",
        "Timestamps alone avoid the spurious timeout on a slow link and raise throughput",
        "1 to 0",
        [
            fact("spurious timeouts without", lambda r: Trace(r, WITHOUT).value("spurious_episodes"), at_least(1), "1"),
            fact("with", lambda r: Trace(r, WITH).value("spurious_episodes"), near(0, 0), "0"),
            fact(
                "goodput with / without",
                lambda r: Trace(r, WITH).value("goodput_bps") / Trace(r, WITHOUT).value("goodput_bps"),
                above(1),
                "",
                digits=3,
            ),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """Both traces."""
    return [
        figure_of(r, c, f"f4-1{x}", f"SACK sender at 14.4 kbit/s, {c}.", 50.0) for c, x in ((WITHOUT, "a"), (WITH, "b"))
    ]


EXPERIMENT = study.experiment(
    "f4-1",
    "Timestamps on a slow link",
    __doc__,
    configurations,
    CLAIMS,
    where="figure 4.1",
    tables=transfers,
    figures=pictures,
    variants={
        "9600": Variant("9.6 kbit/s", {"rate_bps": 9600}),
        "9600-small": Variant("9.6 kbit/s, segments of 256 bytes", {"rate_bps": 9600, "mss": 256}),
    },
)
