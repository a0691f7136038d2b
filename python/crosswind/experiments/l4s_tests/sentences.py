"""What do the sentences of the source say that no table holds: bursts at two round trips, a radio link, a long queue?

One greedy flow of Prague or CUBIC over 50 Mbit/s whose packets come in bursts of 16, for 30 s; over 20 and 25 Mbit/s
behind a radio link of 160 ms; and two of CUBIC over 160 and 10 ms behind 1000 packets of drop-tail.

What the source says: with bursts Prague behind DualPI2 uses about half of what CUBIC uses behind FQ-CoDel; behind a
radio link CUBIC gets more than Prague, in DualPI2 and in FQ-CoDel; a long queue makes round trips of 160 and 10 ms
410 and 260 ms long.

What may differ here: the radio link is a list of instants, drawn once, that lets up to 16 packets go every 1 to 5 ms
(`bursty`); it has no losses. The source's field runs have both and only their order is judged. BBRv2 is not built and
left out. Prague is 0.5 with bursts and the long queue, 0.6 in the field. Round trips are the sender's smoothed ones,
sampled every 0.1 s. Three repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests import bursty, study
from crosswind.experiments.l4s_tests.rtt_fairness import FRAME_B, LATER, LAWS, PACKET_B, QUEUES
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

SECONDS, STEADY_S = 30, 10
FIELD_S = 60
BURST_MBPS, BURST_RTTS_ms = 50, (20, 80)
FIELD_MBPS, FIELD_RTT_MS = (20, 25), 160
LONG = "cubic 160 and 10 ms, drop-tail"
LONG_S, LONG_FROM_S = 180, 118
DUAL, FLOWS = "DualPI2", "FQ-CoDel"
BOTH = {DUAL: QUEUES["dualpi2"], FLOWS: QUEUES["fq_codel"]}


def _burst(law: str, queue: str, rtt_ms: int) -> str:
    return f"bursts, {law}, {queue}, {rtt_ms} ms"


def _field(law: str, queue: str, mbps: int) -> str:
    return f"radio, {law}, {queue}, {mbps} Mbit per s"


PAIRS = (("prague", DUAL), ("cubic", DUAL), ("cubic", FLOWS))


def configurations() -> dict[str, Scenario]:
    """Bursts by round trip, the radio link by rate, the long queue."""
    made = {
        _burst(law, q, rtt): _one(LAWS[law], q, BURST_MBPS, rtt, SECONDS) for law, q in PAIRS for rtt in BURST_RTTS_ms
    }
    made |= {_field(law, q, m): _one(LATER[law], q, m, FIELD_RTT_MS, FIELD_S) for law, q in PAIRS for m in FIELD_MBPS}
    return made | {LONG: _long()}


def _line(mbps: int) -> str:
    return f"{mbps * 1_000_000 * PACKET_B // FRAME_B} bit/s"


def _one(tcp: dict[str, Any], queue: str, mbps: int, rtt_ms: int, seconds: int) -> Scenario:
    large = {"type": "droptail", "limit": "100000 packets"}
    half = f"{rtt_ms / 2} ms"
    radio: dict[str, Any] = {"from": "sender", "to": "middle", "type": "trace", "delay": half, "queue": large}
    radio |= {"opportunities_ms": bursty._instants()}
    radio |= {"reverse": {"type": "wire", "rate": "1 Gbit/s", "delay": half, "queue": large}}
    line: dict[str, Any] = {"from": "middle", "to": "receiver", "rate": _line(mbps), "delay": "0 ms"}
    line |= {"queue": BOTH[queue], "reverse": {"queue": large}}
    flow = {"from": "sender", "to": "receiver", "start": {"uniform": ["0 s", "50 ms"]}}
    flow |= {"workload": {"type": "bulk"}, "tcp": tcp}
    return _scenario({"radio": radio, "line": line}, {"one": flow}, seconds)


def _long() -> Scenario:
    large = {"type": "droptail", "limit": "100000 packets"}
    links: dict[str, Any] = {"line": {"from": "middle", "to": "receiver", "rate": _line(50), "delay": "0 ms"}}
    links["line"] |= {"queue": QUEUES["pfifo(1000)"], "reverse": {"queue": large}}
    flows = {}
    for name, rtt in (("far", 160), ("near", 10)):
        links[name] = {"from": f"{name}-host", "to": "middle", "rate": "10 Gbit/s", "delay": f"{rtt / 2} ms"}
        links[name] |= {"queue": large}
        flows[name] = {"from": f"{name}-host", "to": "receiver", "start": {"uniform": ["0 s", "50 ms"]}}
        flows[name] |= {"workload": {"type": "bulk"}, "tcp": LAWS["cubic"]}
    return _scenario(links, flows, LONG_S, "gauges")


def _scenario(links: dict[str, Any], flows: dict[str, Any], seconds: int, series: str = "totals") -> Scenario:
    record = {"sample": "100 ms", "series": series, "sampled": list(flows)}
    whole = {"name": "sentences", "duration": f"{seconds} s", "link": links, "flow": flows, "record": record}
    return Scenario.from_dict(whole)


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of all flows after 10 s (Mbit/s); `trips`: smoothed round trips of the long run (ms)."""
    totals = runs.sample("size_bytes").filter(pl.col("time_ns") >= STEADY_S * 10**9)
    span = (pl.col("time_ns").max() - pl.col("time_ns").min()) / 1e9
    each = totals.group_by(*study.KEYS, "entity").agg((pl.col("value").max() - pl.col("value").min()) * 8e-6 / span)
    goodput = each.group_by(study.KEYS).agg(goodput=pl.col("value").sum())
    late = runs.sample("srtt_ns").filter(
        pl.col("entity").is_in(["far", "near"]), pl.col("time_ns") >= LONG_FROM_S * 10**9
    )
    ms = pl.col("value") / 1e6
    trips = late.group_by(*study.KEYS, "entity").agg(largest=ms.max(), mean=ms.mean())
    return {"repetition": goodput.sort(study.KEYS), "trips": trips.sort(*study.KEYS, "entity")}


