"""Contracts of DiffServ domains between real hosts: policed, marked and counted as in a simulation of the same file."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_emulate import emulates
from test_emulate_testbed import run_on_real_hosts

from crosswind import Runs, Scenario
from crosswind import run as simulate

# Twice its contract is sent: half of it goes on as expedited traffic, the rest is gone, or best effort.
SCENARIO = """\
name = "contract"
duration = "4 s"

[domain.core]
nodes = ["router"]

[contract.voice]
domain = "core"
flow = "voice"
meter = { type = "token-bucket", cir = "1 Mbit/s", cbs = "5000 B" }
class = "EF"

[contract.rest]
domain = "core"
flow = "rest"
per = "flow"
meter = { type = "token-bucket", cir = "1 Mbit/s", cbs = "5000 B" }
green = "AF11"
yellow = 0
red = 0

[link.up]
from = "sender"
to = "router"
rate = "100 Mbit/s"
delay = "2 ms"

[link.down]
from = "router"
to = "receiver"
rate = "100 Mbit/s"
delay = "2 ms"

[flow.voice]
from = "sender"
to = "receiver"
workload = { type = "cbr", payload = "972 B", interval = "4 ms", packets = 500 }

[flow.rest]
from = "sender"
to = "receiver"
workload = { type = "cbr", payload = "972 B", interval = "4 ms", packets = 500 }
"""


def rows(runs: Runs) -> dict[str, dict[str, int]]:
    return {r["name"]: r for r in runs.table("boundary").iter_rows(named=True)}


@emulates
def test_real_frames_meet_the_contracts_that_simulated_ones_meet(tmp_path: Path) -> None:
    real, ours = rows(run_on_real_hosts(SCENARIO, tmp_path).result[0]), rows(simulate(Scenario.from_toml(SCENARIO)))
    for row in (real, ours):
        assert row["voice"]["policed_packets"] + row["voice"]["left_other_packets"] == 500
        assert row["rest"]["left_green_packets"] + row["rest"]["left_other_packets"] == 500
        assert row["rest"]["arrived_other_packets"] == 500 and row["rest"]["policed_packets"] == 0
    # 5000 bytes at once and 1 Mbit/s for two seconds are 254 packets; a program that is held up sends for longer.
    assert ours["voice"]["policed_packets"] == ours["rest"]["left_other_packets"]
    for name, metric in (("voice", "policed_packets"), ("rest", "left_other_packets")):
        assert ours[name][metric] == pytest.approx(246, abs=1)
        assert real[name][metric] == pytest.approx(246, abs=15)
