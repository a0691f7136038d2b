"""Does Eifel pay with an AQM at the bottleneck, and when the initial window is hit?

The transfers of tables 4.1 and 4.2 with Adaptive RED (automatic parameters) instead of drop-tail; and the best case
that the source reasons out: a spike that hits the initial window on a path with a large product of rate and
delay.

What the source says: Eifel is equal or better in all cases, and every TCP is slower than with drop-tail (slightly
to many times); without Eifel the early timeout leaves the sender in congestion avoidance from one or two segments.

What may differ here: the queue's limit is that of drop-tail. The early spike starts 0.4 s into a transfer of 5 MB
and lasts 3 s; there is no other.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Claim, above, at_most, below
from crosswind.experiments.gurtov_2004 import measures, study
from crosswind.experiments.gurtov_2004.measures import ratio_part
from crosswind.experiments.gurtov_2004.worlds import VARIANTS, transfer
from crosswind.scenario import Scenario

MODES: dict[str, dict[str, Any]] = {"off": {}, "on": {"eifel": "on"}}
# ns-2's automatic configuration: weight and thresholds from the link.
ARED = {"type": "red-ns2", "limit": "78000 B", "mean_packet": "1050 B", "adaptive": True}
LOADS = {"alone": 0, "beside a stream": 210}


def configurations() -> dict[str, Scenario]:
    """Senders, queues, Eifel off and on; and the early spike."""
    out = {}
    for load, cbr in LOADS.items():
        senders = tuple(VARIANTS) if cbr else ("Reno-SACK",)
        for s in senders:
            for mode, tcp in MODES.items():
                for queue, body in (("drop-tail", None), ("Adaptive RED", ARED)):
                    out[f"{s}, {load}, {queue}, {mode}"] = transfer("s4-4-2", s, tcp, cbr_bytes=cbr, queue=body)
    for mode, tcp in MODES.items():
        early = transfer("s4-4-2-early", "Reno-SACK", tcp)
        out[f"early spike, {mode}"] = early.with_({"link.bottleneck.spikes": {"at": ["0.4 s"], "length": "3 s"}})
    return out


def _pairs() -> list[tuple[str, str]]:
    return [(s, load) for load, cbr in LOADS.items() for s in (tuple(VARIANTS) if cbr else ("Reno-SACK",))]


CLAIMS = (
    Claim(
        "G26",
        "Adaptive RED instead of drop-tail: Eifel no slower than without, and every sender slower than with drop-tail",
        "equal or better; slightly to many times slower",
        [
            *(
                ratio_part(
                    f"{s}, {load}: on / off",
                    f"{s}, {load}, Adaptive RED, on",
                    f"{s}, {load}, Adaptive RED, off",
                    "time_s",
                    at_most(1.0),
                )
                for s, load in _pairs()
            ),
            *(
                ratio_part(
                    f"{s}, {load}, {m}: RED / drop-tail",
                    f"{s}, {load}, Adaptive RED, {m}",
                    f"{s}, {load}, drop-tail, {m}",
                    "time_s",
                    above(1.0),
                )
                for s, load in _pairs()
                for m in MODES
            ),
        ],
    ),
    Claim(
        "G30",
        "A spurious timeout of the initial window: much less of the path is used without Eifel",
        "congestion avoidance from one or two segments; slow start goes on",
        [
            ratio_part("goodput off / on", "early spike, off", "early spike, on", "goodput_bps", below(1.0), ""),
        ],
    ),
)

EXPERIMENT = study.experiment(
    "s4-4-2",
    "Eifel with Adaptive RED, and at the start of a transfer",
    __doc__,
    configurations,
    CLAIMS,
    where="section 4.4.2",
    tables=measures.transfers,
    reps=100,
)
