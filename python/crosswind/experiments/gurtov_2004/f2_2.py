"""Is the rate of TFRC smoother than that of TCP when a constant stream takes most of the path?

One flow, TFRC or TCP, on a path of 1 Mbit/s and 100 ms; a constant stream takes 70 % of it from 20 s to 40 s (figure
2.2).

What the source printed: a picture without numbers: the load of TFRC varies less, and follows both steps more slowly.

What may differ here: the source gives no parameters of the path; these are those of our summary, with 25 packets of
queue. Load is what is outstanding: packets sent and neither received nor dropped, every 0.1 s. Its variation is the
standard deviation, of the mean, in the steady part of each phase (before, beside and after the stream); the parts are
ours.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.experiments.gurtov_2004 import overlay
from crosswind.reproduce import Results, Scenario, measured

PHASES = ((8, 20), (25, 40), (48, 60))


def configurations() -> dict[str, Scenario]:
    """The same path and stream beside each of the two."""
    cbr = {"workload": {"type": "cbr", "payload": "972 B", "rate": "700 kbit/s", "packets": 1750}, "start": "20 s"}
    flows: dict[str, dict[str, Any]] = {
        "TFRC": {"workload": {"type": "bulk"}, "tfrc": {"preset": "ns2-tfrc", "packet_size": "1000 B"}},
        "TCP": {"workload": {"type": "bulk"}, "tcp": overlay.sender(948)},
    }
    hop = {"rate": "1 Mbit/s", "delay": "40 ms", "queue": {"type": "droptail", "limit": "25 packets"}}
    return {
        name: overlay.world(
            "f2-2", {"flow": f, "cbr": cbr}, "60 s", hop=hop, access_delay="10 ms", record={"events": ["flow"]}
        )
        for name, f in flows.items()
    }


def load(r: Results, configuration: str) -> npt.NDArray[np.float64]:
    """Packets outstanding every 0.1 s."""
    e = r.runs.events(flow="flow").filter((pl.col("configuration") == configuration) & (pl.col("len") > 0))
    at = np.arange(0.0, 60.0, 0.1)

    def passed(end: str, *kinds: str) -> npt.NDArray[np.int64]:
        some = e.filter((pl.col("end") == end) & pl.col("kind").is_in(list(kinds)))
        return np.searchsorted(np.sort(some["time_ns"].to_numpy() / 1e9), at)

    return (passed("sender", "send", "retransmit") - passed("receiver", "receive") - passed("sender", "drop")).astype(
        float
    )


@measured
def variation(r: Results, configuration: str) -> float:
    """Standard deviation of the load, of its mean; the mean of the three phases."""
    steady = (load(r, configuration)[10 * a : 10 * b] for a, b in PHASES)
    return float(np.mean([x.std() / x.mean() for x in steady]))


CLAIMS = {
    "G90": {
        "variation of TFRC, of TCP's": variation("TFRC") / variation("TCP"),
        "variation of TCP": variation("TCP"),
    }
}

EXPERIMENT = overlay.experiment(
    __name__, "The load of TFRC and of TCP under a constant stream that comes and goes", where="figure 2.2"
)
