"""Does DCTCP settle where ns-3's does?

One flow from the fifth second on, 50 Mbit/s, round trips of 10 and 80 ms, CoDel that marks every packet which has
waited a millisecond.

What the source states: where alpha and throughput must lie after which time, in a text and in the program itself; where
both differ the program counts. Its test of alpha at 80 ms can never fail; the band there is our summary's.

What may differ here: DCTCP of Linux, whose alpha is an integer of 1024, and the RFC's real numbers as a second reading;
throughput is goodput in means over a second. Behind CoDel stands the source's device: three packets, and limits of
bytes whose slack is looked at for a millisecond. It was built after the first outcomes, without it, had missed alpha.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.tcp_validation import study
from crosswind.reproduce import Results, Scenario

START_S = 5
RTTS_MS = {"10 ms": 10.0, "80 ms": 80.0}
PROFILES = {"": "linux", " (RFC)": "rfc"}


def configurations() -> dict[str, Scenario]:
    """Two round trips, two arithmetics."""
    return {f"{rtt}{word}": _scenario(ms, p) for rtt, ms in RTTS_MS.items() for word, p in PROFILES.items()}


def _scenario(rtt_ms: float, profile: str) -> Scenario:
    queue = {"type": "codel", "profile": "linux", "limit": "1000 packets", "ce_threshold": "1 ms", "ecn": "mark"}
    line: dict[str, Any] = {
        "from": "left",
        "to": "right",
        "rate": "50 Mbit/s",
        "delay": f"{rtt_ms / 2 - 0.002:g} ms",
        "queue": queue,
    }
    line |= {"device_packets": 3, "device_limits": "ns-3", "device_hold": "1 ms"}
    line["reverse"] = {"queue": {"type": "droptail", "limit": "1000 packets"}}
    access = {"rate": "1 Gbit/s", "delay": "1 us", "queue": {"type": "droptail", "limit": "10000 packets"}}
    links = {
        "line": line,
        "in": {"from": "sender", "to": "left"} | access,
        "out": {"from": "right", "to": "receiver"} | access,
    }
    tcp = {"preset": "linux-6-dctcp", "mss": "1448 B", "dctcp": {"profile": profile}}
    flow = {"from": "sender", "to": "receiver", "start": f"{START_S} s", "workload": {"type": "bulk"}, "tcp": tcp}
    record = {"sample": "100 ms", "sampled": ["one"]}
    whole = {"name": "dctcp", "duration": "45 s", "link": links, "flow": {"one": flow}, "record": record}
    return Scenario.from_dict(whole)


def _series(r: Results, cell: str, metric: str) -> tuple[Any, Any]:
    s = r.runs.only(cell).sample(metric, "one").filter(pl.col("rep") == 0).sort("time_ns")
    return s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy()


def _alpha(cell: str, first_s: float, last_s: float, of: Callable[..., Any]) -> Callable[[Results], float]:
    def value(r: Results) -> float:
        t, alpha = _series(r, cell, "marked_ratio")
        return float(of(alpha[(t > first_s) & (t <= last_s)]))

    return value


def _mbps(cell: str, first_s: float, last_s: float, of: Callable[..., Any]) -> Callable[[Results], float]:
    """Means over a second: `of` all of them whose second lies between two times."""

    def value(r: Results) -> float:
        t, rate = _series(r, cell, "goodput_bps")
        begins = np.arange(first_s, last_s - 1 + 1e-9, 0.1)
        return float(of([rate[(t > b) & (t <= b + 1)].mean() for b in begins]) / 1e6)

    return value


END_S = 45.0


def _claims(word: str) -> dict[str, Any]:
    near, far = f"10 ms{word}", f"80 ms{word}"
    mark = "r" if word else ""
    return {
        f"LD1{mark}": {"largest alpha after 5.6 s": _alpha(near, 5.6, END_S, max)},
        f"LD2{mark}": {
            "least alpha after 7 s": _alpha(near, 7, END_S, min),
            "largest alpha after 7 s": _alpha(near, 7, END_S, max),
        },
        f"LD3{mark}": {"least after 5.6 s": _mbps(near, 5.6, END_S, min), "largest": _mbps(near, 5.6, END_S, max)},
        f"LD4{mark}": {
            "largest before 14 s": _mbps(far, 6, 14, max),
            "largest before 30 s": _mbps(far, 6, 30, max),
            "least after 32 s": _mbps(far, 32, END_S, min),
            "largest after 32 s": _mbps(far, 32, END_S, max),
        },
        f"LD5{mark}": {
            "least alpha before 7.5 s": _alpha(far, START_S + 0.2, 7.5, min),
            "least alpha, 11 to 30 s": _alpha(far, 11, 30, min),
            "largest alpha, 11 to 30 s": _alpha(far, 11, 30, max),
        },
        f"LD6{mark}": {"least alpha after 34 s": _alpha(far, 34, END_S, min), "largest": _alpha(far, 34, END_S, max)},
    }


CLAIMS: dict[str, Any] = _claims("") | _claims(" (RFC)")

EXPERIMENT = study.STUDY.experiment(__name__, "DCTCP above a step", where="tcp-validation")
