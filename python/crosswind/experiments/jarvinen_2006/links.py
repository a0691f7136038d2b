"""Do the emulated link and the router's classes, each looked at alone, do what the source says they do?

Single packets show how long the links transmit. A sparse stream of small packets looks at the ARQ links at times that
do not depend on their state: 200 000 packets, one every 3.7 s, longer than any delay by ARQ, so no packet waits for
another. A dense stream shows the order of delivery. A link whose bad state loses everything shows the states
themselves. Two endless downloads in the classes of page and bulk transfers show what HTB gives to each.

What may differ here: nothing is random but the channel and its errors; the numbers compared with are those that the
specification derives for independent packets, not printed ones.
"""

from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import readings, study, testbed
from crosswind.reproduce import Measure, Results, Runs, Scenario, measured
from crosswind.stats import Estimate

SPARSE, DENSE = 200_000, 20_000
STATES = "states"
SHARED = "two classes"
ATTEMPTS = {"r1": 1, "r2": 2, "r4": 4}
LOSS = {"r1": 0.055, "r2": 0.020, "r4": 0.0012}
SPEEDS: dict[Literal[64, 384], float] = {64: 300.0, 384: 200.0}
SIZES = (576, 76, 40)
HEADER_BYTES = 28
STEP_ms = 700.0


def _stream(label: str, packets: int, interval: str, hop: dict[str, Any], payload_bytes: int = 48) -> Scenario:
    return Scenario.from_dict(
        {
            "name": label.replace(" ", "-"),
            "duration": "1000000 s",
            "link": {"last-hop": hop},
            "flow": {
                "audio": {
                    "from": "router",
                    "to": "mobile",
                    "workload": {
                        "type": "cbr",
                        "payload": f"{payload_bytes} B",
                        "interval": interval,
                        "packets": packets,
                    },
                }
            },
            "record": {"hist": ["audio"]},
        }
    )


def _hop(reading: testbed.Reading, **link: Any) -> dict[str, Any]:
    queue = {"type": "droptail", "limit": "100000 packets"}
    return {**testbed.last_hop(testbed.setting("BL"), queue, reading), **link}


def _singles(reading: testbed.Reading) -> dict[str, Scenario]:
    """Packets of each size, one a second, over the link of each speed."""
    queue = {"type": "droptail", "limit": "100000 packets"}
    hops = {speed: testbed.last_hop(testbed.setting("BL", speed=speed), queue, reading) for speed in SPEEDS}
    return {
        f"{size} B at {speed} kbit/s": _stream("single packets", 10, "1 s", hops[speed], size - HEADER_BYTES)
        for speed in SPEEDS
        for size in SIZES
    }


def _classes(reading: testbed.Reading) -> Scenario:
    s = testbed.setting("BL+DS")
    queue = testbed.router(s, reading, ("page",))
    tcp = {**testbed.sender(s), **testbed.hosts(s), **reading.tcp}
    endless = {"from": "server", "to": "mobile", "tcp": tcp, "workload": {"type": "bulk"}}
    return Scenario.from_dict(
        {
            "name": "classes",
            "duration": "400 s",
            "link": {"lan": testbed.lan(), "last-hop": testbed.last_hop(s, queue, reading)},
            "flow": {"page": endless, "bulk": {**endless, "count": 2}},
        }
    )


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The links one by one, and the router's classes."""
    reading = testbed.Reading(**variant)
    all_bad = {"preset": "arq-low", "arq": {"retransmissions": 0}, "channel": {"bad": {"error": 1.0}}}
    arq = {x: _hop(reading, preset=testbed.ARQ_PRESET[x]) for x in ATTEMPTS}
    return {
        **_singles(reading),
        **{f"sparse {x}": _stream(f"sparse {x}", SPARSE, "3.7 s", hop) for x, hop in arq.items()},
        **{f"dense {x}": _stream(f"dense {x}", DENSE, "20 ms", hop) for x, hop in arq.items()},
        STATES: _stream(STATES, SPARSE, "100 ms", _hop(reading, **all_bad)),
        SHARED: _classes(reading),
    }


