"""Does a link that changes under its packets keep their order, and a queue that shrinks its limit?

A stream over a link whose rate and delay step up and down every 200 ms, and a full queue whose limit shrinks from 50 to
10 packets, with and without dropping what is too much at once (appendix A.2 and section 3.2.2).

What the source states: with its rule no packet is delivered before its predecessor at any step; a queue that looks at
its limit again when it shrinks is within it at once, one that does not stays above until it has drained.

What may differ here: nothing is left open.
"""

from typing import Any

from crosswind.experiments.gurtov_2004 import overlay
from crosswind.reproduce import Results, Scenario, measured
from crosswind.reproduce.claims.quantities import runs

RATES = ("10 Mbit/s", "384 kbit/s", "2 Mbit/s", "100 Mbit/s", "1 Mbit/s")
DELAYS = ("5 ms", "300 ms", "1 ms", "150 ms", "20 ms", "600 ms", "0.5 ms")
STEP_MS = 200
SHRINK_S = 5.0


def configurations(**_: Any) -> dict[str, Scenario]:
    """Steps of everything; a queue that shrinks in two ways."""
    stream = {"workload": {"type": "cbr", "payload": "472 B", "interval": "3 ms", "packets": 30_000}}
    changes = [
        {
            "at": f"{STEP_MS * (k + 1)} ms",
            "link": overlay.HOP,
            "set": {"rate": RATES[k % len(RATES)], "delay": DELAYS[k % len(DELAYS)]},
        }
        for k in range(440)
    ]
    hop = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"limit": "5000 packets"}}
    out = {"steps": overlay.world("a-2", {"stream": stream}, "120 s", hop=hop, timeline=changes)}
    full = {"workload": {"type": "cbr", "payload": "472 B", "interval": "10 ms"}}
    for shrink in ("tail", "none"):
        hop = {"rate": "100 kbit/s", "delay": "5 ms", "queue": {"limit": "50 packets", "shrink": shrink}}
        change = {"at": f"{SHRINK_S:g} s", "link": overlay.HOP, "set": {"queue": {"limit": "10 packets"}}}
        sampled = {"sample": "10 ms"}
        out[shrink] = overlay.world("a-2", {"stream": full}, "10 s", hop=hop, timeline=[change], record=sampled)
    return out


@measured
def _queue_after(r: Results, name: str, after_s: float) -> float:
    t, queued = r.series(name, "queue_packets", f"{overlay.HOP}/forward")
    return float(queued[t >= SHRINK_S + after_s][0])


CLAIMS = {
    "G78": {
        "out of order": runs("steps", "stream_out_of_order_packets").then(sum),
        "arrived": runs("steps", "stream_received_packets").then(sum),
    },
    "G79": {
        "with the look, 10 ms later": _queue_after("tail", 0.01),
        "without it, 10 ms later": _queue_after("none", 0.01),
        "without it, 3 s later": _queue_after("none", 3.0),
    },
}

EXPERIMENT = overlay.experiment(
    __name__,
    "Order of packets and limit of the queue on a link that changes",
    where="appendix A.2 and section 3.2.2",
)
