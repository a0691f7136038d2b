"""Does PIE keep its target, CoDel its round trips, and what do both save on a cable?

Greedy flows over 10 Mbit/s for 120 s: four of CUBIC behind PIE of 10 ms and behind a FIFO of 250 ms; as many flows of
Reno as make mild, medium and heavy congestion (RFC 7928, 8.2) behind PIE and CoDel, PIE by target, both by round
trip.

What the sources say, as far as their abstracts go: a cable with PIE shows 15 to 30 ms under load where it showed 250
(Comcast 2021); PIE follows its target, CoDel's interval should grow with the round trip (Kuhn et al. 2017); PIE
suffers over long round trips (Kuhn, Ros 2016).

What may differ here: rates, numbers of flows and lengths are ours. Six repetitions.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.aqm import study
from crosswind.experiments.aqm.study import SETTING, limited
from crosswind.reproduce import Results, Scenario, measures
from crosswind.suites.network import CUBIC, bulk, dumbbell
from crosswind.suites.queues import LEVELS, flows_at

TARGETS_ms = (5, 15, 30, 60)
RTTS_ms = (50, 100, 200, 500)
PIE, CODEL = {"type": "pie"}, {"type": "codel"}
#: A parameter of CoDel that follows the round trip, with a target of a twentieth of it.
GROWING = "CoDel, interval of the round trip"


def configurations() -> dict[str, Scenario]:
    """A cable, levels of congestion, targets, round trips."""
    s = SETTING
    cable = {"cable, PIE": PIE | {"target": "10 ms"}, "cable, FIFO": {"type": "droptail"}}
    made = {name: _greedy(limited(q, s), 4, preset=CUBIC) for name, q in cable.items()}
    for name, queue in (("PIE", PIE), ("CoDel", CODEL)):
        made |= {f"{name}, {level}": _level(queue, p) for level, p in LEVELS.items()}
    made |= {f"PIE, target {t} ms": _level(PIE | {"target": f"{t} ms"}, LEVELS["medium"]) for t in TARGETS_ms}
    for rtt in RTTS_ms:
        interval = {"interval": f"{rtt} ms", "target": f"{rtt / 20:g} ms"}
        for name, queue in (("PIE", PIE), ("CoDel", CODEL), (GROWING, CODEL | interval)):
            made[f"{name}, {rtt} ms"] = _greedy(limited(queue, s), flows_at(s, LEVELS["mild"]), rtt_ms=rtt)
    return made


def _greedy(queue: dict[str, Any], n: int, **more: Any) -> Scenario:
    return study.scenario("greedy", dumbbell(SETTING, queue, {"bulk": bulk(SETTING, count=n, **more)}))


def _level(queue: dict[str, Any], loss: float) -> Scenario:
    return _greedy(limited(queue, SETTING), flows_at(SETTING, loss))


def _slope(queue: str) -> Any:
    """By how many ms the median delay grows with a flow."""

    def value(r: Results) -> float:
        n = [flows_at(SETTING, p) for p in LEVELS.values()]
        return float(np.polyfit(n, [r.mean(f"{queue}, {level}", "p50_ms") for level in LEVELS], 1)[0])

    return value


def _spread(r: Results, queue: str) -> float:
    """How far apart the utilisations of the round trips lie."""
    found = [r.mean(f"{queue}, {rtt} ms", "utilisation") for rtt in RTTS_ms]
    return max(found) - min(found)


def _used(r: Results, rtt: int) -> float:
    return r.mean(f"PIE, {rtt} ms", "utilisation")


def _over(first: str, second: str, column: str) -> Any:
    return lambda r: r.mean(first, column) / r.mean(second, column)


def _follows(target_ms: int) -> Any:
    return lambda r: r.mean(f"PIE, target {target_ms} ms", "p50_ms") / target_ms


def _peak(r: Results, rtt: int) -> float:
    """The largest probability of PIE after the start, mean over the repetitions."""
    runs = r.runs.only(f"PIE, {rtt} ms").sample("aqm_p_ratio", "bottleneck/forward")
    later = runs.filter(pl.col("time_ns") > study.WARM_UP_S * 10**9)
    return float(later.group_by("rep").agg(pl.col("value").max())["value"].mean())  # type: ignore[arg-type]


CLAIMS: dict[str, Any] = {
    "AQ50": {
        "FIFO over PIE": _over("cable, FIFO", "cable, PIE", "mean_ms"),
        "PIE": measures.value("cable, PIE", "mean_ms", np.mean),
    },
    "AQ51": {"CoDel, ms a flow": _slope("CoDel"), "PIE, ms a flow": _slope("PIE")},
    "AQ52": {
        **{f"{t} ms": _follows(t) for t in TARGETS_ms},
        **{
            f"{b} over {a} ms": _over(f"PIE, target {b} ms", f"PIE, target {a} ms", "p50_ms")
            for a, b in pairwise(TARGETS_ms)
        },
        "spread of CoDel by round trip, growing over fixed": lambda r: _spread(r, GROWING) / _spread(r, "CoDel"),
    },
    "AQ54": {
        "p99, 500 over 100 ms": _over("PIE, 500 ms", "PIE, 100 ms", "p99_ms"),
        "peak probability, 500 over 100 ms": lambda r: _peak(r, 500) / _peak(r, 100),
        "utilisation, 100 less 500 ms": lambda r: _used(r, 100) - _used(r, 500),
        "utilisation, 50 ms": measures.value("PIE, 50 ms", "utilisation", np.mean),
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "Delays of PIE and CoDel", where="Comcast 2021, Kuhn 2016 and 2017")
