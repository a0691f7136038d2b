"""What does the replay window of a tunnel do to the Classic queue of DualPI2?

CUBIC and Prague over 20 ms for 60 s in one tunnel through DualPI2 at 10, 20 and 100 Mbit/s; its far end refuses what
comes 32, 64, 128 or 256 packets too late, or nothing (0). Rates are means of the 40 s that end 2 s before the end.
And how wide a window is needed: packets of 1500 bytes pass single packets that wait for up to 300 ms; the longest wait
of those that are let in says how many packets of window 100 ms take.

What the source says: pictures of one run each (scenario 9), Linux of 2020, IPsec.

What may differ here: packets do not grow by the tunnel's headers, and are numbered where they reach the queue.
CUBIC asks for classic ECN where it had AccECN there; Prague is 0.5. Far below means half or less here. The bottleneck
there counts 1514 bytes for a packet of 1500; here the line is slower by as much, but not where the window is measured.
Five repetitions.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests import rtt_fairness, study
from crosswind.experiments.l4s_tests.rtt_fairness import LAWS, PACKET_B, QUEUES
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

SECONDS, FIRST_S, LAST_S = 60, 18, 58
RTT_MS, RATES_MBPS, WINDOWS = 20, (10, 20, 100), (0, 32, 64, 128, 256)
#: Rate of the line (Mbit/s) -> the window (packets) whose reach is measured.
NEEDED = {20: 166, 100: 833}
WAIT_MS, BUSY_MS, PAUSE_MS, PROBE_MS, HEADERS_B = 100, 300, 100, 91, 28
#: So much faster than the line, those that pass leave no gap.
PRESSURE = 1.005
LARGE = {"type": "droptail", "limit": "100000 packets"}


def _cell(mbps: int, window: int) -> str:
    return f"{mbps} Mbit per s, window {window}"


def _probe(mbps: int) -> str:
    return f"{mbps} Mbit per s, waits"


def _tunnel(window: int) -> dict[str, Any]:
    return {"type": "replay-window", "window": window}


def configurations() -> dict[str, Scenario]:
    """Rates and windows, and the two runs in which packets wait."""
    cells = {_cell(m, w): _pair(m, w) for m in RATES_MBPS for w in WINDOWS}
    return cells | {_probe(m): _waits(m, w) for m, w in NEEDED.items()}


def _pair(mbps: int, window: int) -> Scenario:
    row = study.Row("", mbps, "dualpi2", ("cubic", "prague"), (RTT_MS, RTT_MS), None)
    whole = rtt_fairness.scenario_of(row, QUEUES["dualpi2"], LAWS, SECONDS)
    return whole.with_({"link.bottleneck.loss": _tunnel(window)})


def _waits(mbps: int, window: int) -> Scenario:
    """The first class passes the second."""
    classes = {name: {"prio": i, "queue": LARGE} for i, name in enumerate(("fast", "slow"))}
    queue = {"type": "prio", "default": "slow", "filter": [{"class": "fast", "flow": "fast"}], "class": classes}
    ends = {"from": "sender", "to": "receiver"}
    line = {**ends, "rate": f"{mbps} Mbit/s", "delay": "0 ms", "queue": queue, "loss": _tunnel(window)}
    line["reverse"] = {"queue": LARGE, "loss": {"type": "none"}}
    payload = {"payload": f"{PACKET_B - HEADERS_B} B"}
    busy = {"type": "on-off", **payload, "rate": f"{round(PRESSURE * mbps * 1e6)} bit/s"}
    flows = {
        "fast": {**ends, "workload": {**busy, "on": f"{BUSY_MS} ms", "off": f"{PAUSE_MS} ms"}},
        "slow": {**ends, "workload": {"type": "cbr", **payload, "interval": f"{PROBE_MS} ms"}},
    }
    whole = {"name": "waits", "duration": f"{SECONDS} s", "link": {"line": line}, "flow": flows}
    return Scenario.from_dict(whole)


def tables(runs: Runs) -> Tables:
    """`repetition`: as in `study`, of the pairs; `waits`: the longest wait of a packet that was let in (ms)."""
    slow = runs.flows().filter(pl.col("group") == "slow")
    waits = slow.select(*study.KEYS, longest_ms=pl.col("queue_delay_max_ns") / 1e6).sort(study.KEYS)
    return {**study.tables_of(FIRST_S, LAST_S)(runs), "waits": waits}


def _kept(mbps: int, window: int) -> Any:
    """CUBIC's rate over the one that it has without a window."""

    def value(r: Results) -> float:
        return r.mean(_cell(mbps, window), "first_mbps") / r.mean(_cell(mbps, 0), "first_mbps")

    return value


def _needed(mbps: int) -> Any:
    def packets(r: Results) -> float:
        rows = r.table("waits").filter(pl.col("configuration") == _probe(mbps))
        return NEEDED[mbps] * WAIT_MS / float(rows["longest_ms"].to_numpy().mean())

    return packets


CLAIMS: dict[str, Any] = {
    "LR8": {
        **{
            f"{m} Mbit/s, window {w}, CUBIC's rate over that without": _kept(m, w)
            for m in RATES_MBPS
            for w in WINDOWS[1:]
        },
        **{f"{m} Mbit/s, no window, CUBIC": measures.value(_cell(m, 0), "first_mbps", np.mean) for m in RATES_MBPS},
        **{f"{m} Mbit/s, needed for {WAIT_MS} ms": _needed(m) for m in NEEDED},
    },
}

EXPERIMENT = study.STUDY.experiment(__name__, "A tunnel with a replay window", where="scenario 9", reps=5)
