"""What do pings see of a radio channel that is allocated on demand?

Pings every 0.5 s for 500 s and every 5 s for 5000 s over a GPRS link whose channels are given back after a pause and
allocated anew (figures 3.7 and 3.8).

What the source printed: measured every 0.5 s, the uplink spreads evenly over 220 to 800 ms and the downlink is
constant; every 5 s the uplink is higher and less variable, the downlink higher. The model clusters at 300 and 800 ms in
the uplink, with mean and variance close to the measurement.

What may differ here: the parameters are those of the author's published scripts (100 ms each way). A ping that has a
channel allocated takes 500 to 600 ms, propagation and its 60 bytes at 10 kbit/s (48 ms): 700 ms. The next one, half a
second later, comes before that channel is there, waits for the rest and follows it: 200 to 300 ms. The source's levels
of 300 and 800 ms lie some 100 ms higher: its axis includes the fixed network, or longer pings.

The source gives levels, and words for the rest; what counts as concentrated, constant, higher or comparable is ours:
three quarters of the delays within 50 ms of their level, 99 % within 1 ms of the median, 50 ms, a factor of 1.5, and
levels within 150 ms.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Results, Scenario, measured

ALLOCATION_ms = 500
# Of delays that spread evenly from 220 to 800 ms, as they were measured.
EVEN_MEAN_ms, EVEN_DEVIATION_ms = (220 + 800) / 2, (800 - 220) / 12**0.5
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


WAYS = {"uplink": ("sender", "receiver"), "downlink": ("receiver", "sender")}


@measured
def delays_ms(r: Results, interval: str, way: str) -> npt.NDArray[np.float64]:
    """One-way delays in order of time."""
    return overlay.delays(r, interval, "ping", ends=WAYS[way]).sort("sent")["delay"].to_numpy() * 1e3


UP, UP_5, DOWN, DOWN_5 = (delays_ms(i, way) for way in WAYS for i in PINGS)


def _level(d: npt.NDArray[np.float64], word: str) -> float:
    """A level of the uplink: the median of what waited for an allocation of its own (500 ms at least), or not."""
    return float(np.median(d[(d >= ALLOCATION_ms) == (word == "upper")]))


def _concentrated(d: npt.NDArray[np.float64]) -> float:
    """Share of uplink delays within 50 ms of a level."""
    return float(np.mean(np.any([np.abs(d - _level(d, x)) <= 50 for x in ("lower", "upper")], axis=0)))


def _constant(d: npt.NDArray[np.float64]) -> float:
    """Share of downlink delays within 1 ms of their median."""
    return float(np.mean(np.abs(d - np.median(d)) <= 1))


CLAIMS = {
    "G84": {
        "0.5 s: uplink delays at the levels": UP.then(_concentrated),
        "0.5 s: lower level": UP.then(lambda d: _level(d, "lower")),
        "0.5 s: upper level": UP.then(lambda d: _level(d, "upper")),
        "0.5 s: downlink delays at their median": DOWN.then(_constant),
        "5 s: lowest uplink delay": UP_5.then(np.min),
        "5 s less 0.5 s: median of the downlink": DOWN_5.then(np.median) - DOWN.then(np.median),
    },
    "G85": {
        "0.5 s: mean of the uplink, of 510 ms": UP.then(np.mean) / EVEN_MEAN_ms,
        "0.5 s: standard deviation of the uplink, of 167 ms": UP.then(np.std) / EVEN_DEVIATION_ms,
        "0.5 s: longest uplink delay": UP.then(np.max),
        "standard deviation of the uplink, 5 s over 0.5 s": UP_5.then(np.std) / UP.then(np.std),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Delays of the pings in order (figure 3.8)."""
    out = []
    for interval in PINGS:
        found = {way: delays_ms(interval, way)(r) for way in WAYS}
        lines = {way: (np.arange(len(d)), d) for way, d in found.items()}
        name = "fig-3-8-" + interval.replace(" ", "").replace(".", "")
        caption = f"One-way delay of pings every {interval} (figure 3.8)."
        out.append(figures.scatter(name, caption, lines, "ping", "delay (ms)"))
    return out


EXPERIMENT = study.experiment(__name__, "Pings over a channel that is allocated on demand", where="figures 3.7 and 3.8")
