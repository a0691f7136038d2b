"""What do claims about the large router buffer become when it has 400 or 920 packets instead of 2000?

The source says of the large buffer that it has more than 200 packets (5.2). Each claim that looks at it (IC5.3, IC5.18,
IC5.19, IC5.25) is measured here once more; 2000 packets are those of E5.1, E5.14 and E5.17, and judged there. From 920
packets on, 0.06 BDP, a flow of 1.06 BDP cannot overflow it.

What may differ here: two seeds, for these values are reported and not judged; of the two cases of UDP the first.
"""

from typing import Any

from crosswind.experiments.igarashi import e5_1, e5_14, e5_17, paths, rates, study
from crosswind.reproduce import Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import runs

REPS = 2
WANTED = {
    "e5-1": [e5_1.label(p, 1.06, "Large") for p in ("FAST", "Scalable", "HSTCP")],
    "e5-14": [e5_14.label(p, 500, "Large") for p in e5_14.PROTOCOLS],
    "e5-17": [e5_17.label(p, "case 1", "Large") for p in e5_17.FAST_ONES],
}


def configurations(size: str = "full") -> dict[str, Scenario]:
    """What claims look at with the large buffer, with others: `920, FAST 1.06 Large`."""
    out: dict[str, Scenario] = {}
    for n in paths.OTHER_LARGE:
        made = {
            "e5-1": e5_1.configurations(size, n),
            "e5-14": e5_14.configurations(size, large_packets=n),
            "e5-17": e5_17.configurations(size, large_packets=n),
        }
        out |= {f"{n}, {c}": made[e][c] for e, wanted in WANTED.items() for c in wanted}
    return out


@measured
def first(r: Results, m: Quantity) -> Any:
    """The first seeds of an experiment that has more of them."""
    return m(r)[: int(r.runs.manifest["reps"])]


def _socket(n: int, name: str) -> Quantity:
    return rates.mean(f"{n}, {e5_1.label(name, 1.06, 'Large')}")


def _small(name: str) -> Quantity:
    return first(rates.mean(f"e5-1/{e5_1.label(name, 1.06, 'Small')}"))


def _kept(n: int, name: str) -> Quantity:
    here = rates.during(f"{n}, {e5_17.label(name, 'case 1', 'Large')}", "f", e5_17.TOGETHER)
    return here / first(e5_17.without(name, "case 1", "Large"))


def _both(n: int, name: str, what: str) -> Quantity:
    """High-speed flow or short transfers beside it."""
    configuration = f"{n}, {e5_14.label(name, 500, 'Large')}"
    return rates.during(configuration, "f", e5_14.WHILE) if what == "flow" else runs(configuration, "short_mbps")


def _both_small(name: str, what: str) -> Quantity:
    configuration = f"e5-14/{e5_14.label(name, 500)}"
    small = rates.during(configuration, "f", e5_14.WHILE) if what == "flow" else runs(configuration, "short_mbps")
    return first(small)


CLAIMS = {
    "IC5.3": {
        **{
            f"{p}: {n} packets over Small": study.ratio(_socket(n, p), _small(p))
            for n in paths.OTHER_LARGE
            for p in ("FAST", "Scalable")
        },
        **{
            f"{p}, {n} packets: 1.06 over 0.95": study.ratio(
                _socket(n, p), first(rates.during(e5_1.alone(p, "Large"), "f", e5_1.part(0, 300)))
            )
            for n in paths.OTHER_LARGE
            for p in ("HSTCP", "Scalable")
        },
    },
    "IC5.18": {
        f"{p}, {what}: {n} packets over Small": study.ratio(_both(n, p, what), _both_small(p, what))
        for n in paths.OTHER_LARGE
        for p in e5_14.PROTOCOLS
        for what in ("flow", "short")
    },
    "IC5.19": {
        f"{p}, case 1, {n} packets": measures.median(_kept(n, p)) for n in paths.OTHER_LARGE for p in ("FAST", "CUBIC")
    },
    "IC5.25": {
        f"{p}, case 1: {n} packets less Small": measures.median(_kept(n, p) - first(e5_17.beside(p, "case 1", "Small")))
        for n in paths.OTHER_LARGE
        for p in e5_17.FAST_ONES
    },
}

EXPERIMENT = rates.experiment(
    __name__,
    "Large router buffers of other sizes",
    where="figures 5.3, 5.17 and 5.18",
    uses=("e5-1", "e5-14", "e5-17"),
    reps=REPS,
    partly=("IC5.3", "IC5.18", "IC5.19", "IC5.25"),
)
