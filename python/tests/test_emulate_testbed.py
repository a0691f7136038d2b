"""Scenarios on real hosts give the tables of a simulation, and nearly its numbers."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from punctuality import PATIENCE_s, Repeated, Run
from test_emulate import emulates

from crosswind import Scenario, delays
from crosswind import run as simulate
from crosswind.cli import main
from crosswind.emulate import needs, testbed
from crosswind.emulate.network import Network
from crosswind.emulate.programs import tasks_of
from crosswind.emulate.worker import FIELDS, LAYOUT, Asked
from crosswind.errors import EXIT_DONE, EXIT_ENVIRONMENT, EXIT_FAULT, EXIT_INTERRUPTED, CrosswindError, InputError
from crosswind.results import Runs

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


@dataclass
class Stage:
    """Which repetitions were made, and what ends one of them."""

    made: list[int] = field(default_factory=list)
    trouble: dict[int, BaseException] = field(default_factory=dict)

    def repetition(self, job: dict[str, Any], _: needs.Privileges) -> Runs:
        """One, by the engine that is there."""
        rep, reps = job["rep"], job["reps"]
        if rep in self.trouble:
            raise self.trouble[rep]
        self.made.append(rep)
        runs = simulate(Scenario(job["scenario"], job["file"]), reps=[rep], reps_total=reps, seed=job["seed"])
        runs.manifest |= {"mode": "emulate", "reps": reps, "machine": {"lateness": {"p99_ns": 0}}}
        return runs


@pytest.fixture
def stage(engine: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Repetitions of a testbed by the stand-in engine: no time passes."""
    stage = Stage()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(needs, "check", lambda: needs.Privileges(as_user=True))
    monkeypatch.setattr(testbed, "repetition", stage.repetition)
    return stage


def run_on_real_hosts(text: str, folder: Path) -> Run:
    """One run of a scenario between real hosts: its tables, and what the command said."""
    file = folder / "scenario.toml"
    file.write_text(text)
    command = [sys.executable, "-m", "crosswind", "run", str(file), "--mode", "emulate", "--out", str(folder / "out")]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=2 * PATIENCE_s)
    assert done.returncode == 0, done.stderr
    runs = Runs.load(folder / "out")
    late = runs.manifest["machine"]["lateness"]["p99_ns"]
    return Run((runs, json.loads(done.stdout)), runs.manifest["trusted"], late)


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Repeated:
    return Repeated(lambda: run_on_real_hosts(SCENARIO, tmp_path_factory.mktemp("twin")))


def of_flow(name: str, metric: str) -> Callable[[tuple[Runs, Any]], float]:
    return lambda seen: cast(float, seen[0].flows().filter(name=name)[metric][0])


@emulates
def test_real_hosts_take_about_the_time_that_simulated_ones_take(emulated: Repeated) -> None:
    real = emulated.calmest.result[0].flows().filter(name="bulk").row(0, named=True)
    ours = simulate(Scenario.from_toml(SCENARIO)).flows().filter(name="bulk").row(0, named=True)
    assert real["size_bytes"] == ours["size_bytes"] == 1_000_000
    # 1 MB at 4 Mbit/s: 2 s without any header. 30 kB of queue are 60 ms behind a path of 30 ms.
    assert real["elapsed_ns"] > 2e9
    assert real["rtt_p50_ns"] > 30e6
    assert real["retransmitted_packets"] >= real["drops_packets"]
    # With headers and handshakes 2.1 s; losses of a window cost a few round trips.
    about = ours["elapsed_ns"]
    emulated.check_undisturbed(of_flow("bulk", "elapsed_ns"), at_least=about * 0.85, at_most=about * 1.15)
    emulated.check_undisturbed(of_flow("bulk", "rtt_p50_ns"), at_most=130e6)
    # A sender that is held up may never fill the queue.
    emulated.check_undisturbed(of_flow("bulk", "drops_packets"), at_least=1, at_most=300)


