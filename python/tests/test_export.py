"""Ways out and in: tables, qlog, ns-2-like lines, graphs, schema, completion, doctor."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.results import export
from crosswind.scenario import topology

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_tables_leave_as_csv_and_arrow_unchanged(engine: Engine, file: Path, capsys: Capture) -> None:
    runs = cw.run(file, reps=2)
    runs.save("r")
    assert main(["export", "r", "--as", "csv", "--out", "c"]) == 0
    assert main(["export", "r", "--as", "arrow", "--out", "a"]) == 0
    assert pl.read_ipc("a/flow.arrow").equals(runs.flows())
    assert pl.read_csv("c/flow.csv").shape == runs.flows().shape
    assert "flow.csv" in capsys.readouterr().out


@pytest.mark.engine
def test_qlog_tells_the_story_of_a_repair(capsys: Capture) -> None:
    cw.run(ROOT / "scenarios/lossy.toml").save("r")
    assert main(["export", "r", "--as", "qlog"]) == 0
    data = json.loads(Path("r/events.qlog").read_text())
    (trace,) = data["traces"]
    events = trace["events"]
    times = [e["time"] for e in events]
    assert times == sorted(times)
    sent = [e for e in events if e["name"] == "transport:packet_sent"]
    assert [e["data"]["header"]["packet_number"] for e in sent] == list(range(len(sent)))
    lost = [e["data"]["header"]["packet_number"] for e in events if e["name"] == "recovery:packet_lost"]
    flows = cw.Runs.load("r").flows()
    assert len(lost) == flows["retransmitted_packets"][0] == 4
    acked = [
        r for e in events if e["name"] == "transport:packet_received" for r in e["data"]["frames"][0]["acked_ranges"]
    ]
    covered = [n for a, b in acked for n in range(a, b + 1)]
    assert len(covered) == len(set(covered)) and not set(covered) & set(lost)
    assert set(covered) | set(lost) == set(range(len(sent)))


@pytest.mark.engine
def test_the_text_trace_has_one_line_per_packet_event_in_the_columns_of_ns2() -> None:
    runs = cw.run(ROOT / "scenarios/lossy.toml")
    lines = [line.split() for line in export.ns2(runs)]
    assert all(len(line) == 12 and line[0] in "+rd" for line in lines)
    data = [line for line in lines if line[0] == "+" and line[4] == "tcp"]
    assert len(data) == int(runs.flows()["sent_packets"][0]) or len(data) > 100
    drops = [line for line in lines if line[0] == "d"]
    assert len(drops) == 4 and all(line[4] == "tcp" for line in drops)


def test_an_export_without_events_says_how_to_log_them(engine: Engine, file: Path, capsys: Capture) -> None:
    cw.run(cw.Scenario.load(file).with_({"record": None})).save("r")
    assert main(["export", "r", "--as", "qlog"]) == 2
    assert "record.events=all" in capsys.readouterr().err
    cw.run(file).save("e")
    assert main(["export", "e", "--as", "ns2", "--flow", "bulk1"]) == 2
    assert "did you mean `bulk-1`" in capsys.readouterr().err


@pytest.mark.engine
@pytest.mark.parametrize("name", ["gprs", "dumbbell", "lossy", "red-ecn"])
def test_networks_are_drawn_as_graphs(name: str) -> None:
    scenario = cw.Scenario.load(ROOT / f"scenarios/{name}.toml")
    nodes = {n for e in topology.edges(scenario) for n in (e.from_, e.to)}
    text, dot, svg = topology.mermaid(scenario), topology.dot(scenario), topology.svg(scenario)
    assert all(n in text and n in dot and n in svg for n in nodes)
    assert svg.count("<rect") == len(nodes) and "aria-label" in svg
    if name == "dumbbell":
        assert nodes == {"left", "router-left", "router-right", "right"} and "left x10" in text


@pytest.mark.engine
def test_pairs_of_a_dumbbell_may_differ_in_rate_and_round_trip() -> None:
    base = cw.Scenario.load(ROOT / "scenarios/dumbbell.toml").with_({"topology.pairs": 3, "flow.bulk.count": 3})
    differing = {"topology.pair.2.delay": "50 ms", "topology.pair.3.rate": "2 Mbit/s"}
    scenario = base.with_({**differing, "duration": "5 s"})
    flows = cw.run(scenario).flows()
    rtt_ms = (flows["rtt_min_ns"] / 1e6).to_list()
    assert [round(r) for r in rtt_ms] == [60, 240, 61]  # the shortest is that of the SYN, a small packet
    assert flows["goodput_bps"][2] < 2e6 < flows["goodput_bps"][0]
    (left, *_) = topology.edges(scenario)
    (access,) = topology.edges(cw.Scenario.load(ROOT / "scenarios/l4s.toml"))
    assert access.queue == "dualpi2", "a limit that is none is no part of it"
    assert (left.count, left.rate, left.delay) == (3, "1 Gbit/s / 2 Mbit/s", "5 ms / 50 ms")
    with pytest.raises(cw.InputError, match="did you mean `delay`"):
        base.with_({"topology.pair.2.dleay": "50 ms"})
    with pytest.raises(cw.InputError, match=r"topology\.pair\.second"):
        base.with_({"topology.pair.second.delay": "50 ms"})
    with pytest.raises(cw.InputError, match=r"topology\.pair\.4: found pair 4, expected a number from 1 to 3"):
        base.with_({"topology.pair.4.delay": "50 ms"}).validate()


# Graphviz is an optional tool (tools/optional-tools.sh); the text that we make of a network does not need it.
@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
@pytest.mark.engine
def test_graphviz_takes_our_graphs() -> None:
    dot = topology.dot(cw.Scenario.load(ROOT / "scenarios/dumbbell.toml"))
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, text=True, check=True, capture_output=True).stdout
    assert drawn.count('class="node"') == 4


@pytest.mark.engine
def test_the_schema_for_editors_accepts_the_example_scenarios_and_their_sweeps(capsys: Capture) -> None:
    import tomllib

    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    files = sorted((ROOT / "scenarios").glob("*.toml"))
    assert files
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    editor = validator(schema)
    for path in files:
        editor.validate(tomllib.loads(path.read_text(encoding="utf-8")))
    with pytest.raises(jsonschema.ValidationError):
        editor.validate({"name": "x", "link": {}, "flow": {}, "sweep": {"gird": {}}})


def test_shells_complete_commands(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "_CROSSWIND_COMPLETE" in capsys.readouterr().out
    for name, value in (("_CROSSWIND_COMPLETE", "complete_bash"), ("COMP_WORDS", "crosswind sw"), ("COMP_CWORD", "1")):
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.strip() == "sweep"


@pytest.mark.engine
def test_the_doctor_finds_a_working_engine_and_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert main(["doctor", "--json"]) == 0
    found = {f["what"]: f for f in json.loads(capsys.readouterr().out)}
    assert found["engine"]["works"] and found["a small run"]["works"] and "ns-2" in found
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert main(["doctor"]) == 0
    assert "apt-get install ns2" in capsys.readouterr().out


def test_the_doctor_ends_with_3_when_something_needed_is_missing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def broken() -> str:
        raise RuntimeError("no engine")

    monkeypatch.setattr("crosswind.core.version", broken)
    assert main(["doctor"]) == 3
    assert "MISSING" in capsys.readouterr().out
