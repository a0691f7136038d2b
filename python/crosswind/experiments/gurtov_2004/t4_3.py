"""How much of the congestion state should a sender restore after a spurious timeout?

FACK with Eifel and the standard timer on the congested path of table 4.2, restoration options 1 to 4: everything;
half the window; half the window and slow start; the old window as threshold. The same spikes in all four.

What the source printed (time, segments, spurious, genuine): option 1 108 s, 5225, 3.24, 0.38; option 2 540 s, 5325,
8.48, 8.43; option 3 912 s, 5558, 11.19, 14.68; option 4 109 s, 5226, 3.26, 0.38.

What may differ here: how many packets each spike loses. Factors of 5 and 8 need heavy losses, which the path of
table 4.2 does not have here.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import difference, experiment, mean, means, ratio
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
    | {f"{o} / option 1": ratio(o, "option 1", "time_s") for o in OPTIONS[1:]}
    | {
        "option 3 over option 2": ratio("option 3", "option 2", "time_s"),
        "option 4 minus option 2": difference("option 4", "option 2", "time_s"),
    },
    "G21": means(OPTIONS, ("segments", "spurious", "genuine")),
}

EXPERIMENT = experiment(
    __name__, "Restoring the congestion state after a spurious timeout", where="table 4.3", reps=100
)