@emulates
def test_datagrams_are_counted_and_their_delay_is_that_of_the_link(emulated: Repeated) -> None:
    audio = emulated.calmest.result[0].flows().filter(name="audio").row(0, named=True)
    assert (audio["sent_packets"], audio["received_packets"]) == (100, 100)
    # 76 bytes at 4 Mbit/s and 15 ms; the reverse direction carries acknowledgements besides.
    assert audio["delay_p50_ns"] > 15e6
    emulated.check_undisturbed(of_flow("audio", "delay_p50_ns"), at_most=25e6)


@emulates
def test_the_tables_and_the_manifest_are_those_of_any_run(emulated: Repeated) -> None:
    runs, said = emulated.calmest.result
    assert runs.manifest["mode"] == "emulate"
    assert said["runs"][0]["outcome"] in ("all flows closed", "duration reached")
    assert runs.links().filter(direction="forward")["sent_packets"][0] > 680
    assert runs.sample("cwnd_bytes", "bulk").height > 10
    assert runs.sample("queue_bytes", "path/forward").height > 10
    assert runs.hist("lateness_ns", "emulator").height > 0
    is_late = any(w.startswith("not to be trusted") for w in runs.manifest["warnings"])
    assert runs.manifest["trusted"] is not is_late


MARKED = """\
name = "marked"
duration = "3 s"

[link.path]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "50 ms"
queue = { limit = "1000 packets" }
loss = { type = "list", marks = [600] }

[flow.bulk]
from = "server"
to = "client"
workload = { type = "bulk" }
tcp = { preset = "linux-6-cubic", ecn = "on" }

[record]
sample = "5 ms"
"""


def steps_of_the_fall(runs: Runs) -> int:
    """How often the window was seen between what it was at the first echo and what it becomes."""
    window = runs.sample("cwnd_bytes", "bulk").sort("time_ns")["value"].to_numpy()
    peak = int(next(i for i, (a, b) in enumerate(itertools.pairwise(window)) if b < a))
    low, high = 0.7 * window[peak], window[peak]
    fall = itertools.takewhile(lambda w: w > 1.02 * low, window[peak + 1 :])
    return sum(w < 0.98 * high for w in fall)


@emulates
def test_after_an_echo_a_real_window_falls_over_a_round_trip_and_ours_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    ours, at_once = (
        simulate(Scenario.from_toml(MARKED).with_({"flow.bulk.tcp.echo_reduction": how}))
        for how in ("as-losses", "at-once")
    )
    assert steps_of_the_fall(at_once) == 0
    # A round trip of 100 ms or more, looked at every 5 ms.
    assert steps_of_the_fall(ours) >= 15
    real = Repeated(lambda: run_on_real_hosts(MARKED, tmp_path_factory.mktemp("marked")))
    real.check_undisturbed(lambda seen: steps_of_the_fall(seen[0]), at_least=8, at_most=60)


def test_what_a_kernel_tells_of_a_connection_has_a_name_for_every_number() -> None:
    assert len(LAYOUT.unpack(bytes(LAYOUT.size))) == len(FIELDS)
    # Offsets that never change, from linux/tcp.h: the window and the round-trip time.
    raw = bytearray(LAYOUT.size)
    raw[8 + 4 * 18 : 8 + 4 * 19] = (77).to_bytes(4, sys.byteorder)
    raw[8 + 4 * 15 : 8 + 4 * 16] = (1234).to_bytes(4, sys.byteorder)
    named = dict(zip(FIELDS, LAYOUT.unpack(raw), strict=True))
    assert (named["snd_cwnd"], named["rtt"]) == (77, 1234)


def plan_of(flows: list[dict[str, Any]]) -> Network:
    hosts = [SimpleNamespace(name="server", v4="10.0.0.1"), SimpleNamespace(name="client", v4="10.0.0.2")]
    return cast(Network, SimpleNamespace(hosts=hosts, plan={"flows": flows, "duration_ns": 60_000_000_000}))


