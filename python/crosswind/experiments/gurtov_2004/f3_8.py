"""What do pings see of a radio channel that is allocated on demand?

Pings every 0.5 s for 500 s and every 5 s for 5000 s over a GPRS link whose channels are given back after a pause and
allocated anew (figures 3.7 and 3.8).

What the source printed: measured every 0.5 s, the uplink spreads evenly over 220 to 800 ms and the downlink is
constant; every 5 s the uplink is higher and less variable, the downlink higher. The model clusters at 300 and 800 ms in
the uplink, with mean and variance close to the measurement.

What may differ here: the parameters are those of the author's published scripts (100 ms each way). A level of a ping is
propagation, its 60 bytes at 10 kbit/s (48 ms), and 500 to 600 ms where a channel had to be allocated: 148 and 700 ms.
The source's levels of 300 and 800 ms lie 100 to 150 ms higher: its axis includes the fixed network, or longer pings;
the distance between the levels, 500 to 600 ms, is the model's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.claims import Claim, above, at_least, at_most, between
from crosswind.experiments.base import Results
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario

PINGS = {"0.5 s": "500 s", "5 s": "5000 s"}


def configurations(**_: Any) -> dict[str, Scenario]:
    """Two intervals; the mobile asks."""
    out = {}
    for interval, duration in PINGS.items():
        data = {
            "name": "f3-8",
            "duration": duration,
            "link": {overlay.HOP: {"from": "router", "to": "mobile", "profile": "gprs-allocating"}},
            "flow": {
                "ping": {
                    "from": "mobile",
                    "to": "router",
                    "workload": {"type": "ping", "payload": "32 B", "interval": interval},
                }
            },
            "record": {"events": "all"},
        }
        out[interval] = Scenario.from_dict(data)
    return out


def _delays(r: Results, interval: str, ends: tuple[str, str]) -> npt.NDArray[np.float64]:
    """One-way delays in ms from one end of the flow to the other, in order of time."""
    sent = overlay.events(r, interval, "ping", "send", ends[0]).select("seq", pl.col("t").alias("sent"))
    got = overlay.events(r, interval, "ping", "receive", ends[1]).select("seq", "t")
    both = got.join(sent, on="seq").sort("sent")
    return (both["t"] - both["sent"]).to_numpy() * 1e3


def up(r: Results, interval: str) -> npt.NDArray[np.float64]:
    """Uplink delays; the first pings of a run find no channel."""
    return _delays(r, interval, ("sender", "receiver"))


def down(r: Results, interval: str) -> npt.NDArray[np.float64]:
    """Downlink delays, without the first, which finds no channel."""
    return _delays(r, interval, ("receiver", "sender"))[1:]


def _between_levels(r: Results) -> float:
    """Share of uplink delays well between the two levels."""
    d = up(r, "0.5 s")
    low, high = float(d.min()), float(d.max())
    return float(np.mean((d > low + 100) & (d < high - 150))) * 100


CLAIMS = (
    Claim(
        "G84",
        "Pings every 0.5 s: uplink at two levels some 500 ms apart, downlink constant; every 5 s: uplink all at "
        "the upper level, downlink higher",
        "about 300 and 800 ms; constant; upper; higher",
        [
            overlay.count(
                "0.5 s: uplink delays between the levels", _between_levels, at_most(1), "percent", "two clusters", 1
            ),
            overlay.count(
                "0.5 s: distance of the levels",
                lambda r: float(np.median(up(r, "0.5 s")[up(r, "0.5 s") > 400]) - up(r, "0.5 s").min()),
                between(450, 620),
                "ms",
                "500 ms",
            ),
            overlay.count(
                "0.5 s: share at the upper level",
                lambda r: float(np.mean(up(r, "0.5 s") > 400)) * 100,
                between(1, 99),
                "percent",
            ),
            overlay.count(
                "0.5 s: spread of the downlink",
                lambda r: float(np.ptp(down(r, "0.5 s"))),
                at_most(30),
                "ms",
                "constant",
            ),
            overlay.count(
                "5 s: lowest uplink delay", lambda r: float(up(r, "5 s").min()), above(500), "ms", "upper level"
            ),
            overlay.count(
                "5 s less 0.5 s: median of the downlink",
                lambda r: float(np.median(down(r, "5 s")) - np.median(down(r, "0.5 s"))),
                at_least(50),
                "ms",
                "higher",
            ),
        ],
    ),
    Claim(
        "G85",
        "Mean and variance of both directions are comparable with the measured network (uplink between 220 and 800 ms)",
        "220-800 ms",
        [
            overlay.count("0.5 s: mean of the uplink", lambda r: float(up(r, "0.5 s").mean()), between(220, 800), "ms"),
            overlay.count(
                "0.5 s: longest uplink delay", lambda r: float(up(r, "0.5 s").max()), between(600, 1000), "ms"
            ),
            overlay.count(
                "standard deviation of the uplink, 5 s over 0.5 s",
                lambda r: float(up(r, "5 s").std() / up(r, "0.5 s").std()),
                at_most(1),
                "",
                "less variable",
                2,
            ),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """Delays of the pings in order (figure 3.8)."""
    out = []
    for interval in PINGS:
        u, d = up(r, interval), down(r, interval)
        lines = {"uplink": (np.arange(len(u)), u), "downlink": (np.arange(len(d)), d)}
        name = "fig-3-8-" + interval.replace(" ", "").replace(".", "")
        out.append(
            figures.scatter(name, f"One-way delay of pings every {interval} (figure 3.8).", lines, "ping", "delay (ms)")
        )
    return out


EXPERIMENT = study.experiment(
    "f3-8",
    "Pings over a channel that is allocated on demand",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 3.7 and 3.8",
    figures=pictures,
)
