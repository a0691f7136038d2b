"""The same five protocols alone on EARTH2, 98 Mbit/s over a satellite with 460 ms.

The source printed (Table 4.6): averages of 9.8, 42.1, 55.8, 90.1 and 98 Mbit/s for Standard TCP, HSTCP, Scalable TCP,
FAST and SABUL, largest bins of 20, 78, 78, 100 and 100 Mbit/s. Receivers have 16 MB.

What may differ here: the sender's own interface of 100 Mbit/s is the bottleneck, and its host holds what waits
(decision 0026); the length of the runs, which the source does not give, is that of JAPAN.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from crosswind.experiments.igarashi import e4_1, rates, study
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.reproduce import Picture, Results, Scenario, Variant, measures

MBPS = 98
LOSSY, STEADY = ("HSTCP", "Scalable"), ("FAST", "SABUL")


def configurations(size: str = "full", alpha: str = "fixed", waits: str = "host") -> dict[str, Scenario]:
    """EARTH2; the receiver has 16 MB. `waits` says where packets do: in the host, or at a router's hub."""
    path = {"host": paths.EARTH2, "hub": paths.EARTH2_HUB}[waits]
    return e4_1.alone(path, paths.SIZES_4[size], 16e6, alpha)


def share(name: str) -> rates.Measure:
    """The average over 98 Mbit/s, or over as large a part of a smaller path."""
    return lambda r: r.of(name, "f_mbps") / (e4_1.capacity(r) / 305 * MBPS)


def largest(name: str) -> rates.Measure:
    """The largest bin."""
    return study.of(name, "f_max_mbps")


def extreme(names: Sequence[str], pick: Any) -> rates.Measure:
    """The largest bins of several protocols, run by run: the least or the largest of them."""
    return lambda r: pick([largest(p)(r) for p in names], axis=0)


def pictures(r: Results) -> list[Picture]:
    """Figure 4.5, and the largest bins of table 4.6."""
    known = study.BOOK.numbers("IC4.21", e4_1.PROTOCOLS)
    heights = {"largest bin": {p: largest(p) for p in e4_1.PROTOCOLS}}
    return [
        rates.over_time("f4-5", "One flow on EARTH2 (Figure 4.5).", r, {p: (p, "f") for p in e4_1.PROTOCOLS}),
        rates.bars("t4-6", "Largest bin of 2 s on EARTH2 (Table 4.6).", r, heights, {"largest bin": known}),
    ]


CLAIMS = {
    "IC4.7": {
        **{p: measures.at_full_size(study.median(share(p))) for p in e4_1.PROTOCOLS},
        **study.order([(p, rates.mean(p)) for p in e4_1.PROTOCOLS]),
    },
    "IC4.21": {
        **{p: measures.at_full_size(study.median(largest(p))) for p in e4_1.PROTOCOLS},
        "Standard over the least of the others": study.ratio(largest("Standard"), extreme((*LOSSY, *STEADY), np.min)),
        "HSTCP and Scalable over FAST and SABUL": study.ratio(extreme(LOSSY, np.max), extreme(STEADY, np.min)),
    },
}

EXPERIMENT = rates.experiment(
    __name__,
    "One flow on EARTH2",
    where="figure 4.5, table 4.6",
    variants=paths.ALPHA_BY_RATE
    | {
        "hub": Variant("packets wait in a router's buffer of 100 packets", {"waits": "hub"}),
        "former": Variant(f"{paths.FORMER.title}, `hub`", {"waits": "hub", **paths.RFC}),
    },
)
