"""Does CAKE give each host its half, does its filter for acknowledgements raise a download, and what does it do to BBR?

One host with one flow beside one with ten through CAKE at 20 Mbit/s, streams that are too fast and TCP; four
downloads over 30 (and 60) Mbit/s down and 1 Mbit/s up with the filter and without; BBRv3 beside CUBIC over 100 Mbit/s
behind a FIFO, FQ-CoDel and CAKE. 60 s each.

What the sources say: hosts get the same whatever they open; the filter raises downloads on asymmetric lines (Høiland-
Jørgensen et al. 2018). The order of the three queues beside BBRv3 (arXiv 2512.18259) is withheld here.

What may differ here: rates, times and numbers are ours where the sources' were not read; there is no radio in the
third part. Six repetitions.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.aqm import study
from crosswind.experiments.aqm.study import SETTING
from crosswind.reproduce import Results, Scenario, measures
from crosswind.suites.network import CUBIC, LARGE, bulk, constant, dumbbell, host

SECONDS = 60
HOSTS = replace(SETTING, rate_bps=20_000_000, rtt_ms=40, seconds=SECONDS)
WIFI = replace(SETTING, rate_bps=100_000_000, rtt_ms=20, seconds=SECONDS)
DOWN_Mbps, UP_bps = (30, 60), 1_000_000
QUEUES: dict[str, dict[str, Any]] = {
    "FIFO": {"type": "droptail", "limit": f"{WIFI.limit_packets} packets"},
    "FQ-CoDel": {"type": "fq-codel"},
    "CAKE": {"type": "cake", "rate": f"{WIFI.rate_bps} bit/s"},
}


def configurations() -> dict[str, Scenario]:
    """Two hosts, an asymmetric line, and BBRv3 beside CUBIC."""
    filters = {f"{mbps}, filter {word}": _asymmetric(mbps, word) for mbps in DOWN_Mbps for word in ("on", "off")}
    return {
        "streams": _streams(),
        "hosts": _hosts(),
        **filters,
        **{f"BBR, {name}": _beside(q) for name, q in QUEUES.items()},
    }


def _streams() -> Scenario:
    """Both hosts always have something to send."""
    share, far = 1.2, host(HOSTS.rtt_ms + 1)
    return _between(constant(HOSTS, share), {**constant(HOSTS, share / 10, count=10), "from": far})


def _hosts() -> Scenario:
    """Both hosts send by TCP, which does not fill its share after each mark."""
    return _between(bulk(HOSTS, preset=CUBIC), bulk(HOSTS, preset=CUBIC, count=10, rtt_ms=HOSTS.rtt_ms + 1))


def _between(one: dict[str, Any], many: dict[str, Any]) -> Scenario:
    """The line is a little faster than the shaper, so that packets wait in it."""
    s = HOSTS
    queue = {"type": "cake", "rate": f"{s.rate_bps} bit/s", "isolation": "dual-srchost"}
    table = dumbbell(s, queue, {"one": one, "many": many})
    table["link"]["bottleneck"]["rate"] = f"{s.rate_bps * 11 // 10} bit/s"
    return study.scenario("hosts", table)


def _asymmetric(down_mbps: int, word: str) -> Scenario:
    up = {"type": "cake", "rate": f"{UP_bps} bit/s", "ack_filter": word}
    rate = f"{down_mbps} Mbit/s"
    down = {"type": "cake", "rate": rate}
    line: dict[str, Any] = {"from": "server", "to": "home", "rate": rate, "delay": "15 ms", "queue": down}
    line["reverse"] = {"rate": f"{UP_bps} bit/s", "queue": up}
    flow = {"from": "server", "to": "home", "count": 4, "start": {"uniform": ["0 s", "1 s"]}}
    flow |= {"workload": {"type": "bulk"}, "tcp": {"preset": CUBIC}}
    return study.scenario(
        "asymmetric", {"duration": f"{SECONDS} s", "link": {"bottleneck": line}, "flow": {"down": flow}}
    )


def _beside(queue: dict[str, Any]) -> Scenario:
    flows = {"cubic": bulk(WIFI, preset=CUBIC), "bbr": bulk(WIFI, preset="bbr3-google")}
    return study.scenario("beside", dumbbell(WIFI, queue, flows, reverse=LARGE))


def _of(r: Results, cell: str, group: str) -> float:
    """Goodput of a group of flows, all of them together, mean over the repetitions (Mbit/s)."""
    flows = r.table("goodput").filter(pl.col("configuration") == cell, pl.col("group") == group)
    return float(flows.group_by("rep").agg(pl.col("mbps").sum())["mbps"].mean())  # type: ignore[arg-type]


def _half(cell: str) -> Any:
    def value(r: Results) -> float:
        one, many = (_of(r, cell, group) for group in ("one", "many"))
        return one / (one + many)

    return value


def _raise(mbps: int) -> Any:
    return lambda r: r.mean(f"{mbps}, filter on", "goodput") / r.mean(f"{mbps}, filter off", "goodput")


def _jain(name: str) -> Any:
    def value(r: Results) -> float:
        a, b = (_of(r, f"BBR, {name}", law) for law in ("cubic", "bbr"))
        return (a + b) ** 2 / (2 * (a**2 + b**2))

    return value


CLAIMS: dict[str, Any] = {
    "AQ61": {"streams": _half("streams"), "TCP": _half("hosts")},
    "AQ62": {f"{mbps} and 1 Mbit per s": _raise(mbps) for mbps in DOWN_Mbps},
    "AQ63": {
        **{f"Jain, {name}": _jain(name) for name in QUEUES},
        **{f"p95 delay, {name} (ms)": measures.value(f"BBR, {name}", "p95_ms", np.mean) for name in QUEUES},
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "CAKE", where="Høiland-Jørgensen 2018; arXiv 2512.18259")
