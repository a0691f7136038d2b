"""What do claims about the large router buffer become when it has 400 or 920 packets instead of 2000?

The source says of the large buffer that it has more than 200 packets (5.2). Each claim that looks at it (IC5.3, IC5.4,
IC5.18, IC5.19, IC5.25) is measured here once more; 2000 packets are those of E5.1, E5.4, E5.14 and E5.17, and judged
there. From 920 packets on, 0.06 BDP, a flow of 1.06 BDP cannot overflow it.

What may differ here: two seeds of 1.4 billion packets each, for these values are reported and not judged.
"""

from typing import Any

from crosswind.experiments.igarashi import e5_1, e5_4, e5_14, e5_17, paths, rates, study
from crosswind.reproduce import Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import runs

REPS = 2
WANTED = {
    "e5-1": [e5_1.label(p, 1.06, "Large") for p in ("FAST", "Scalable", "HSTCP")],
    "e5-4": [f"{p} Large" for p in paths.TCP_VARIANTS],
    "e5-14": [e5_14.label(p, 500, "Large") for p in e5_14.PROTOCOLS],
    "e5-17": [e5_17.label(p, c, "Large") for p in e5_17.FAST_ONES for c in e5_17.CASES],
}


def configurations(size: str = "full") -> dict[str, Scenario]:
    """What claims look at with the large buffer, with others: `920, FAST 1.06 Large`; `920, e5-4, FAST Large`."""
    out: dict[str, Scenario] = {}
    for n in paths.OTHER_LARGE:
        made = {
            "e5-1": e5_1.configurations(size, n),
            "e5-4": e5_4.configurations(size, n),
            "e5-14": e5_14.configurations(size, large_packets=n),
            "e5-17": e5_17.configurations(size, large_packets=n),
        }
        out |= {f"{_front(n, e)}{c}": made[e][c] for e, wanted in WANTED.items() for c in wanted}
    return out


def _front(n: int, experiment: str = "") -> str:
    """What stands before the name that a run has in its own experiment; E5.4 has a name of E5.1, CUBIC's."""
    return f"{n}, e5-4, " if experiment == "e5-4" else f"{n}, "


@measured
def first(r: Results, m: Quantity) -> Any:
    """The first seeds of an experiment that has more of them."""
    return m(r)[: int(r.runs.manifest["reps"])]


def _socket(n: int, name: str) -> Quantity:
    return rates.mean(_front(n) + e5_1.label(name, 1.06, "Large"))


def _small(name: str) -> Quantity:
    return first(rates.mean(f"e5-1/{e5_1.label(name, 1.06, 'Small')}"))


def _kept(n: int, name: str, case: str) -> Quantity:
    return e5_17.rate(name, case, "Large", _front(n)) / first(e5_17.without(name, case, "Large"))


def _kept_small(name: str, case: str) -> Quantity:
    return first(e5_17.beside(name, case, "Small", "e5-17/"))


def _both(n: int, name: str, what: str) -> Quantity:
    """High-speed flow or short transfers beside it."""
    configuration = _front(n) + e5_14.label(name, 500, "Large")
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
    "IC5.4": {
        f"slowest over fastest, {n} packets": measures.median(e5_4.slowest("Large", (0.0, 1.0), _front(n, "e5-4")))
        for n in paths.OTHER_LARGE
    },
    "IC5.18": {
        f"{p}, {what}: {n} packets over Small": study.ratio(_both(n, p, what), _both_small(p, what))
        for n in paths.OTHER_LARGE
        for p in e5_14.PROTOCOLS
        for what in ("flow", "short")
    },
    "IC5.19": {
        f"{p}, {c}, {n} packets": measures.median(_kept(n, p, c))
        for n in paths.OTHER_LARGE
        for p in ("FAST", "CUBIC")
        for c in e5_17.CASES
    },
    "IC5.25": {
        f"{p}, {c}: {n} packets less Small": measures.median(_kept(n, p, c) - _kept_small(p, c))
        for n in paths.OTHER_LARGE
        for p in e5_17.FAST_ONES
        for c in e5_17.CASES
    },
}

EXPERIMENT = rates.experiment(
    __name__,
    "Large router buffers of other sizes",
    where="figures 5.3, 5.6, 5.17 and 5.18",
    uses=("e5-1", "e5-14", "e5-17"),
    reps=REPS,
    partly=("IC5.3", "IC5.4", "IC5.18", "IC5.19", "IC5.25"),
)
