"""Should fast retransmit be allowed below the recovery point after a spurious timeout?

A spike delays a flight of which one segment is lost as well. Reno with Eifel, fast retransmit blocked until
everything sent before the timeout is acknowledged, and allowed at once.

What the source shows: blocked, a second timeout has to come; allowed, three duplicates suffice.

What may differ here: as in the traces of figure 4.2; the lost segment is the fifth of the delayed flight.
"""

from typing import Any

from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import E1, EIFEL, FORMER_SPIKE, SLOW, Path, trace
from crosswind.reproduce import Picture, Results, Scenario, Variant

BLOCKED, ALLOWED = "blocked", "allowed"
RENO = {"recovery": "ns2-reno", "sack": "off"} | EIFEL | {"spurious_response": "option-1"}
# The fifth of the segments that are under way when the spike begins.
LOST, FORMER_LOST = 12, 40


def configurations(path: Path = E1, lost: int = LOST) -> dict[str, Scenario]:
    """Both rules, the same loss."""
    loss = {"loss": {"type": "list", "packets": [lost]}}
    modes: dict[str, dict[str, Any]] = {BLOCKED: {"spurious_unlock": "off"}, ALLOWED: {"spurious_unlock": "on"}}
    return {c: trace(f"f4-4-{c}", RENO | tcp, loss, path=path) for c, tcp in modes.items()}


def _beyond_the_first(c: str) -> Any:
    return lambda r: Trace(r, c).value("timeouts") - _in_spike(r, c)


def _in_spike(r: Any, c: str) -> float:
    t = Trace(r, c)
    return float(sum(t.times("timeout") < t.first("spurious")))


CLAIMS = {
    "G7": {
        "judged spurious, both": lambda r: min(Trace(r, c).value("spurious_detected") for c in (BLOCKED, ALLOWED)),
        "further timeouts, blocked": _beyond_the_first(BLOCKED),
        "further timeouts, allowed": _beyond_the_first(ALLOWED),
        "fast recoveries, allowed": lambda r: Trace(r, ALLOWED).value("fast_recoveries"),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Both traces."""
    return [
        figure_of(r, c, f"f4-4{x}", f"Reno with Eifel, fast retransmit {c}.", 45.0)
        for c, x in ((BLOCKED, "a"), (ALLOWED, "b"))
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Fast retransmit after a spurious timeout",
    where="figure 4.4",
    tables=transfers,
    variants={"former": Variant(FORMER_SPIKE, {"path": SLOW, "lost": FORMER_LOST})},
)
