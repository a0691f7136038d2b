"""How do Standard TCP, HSTCP, Scalable TCP, FAST and SABUL fill an empty path of 305 Mbit/s and 100 ms alone?

The source printed (Table 4.5): time to 100 Mbit/s 120, 35, 10, far below 1 and far below 1 s; largest bin of 2 s
120, 230, 250, 272 and 300 Mbit/s; average over 300 s 92, 106, 125, 186 and 271 Mbit/s; lost packets 0.0082, 0.023,
0.058, 0.028 and 0.12 %.

What may differ here: the source shows the best of five trials on a path that it shared with others; here nobody
else is there and nothing is lost but what the buffer refuses. Buffer and receiver habits are readings (see
`fast_paths`). The mean chunk of the Linux receiver, two segments, was chosen by the growth of Table 4.5: the time of
Standard TCP in IC4.3 is therefore no independent check.

The buffer is what the sweep of open point O4.4 (50 to 1000 packets, by the orders of Table 4.5) chooses, and what the
digest suggests: with 100 packets 16 of the 20 pairs in the orders of averages and losses are as printed, with 50, 200,
300, 500 and 1000 packets 14, 15, 15, 15 and 13. These orders are therefore no independent check of it.

IC4.1 and IC4.5 fail in FAST against Scalable: with alpha = 200 packets and a buffer of 100 FAST has no equilibrium and
halves again and again. With 300 packets (variant `buffer-300`) FAST is ahead, with less loss, and IC4.5 passes; IC4.1
still fails, by SABUL. With an alpha that goes by the rate (variant `alpha-by-rate`, half the size) FAST has less, 0.76
of Scalable instead of 0.85: below 100 Mbit/s it keeps 20 packets and comes back more slowly. But FAST with 210 Mbit/s
is near the source's 186; it is the loss-driven that have too much, 273 and 244 Mbit/s instead of 125 and 106. A part of
that is how Linux 2.4 repairs losses: its rate halving goes on to half of the threshold, whatever the law asks for, and
slow start follows. In a trace Scalable has 0.44 of its window after a loss, not 0.875: the deep collapses that the
source tells of. With it (variant `kernel`) FAST has 0.88 of Scalable instead of 0.78 (at half the size 1.03, and IC4.1
passes), and the smaller the buffer the more: with 20 packets (`kernel-buffer-20`) Scalable has 187 Mbit/s, HSTCP 176,
Standard TCP 99 (max 185) and FAST 151; Scalable then loses 0.065 % (0.058 printed). An empty path gives no less: ns-2
with the laws and the loss recovery of Linux (`python -m validation.ns2.fast_paths`) has 238 and 248 Mbit/s with HSTCP
and Scalable and 100 packets, where `kernel` has 239 and 247 with the same receiver. What the source had and an empty
path has not are others: with 150 packets of theirs at once, once a second (1.8 of 310 Mbit/s; variant `others`), the
five have 248, 111, 52, 27 and 15 Mbit/s, with the kernel's repair as well (`kernel-others`) 248, 165, 149, 37 and 16,
all in the order of the source (271, 186, 125, 106, 92), and IC4.1 and IC4.6 pass in both. Such a burst takes the buffer
from whoever is fast, and FAST is back in seconds. How bursty the others were is not known; losses at random (1e-6,
4e-6) do not do it, they cost Standard TCP most. IC4.4 and IC4.5 still fail in the losses of FAST.

SABUL follows its public source. IC4.2 fails in the largest bin (average 82 %, largest 86 %) by the rule that cuts the
rate again at the 16th, 32nd, 64th .. report of one congestion: packets are lost one by one, 47 thousand reports in 300
s cut it 1090 times. With UDT's rule for that, which the digest offers as a substitute (variant `sabul-random-cuts`), it
has 86 and 97 %, 282 Mbit/s from the first minute on (source: 89, 98 and 280), and IC4.2 passes. All of UDT's rules
without packet pairs, the digest's substitute in full (O4.6), carry 44 Mbit/s. The loss of SABUL in IC4.4, 0.85 % (0.12
printed), is the overshoot: from 120 Mbit/s on the rate grows by a packet per 10 ms every 10 ms, and reports come a
round trip late. With a round trip of 20 ms it is 0.23 %, with 10 ms 0.17 % (and 281 Mbit/s); with buffers of 20 and 300
packets 0.62 and 1.14 %, beginning at 50 us per packet instead of 10 0.68 %. IC4.3 fails in FAST, which needs 4 s to 100
Mbit/s with buffers of 100 to 1000 packets: its window grows by half per round trip from two segments on (an ACK for two
segments), which takes 1.5 s, and a bin has 2 s. Growth by segments instead of ACKs, which doubles it, leaves 28 Mbit/s
in the first bin instead of 20: slow start then ends earlier, in the full buffer. SABUL has 248 Mbit/s in the first of
them.

IC4.6 fails as Standard TCP alone on a clean path grows for all of the 300 s, to 209 Mbit/s. One packet in a million
lost beside (variant `lost-1e-6`; the digest allows for such losses) ends that at 150, with an average of 97 (source:
120 and 92); four in a million at 85, and IC4.6 passes. None of them brings HSTCP and Scalable down to the source's
106 and 125.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import rates, study
from crosswind.figures import Picture, over_time
from crosswind.reproduce import Results, Variant
from crosswind.reproduce.claims import measures
from crosswind.scenario import Scenario

PROTOCOLS = ("SABUL", "FAST", "Scalable", "HSTCP", "Standard")
BY_LOSS = ("SABUL", "Scalable", "FAST", "HSTCP", "Standard")
SECONDS = 300


def alone(
    path: paths.Path,
    size: paths.Size,
    buffer_bytes: float,
    alpha: str = "fixed",
    cuts: str = "doubling",
    others_mbps: float = 0.0,
) -> dict[str, Scenario]:
    """One flow of each protocol in turn; `alpha` is FAST's policy, `cuts` SABUL's answer to further reports."""
    others = paths.others(others_mbps, SECONDS, size)

    def flow(name: str) -> dict[str, Any]:
        window: dict[str, Any] = (
            {} if name == "SABUL" else {"receive_buffer": f"{round(buffer_bytes / size.divisor)} B"}
        )
        if name == "FAST":
            window["fast"] = paths.fast(size, alpha)
        flow = paths.protocol(name, path, size, **window)
        return flow if name != "SABUL" else {**flow, "udt": {**flow["udt"], "repeat": cuts}}

    return {p: paths.scenario(path, {"f": flow(p), **others}, SECONDS, size, bin_s=2) for p in PROTOCOLS}


def configurations(
    size: str = "full",
    buffer_packets: int = paths.SMALL,
    alpha: str = "fixed",
    cuts: str = "doubling",
    loss: float = 0.0,
    others_mbps: float = 0.0,
) -> dict[str, Scenario]:
    """JAPAN; the receiver has 8 MB."""
    path = replace(paths.JAPAN.buffered(buffer_packets), loss=loss)
    return alone(path, paths.SIZES_4[size], 8e6, alpha, cuts, others_mbps)


READINGS = {
    f"buffer-{n}": Variant(f"the router's buffer holds {n} packets (open point O4.4)", {"buffer_packets": n})
    for n in (50, 200, 300, 500, 1000)
} | paths.ALPHA_BY_RATE
READINGS |= {
    f"kernel-buffer-{n}": Variant(
        f"`kernel`, and the router's buffer holds {n} packets", {"hosts": "kernel", "buffer_packets": n}
    )
    for n in (20, 50)
}
READINGS |= {
    "sabul-random-cuts": Variant(
        "SABUL cuts its rate again after a random number of reports, as UDT", {"cuts": "random"}
    ),
    "lost-1e-6": Variant("one packet in a million is lost beside", {"loss": 1e-6}),
} | paths.OTHERS


def hundred(r: Results, name: str) -> Any:
    """When a flow first has 100 Mbit/s, or as large a part of a smaller path."""
    size = paths.SIZES_4["quick" if r.runs.manifest.get("size") == "quick" else "full"]
    return rates.reached_s(name, 100 / size.divisor)(r)


def capacity(r: Results) -> float:
    """305 Mbit/s, or as large a part of a smaller path."""
    size = paths.SIZES_4["quick" if r.runs.manifest.get("size") == "quick" else "full"]
    return 305 / size.divisor


def share(name: str, column: str) -> rates.Measure:
    """A rate of a protocol over what the path carries."""
    return lambda r: r.of(name, f"f_{column}") / capacity(r)


def loss(name: str) -> rates.Measure:
    """Lost packets over sent ones."""
    return lambda r: r.of(name, "f_loss")


def time_to(name: str) -> rates.Measure:
    return lambda r: hundred(r, name)


def in_order(r: Results) -> dict[str, str]:
    """How many pairs stand as in Table 4.5, by average and by loss: what the buffer is chosen by (O4.4)."""
    pairs = [(mean_of(a) > mean_of(b)) for mean_of, order in _orders(r) for a, b in combinations(order, 2)]
    return {"pairs of Table 4.5 in order": f"{sum(pairs)} of {len(pairs)}"}


def _orders(r: Results) -> list[tuple[Callable[[str], float], tuple[str, ...]]]:
    """What protocols are ordered by, and the printed order."""
    return [
        (lambda p: float(np.median(rates.mean(p)(r))), PROTOCOLS),
        (lambda p: float(np.median(loss(p)(r))), BY_LOSS),
    ]


def pictures(r: Results) -> list[Picture]:
    """Figures 4.2 and 4.3."""
    cwnd = {}
    for p in PROTOCOLS[1:]:
        s = r.runs.only(p, [0]).sample("cwnd_bytes", "f")
        cwnd[p] = (s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy() / paths.MSS_BYTES)
    lines = {p: (p, "f") for p in PROTOCOLS}
    return [
        rates.over_time("f4-2", "One flow on JAPAN (Figure 4.2).", r, lines),
        over_time("f4-3", "Its congestion window (Figure 4.3).", cwnd, "window (segments)"),
    ]


CLAIMS = study.BOOK.claims(
    {
        "IC4.1": {
            **study.order([(p, rates.mean(p)) for p in PROTOCOLS]),
        },
        "IC4.2": {
            "average": study.median(share("SABUL", "mbps")),
            "largest bin": study.median(share("SABUL", "max_mbps")),
        },
        "IC4.3": {
            **study.order([(p, time_to(p)) for p in ("Standard", "HSTCP", "Scalable", "FAST")]),
            "Standard": measures.at_full_size(study.median(time_to("Standard"))),
            "HSTCP": measures.at_full_size(study.median(time_to("HSTCP"))),
            "Scalable": measures.at_full_size(study.median(time_to("Scalable"))),
            "FAST": measures.at_full_size(study.median(time_to("FAST"))),
            "SABUL": measures.at_full_size(study.median(time_to("SABUL"))),
        },
        "IC4.4": {
            **study.order([(p, loss(p)) for p in BY_LOSS]),
            "Standard": measures.at_full_size(study.median(loss("Standard"))),
            "Scalable": measures.at_full_size(study.median(loss("Scalable"))),
            "SABUL": measures.at_full_size(study.median(loss("SABUL"))),
        },
        "IC4.5": {
            **study.order([("FAST", rates.mean("FAST")), ("Scalable", rates.mean("Scalable"))]),
            **study.order([("loss of Scalable", loss("Scalable")), ("loss of FAST", loss("FAST"))]),
        },
        "IC4.6": {
            **{
                f"Standard over {p}": study.ratio(share("Standard", "max_mbps"), share(p, "max_mbps"))
                for p in PROTOCOLS[:-1]
            },
        },
    }
)

EXPERIMENT = rates.experiment(
    "e4-1",
    "One flow on JAPAN",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 4.2 and 4.3, table 4.5",
    figures=pictures,
    headline=in_order,
    variants=READINGS,
)
