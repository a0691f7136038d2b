"""Should fast retransmit be allowed below the recovery point after a spurious timeout?

A spike delays a flight of which one segment is lost as well. Reno with Eifel, fast retransmit blocked until
everything sent before the timeout is acknowledged, and allowed at once.

What the source shows: blocked, a second timeout has to come; allowed, three duplicates suffice.

What may differ here: as in the traces of figure 4.2; the lost segment is the fifth of the delayed flight.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, figures_of, flow, traced
from crosswind.experiments.gurtov_2004.worlds import EIFEL, trace
from crosswind.reproduce import Scenario
from crosswind.reproduce.claims.quantities import least

BLOCKED, ALLOWED = "blocked", "allowed"
RENO = {"recovery": "ns2-reno", "sack": "off"} | EIFEL | {"spurious_response": "option-1"}
# The fifth of the segments that are under way when the spike begins.
LOST = 12


def configurations(path: str = "chosen", lost: int = LOST) -> dict[str, Scenario]:
    """Both rules, the same loss."""
    loss = {"loss": {"type": "list", "packets": [lost]}}
    modes: dict[str, dict[str, Any]] = {BLOCKED: {"spurious_unlock": "off"}, ALLOWED: {"spurious_unlock": "on"}}
    return {c: trace(f"f4-4-{c}", RENO | tcp, loss, path=path) for c, tcp in modes.items()}


@traced
def _in_spike(t: Trace) -> float:
    return float(sum(t.times("timeout") < t.first("spurious")))


CLAIMS = {
    "G7": {
        "judged spurious, both": least(flow(c, "spurious_detected") for c in (BLOCKED, ALLOWED)),
        "further timeouts, blocked": flow(BLOCKED, "timeouts") - _in_spike(BLOCKED),
        "further timeouts, allowed": flow(ALLOWED, "timeouts") - _in_spike(ALLOWED),
        "fast recoveries, allowed": flow(ALLOWED, "fast_recoveries"),
    }
}

pictures = figures_of({BLOCKED: "f4-4a", ALLOWED: "f4-4b"}, "Reno with Eifel, fast retransmit {}.", 45.0)

EXPERIMENT = experiment(__name__, "Fast retransmit after a spurious timeout", where="figure 4.4")