FLOW = {"flow": 0, "name": "audio", "group": "audio", "from": 1, "to": 0, "port": 5001, "start_ns": 0, "dscp": 46}
FLOW["transport"] = "udp"


def test_bursts_follow_each_other_after_the_pauses_that_were_drawn() -> None:
    cbr = {"type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": 100, "bursts": 3}

    def task(seed: int, **more: object) -> dict[str, Any]:
        (found,) = tasks_of(plan_of([{**FLOW, "workload": {**cbr, **more}}]), seed=seed)["client"]
        return found

    # 100 packets every 20 ms, and 5 s of silence.
    assert task(1, idle="5 s")["bursts"] == [(0, 100), (7_000_000_000, 100), (14_000_000_000, 100)]
    drawn = task(1, idle={"uniform": ["5 s", "15 s"]})["bursts"]
    assert drawn == task(1, idle={"uniform": ["5 s", "15 s"]})["bursts"]
    assert drawn != task(2, idle={"uniform": ["5 s", "15 s"]})["bursts"]
    gaps = [b[0] - a[0] - 2_000_000_000 for a, b in itertools.pairwise(drawn)]
    assert all(5e9 <= gap <= 15e9 for gap in gaps), gaps


def test_an_on_off_source_is_active_and_silent_as_long_as_its_laws_say() -> None:
    w = {"type": "on-off", "payload": "72 B", "rate": "80 kbit/s", "on": {"exponential": "200 ms"}, "off": "300 ms"}
    (task,) = tasks_of(plan_of([{**FLOW, "workload": w}]))["client"]
    assert task["interval_ns"] == 10_000_000
    bursts = task["bursts"]
    silences = {b[0] - a[0] - a[1] * 10_000_000 for a, b in itertools.pairwise(bursts)}
    assert silences == {300_000_000}
    # Half a packet more than the mean says, as the active period is rounded up.
    assert 15 < sum(n for _, n in bursts) / len(bursts) < 28
    (late,) = tasks_of(plan_of([{**FLOW, "workload": {**w, "first": "off"}}]))["client"]
    assert late["bursts"][0][0] == 300_000_000


def test_messages_over_a_connection_come_at_the_same_times_as_datagrams() -> None:
    w = {"type": "cbr", "payload": "1448 B", "interval": "2 ms"}
    over = {"transport": "tcp", "tcp": {"law": "reno", "mss": "1448 B", "timestamps": "on"}}
    network = plan_of([{**FLOW, **over, "workload": w}])
    there, here = (tasks_of(network)[host][0] for host in ("client", "server"))
    assert (there["do"], there["payload"], there["interval_ns"]) == ("send-messages", 1448, 2_000_000)
    assert (there["bursts"], there["congestion"], there["mss"]) == ([(0, None)], "reno", 1460)
    assert here["do"] == "receive-bulk"


def test_a_browser_opens_connections_as_the_simulated_one_does() -> None:
    page = Asked(connections=9, parallel=4)
    assert list(page.told(0, is_over=False)) == [1, 2, 3]
    assert list(page.told(2, is_over=True)) == [4]
    assert list(page.told(2, is_over=True)) == [], "a connection frees its place once"
    assert [list(page.told(i, is_over=True)) for i in (0, 1, 3, 4, 5)] == [[5], [6], [7], [8], []]
    failed = Asked(connections=3, parallel=4)
    assert list(failed.told(0, is_over=True)) == [1, 2]


PROGRAMS = """\
name = "programs"
duration = "5 s"

[link.path]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "20 ms"
queue = { type = "droptail", limit = "100 packets" }
reverse = { queue = { limit = "100 packets" } }

[flow.web]
from = "server"
to = "client"
workload = { type = "page", objects = 3, parallel = 2 }
tcp = { preset = "linux-6" }

[flow.ping]
from = "client"
to = "server"
workload = { type = "ping", interval = "100 ms", packets = 10 }

[record]
events = ["ping"]
"""


