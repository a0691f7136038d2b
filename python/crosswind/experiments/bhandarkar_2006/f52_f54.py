"""Does PERT with the price of REM at the end host do what REM does in routers?

N8, as in `f43-f47`: PERT-REM over drop-tail, SACK with ECN over REM. Figure 52: numbers of flows; figure 53: rates from
1 Mbit/s to 1 Gbit/s; figure 54: round trips from 10 ms to 1 s.

What the source printed: curves that are lost; orderings, and words.

What may differ here: the author's parameters of REM in routers are not stated, and neither is the unit of the price
(open point O9). PERT-REM reads an exact clock; a change below its resolution counts as none, and what is below a
microsecond is rounding (decision 0029). `--quick` leaves out rates above 100 Mbit/s, runs figure 52 with a tenth of
rate and flows, figure 54 with a sixth of rate and flows (the same windows), and 60 s of which 20 s are left out.
"""

from typing import Any

from crosswind.experiments.bhandarkar_2006 import f43_f47, study
from crosswind.experiments.bhandarkar_2006.f43_f47 import cells, four_panels, most, q, u, value, world
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured

SCHEMES = ("rem", "pert-rem")
# Each figure goes over the points of one of the first four.
LIKE = {"f52": "f45", "f53": "f43", "f54": "f44"}


def configurations(size: str = "full", rem_tick_ms: float = 0.0) -> dict[str, Scenario]:
    """`<figure> <point> <scheme>`.

    With `rem_tick_ms` PERT-REM reads its round trips from timestamps with such a clock, and its price decays where two
    of its values are equal; without, where the round trip changes by less than its resolution (decision 0029).
    """
    clock: dict[str, Any] = {"early": {"rem": {"unchanged": "within-resolution"}}}
    if rem_tick_ms:
        clock = {"timestamps": "on", "timestamp_tick": f"{rem_tick_ms:g} ms"}
    seconds, points = 300.0 if size == "full" else 60.0, cells(size)
    out = {}
    for figure, like in LIKE.items():
        for x, rate, rtt, n in points[like]:
            for s in SCHEMES:
                name = f"{figure} {x} {s}"
                own = clock if s == "pert-rem" else {}
                out[name] = world(name, s, rate, rtt, n, seconds=seconds, tcp=own)
    return out


@measured
def _drops(r: Results) -> float:
    """The largest drop rate of PERT-REM up to 500 flows on 500 Mbit/s."""
    up_to = 500 if r.size == "full" else 50
    asked = [x for x in r.points("f52") if float(x) <= up_to]
    return max(value("f52", x, "pert-rem", "bottleneck_drop_rate")(r) for x in asked)


def _apart(f: str, x: Any) -> Quantity:
    """Utilisation of PERT-REM less that of REM, whatever the sign."""
    return (u(f, x, "pert-rem") - u(f, x, "rem")).then(abs)


def pictures(r: Results) -> list[Picture]:
    """Four panels each."""
    return [four_panels(r, f, SCHEMES, f43_f47.AXES[like]) for f, like in LIKE.items()]


CLAIMS = {
    "B108": {
        "largest difference of utilisation": most(_apart, *LIKE),
        "queue lower at 1 Mbit/s": q("f53", 1, "pert-rem") < q("f53", 1, "rem"),
        "queue larger at 10 ms": q("f54", 10, "pert-rem") > q("f54", 10, "rem"),
    },
    "B109": {"largest drop rate": _drops()},
    "B110": {"utilisation at 1 Mbit/s": u("f53", 1, "pert-rem")},
}

EXPERIMENT = study.experiment(
    __name__,
    "PERT-REM and REM",
    where="figures 52 to 54",
    former={"rem_tick_ms": 10.0},
    quick=study.smaller("rates up to 100 Mbit/s, up to 100 flows, 60 s of which 20 s are left out"),
)
