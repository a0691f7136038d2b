"""Does Eifel pay with an AQM at the bottleneck, and when the initial window is hit?

The transfers of tables 4.1 and 4.2 with Adaptive RED (automatic parameters) instead of drop-tail; and the best case
that the source reasons out: a spike that hits the initial window on a path with a large product of rate and
delay.

What the source says: Eifel is equal or better in all cases, and every TCP is slower than with drop-tail (slightly
to many times); without Eifel the early timeout leaves the sender in congestion avoidance from one or two segments.

What may differ here: the queue's limit is that of drop-tail. The early spike starts 0.4 s into a transfer of 5 MB,
while the first window is under way, and lasts 3 s; there is no other. "A large product of rate and delay" is that of
table 4.1, 75 segments, the largest of the source; a path of ten times the rate is a variant.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import change, experiment, mean, ratio
from crosswind.experiments.gurtov_2004.worlds import HEADERS, MSS, VARIANTS, transfer
from crosswind.reproduce import Scenario, measures
from crosswind.reproduce.claims.quantities import runs

MODES: dict[str, dict[str, Any]] = {"off": {}, "on": {"eifel": "on"}}
# ns-2's automatic configuration: weight and thresholds from the link.
ARED = {"type": "red-ns2", "limit": "74 packets", "mean_packet": f"{MSS + HEADERS} B", "adaptive": True}
EARLY_BPS = 2e6
LOADS = {"alone": 0, "beside a stream": 210}


PAIRS = [("Reno-SACK", "alone"), *((s, "beside a stream") for s in VARIANTS)]


def configurations(early_rate: str = "2 Mbit/s") -> dict[str, Scenario]:
    """Senders, queues, Eifel off and on; and the early spike."""
    out = {}
    for s, load in PAIRS:
        for mode, tcp in MODES.items():
            for queue, body in (("drop-tail", None), ("Adaptive RED", ARED)):
                label = f"{s}, {load}, {queue}, {mode}"
                out[label] = transfer("s4-4-2", s, tcp, cbr_bytes=LOADS[load], queue=body)
    for mode, tcp in MODES.items():
        early = transfer("s4-4-2-early", "Reno-SACK", tcp)
        spike = {"at": ["0.4 s"], "length": "3 s"}
        out[f"early spike, {mode}"] = early.with_({"link.bottleneck.spikes": spike, "link.bottleneck.rate": early_rate})
    return out


CLAIMS = {
    "G26": {
        f"{s}, {load}: on / off": ratio(f"{s}, {load}, Adaptive RED, on", f"{s}, {load}, Adaptive RED, off", "time_s")
        for s, load in PAIRS
    }
    | {
        f"{s}, {load}, {m}: RED / drop-tail": ratio(
            f"{s}, {load}, Adaptive RED, {m}", f"{s}, {load}, drop-tail, {m}", "time_s"
        )
        for s, load in PAIRS
        for m in MODES
    },
    "G30": {
        "goodput off / on": ratio("early spike, off", "early spike, on", "goodput_bps"),
        "goodput off, of the rate of the link": measures.mean(runs("early spike, off", "goodput_bps") / EARLY_BPS),
        "goodput off against on": change("early spike, off", "early spike, on", "goodput_bps"),
        "spurious timeouts, off": mean("early spike, off", "spurious"),
        "goodput, off": mean("early spike, off", "goodput_bps"),
        "goodput, on": mean("early spike, on", "goodput_bps"),
    },
}

EXPERIMENT = experiment(
    __name__, "Eifel with Adaptive RED, and at the start of a transfer", where="section 4.4.2", reps=100
)