@emulates
def test_pages_are_loaded_and_pings_answered_by_real_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    repeated = Repeated(lambda: run_on_real_hosts(PROGRAMS, tmp_path_factory.mktemp("programs")))
    runs = repeated.calmest.result[0]
    page = runs.tables["page"].row(0, named=True)
    assert page["size_bytes"] == 11_792 + 3 * 8576
    # 37.5 kB at 2 Mbit/s, and at least three round trips of 40 ms: connection and request, then objects.
    assert page["response_ns"] > 200e6
    objects = runs.tables["object"].sort("object")
    assert objects["object"].to_list() == [0, 1, 2, 3]
    assert (objects["done_ns"] > objects["first_byte_ns"]).all()
    # Two at a time: the third object waits for one of the first two connections to be over.
    assert objects["open_ns"][2] >= min(objects["done_ns"][0], objects["done_ns"][1])
    ping = runs.flows().filter(name="ping").row(0, named=True)
    assert (ping["sent_packets"], ping["received_packets"], ping["reply_packets"]) == (10, 10, 10)
    assert ping["rtt_p50_ns"] > 40e6 and ping["reply_delay_p50_ns"] > 20e6
    trips = delays.round_trips(runs, "ping")
    assert trips.height == 10 and trips["rtt_ns"].max() == ping["rtt_max_ns"]
    assert 0 <= ping["jitter_mean_ns"] <= ping["delay_max_ns"] - ping["delay_min_ns"]
    repeated.check_undisturbed(lambda seen: seen[0].tables["page"]["response_ns"][0], at_most=1.5e9)
    repeated.check_undisturbed(of_flow("ping", "rtt_p50_ns"), at_most=250e6)
    repeated.check_undisturbed(of_flow("ping", "reply_delay_p50_ns"), at_most=200e6)


MORTAL = """\
name = "mortal"
duration = "5 s"

[link.path]
from = "server"
to = "client"
rate = "1 Mbit/s"
delay = "20 ms"
queue = { type = "lpd", queue = { limit = "1000 packets" } }
reverse = { queue = { type = "droptail" } }

[flow.stream]
from = "server"
to = "client"
lifetime = "200 ms"
workload = { type = "cbr", payload = "472 B", interval = "2 ms", packets = 1000 }
"""


