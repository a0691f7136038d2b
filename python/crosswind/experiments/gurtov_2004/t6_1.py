"""Does a handover with an outage give the delays and losses that were measured in the testbed?

A stream in both directions and the six handovers of table 6.1, each as a break of the link with a share of what arrives
lost; rate and delay change to those of the other system when it begins.

What the source printed: delays of 13, 3, 1, 4, 0.2 and 0.8 s; 100, 0, 95, 0, 0, 0 % lost in the downlink, 100 % in the
uplink where it could be measured.

What may differ here: these are settings, so this checks that the laboratory does what it is told. The delay is the
longest time between two arrivals, less the interval of the stream and what the link's own delay changes by; packets
that were not lost come after the break. Losses are shares over twenty repetitions: 95 % of twenty packets is no whole
number with any margin.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Results, Scenario, measured

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


def _interval_ms(first: str, then: str) -> int:
    """Time between two packets: GPRS carries 48 bytes in less than 50 ms in both directions."""
    return 50 if "gprs" in (first, then) else 2


def label(first: str, then: str) -> str:
    """Name of a configuration."""
    return f"{first}-{then}"


def configurations(**_: Any) -> dict[str, Scenario]:
    """One for each row of the table. Small packets, so that GPRS carries them in time."""
    out = {}
    for first, then, delay, down, up in TABLE:
        outage = {"at": [f"{AT_S:g} s"], "length": f"{delay} s"}
        work = {"type": "cbr", "payload": "20 B", "interval": f"{_interval_ms(first, then)} ms"}
        # No packet arrives at the very moment of the handover.
        stream = {"workload": work, "start": "0.3 ms"}
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


PROPAGATION_S = {"gprs": 0.3, "wlan": 0.005, "lan": 0.0005}
SENDING_S = {"gprs": 48 * 8 / 30e3, "wlan": 48 * 8 / 11e6, "lan": 48 * 8 / 100e6}


@measured
def _delay(r: Results, first: str, then: str) -> float:
    """The break as the downlink sees it: the longest time from what left before it to what left after it."""
    gap = float(np.max(np.diff(r.events(label(first, then), "down", "receive", end="receiver")["t"].to_numpy())))
    own = PROPAGATION_S[then] + SENDING_S[then] - PROPAGATION_S[first] - SENDING_S[first]
    return gap - own - _interval_ms(first, then) / 1000


@measured
def _lost(r: Results, name: str, flow: str, length: float) -> float:
    """Share of what was sent in the break that never arrived, over all repetitions, in per cent."""
    e = r.runs.events(flow=flow).filter(pl.col("configuration") == name)
    start = pl.col("time_ns") / 1e9 - AT_S
    sent = e.filter((pl.col("end") == "sender") & (pl.col("kind") == "send") & (start >= 0) & (start < length))
    got = e.filter((pl.col("end") == "receiver") & (pl.col("kind") == "receive"))
    return 100 * sent.join(got, on=["rep", "seq"], how="anti").height / sent.height


CLAIMS = {
    "G74": {
        **{f"{a} to {b}: delay": _delay(a, b) for a, b, *_ in TABLE},
        **{f"{a} to {b}: downlink loss": _lost(label(a, b), "down", d) for a, b, d, *_ in TABLE},
        **{f"{a} to {b}: uplink loss": _lost(label(a, b), "up", d) for a, b, d, _, up in TABLE if up is not None},
    }
}


def pictures(r: Results) -> list[Picture]:
    """Delay of each handover beside the printed one (table 6.1)."""
    bars = {"downlink": {f"{a} to {b}": _delay(a, b)(r) for a, b, *_ in TABLE}}
    known = {c.removesuffix(": delay"): v for c, v in study.BOOK.numbers("G74").items() if c.endswith(": delay")}
    return [figures.bars("table-6-1", "Delay of handovers (table 6.1).", bars, "delay (s)", {"downlink": known})]


EXPERIMENT = study.experiment(
    __name__, "Handovers with an outage, as measured in the testbed", where="table 6.1", reps=20, quick_reps=20
)