def _trip(flow: str, column: str) -> Any:
    def value(r: Results) -> float:
        return float(r.table("trips").filter(pl.col("entity") == flow)[column].to_numpy().mean())

    return value


def _over(first: str, second: str) -> Any:
    return lambda r: r.mean(first, "goodput") / r.mean(second, "goodput")


def _field_row(mbps: int) -> dict[str, Any]:
    prague, dual, flows = (_field(law, queue, mbps) for law, queue in PAIRS)
    return {
        f"{mbps} Mbit/s, CUBIC over Prague": _over(dual, prague),
        f"{mbps} Mbit/s, CUBIC in FQ-CoDel over Prague": _over(flows, prague),
        f"{mbps} Mbit/s, CUBIC, DualPI2 over FQ-CoDel": _over(dual, flows),
        f"{mbps} Mbit/s, Prague": measures.value(prague, "goodput", np.mean),
        f"{mbps} Mbit/s, CUBIC": measures.value(dual, "goodput", np.mean),
        f"{mbps} Mbit/s, CUBIC in FQ-CoDel": measures.value(flows, "goodput", np.mean),
    }


CLAIMS: dict[str, Any] = {
    "LT-O5": {
        "160 ms, longest": _trip("far", "largest"),
        "10 ms, longest": _trip("near", "largest"),
        "160 ms, mean": _trip("far", "mean"),
        "10 ms, mean": _trip("near", "mean"),
    },
    "LR3": {f"{rtt} ms": _over(_burst("prague", DUAL, rtt), _burst("cubic", FLOWS, rtt)) for rtt in BURST_RTTS_ms},
    "LR6": {label: measure for m in FIELD_MBPS for label, measure in _field_row(m).items()},
}

EXPERIMENT = study.STUDY.experiment(__name__, "What the text says beside its tables", where="text", reps=3)
