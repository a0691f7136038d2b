"""Is the rate of TFRC smoother than that of TCP when a constant stream takes most of the path?

One flow, TFRC or TCP, on a path of 1 Mbit/s and 100 ms; a constant stream takes 70 % of it from 20 s to 40 s (figure
2.2).

What the source printed: a picture without numbers: the load of TFRC varies less, and follows both steps more slowly.

What may differ here: the source gives no parameters of the path; these are those of the digest. Variation is the
standard deviation of the load in each second, of its mean, in the steady part of each phase.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind.claims import Band, Claim, below
from crosswind.experiments.base import Results
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.scenario import Scenario

PHASES = ((8, 20), (25, 40), (48, 60))


def configurations() -> dict[str, Scenario]:
    """The same path and stream beside each of the two."""
    cbr = {"workload": {"type": "cbr", "payload": "972 B", "rate": "700 kbit/s", "packets": 1750}, "start": "20 s"}
    flows: dict[str, dict[str, Any]] = {
        "TFRC": {"workload": {"type": "bulk"}, "tfrc": {"preset": "ns2-tfrc", "packet_size": "1000 B"}},
        "TCP": {"workload": {"type": "bulk"}, "tcp": {"preset": "rfc", "mss": "948 B"}},
    }
    hop = {"rate": "1 Mbit/s", "delay": "40 ms", "queue": {"type": "droptail", "limit": "25 packets"}}
    return {
        name: overlay.world(
            "f2-2", {"flow": f, "cbr": cbr}, "60 s", hop=hop, access_delay="10 ms", record={"events": ["flow"]}
        )
        for name, f in flows.items()
    }


def variation(r: Results, configuration: str) -> float:
    """Standard deviation of the packets sent per second, of their mean; the mean of the three phases."""
    frames = [overlay.events(r, configuration, "flow", "send", "sender")["t"].to_numpy()]
    if not r.runs.events(flow="flow", kind="resend").is_empty() and configuration == "TCP":
        frames.append(overlay.events(r, configuration, "flow", "resend", "sender")["t"].to_numpy())
    counts, _ = np.histogram(np.concatenate(frames), bins=np.arange(0, 61))
    return float(np.mean([counts[a:b].std() / counts[a:b].mean() for a, b in PHASES]))


CLAIMS = (
    Claim(
        "G90",
        "The load of TFRC varies less than that of TCP while a stream takes and leaves 70 % of the path",
        "smoother",
        [
            overlay.count(
                "variation of TFRC, of TCP's",
                lambda r: variation(r, "TFRC") / variation(r, "TCP"),
                below(1.0),
                "",
                "",
                2,
            ),
            overlay.count("variation of TCP", lambda r: variation(r, "TCP"), Band(), "%"),
        ],
    ),
)

EXPERIMENT = study.experiment(
    "f2-2",
    "The load of TFRC and of TCP under a constant stream that comes and goes",
    __doc__,
    configurations,
    CLAIMS,
    where="figure 2.2",
    tables=overlay.repetition,
)
