"""Is PI2, without PIE's table, burst allowance and spread drops, as responsive and as stable; and do the two kinds
share?

Reno flows behind both where their number changes every 20 s (RFC 7928, 8.2.5) and where the line falls from 100 to 10
Mbit/s and back every 20 s (8.2.6), 120 s. DCTCP with ECT(1) beside Reno with ECN in one PI2 queue at equal round
trips, 60 s.

What the source says, in its abstract (De Schepper et al. 2016): PI2 is no less responsive and no less stable; squared
for Classic and linear for Scalable traffic, both share.

What may differ here: settling is how long the delay is above twice the target after a change, overshoot its largest
value then; means over changes and repetitions, at 20 ms of sampling (our choice). DCTCP computes in real numbers;
beside it are shown Linux's integers of today, in which a small alpha falls to 0 in one round. Six repetitions.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.aqm import study
from crosswind.experiments.aqm.study import SETTING, limited
from crosswind.reproduce import Results, Scenario
from crosswind.suites.network import bulk, dumbbell
from crosswind.suites.queues import CASES_BY_ID

TARGET_MS, STEP_S, SAMPLE_MS = 15, 20, 20
QUEUES: dict[str, dict[str, Any]] = {"PIE": {"type": "pie"}, "PI2": {"type": "pi2"}}
RTTS_ms = (10, 20, 50, 100)
#: How DCTCP computes: what is judged, and what is shown beside it.
PROFILES = {"": "rfc", ", integers of today": "linux"}
CHANGES_S = {"flows": (20, 40, 60, 80, 100), "capacity": (20, 60, 100)}


def configurations() -> dict[str, Scenario]:
    """Flows and capacities that change, behind both; pairs in one queue of PI2."""
    made = {}
    for name, queue in QUEUES.items():
        made[f"flows, {name}"] = _sampled(CASES_BY_ID["varying"].build(SETTING, limited(queue, SETTING))["rising"])
        made[f"capacity, {name}"] = _capacity(queue)
    pairs = {f"pair, {rtt} ms{word}": _pair(rtt, profile) for rtt in RTTS_ms for word, profile in PROFILES.items()}
    return made | pairs


def _sampled(table: dict[str, Any]) -> Scenario:
    record = {"sample": f"{SAMPLE_MS} ms", "sampled": ["bottleneck"]}
    return study.scenario("changes", {**table, "record": record})


def _capacity(queue: dict[str, Any]) -> Scenario:
    """Two flows, room for 500 packets, as ns-3's suite has it."""
    fast = replace(SETTING, rate_bps=100_000_000)
    table = dumbbell(fast, queue | {"limit": "500 packets"}, {"bulk": bulk(fast, count=2)})

    def to(first: int, mbps: int) -> dict[str, Any]:
        at = {"first": f"{first} s", "every": f"{2 * STEP_S} s"}
        return {"at": at, "link": "bottleneck", "direction": "forward", "set": {"rate": f"{mbps} Mbit/s"}}

    return _sampled({**table, "timeline": [to(STEP_S, 10), to(2 * STEP_S, 100)]})


def _pair(rtt_ms: int, profile: str) -> Scenario:
    s = replace(SETTING, rate_bps=40_000_000, rtt_ms=rtt_ms, seconds=60)
    classic = bulk(s, tcp={"ecn": "on"})
    scalable = bulk(s, preset="linux-6-dctcp", tcp={"codepoint": "ect1", "dctcp": {"profile": profile}})
    queue = {"type": "pi2", "coupling": 2, "limit": f"{s.limit_packets} packets"}
    return study.scenario("pair", dumbbell(s, queue, {"classic": classic, "scalable": scalable}))


def _after(r: Results, cell: str) -> list[np.ndarray[Any, Any]]:
    """The delays (ms) within a step after each change, of all repetitions."""
    s = r.runs.only(cell).sample("queue_delay_ns", "bottleneck/forward").sort("rep", "time_ns")
    out = []
    for (_,), part in s.group_by(["rep"], maintain_order=True):
        t, ms = part["time_ns"].to_numpy() / 1e9, part["value"].to_numpy() / 1e6
        out += [ms[(t > at) & (t <= at + STEP_S)] for at in CHANGES_S[cell.split(",")[0]]]
    return out


def _settling_s(r: Results, cell: str) -> float:
    return float(np.mean([(ms > 2 * TARGET_MS).sum() for ms in _after(r, cell)])) * SAMPLE_MS / 1e3


def _overshoot_ms(r: Results, cell: str) -> float:
    return float(np.mean([ms.max() for ms in _after(r, cell)]))


def _over(what: Any, change: str) -> Any:
    """PI2 over PIE."""
    return lambda r: what(r, f"{change}, PI2") / what(r, f"{change}, PIE")


def _shares(cell: str) -> Any:
    """The scalable flow's goodput over the classic one's."""

    def value(r: Results) -> float:
        flows = r.table("goodput").filter(pl.col("configuration") == f"pair, {cell}")
        of = {str(g): m for g, m in flows.group_by("group").agg(pl.col("mbps").mean()).iter_rows()}
        return of["scalable"] / of["classic"]

    return value


CLAIMS: dict[str, Any] = {
    "AQ58": {
        **{f"settling, {c}": _over(_settling_s, c) for c in CHANGES_S},
        **{f"overshoot, {c}": _over(_overshoot_ms, c) for c in CHANGES_S},
    },
    "AQ59": {cell: _shares(cell) for cell in (f"{rtt} ms{word}" for word in PROFILES for rtt in RTTS_ms)},
    "AQ60": {},
}

EXPERIMENT = study.STUDY.experiment(__name__, "PI2 beside PIE", where="De Schepper 2016")
