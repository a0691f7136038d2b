"""What round trip do N flows of BBR take for the shortest, when nobody else is there?

2 to 64 flows over 15 Mbit/s and 40 ms behind 64 bandwidth-delay products.

What the source shows: while they look for it, each flow holds four packets. When these are more than the pipe holds
(12.5 flows here), there is a queue all the time, and the estimate grows with the number of flows.

What may differ here: as in `shares`. Estimates are medians over flows and time after the first 30 s. The cap is twice
the rate times the round trip, both as BBR estimates them: the printed caps are that (Linux's window is some segments
larger).
"""

from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.model import Path
from crosswind.reproduce import Picture, Results, Runs, Scenario, Tables, measures

PATH, BUFFER_BDP, SECONDS = Path(15, 40), 64, 120
FLOWS = (2, 4, 8, 16, 32, 64)
PRINTED = FLOWS[:4]
SETTLED_s = 30


def _cell(n: int) -> str:
    return f"{n} flows"


def configurations() -> dict[str, Scenario]:
    """BBR alone, by number of flows."""
    return {_cell(n): _scenario(n) for n in FLOWS}


def _scenario(n: int) -> Scenario:
    return study.scenario(PATH, BUFFER_BDP, {"bbr": (n, study.BBR)}, SECONDS, "100 ms", sampled=["bbr"])


def tables(runs: Runs) -> Tables:
    """`repetition`: `rtt_ms`, what flows take for the shortest round trip, and `cap_kB`, twice their rate times it."""
    settled = pl.col("time_ns") >= SETTLED_s * 10**9
    rtt, rate = (
        runs.sample(metric).filter(settled).group_by(study.KEYS).agg(pl.col("value").median().alias(name))
        for metric, name in (("least_rtt_ns", "rtt_ms"), ("path_rate_bps", "bps"))
    )
    both = rtt.with_columns(pl.col("rtt_ms") / 1e6).join(rate, on=study.KEYS)
    return {"repetition": both.with_columns(cap_kB=2 * pl.col("bps") / 8e6 * pl.col("rtt_ms")).sort(study.KEYS)}


def _each(column: str, flows: tuple[int, ...]) -> dict[str, Any]:
    return {_cell(n): measures.value(_cell(n), column) for n in flows}


CLAIMS: dict[str, Any] = {
    "WA31": _each("rtt_ms", PRINTED),
    "WA32": _each("rtt_ms", FLOWS[4:]),
    "WA33": _each("cap_kB", PRINTED),
    "WA34": _each("cap_kB", FLOWS[4:]),
    "WA35": {
        "8 flows and fewer, most": lambda r: max(r.mean(_cell(n), "rtt_ms") for n in (2, 4, 8)) / PATH.rtt_ms,
        "16 flows": lambda r: r.mean(_cell(16), "rtt_ms") / PATH.rtt_ms,
    },
}


def pictures(r: Results) -> list[Picture]:
    """The estimate by number of flows."""
    ours = {"least round trip": {str(n): r.mean(_cell(n), "rtt_ms") for n in FLOWS}}
    numbers = study.STUDY.book.numbers("WA31")
    printed = {"least round trip": {str(n): numbers[_cell(n)] for n in PRINTED}}
    title = "The shortest round trip that flows of BBR see, 15 Mbit/s, 40 ms."
    return [figures.bars("alone", title, ours, "round trip (ms)", printed, xlabel="flows")]


EXPERIMENT = study.STUDY.experiment(__name__, "BBR alone", where="estimates by number of flows", reps=3)