def tables(runs: Runs) -> dict[str, pl.DataFrame]:
    """The flow table and the histograms."""
    return {"stream_hist": runs.hist(entity="audio")}


def _flow(r: Results, label: str, column: str, flow: str = "audio") -> float:
    return r.flow(label, flow, column)


@measured
def _loss(r: Results, label: str) -> Estimate:
    return stats.exact(_flow(r, label, "lost_packets") / _flow(r, label, "sent_packets"), SPARSE)


def _delays(r: Results, label: str) -> tuple[Any, Any, Any]:
    h = r.table("stream_hist").filter((pl.col("configuration") == label) & (pl.col("metric") == "delay_ns"))
    if h.is_empty():
        raise r.absent(f"delays in {label}")
    return h["low"].to_numpy() / 1e6, h["high"].to_numpy() / 1e6, h["count"].to_numpy()


def _least_ms(r: Results, label: str) -> float:
    return _flow(r, label, "delay_min_ns") / 1e6


def _transmission(size: int, speed: Literal[64, 384]) -> Measure:
    """What is left of the least delay of single packets without the propagation."""
    return lambda r: _least_ms(r, f"{size} B at {speed} kbit/s") - SPEEDS[speed]


def _delayed(r: Results) -> Estimate:
    """Share of packets, lost ones included, that needed a retransmission by the link, on r4."""
    low, _, count = _delays(r, "sparse r4")
    lost = _flow(r, "sparse r4", "lost_packets")
    return stats.exact(
        (count[low > _least_ms(r, "sparse r4") + STEP_ms / 2].sum() + lost) / (count.sum() + lost), SPARSE
    )


@measured
def _off_the_steps(r: Results, label: str, retries: int) -> Estimate:
    """Packets whose delay lies in no bucket that holds one of the delays that ARQ can add."""
    low, high, count = _delays(r, label)
    steps = _least_ms(r, label) + STEP_ms * np.arange(retries + 1)
    hit = ((low[:, None] <= steps + 0.5) & (steps - 0.5 < high[:, None])).any(axis=1)
    return stats.exact(float(count[~hit].sum()), int(count.sum()))


def _mean_bad_s(r: Results) -> float:
    return _flow(r, STATES, "loss_run_mean_packets") * 0.1


def _mean_good(r: Results) -> float:
    bad = _loss(STATES)(r).value
    return _mean_bad_s(r) * (1.0 - bad) / bad


def _class_share(r: Results) -> float:
    page = _flow(r, SHARED, "size_bytes", "page")
    bulk = sum(_flow(r, SHARED, "size_bytes", f"bulk-{i}") for i in (1, 2))
    return page / (page + bulk)


CLAIMS = {
    "J1": {f"{size} B at {speed} kbit/s": _transmission(size, speed) for speed in SPEEDS for size in SIZES},
    "J10": {f"lost, {x}": _loss(f"sparse {x}") for x in LOSS} | {"delayed or lost, r4": _delayed},
    "J11": {
        "share of time in the bad state": _loss(STATES),
        "mean good": _mean_good,
        "mean bad": lambda r: _mean_bad_s(r),
    },
    "J12": {f"packets with another delay, {x}": _off_the_steps(f"sparse {x}", n) for (x, n) in ATTEMPTS.items()}
    | {f"longest delay, {x}": lambda r, x=x: _flow(r, f"sparse {x}", "delay_max_ns") / 1e6 for x in ATTEMPTS},
    "J13": {f"out of order, {x}": lambda r, x=x: _flow(r, f"dense {x}", "out_of_order_packets") for x in ATTEMPTS}
    | {f"least spacing, {x}": lambda r, x=x: _flow(r, f"dense {x}", "ipdv_min_ns") / 1e6 + 20.0 for x in ATTEMPTS},
    "J19": {"share of the page's class": _class_share},
}

EXPERIMENT = study.experiment(
    __name__,
    "The emulated link and the router's classes, one by one",
    reps=1,
    quick_reps=1,
    variants=readings.MAIN,
    partly=("J13",),
)
