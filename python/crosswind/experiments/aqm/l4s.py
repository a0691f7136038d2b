"""Is the queue of L4S as short under load as its papers say, and do two flows share as one plant reported?

DualPI2 as of RFC 9332 over 4 to 200 Mbit/s and 5 to 100 ms for 30 s: a greedy flow of Prague and one of CUBIC, and
short flows of both. One flow of Prague beside one of CUBIC over 100 Mbit/s with 30 ms each way, 60 s.

What the sources say, as far as abstracts and reports go: a median of 100 to 300 us and a 99th percentile below 2 ms
even under highly dynamic load (De Schepper et al. 2022); 63.4 and 28.6 Mbit/s, 30.7 ms against 33 to 35 ms one way (a
report to L4STeam's kernel).

What may differ here: the load is ours: pages of 20 objects of 20 kB, one started each 2 s with either law, a tenth of
that on the slowest lines, six connections at a time that begin with ten segments each. All rates and round trips are
judged together, and each rate is shown; so are, taken after a first look, transfers of 50 kB one by one (Poisson, a
tenth of the rate with either law) over 20 ms. Three repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.aqm import study
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

RATES, RTTS_ms = (4, 12, 40, 120, 200), (5, 20, 50, 100)
SECONDS, PLANT_S = 30, 60
SINGLE_RTT_ms, TRANSFER_kB = 20, 50
PRAGUE: dict[str, Any] = {"preset": "prague"}
CUBIC: dict[str, Any] = {"preset": "linux-6-cubic", "ecn": "on"}
LAWS = {"prague": PRAGUE, "cubic": CUBIC}
PLANT = "plant"


def _cell(mbps: int, rtt_ms: int) -> str:
    return f"{mbps} Mbit per s, {rtt_ms} ms"


def _single(mbps: int) -> str:
    return f"{mbps} Mbit per s, one by one"


def configurations() -> dict[str, Scenario]:
    """All rates and round trips, transfers one by one, and the plant."""
    pages = {_cell(m, r): _loaded(m, r, _pages(m)) for m in RATES for r in RTTS_ms}
    single = {_single(m): _loaded(m, SINGLE_RTT_ms, _transfers(m)) for m in RATES}
    return pages | single | {PLANT: _plant()}


def _greedy(tcp: dict[str, Any], start: Any) -> dict[str, Any]:
    return {"from": "left", "to": "right", "start": start, "workload": {"type": "bulk"}, "tcp": tcp}


def _line(mbps: int, one_way_ms: float, queue: dict[str, Any]) -> dict[str, Any]:
    back = {"queue": {"type": "droptail", "limit": "100000 packets"}}
    ends = {"from": "left", "to": "right", "rate": f"{mbps} Mbit/s", "delay": f"{one_way_ms:g} ms"}
    return {"line": ends | {"queue": queue, "reverse": back}}


def _pages(mbps: int) -> dict[str, Any]:
    page = {"type": "page", "body": "20 kB", "objects": 20, "object": "20 kB" if mbps > 20 else "2 kB", "parallel": 6}
    return {"count": 15, "start": {"every": "2 s"}, "workload": page}


def _transfers(mbps: int) -> dict[str, Any]:
    a_second = 0.1 * mbps * 1e6 / (8 * TRANSFER_kB * 1000)
    start = {"poisson": f"{a_second:g} /s"}
    return {"count": int(a_second * SECONDS), "start": start, "workload": {"type": "bulk", "size": f"{TRANSFER_kB} kB"}}


def _loaded(mbps: int, rtt_ms: int, load: dict[str, Any]) -> Scenario:
    flows = {name: _greedy(tcp, {"uniform": ["0 s", "1 s"]}) for name, tcp in LAWS.items()}
    for name, tcp in LAWS.items():
        flows[f"{name}-load"] = {"from": "left", "to": "right", **load, "tcp": tcp}
    links = _line(mbps, rtt_ms / 2, {"type": "dualpi2"})
    return study.scenario("loaded", {"duration": f"{SECONDS} s", "link": links, "flow": flows})


def _plant() -> Scenario:
    flows = {name: _greedy(tcp, {"uniform": ["0 s", "20 ms"]}) for name, tcp in LAWS.items()}
    queue = {"type": "dualpi2", "profile": "linux"}
    return study.scenario("plant", {"duration": f"{PLANT_S} s", "link": _line(100, 30, queue), "flow": flows})


def tables(runs: Runs) -> Tables:
    """`repetition`: how long packets waited in the L queue (ms); `flows`: goodput (Mbit/s), mean delay one way (ms)."""
    of = runs.classes().filter(pl.col("link") == "line", pl.col("direction") == "forward", pl.col("class") == "l4s")
    ms = {q: pl.col(f"queue_delay_{q}_ns") / 1e6 for q in ("p50", "p99")}
    wanted = runs.flows().filter(pl.col("name").is_in(list(LAWS)))
    each = {"mbps": pl.col("goodput_bps") / 1e6, "delay_ms": pl.col("delay_mean_ns") / 1e6}
    return {
        "repetition": of.select(*study.KEYS, **ms).sort(study.KEYS),
        "flows": wanted.select(*study.KEYS, "name", **each).sort(*study.KEYS, "name"),
    }


def _worst(column: str, rates: tuple[int, ...]) -> Any:
    return lambda r: max(r.mean(_cell(m, rtt), column) for m in rates for rtt in RTTS_ms)


def _flow(name: str, column: str) -> Any:
    def value(r: Results) -> float:
        rows = r.table("flows").filter(pl.col("configuration") == PLANT, pl.col("name") == name)
        return float(rows[column].to_numpy().mean())

    return value


def _between(column: str, first: str, second: str) -> Any:
    return lambda r: _flow(first, column)(r) / _flow(second, column)(r)


CLAIMS: dict[str, Any] = {
    "LX1": {
        "median": _worst("p50", RATES),
        "99th percentile": _worst("p99", RATES),
        **{f"{m} Mbit/s, median": _worst("p50", (m,)) for m in RATES},
        **{f"{m} Mbit/s, 99th percentile": _worst("p99", (m,)) for m in RATES},
        **{f"{m} Mbit/s, one by one, median": measures.value(_single(m), "p50", np.mean) for m in RATES},
        **{f"{m} Mbit/s, one by one, 99th percentile": measures.value(_single(m), "p99", np.mean) for m in RATES},
    },
    "LX2": {
        "Prague over CUBIC": _between("mbps", "prague", "cubic"),
        "delay of CUBIC over Prague's": _between("delay_ms", "cubic", "prague"),
        "Prague": _flow("prague", "mbps"),
        "CUBIC": _flow("cubic", "mbps"),
        "delay of Prague": _flow("prague", "delay_ms"),
        "delay of CUBIC": _flow("cubic", "delay_ms"),
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "The L queue under load", where="abstracts and reports", reps=3)