@emulates
def test_packets_of_real_programs_are_discarded_when_their_lifetime_is_over(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    repeated = Repeated(lambda: run_on_real_hosts(MORTAL, tmp_path_factory.mktemp("mortal")))
    runs = repeated.calmest.result[0]
    link = runs.tables["link"].filter(direction="forward").row(0, named=True)
    stream = runs.flows().row(0, named=True)
    # Twice what the link carries: half of it is over before its turn.
    assert 400 < link["drops_expired_packets"] < 600
    assert stream["received_packets"] == 1000 - link["drops_expired_packets"]
    repeated.check_undisturbed(of_flow("stream", "delay_max_ns"), at_most=250e6)


def test_a_lifetime_that_a_kernel_cannot_write_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rto.toml"
    file.write_text(MORTAL.replace('"200 ms"', '{ data = "200 ms", form = "absolute" }'))
    with pytest.raises(InputError, match=r"flow\.stream\.lifetime.*differs from packet to packet"):
        Network.build(Scenario.load(file), seed=1)


@emulates
def test_accurate_ecn_is_the_kernels_or_the_kernel_is_said_to_have_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "accurate.toml"
    flow = 'workload = { type = "bulk", size = "100 kB" }\ntcp = { preset = "linux-6-cubic", ecn = "accurate" }'
    text = re.sub(r"lifetime = .*\nworkload = .*", flow, MORTAL).replace(
        '{ type = "lpd", queue = { limit = "1000 packets" } }', '{ type = "droptail" }'
    )
    assert '"accurate"' in text and "lifetime" not in text
    file.write_text(text)
    code = main(["run", str(file), "--mode", "emulate", "--out", str(tmp_path / "out")])
    said = capfd.readouterr().err
    assert code == EXIT_DONE or "flow.stream.tcp.ecn: found `accurate`" in said, said


FAR_MESSAGES = """\
name = "messages"
duration = "2 s"

[link.path]
from = "server"
to = "client"
rate = "4 Mbit/s"
delay = "200 ms"
queue = { type = "droptail", limit = "100 packets" }
reverse = { queue = { limit = "100 packets" } }

[flow.messages]
from = "server"
to = "client"
workload = { type = "cbr", payload = "500 B", interval = "20 ms" }
transport = "tcp"
tcp = { preset = "linux-6" }

[record]
pcap = "packets.pcapng"
"""


@pytest.mark.parametrize(
    ("trouble", "code", "said"),
    [
        (
            KeyboardInterrupt(),
            EXIT_INTERRUPTED,
            "2 of 4 runs are finished and kept in out; the same command begins anew",
        ),
        (CrosswindError("ended with exit code 3"), EXIT_FAULT, "pair, repetition 2, seed 1: ended with exit code 3"),
    ],
)
def test_what_ends_one_repetition_loses_none_that_is_finished(
    stage: Stage, file: Path, capsys: pytest.CaptureFixture[str], trouble: BaseException, code: int, said: str
) -> None:
    stage.trouble[2] = trouble
    assert main(["run", str(file), "--mode", "emulate", "--reps", "4", "--out", "out"]) == code
    assert said in capsys.readouterr().err
    runs = Runs.load("out")
    assert runs.runs()["rep"].to_list() == [0, 1] and not runs.manifest["trusted"]
    assert runs.interrupted == (code == EXIT_INTERRUPTED) and [f["rep"] for f in runs.failed] == [2][runs.interrupted :]


def test_what_ends_the_first_repetition_reaches_the_caller(stage: Stage, file: Path) -> None:
    stage.trouble[0] = CrosswindError("no hosts")
    with pytest.raises(CrosswindError, match="no hosts"):
        testbed.run(Scenario.load(file), seed=1, reps=3)


def test_precision_asks_for_further_repetitions_only_but_where_their_strata_change(stage: Stage, file: Path) -> None:
    command = ["run", str(file), "--mode", "emulate", "--precision", "goodput=0.1%", "--reps-max", "12", "--out", "out"]
    assert main(command) == EXIT_DONE
    assert stage.made == list(range(12)) and Runs.load("out").runs().height == 12
    stage.made.clear()
    assert main([*command, "--set", 'flow.bulk.start={ stratified = ["0 s", "9 s"] }']) == EXIT_DONE
    assert stage.made == [*range(8), *range(12)] and Runs.load("out").runs().height == 12


# tcpdump captures at the hosts; it is an optional tool (tools/optional-tools.sh).
@emulates
@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="tcpdump is not installed")
def test_a_program_writes_from_when_its_connection_stands_and_hosts_are_captured(tmp_path: Path) -> None:
    file, out = tmp_path / "scenario.toml", tmp_path / "out"
    file.write_text(FAR_MESSAGES)
    run = ["run", str(file), "--mode", "emulate", "--json", "--reps", "2", "--out", str(out)]
    assert main(run) == EXIT_DONE
    named = [out / f"{host}-rep{k}.pcap" for host in ("server", "client") for k in (0, 1)]
    assert all(file.stat().st_size > 1000 for file in named)
    # From the flow's own start it would be a fifth more, as the connection takes 0.4 of 2 s.
    ours, real = simulate(Scenario.load(file).with_({"record": None})).flows(), Runs.load(out).flows()
    assert all(sent < 1.1 * ours["sent_packets"][0] for sent in real["sent_packets"])


@emulates
def test_captures_are_refused_where_nothing_can_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(FAR_MESSAGES)
    is_there = shutil.which
    monkeypatch.setattr(needs.shutil, "which", lambda name: None if name == "tcpdump" else is_there(name))
    assert main(["run", str(file), "--mode", "emulate", "--out", str(tmp_path / "out")]) == EXIT_ENVIRONMENT
    assert "needs tcpdump" in capsys.readouterr().err
