"""What is left of Standard TCP beside one high-speed flow on JAPAN, and of high-speed flows beside each other?

The source printed figures that are lost (4.10, 4.11: averages over 600 s): Standard TCP loses beside every other
protocol, most beside Scalable and FAST; different protocols are unfair to each other; HSTCP gets the small share;
SABUL keeps its rate and gives the largest sum.

What may differ here: see `paths`. E4.7 and E4.8 of the source are these runs.
"""

from itertools import combinations

from crosswind.experiments.igarashi import e4_1, pairs, paths, rates, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import largest

SECONDS = 600
FAST_ONES = ("SABUL", "FAST", "Scalable", "HSTCP")
MIXED = tuple(combinations(FAST_ONES, 2))


def configurations(size: str = "full", others_mbps: float = 0.0) -> dict[str, Scenario]:
    """Standard beside each, all pairs of high-speed protocols, and SABUL alone."""
    s = paths.SIZES_4[size]
    beside = [("Standard", p) for p in e4_1.PROTOCOLS]
    return {
        **pairs.on_japan([*beside, *MIXED], SECONDS, s, others_mbps),
        **pairs.alone_on_japan(["SABUL"], SECONDS, s, others_mbps),
    }


def standard(partner: str) -> Quantity:
    return pairs.part("Standard", partner, "f")


def index(pair: tuple[str, str]) -> Quantity:
    """Jain's index of a mixed pair."""
    return rates.jain(pairs.part(*pair, "f"), pairs.part(*pair, "g"))


def pictures(r: Results) -> list[Picture]:
    """Figures 4.10 and 4.11."""
    first = {
        "Standard": {p: standard(p) for p in e4_1.PROTOCOLS},
        "the other": {p: pairs.part("Standard", p, "g") for p in e4_1.PROTOCOLS},
    }
    second = {
        "first": {pairs.label(*m): pairs.part(*m, "f") for m in MIXED},
        "second": {pairs.label(*m): pairs.part(*m, "g") for m in MIXED},
    }
    return [
        rates.bars("f4-10", "Standard TCP beside one other flow (Figure 4.10).", r, first),
        rates.bars("f4-11", "Pairs of high-speed flows (Figure 4.11).", r, second),
    ]


WITH, WITHOUT = ([rates.total(pairs.label(*m)) for m in MIXED if ("SABUL" in m) is has] for has in (True, False))
CLAIMS = {
    "IC4.14": {
        **{f"beside {p} over itself": study.ratio(standard(p), standard("Standard")) for p in FAST_ONES},
        **{
            f"beside {p} over beside {other}": study.ratio(standard(p), standard(other))
            for p in ("Scalable", "FAST")
            for other in ("HSTCP", "SABUL")
        },
    },
    "IC4.15": {
        **{f"{a}, {b}: Jain": measures.median(index((a, b))) for a, b in MIXED},
        **{
            f"SABUL beside {p} over alone": study.ratio(pairs.part("SABUL", p, "f"), rates.mean("SABUL"))
            for p in FAST_ONES[1:]
        },
        "largest sum with SABUL over without": measures.median(largest(WITH) / largest(WITHOUT)),
        **{
            f"HSTCP over {p}": study.ratio(pairs.part(p, "HSTCP", "g"), pairs.part(p, "HSTCP", "f"))
            for p in FAST_ONES[:-1]
        },
    },
}

EXPERIMENT = rates.experiment(__name__, "Pairs of different protocols", where="figures 4.10, 4.11")
