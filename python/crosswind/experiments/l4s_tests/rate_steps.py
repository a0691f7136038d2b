"""How long does a queue stand when the rate of the line falls?

One flow of Prague or CUBIC over 80 ms behind FQ-CoDel for 60 s; at 30 s the line falls from 50 to 25 or to 1 Mbit/s.

What the source says: sentences beside pictures of one run each (scenario 2), Linux of August 2020.

What may differ here: CUBIC asks for classic ECN where it had AccECN there. The round trip is the sender's smoothed
one, as `ss` showed it there; a spike lasts for as long as it is 20 ms above the path's (our choice). Three
repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.l4s_tests import study
from crosswind.experiments.l4s_tests.rtt_fairness import FRAME_B, LAWS, PACKET_B
from crosswind.reproduce import Picture, Results, Runs, Scenario, Tables, measures

SECONDS, STEP_S, SAMPLE_S = 60, 30, 0.02
RTT_MS, SPIKE_MS = 80, 20
FROM_MBPS, TO_MBPS = 50, (25, 1)
FLOW = "one"


def _cell(law: str, to_mbps: int) -> str:
    return f"{law}, to {to_mbps} Mbit per s"


def _rate(mbps: int) -> str:
    return f"{mbps * 1_000_000 * PACKET_B // FRAME_B} bit/s"


def configurations() -> dict[str, Scenario]:
    """Both laws, both steps."""
    return {_cell(law, to): _scenario(law, to) for law in ("prague", "cubic") for to in TO_MBPS}


def _scenario(law: str, to_mbps: int) -> Scenario:
    ends = {"from": "sender", "to": "receiver"}
    line = {**ends, "rate": _rate(FROM_MBPS), "delay": f"{RTT_MS / 2} ms", "queue": {"type": "fq-codel"}}
    line["reverse"] = {"queue": {"type": "droptail", "limit": "100000 packets"}}
    flow = {**ends, "start": {"uniform": ["0 s", "50 ms"]}, "workload": {"type": "bulk"}, "tcp": LAWS[law]}
    change = {"at": f"{STEP_S} s", "link": "line", "direction": "forward", "set": {"rate": _rate(to_mbps)}}
    record = {"sample": f"{SAMPLE_S * 1000:g} ms", "sampled": [FLOW]}
    whole = {"name": "rate-step", "duration": f"{SECONDS} s", "link": {"line": line}, "flow": {FLOW: flow}}
    return Scenario.from_dict(whole | {"timeline": [change], "record": record})


def tables(runs: Runs) -> Tables:
    """`repetition`: the largest smoothed round trip after the step (ms), and for how long it was long (s)."""
    after = runs.sample("srtt_ns", FLOW).filter(pl.col("time_ns") >= STEP_S * 10**9)
    ms = pl.col("value") / 1e6
    spike = (ms > RTT_MS + SPIKE_MS).sum() * SAMPLE_S
    return {"repetition": after.group_by(study.KEYS).agg(largest_ms=ms.max(), spike_s=spike).sort(study.KEYS)}


def _times_longer(r: Results) -> float:
    return r.mean(_cell("prague", 25), "spike_s") / max(r.mean(_cell("cubic", 25), "spike_s"), SAMPLE_S)


CLAIMS: dict[str, Any] = {
    "AQ34": {
        "largest round trip (ms)": measures.value(_cell("prague", 1), "largest_ms", np.mean),
        "spike (s)": measures.value(_cell("prague", 1), "spike_s", np.mean),
    },
    "AQ35": {
        "Prague's spike over CUBIC's": _times_longer,
        "Prague, spike": measures.value(_cell("prague", 25), "spike_s", np.mean),
        "Prague, height": lambda r: r.mean(_cell("prague", 25), "largest_ms") - RTT_MS,
    },
}


def pictures(r: Results) -> list[Picture]:
    """The round trips of both laws after the smaller step."""
    shown = {law: r.series(_cell(law, 25), "srtt_ns", FLOW) for law in ("prague", "cubic")}
    lines = {law: (t, v / 1e6) for law, (t, v) in shown.items()}
    return [figures.over_time("steps", "Round trips; the line falls from 50 to 25 Mbit/s at 30 s.", lines, "ms")]


EXPERIMENT = study.STUDY.experiment(__name__, "A rate that falls", where="scenario 2")
