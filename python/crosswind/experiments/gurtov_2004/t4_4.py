"""Does a timer that learns from spurious timeouts avoid the next ones?

FACK with Eifel and option 1 on the congested path of table 4.2, with the standard timer, the estimator reseeded,
the back-off kept, and a floor that rises by 1 s (also 2 s and 4 s: the source gives no step) until a timeout is
genuine. RFC 4015's own adaptation is run beside them.

What the source printed (time, segments, spurious, genuine): standard and reseeded timer 109 s, 5225, 3.24, 0.38;
back-off 113 s, 5166, 1.92, 0.40; rising floor 114 s, 5168, 2.41, 0.43.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import change, difference, experiment, mean, means
from crosswind.experiments.gurtov_2004.worlds import transfer
from crosswind.reproduce import Scenario, measures

STEPS_s = (1, 2, 4)
MIN = tuple(f"min++ {s} s" for s in STEPS_s)
TIMERS = ("std", "reseed", "back-off", *MIN, "rfc4015")


def _keys(timer: str) -> dict[str, Any]:
    name, _, step = timer.partition(" ")
    return {"eifel": "on", "spurious_timer": name} | ({"spurious_timer_step": step} if step else {})


def configurations(cbr_bytes: int = 210, **reading: Any) -> dict[str, Scenario]:
    """One configuration per timer."""
    return {t: transfer(f"t4-4-{i}", "FACK", _keys(t), cbr_bytes=cbr_bytes, **reading) for i, t in enumerate(TIMERS)}


def _against_std(names: tuple[str, ...], columns: tuple[str, ...]) -> measures.Measures:
    return {f"{n} against std: {c}": change(n, "std", c) for n in names for c in columns}


CLAIMS = {
    "G22": _against_std(("back-off",), ("spurious", "time_s"))
    | means(("std", "back-off"), ("time_s", "spurious", "genuine")),
    "G23": _against_std(MIN, ("spurious", "time_s")) | means(MIN, ("time_s", "spurious", "genuine")),
    "G24": _against_std(("reseed",), ("time_s", "segments", "spurious", "genuine")),
    "G25": {t: mean(t, "segments") for t in TIMERS}
    | {f"{t} minus std": difference(t, "std", "segments") for t in ("back-off", "min++ 1 s")},
}

EXPERIMENT = experiment(
    __name__, "Adapting the retransmission timer after a spurious timeout", where="table 4.4", reps=100
)
