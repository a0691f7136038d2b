"""Scenarios on real hosts give the tables of a simulation, and nearly its numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest
from test_emulate import emulates

from crosswind import Scenario
from crosswind import run as simulate
from crosswind.emulate.network import Network
from crosswind.emulate.testbed import tasks_of
from crosswind.emulate.worker import FIELDS, LAYOUT
from crosswind.errors import InputError
from crosswind.runs import Runs

SCENARIO = """\
name = "twin"
duration = "6 s"

[link.path]
from = "server"
to = "client"
rate = "4 Mbit/s"
delay = "15 ms"
queue = { type = "droptail", limit = "30000 B" }
reverse = { queue = { limit = "100 packets" } }

[flow.bulk]
from = "server"
to = "client"
workload = { type = "bulk", size = "1 MB" }
tcp = { preset = "rfc", timestamps = "on" }

[flow.audio]
from = "client"
to = "server"
workload = { type = "cbr", payload = "48 B", interval = "20 ms", packets = 100 }
dscp = "EF"

[record]
sample = "50 ms"
"""


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Runs, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("twin")
    file = folder / "twin.toml"
    file.write_text(SCENARIO)
    command = [sys.executable, "-m", "crosswind", "run", str(file), "--mode", "emulate", "--out", str(folder / "out")]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return Runs.load(folder / "out"), json.loads(done.stdout)


@emulates
def test_real_hosts_take_about_the_time_that_simulated_ones_take(emulated: tuple[Runs, dict[str, Any]]) -> None:
    real = emulated[0].flows().filter(name="bulk").row(0, named=True)
    ours = simulate(Scenario.from_toml(SCENARIO)).flows().filter(name="bulk").row(0, named=True)
    assert real["size_bytes"] == ours["size_bytes"] == 1_000_000
    # 1 MB at 4 Mbit/s: 2.1 s with headers and handshakes. A busy machine may lose some of a window.
    assert real["elapsed_ns"] == pytest.approx(ours["elapsed_ns"], rel=0.15)
    assert real["drops_packets"] > 0 and real["resent_packets"] >= real["drops_packets"]
    assert 30e6 < real["rtt_p50_ns"] < 130e6


@emulates
def test_datagrams_are_counted_and_their_delay_is_that_of_the_link(emulated: tuple[Runs, dict[str, Any]]) -> None:
    audio = emulated[0].flows().filter(name="audio").row(0, named=True)
    assert (audio["sent_packets"], audio["received_packets"]) == (100, 100)
    # 76 bytes at 4 Mbit/s and 15 ms; the reverse direction carries acknowledgements besides.
    assert 15e6 < audio["delay_p50_ns"] < 25e6


@emulates
def test_the_tables_and_the_manifest_are_those_of_any_run(emulated: tuple[Runs, dict[str, Any]]) -> None:
    runs, said = emulated
    assert runs.manifest["mode"] == "emulate"
    assert said["runs"][0]["outcome"] in ("all flows closed", "duration reached")
    assert runs.links().filter(direction="forward")["sent_packets"][0] > 680
    assert runs.sample("cwnd_bytes", "bulk").height > 10
    assert runs.sample("queue_bytes", "path/forward").height > 10
    assert runs.hist("lateness_ns", "emulator").height > 0
    is_late = any(w.startswith("not to be trusted") for w in runs.manifest["warnings"])
    assert runs.manifest["trusted"] is not is_late


def test_what_a_kernel_tells_of_a_connection_has_a_name_for_every_number() -> None:
    assert len(LAYOUT.unpack(bytes(LAYOUT.size))) == len(FIELDS)
    # Offsets that never change, from linux/tcp.h: the window and the round-trip time.
    raw = bytearray(LAYOUT.size)
    raw[8 + 4 * 18 : 8 + 4 * 19] = (77).to_bytes(4, sys.byteorder)
    raw[8 + 4 * 15 : 8 + 4 * 16] = (1234).to_bytes(4, sys.byteorder)
    named = dict(zip(FIELDS, LAYOUT.unpack(raw), strict=True))
    assert (named["snd_cwnd"], named["rtt"]) == (77, 1234)


def test_a_stream_in_bursts_is_refused_because_real_hosts_would_send_only_one() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    flow = {"flow": 0, "group": "audio", "from": 1, "to": 0, "port": 5001, "start_ns": 0, "dscp": 46}
    cbr = {"type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": 100}
    hosts = [SimpleNamespace(name="server", v4="10.0.0.1"), SimpleNamespace(name="client", v4="10.0.0.2")]

    def tasks(**more: object) -> dict[str, list[dict[str, Any]]]:
        plan = {"flows": [{**flow, "workload": {**cbr, **more}}]}
        return tasks_of(cast(Network, SimpleNamespace(hosts=hosts, plan=plan, scenario=scenario)))

    assert [t["do"] for t in tasks(bursts=1)["client"]] == ["send-cbr"]
    with pytest.raises(InputError, match=r"flow\.audio\.workload\.bursts"):
        tasks(bursts=2, idle={"uniform": ["5 s", "15 s"]})
