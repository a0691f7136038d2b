"""Does Eifel pay with an AQM at the bottleneck, and when the initial window is hit?

The transfers of tables 4.1 and 4.2 with Adaptive RED (automatic parameters) instead of drop-tail; and the best case
that the source reasons out: a spike that hits the initial window on a path with a large product of rate and
delay.

What the source says: Eifel is equal or better in all cases, and every TCP is slower than with drop-tail (slightly
to many times); without Eifel the early timeout leaves the sender in congestion avoidance from one or two segments.

What may differ here: the queue's limit is that of drop-tail. The early spike starts 0.4 s into a transfer of 5 MB,
while the first window is under way, and lasts 3 s; there is no other. "A large product of rate and delay" is that of
table 4.1, 75 segments, the largest of the source; a path of ten times the rate is a variant.

G26 is unclear: beside a stream FACK needs the same time with Eifel as without (1.00), and alone Reno-SACK without Eifel
the same with RED as with drop-tail (1.01), so their intervals keep neither side. All other pairs are as printed. FACK's
windows are small beside a stream that does not give way, and a sender that starts anew after each spike seldom fills
either queue.

G30 fails narrowly at the number that we set: congestion avoidance from two segments fills half of a path of 75 segments
within this transfer (goodput 57 % of that with Eifel). On ten times the rate it is 35 %.
"""

from typing import Any

from crosswind import stats
from crosswind.experiments.gurtov_2004 import study, traces
from crosswind.experiments.gurtov_2004.traces import change, mean, ratio
from crosswind.experiments.gurtov_2004.worlds import HEADERS, MSS, VARIANTS, transfer
from crosswind.reproduce import Results, Scenario

MODES: dict[str, dict[str, Any]] = {"off": {}, "on": {"eifel": "on"}}
# ns-2's automatic configuration: weight and thresholds from the link.
ARED = {"type": "red-ns2", "limit": "74 packets", "mean_packet": f"{MSS + HEADERS} B", "adaptive": True}
EARLY_BPS = 2e6
LOADS = {"alone": 0, "beside a stream": 210}


def configurations(early_rate: str = "2 Mbit/s") -> dict[str, Scenario]:
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
        spike = {"at": ["0.4 s"], "length": "3 s"}
        out[f"early spike, {mode}"] = early.with_({"link.bottleneck.spikes": spike, "link.bottleneck.rate": early_rate})
    return out


def _pairs() -> list[tuple[str, str]]:
    return [(s, load) for load, cbr in LOADS.items() for s in (tuple(VARIANTS) if cbr else ("Reno-SACK",))]


def _of_the_link(r: Results) -> stats.Estimate:
    """The part of the link's rate that is used without Eifel."""
    return stats.mean(r.of("early spike, off", "goodput_bps") / EARLY_BPS)


CLAIMS = {
    "G26": {
        f"{s}, {load}: on / off": ratio(f"{s}, {load}, Adaptive RED, on", f"{s}, {load}, Adaptive RED, off", "time_s")
        for (s, load) in _pairs()
    }
    | {
        f"{s}, {load}, {m}: RED / drop-tail": ratio(
            f"{s}, {load}, Adaptive RED, {m}", f"{s}, {load}, drop-tail, {m}", "time_s"
        )
        for (s, load) in _pairs()
        for m in MODES
    },
    "G30": {
        "goodput off / on": ratio("early spike, off", "early spike, on", "goodput_bps"),
        "goodput off, of the rate of the link": _of_the_link,
        "goodput off against on": change("early spike, off", "early spike, on", "goodput_bps"),
        "spurious timeouts, off": mean("early spike, off", "spurious"),
        "goodput, off": mean("early spike, off", "goodput_bps"),
        "goodput, on": mean("early spike, on", "goodput_bps"),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "Eifel with Adaptive RED, and at the start of a transfer",
    where="section 4.4.2",
    tables=traces.transfers,
    reps=100,
)
