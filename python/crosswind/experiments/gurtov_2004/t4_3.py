"""How much of the congestion state should a sender restore after a spurious timeout?

FACK with Eifel and the standard timer on the congested path of table 4.2, restoration options 1 to 4: everything;
half the window; half the window and slow start; the old window as threshold. The same spikes in all four.

What the source printed is withheld here; the values are measured and reported.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import experiment, mean, means, ratio
from crosswind.experiments.gurtov_2004.worlds import transfer
from crosswind.reproduce import Scenario

OPTIONS = tuple(f"option {n}" for n in (1, 2, 3, 4))


def configurations(cbr_bytes: int = 210, **reading: Any) -> dict[str, Scenario]:
    """The four options."""
    out = {}
    for o in OPTIONS:
        response = o.replace(" ", "-")
        tcp = {"eifel": "on", "spurious_response": response}
        out[o] = transfer(f"t4-3-{response}", "FACK", tcp, cbr_bytes=cbr_bytes, **reading)
    return out


CLAIMS = {
    "G20": {o: mean(o, "time_s") for o in OPTIONS}
    | {f"{o} / option 1": ratio(o, "option 1", "time_s") for o in OPTIONS[1:]},
    "G21": means(OPTIONS, ("segments", "spurious", "genuine")),
}

EXPERIMENT = experiment(
    __name__, "Restoring the congestion state after a spurious timeout", where="table 4.3", reps=100
)
