"""Faults that were reported of other implementations, seen from outside: what a run shows where the fault is not.

The table in docs/mutants.md has the rest, with tests of the single parts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from crosswind.experiments.bbr_draft import study
from crosswind.experiments.bbr_draft.study import PAYLOAD_B, PROBE_RTT, UP, Line
from crosswind.results import Runs
from crosswind.run import run
from crosswind.scenario import Scenario

D0 = Line()
INITIAL_WINDOW_B = 10 * PAYLOAD_B
STARTUP_GAIN = 2.77

Vector = npt.NDArray[np.float64]


def series(runs: Runs, metric: str) -> tuple[Vector, Vector]:
    """Times (s) and values of a metric of the flow `one`."""
    s = runs.sample(metric, "one").filter(pl.col("rep") == 0).sort("time_ns")
    return s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy()


def stream(mbps: float) -> dict[str, Any]:
    """A source of so many Mbit/s over TCP, headers of 28 bytes counted."""
    return {"workload": {"type": "cbr", "payload": f"{PAYLOAD_B} B", "rate": f"{mbps} Mbit/s"}, "transport": "tcp"}


def at(seconds: float, mbps: float) -> dict[str, Any]:
    return {"at": f"{seconds} s", "flow": "one", "set": {"rate": f"{mbps} Mbit/s"}}


def test_the_first_pacing_rate_is_that_of_the_first_round_trip_although_the_source_is_slow() -> None:
    # noq, s2n-quic, quiche: the rate of a window a millisecond, 33 MB/s, stayed.
    runs = run(study.scenario(D0._replace(packets=25), 1, **stream(5)))
    t, rate = series(runs, "pacing_rate_bps")
    _, rtt = series(runs, "srtt_ns")
    assert rate[t > 0.045][0] == pytest.approx(STARTUP_GAIN * INITIAL_WINDOW_B * 8 / (rtt[0] / 1e9), rel=0.02)
    assert runs.flows()["drops_packets"].sum() == 0


def test_a_second_after_its_start_bbr_knows_the_rate_and_the_round_trip_of_the_path() -> None:
    # picoquic: samples of the handshake ended Startup at 4 of 10 Mbit/s; msquic: no least round trip was written.
    runs = run(study.scenario(D0, 2))
    t, rate = series(runs, "path_rate_bps")
    assert rate[t >= 1][0] >= 0.95 * D0.payload_mbps * 1e6
    _, least = series(runs, "least_rtt_ns")
    # The SYN is short: a full packet takes 1.2 ms on the line.
    assert least[0] / 1e6 == pytest.approx(D0.rtt_ms, abs=1.2)


def test_a_minute_at_a_tenth_of_the_rate_leaves_the_largest_rate_in_the_filter() -> None:
    # picoquic: samples of a source that has nothing to send pushed it out.
    runs = run(study.scenario(D0, 67, sample="20 ms", timeline=[at(5, 1), at(65, 9.9)], **stream(9.9)))
    t, rate = series(runs, "path_rate_bps")
    known = rate[t < 5][-1]
    assert known == pytest.approx(D0.payload_mbps * 1e6, rel=0.02)
    assert rate[t >= 5].min() == known


def test_probes_end_and_come_again_in_time() -> None:
    # picoquic: UP never ended, and ProbeRTT was wrong.
    runs = run(study.scenario(D0._replace(packets=133), 30, sample="5 ms"))
    t, state = series(runs, "bbr_state")
    _, rounds = series(runs, "bbr_rounds")
    entries = {s: [i for i in range(1, len(t)) if state[i] == s != state[i - 1]] for s in (UP, PROBE_RTT)}
    assert len(entries[UP]) > 10
    for first in entries[UP][:-1]:
        last = first + int(np.argmax(state[first:] != UP))
        assert rounds[last] - rounds[first] <= 4, "three rounds without growth, and the one in which it begins"
    # The product has 33 segments: as many rounds from DOWN on; a ProbeRTT between begins them anew.
    for a, b in pairwise(entries[UP]):
        between = sum(a < p < b for p in entries[PROBE_RTT])
        assert rounds[b] - rounds[a] <= 39 * (1 + between) and t[b] - t[a] <= 3.5 * (1 + between)
    for p, q in pairwise(t[entries[PROBE_RTT]]):
        assert 5 <= q - p <= 5.4


def test_waiting_for_the_pacer_does_not_keep_the_window_from_growing() -> None:
    # s2n-quic: it counted as a source that has nothing to send.
    ends = {}
    for pacing in ("never", "linux"):
        tcp = {"preset": "linux-6", "pacing": pacing, "initial_ssthresh": f"{20 * PAYLOAD_B} B"}
        line = {"from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "20 ms"}
        flow = {"from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": tcp}
        whole = {"name": "paced", "duration": "5 s", "link": {"line": line}, "flow": {"one": flow}}
        runs = run(Scenario.from_dict(whole | {"record": {"sample": "100 ms"}}))
        ends[pacing] = series(runs, "cwnd_bytes")[1][-1] / PAYLOAD_B
    # 20 segments, and one more in each of 124 round trips but for the handshake and the two of slow start.
    assert ends["never"] == pytest.approx(20 + 121, abs=3)
    assert ends["linux"] > 0.95 * ends["never"]
