"""How long does a TCP download over a link with delay spikes take: plain, with lifetime discard, with Eifel?

One download of 400 kB over 30 kbit/s with spikes of 7 to 10 s every 30 s, queues of 5 to 80 packets: drop-tail,
lifetime discard (lifetime: the retransmission timeout), Eifel, and Eifel without restored congestion state
(figure 5.10).

What the source printed: drop-tail takes 10 to 20 % longer than discard; Eifel is slightly slower than discard with long
queues, and up to 60 % slower with short ones, Eifel-CC slower still. Needless second copies grow with the queue to
16 % of what arrives with drop-tail, and stay below 3 % with Eifel and with discard.

What may differ here: the source gives neither size nor queues. "Eifel-CC" is read as detection that goes on with new
data and does not restore the window (restoration option 3); option 2 is a variant.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.gurtov_2004 import f5_6, overlay, traces
from crosswind.experiments.gurtov_2004.study import BOOK
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import runs

LIMITS = (5, 10, 20, 40, 80)
KINDS = ("DT", "LPD", "Eifel", "Eifel-CC")
COPIES = ("DT", "Eifel", "LPD")
SIZE = "400 kB"


def label(kind: str, limit: int) -> str:
    """Name of a configuration."""
    return f"{kind} {limit}"


def configurations(without: str = "option-3", discipline: str = "droptail") -> dict[str, Scenario]:
    """Four senders and routers, five queues."""
    out = {}
    for kind in KINDS:
        for limit in LIMITS:
            flow: dict[str, Any] = f5_6.download(kind, SIZE)
            if kind.startswith("Eifel"):
                response = "option-1" if kind == "Eifel" else without
                flow["tcp"] |= {"eifel": "on", "spurious_response": response}
            queue = overlay.queue(kind, limit) if discipline == "droptail" else overlay.red(kind, limit, 1000)
            hop = overlay.slow_hop(queue, overlay.SPIKES_RECURRING)
            out[label(kind, limit)] = overlay.world("f5-10", {"tcp": flow}, "2000 s", hop=hop)
    return out


def _copies(kind: str, limit: int) -> Quantity:
    """Needless retransmissions over segments that arrive, one value per repetition."""
    name = label(kind, limit)
    return runs(name, "tcp_unnecessary_retransmissions_packets") / runs(name, "tcp_received_packets")


def _arriving(kind: str, limit: int) -> Quantity:
    """The same without copies that are lost: segments that arrive, beyond those that a download has."""
    name = label(kind, limit)
    arrived = runs(name, "tcp_received_packets") - 1  # the SYN
    return 1 - runs(name, "tcp_size_bytes") / 1000 / arrived


def _times(new: str, old: str) -> measures.Measures:
    """Ratios of mean download times."""
    return {f"{n} packets": traces.ratio(label(new, n), label(old, n), "tcp_elapsed_s") for n in LIMITS}


CLAIMS = {
    "G46": _times("DT", "LPD"),
    "G47": _times("Eifel", "LPD"),
    "G48": _times("Eifel-CC", "Eifel"),
    "G49": {f"{kind}, {n}": measures.mean(_copies(kind, n)) for kind in COPIES for n in LIMITS}
    | {"LPD, 5, only copies that arrive": measures.mean(_arriving("LPD", 5))}
    | {"DT, 80 minus DT, 5": measures.mean(_copies("DT", 80) - _copies("DT", 5))},
}


def pictures(r: Results) -> list[Picture]:
    """Download times and second copies over the queue (figure 5.10)."""
    series = {k: {str(n): float(np.mean(r.of(label(k, n), "tcp_elapsed_s"))) for n in LIMITS} for k in KINDS}
    caption = "Download time of 400 kB by limit of the queue, packets (figure 5.10)."
    times = figures.bars("fig-5-10", caption, series, "download time (s)")
    shares = {k: {str(n): float(np.mean(_copies(k, n)(r))) for n in LIMITS} for k in COPIES}
    known = {"DT": {"80": BOOK.number("G49", "DT, 80")}}
    caption = "Needless second copies of what arrives by limit of the queue, packets (figure 5.10)."
    return [times, figures.bars("fig-5-10-copies", caption, shares, "share of what arrives", known)]


EXPERIMENT = overlay.experiment(
    __name__,
    "TCP downloads and delay spikes: drop-tail, lifetime discard, Eifel",
    where="figure 5.10",
    reps=20,
)
