"""Do the emulated link and the router's classes, each looked at alone, do what the source says they do?

A sparse stream of small packets looks at the ARQ links at times that do not depend on their state: 200 000 packets, one
every 3.7 s, longer than any delay by ARQ, so no packet waits for another. A dense stream shows the order of delivery.
A link whose bad state loses everything shows the states themselves. Two endless downloads in the classes of page and
bulk transfers show what HTB gives to each.

What may differ here: nothing is random but the channel and its errors; the numbers compared with are those that the
specification derives for independent packets, not printed ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.claims import MissingDataError
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006 import study, testbed
from crosswind.runs import Runs
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

SPARSE, DENSE = 200_000, 20_000
STATES = "states"
SHARED = "two classes"
ATTEMPTS = {"r1": 1, "r2": 2, "r4": 4}
LOSS = {"r1": 0.055, "r2": 0.020, "r4": 0.0012}
BASE_ms = 309.5
STEP_ms = 700.0


def _stream(label: str, packets: int, interval: str, link: dict[str, Any]) -> Scenario:
    queue = {"type": "droptail", "limit": "100000 packets"}
    hop = {**testbed.last_hop(testbed.setting("BL"), queue), **link}
    return Scenario.from_dict(
        {
            "name": label.replace(" ", "-"),
            "duration": "1000000 s",
            "link": {"last-hop": hop},
            "flow": {
                "audio": {
                    "from": "router",
                    "to": "mobile",
                    "workload": {"type": "cbr", "payload": "48 B", "interval": interval, "packets": packets},
                }
            },
            "record": {"hist": ["audio"]},
        }
    )


def _classes() -> Scenario:
    s = testbed.setting("BL+DS")
    queue = testbed.router(s, testbed.Reading(), ("page",))
    tcp = {**testbed.sender(s), **testbed.hosts(s)}
    endless = {"from": "server", "to": "mobile", "tcp": tcp, "workload": {"type": "bulk"}}
    return Scenario.from_dict(
        {
            "name": "classes",
            "duration": "400 s",
            "link": {"lan": testbed.lan(), "last-hop": testbed.last_hop(s, queue)},
            "flow": {"page": endless, "bulk": {**endless, "count": 2}},
        }
    )


def configurations(**_: Any) -> dict[str, Scenario]:
    """The links one by one, and the router's classes."""
    all_bad = {"preset": "arq-low", "arq": {"retransmissions": 0}, "channel": {"bad": {"error": 1.0}}}
    return {
        **{f"sparse {x}": _stream(f"sparse {x}", SPARSE, "3.7 s", {"preset": testbed.ARQ_PRESET[x]}) for x in ATTEMPTS},
        "dense r4": _stream("dense r4", DENSE, "20 ms", {"preset": "arq-high"}),
        STATES: _stream(STATES, SPARSE, "100 ms", all_bad),
        SHARED: _classes(),
    }


def tables(runs: Runs) -> dict[str, pl.DataFrame]:
    """The flow table and the histograms."""
    return {"stream_hist": runs.hist(entity="audio")}


def _flow(r: Results, label: str, column: str, flow: str = "audio") -> float:
    rows = r.runs.flows().filter((pl.col("configuration") == label) & (pl.col("name") == flow))
    if rows.is_empty() or column not in rows.columns:
        raise MissingDataError(f"no {column} of {flow} in {label}")
    return float(rows[column][0])


def _loss(label: str) -> Any:
    def measure(r: Results) -> Estimate:
        return stats.exact(_flow(r, label, "lost_packets") / _flow(r, label, "sent_packets"), SPARSE)

    return measure


def _delays(r: Results, label: str) -> tuple[Any, Any, Any]:
    h = r.table("stream_hist").filter((pl.col("configuration") == label) & (pl.col("metric") == "delay_ns"))
    if h.is_empty():
        raise MissingDataError(f"no delays in {label}")
    return h["low"].to_numpy() / 1e6, h["high"].to_numpy() / 1e6, h["count"].to_numpy()


def _delayed(r: Results) -> Estimate:
    """Share of packets, lost ones included, that needed a retransmission by the link, on r4."""
    low, _, count = _delays(r, "sparse r4")
    lost = _flow(r, "sparse r4", "lost_packets")
    return stats.exact((count[low > BASE_ms + STEP_ms / 2].sum() + lost) / (count.sum() + lost), SPARSE)


def _off_the_steps(label: str, retries: int) -> Any:
    """Packets whose delay lies in no bucket that holds one of the delays that ARQ can add."""

    def measure(r: Results) -> Estimate:
        low, high, count = _delays(r, label)
        steps = BASE_ms + STEP_ms * np.arange(retries + 1)
        hit = ((low[:, None] <= steps + 0.5) & (steps - 0.5 < high[:, None])).any(axis=1)
        return stats.exact(float(count[~hit].sum()), int(count.sum()))

    return measure


def _mean_bad_s(r: Results) -> float:
    return _flow(r, STATES, "loss_run_mean_packets") * 0.1


def _mean_good(r: Results) -> Estimate:
    bad = _loss(STATES)(r).value
    return stats.exact(_mean_bad_s(r) * (1.0 - bad) / bad)


def _class_share(r: Results) -> Estimate:
    page = _flow(r, SHARED, "size_bytes", "page")
    bulk = sum(_flow(r, SHARED, "size_bytes", f"bulk-{i}") for i in (1, 2))
    return stats.exact(page / (page + bulk))


CLAIMS = study.BOOK.claims(
    {
        "J10": {f"lost, {x}": _loss(f"sparse {x}") for (x, p) in LOSS.items()} | {"delayed or lost, r4": _delayed},
        "J11": {
            "share of time in the bad state": _loss(STATES),
            "mean good": _mean_good,
            "mean bad": lambda r: stats.exact(_mean_bad_s(r)),
        },
        "J12": {f"packets with another delay, {x}": _off_the_steps(f"sparse {x}", n) for (x, n) in ATTEMPTS.items()}
        | {
            f"longest delay, {x}": lambda r, x=x: stats.exact(_flow(r, f"sparse {x}", "delay_max_ns") / 1000000.0)
            for (x, n) in ATTEMPTS.items()
        },
        "J13": {
            "out of order, r4": lambda r: stats.exact(_flow(r, "dense r4", "out_of_order_packets")),
            "least spacing, r4": lambda r: stats.exact(_flow(r, "dense r4", "ipdv_min_ns") / 1000000.0 + 20.0),
        },
        "J19": {"share of the page's class": _class_share},
    }
)

EXPERIMENT = study.experiment(
    "links",
    "The emulated link and the router's classes, one by one",
    __doc__,
    configurations,
    CLAIMS,
    reps=1,
    quick_reps=1,
    tables=tables,
)
