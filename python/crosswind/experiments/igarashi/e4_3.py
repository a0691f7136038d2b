"""The same five protocols alone on EARTH2, 98 Mbit/s over a satellite with 460 ms.

The source printed (Table 4.6): averages of 9.8, 42.1, 55.8, 90.1 and 98 Mbit/s for Standard TCP, HSTCP, Scalable TCP,
FAST and SABUL, largest bins of 20, 78, 78, 100 and 100 Mbit/s. Receivers have 16 MB.

What may differ here: the sender's own interface of 100 Mbit/s is the bottleneck, and its host holds what waits
(decision 0026); the length of the runs, which the source does not give, is that of JAPAN.
"""

from crosswind.experiments.igarashi import e4_1, paths, rates, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario
from crosswind.reproduce.claims.quantities import largest, least, runs

MBPS = 98
LOSSY, STEADY = ("HSTCP", "Scalable"), ("FAST", "SABUL")
OTHERS = (*LOSSY, *STEADY)


def configurations(size: str = "full", alpha: str = "fixed", waits: str = "host") -> dict[str, Scenario]:
    """EARTH2; the receiver has 16 MB. `waits` says where packets do: in the host, or at a router's hub."""
    path = {"host": paths.EARTH2, "hub": paths.EARTH2_HUB}[waits]
    return e4_1.alone(path, paths.SIZES_4[size], 16e6, alpha)


def share(name: str) -> Quantity:
    """The average over 98 Mbit/s, or over as large a part of a smaller path."""
    return runs(name, "f_mbps") / e4_1.capacity * (305 / MBPS)


def largest_bin(name: str) -> Quantity:
    return runs(name, "f_max_mbps")


def pictures(r: Results) -> list[Picture]:
    """Figure 4.5, and the largest bins of table 4.6."""
    known = study.BOOK.numbers("IC4.21", e4_1.PROTOCOLS)
    heights = {"largest bin": {p: largest_bin(p) for p in e4_1.PROTOCOLS}}
    return [
        rates.over_time("f4-5", "One flow on EARTH2 (Figure 4.5).", r, {p: (p, "f") for p in e4_1.PROTOCOLS}),
        rates.bars("t4-6", "Largest bin of 2 s on EARTH2 (Table 4.6).", r, heights, {"largest bin": known}),
    ]


LEAST, MOST = ({c: of(map(largest_bin, c)) for c in (LOSSY, STEADY, OTHERS)} for of in (least, largest))
CLAIMS = {
    "IC4.7": {
        **e4_1.at_full_size(share, *e4_1.PROTOCOLS),
        **study.order([(p, rates.mean(p)) for p in e4_1.PROTOCOLS]),
    },
    "IC4.21": {
        **e4_1.at_full_size(largest_bin, *e4_1.PROTOCOLS),
        "Standard over the least of the others": study.ratio(largest_bin("Standard"), LEAST[OTHERS]),
        "HSTCP and Scalable over FAST and SABUL": study.ratio(MOST[LOSSY], LEAST[STEADY]),
    },
}

EXPERIMENT = rates.experiment(__name__, "One flow on EARTH2", where="figure 4.5, table 4.6")
