"""Does a handover with an outage give the delays and losses that were measured in the testbed?

A stream in both directions and the six handovers of table 6.1, each as a break of the link with a share of what arrives
lost; rate and delay change to those of the other system when it begins.

What the source printed: delays of 13, 3, 1, 4, 0.2 and 0.8 s; 100, 0, 95, 0, 0, 0 % lost in the downlink, 100 % in the
uplink where it could be measured.

What may differ here: these are settings, so this checks that the laboratory does what it is told. The delay is the time
without any arrival at the new side, less the interval of the stream; packets that were not lost come after the break.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.claims import Claim, near, within
from crosswind.experiments.base import Results
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.scenario import Scenario

AT_S = 30.0
# From, to, delay in s, downlink and uplink loss (none where it could not be measured).
TABLE: tuple[tuple[str, str, float, float, float | None], ...] = (
    ("gprs", "lan", 13.0, 1.0, None),
    ("lan", "gprs", 3.0, 0.0, 1.0),
    ("gprs", "wlan", 1.0, 0.95, None),
    ("wlan", "gprs", 4.0, 0.0, 1.0),
    ("lan", "wlan", 0.2, 0.0, 1.0),
    ("wlan", "lan", 0.8, 0.0, 1.0),
)
INTERVAL_MS = 2


def label(first: str, then: str) -> str:
    """Name of a configuration."""
    return f"{first}-{then}"


def configurations(**_: Any) -> dict[str, Scenario]:
    """One for each row of the table. Small packets, so that GPRS carries them in time."""
    out = {}
    for first, then, delay, down, up in TABLE:
        outage = {"at": [f"{AT_S:g} s"], "length": f"{delay} s"}
        slow = "gprs" in (first, then)
        interval = f"{50 if slow else INTERVAL_MS} ms"
        stream = {"workload": {"type": "cbr", "payload": "20 B", "interval": interval}}
        data = {
            "name": "t6-1",
            "duration": "60 s",
            "link": {
                overlay.HOP: {
                    "from": "router",
                    "to": "mobile",
                    "profile": first,
                    "queue": {"limit": "20000 packets"},
                    "spikes": {**outage, "loss": down},
                    "reverse": {"spikes": {**outage, "loss": up or 0.0}},
                }
            },
            "flow": {
                "down": {"from": "router", "to": "mobile", **stream},
                "up": {"from": "mobile", "to": "router", **stream},
            },
            "timeline": [
                {
                    "at": f"{AT_S:g} s",
                    "link": overlay.HOP,
                    "set": {"profile": then, "queue": {"limit": "20000 packets"}},
                }
            ],
            "record": {"events": "all"},
        }
        out[label(first, then)] = Scenario.from_dict(data)
    return out


def _gap(r: Results, name: str, flow: str) -> float:
    """The longest time without a packet being put on the link: from what left before to what left after the break."""
    got = overlay.events(r, name, flow, "receive", "receiver")["t"].to_numpy()
    return float(np.max(np.diff(got)))


def _offered(r: Results, name: str, flow: str, length: float) -> pl.DataFrame:
    sent = overlay.events(r, name, flow, "send", "sender")
    return sent.filter((pl.col("t") >= AT_S) & (pl.col("t") < AT_S + length))


def _lost(r: Results, name: str, flow: str, length: float) -> float:
    sent = set(_offered(r, name, flow, length)["seq"].to_list())
    got = set(overlay.events(r, name, flow, "receive", "receiver")["seq"].to_list())
    return 100 * len(sent - got) / len(sent)


PROPAGATION_S = {"gprs": 0.3, "wlan": 0.005, "lan": 0.0005}
SENDING_S = {"gprs": 48 * 8 / 30e3, "wlan": 48 * 8 / 11e6, "lan": 48 * 8 / 100e6}


def _delay(r: Results, first: str, then: str) -> float:
    """The break as the downlink sees it, without the change of the link's own delay."""
    own = PROPAGATION_S[then] + SENDING_S[then] - PROPAGATION_S[first] - SENDING_S[first]
    return _gap(r, label(first, then), "down") - own


CLAIMS = (
    Claim(
        "G74",
        "The six handovers of table 6.1 have the delays and losses that they are told to have, within 5 %",
        "13, 3, 1, 4, 0.2, 0.8 s; 100, 0, 95, 0, 0, 0 %; 100 % up",
        [
            *(
                overlay.count(
                    f"{a} to {b}: delay",
                    lambda r, a=a, b=b: _delay(r, a, b),
                    within(d, 0.05),
                    "s",
                    f"{d:g} s",
                    2,
                )
                for a, b, d, _, _ in TABLE
            ),
            *(
                overlay.count(
                    f"{a} to {b}: downlink loss",
                    lambda r, a=a, b=b, d=d: _lost(r, label(a, b), "down", d),
                    near(100 * x, 5),
                    "percent",
                    f"{100 * x:g} %",
                )
                for a, b, d, x, _ in TABLE
            ),
            *(
                overlay.count(
                    f"{a} to {b}: uplink loss",
                    lambda r, a=a, b=b, d=d: _lost(r, label(a, b), "up", d),
                    within(100 * y, 0.05),
                    "percent",
                    f"{100 * y:g} %",
                )
                for a, b, d, _, y in TABLE
                if y is not None
            ),
        ],
    ),
)

EXPERIMENT = study.experiment(
    "t6-1",
    "Handovers with an outage, as measured in the testbed",
    __doc__,
    configurations,
    CLAIMS,
    where="table 6.1",
)
