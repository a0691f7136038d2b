"""The same five protocols alone on EARTH2, 98 Mbit/s over a satellite with 460 ms.

The source printed (Table 4.6): averages of 9.8, 42.1, 55.8, 90.1 and 98 Mbit/s for Standard TCP, HSTCP, Scalable TCP,
FAST and SABUL, largest bins of 20, 78, 78, 100 and 100 Mbit/s. Receivers have 16 MB.

What may differ here: see `fast_paths`; the length of the runs, which the source does not give, is that of JAPAN.

IC4.7 fails in FAST (65 %) and SABUL (80 %), in the right order and beside 10, 37 and 55 % of the others. FAST halves
because a buffer of 100 packets cannot hold its alpha of 200: with 300 packets it has 94 %, with rate halving (variant
`kernel`) 69. SABUL cuts its rate too often in one congestion, as on JAPAN: with UDT's rule for that it has 94 % from
the first minute on, and 81 % with it. With `--quick` a run has 75 s, 160 round trips: too few for any of them to come
near its average.
"""

from __future__ import annotations

from crosswind.experiments.igarashi import e4_1, rates, study
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.figures import Picture
from crosswind.reproduce import Results
from crosswind.reproduce.claims import measures
from crosswind.scenario import Scenario


def configurations(size: str = "full", alpha: str = "fixed") -> dict[str, Scenario]:
    """EARTH2; the receiver has 16 MB."""
    return e4_1.alone(paths.EARTH2, paths.SIZES_4[size], 16e6, alpha)


def share(name: str) -> rates.Measure:
    """The average over 98 Mbit/s, or over as large a part of a smaller path."""
    return lambda r: r.of(name, "f_mbps") / (e4_1.capacity(r) / 305 * 98)


def pictures(r: Results) -> list[Picture]:
    """Figure 4.5."""
    return [rates.over_time("f4-5", "One flow on EARTH2 (Figure 4.5).", r, {p: (p, "f") for p in e4_1.PROTOCOLS})]


CLAIMS = study.BOOK.claims(
    {
        "IC4.7": {
            "Standard": measures.at_full_size(study.median(share("Standard"))),
            **{p: measures.at_full_size(study.median(share(p))) for p in e4_1.PROTOCOLS[:-1]},
            **study.order([(p, rates.mean(p)) for p in e4_1.PROTOCOLS]),
        },
    }
)

EXPERIMENT = rates.experiment(
    "e4-3",
    "One flow on EARTH2",
    __doc__,
    configurations,
    CLAIMS,
    where="figure 4.5, table 4.6",
    figures=pictures,
    variants=paths.ALPHA_BY_RATE,
)
