"""How many calls keep a short delay in FQ-CoDel, and what does that depend on?

Calls by G.711 (200 bytes each 20 ms) beside greedy flows of CUBIC for 60 s, by rate of the line, number of greedy
flows, quantum and time between packets. A call keeps a short delay while 95 % of its packets come within 10 ms of the
fastest.

What the source says (Høiland-Jørgensen 2018): what that number depends on is withheld here.

What may differ here: all numbers are ours. The largest number of calls among those tried of which the median call
keeps a short delay is reported. Two repetitions.
"""

from dataclasses import replace
from typing import Any

import polars as pl

from crosswind.experiments.aqm import study
from crosswind.experiments.aqm.study import SETTING
from crosswind.reproduce import Results, Runs, Scenario, Tables
from crosswind.suites.network import CUBIC, bulk, dumbbell, voice

SECONDS, SHORT_MS = 60, 10
CALLS = (2, 5, 10, 20, 40, 60, 80, 100, 120)
#: Rate (Mbit/s), greedy flows, quantum (bytes), time between packets (ms), of each series.
SERIES = {
    "10 Mbit per s, 1 greedy flow": (10, 1, 1514, 20),
    "10 Mbit per s, 4 greedy flows": (10, 4, 1514, 20),
    "10 Mbit per s, 16 greedy flows": (10, 16, 1514, 20),
    "5 Mbit per s, 4 greedy flows": (5, 4, 1514, 20),
    "20 Mbit per s, 4 greedy flows": (20, 4, 1514, 20),
    "4 greedy flows, quantum 300": (10, 4, 300, 20),
    "4 greedy flows, a packet each 40 ms": (10, 4, 1514, 40),
}


def configurations() -> dict[str, Scenario]:
    """Every series, every number of calls."""
    return {f"{name}: {n}": _scenario(*made, n) for name, made in SERIES.items() for n in CALLS}


def _scenario(mbps: int, greedy: int, quantum: int, every_ms: int, calls: int) -> Scenario:
    s = replace(SETTING, rate_bps=mbps * 10**6, seconds=SECONDS)
    queue = {"type": "fq-codel", "isolation": "exact", "quantum": f"{quantum} B"}
    call = voice(s, count=calls, start={"uniform": ["0 ms", f"{every_ms} ms"]})
    call["workload"]["interval"] = f"{every_ms} ms"
    flows = {"bulk": bulk(s, preset=CUBIC, count=greedy), "call": call}
    return study.scenario("calls", dumbbell(s, queue, flows))


def tables(runs: Runs) -> Tables:
    """`repetition`: what the 95th percentile of a call lies above its fastest packet, the median call (ms)."""
    calls = runs.flows().filter(pl.col("group") == "call")
    added = ((pl.col("delay_p95_ns") - pl.col("delay_min_ns")) / 1e6).median()
    return {"repetition": calls.group_by(study.KEYS).agg(added_ms=added).sort(study.KEYS)}


def _most(name: str) -> Any:
    def value(r: Results) -> int:
        return max((n for n in CALLS if r.mean(f"{name}: {n}", "added_ms") <= SHORT_MS), default=0)

    return value


CLAIMS: dict[str, Any] = {"AQ57": {name: _most(name) for name in SERIES}}

EXPERIMENT = study.STUDY.experiment(__name__, "Calls in FQ-CoDel", where="Høiland-Jørgensen 2018", reps=2)
