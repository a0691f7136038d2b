"""What a user tries first: printing things, names that are slightly wrong, lists, help, schema, pandas."""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import crosswind as cw
from crosswind.cli import application, main
from crosswind.cli.shared import print_table
from crosswind.errors import EXIT_DONE, MissingExtraError
from crosswind.reproduce import catalogue
from crosswind.results.runs import EVENT_KINDS
from crosswind.scenario.known_paths import unknown_step
from crosswind.table import Table

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios" / "gprs.toml"


@pytest.fixture(scope="module")
def runs() -> cw.Runs:
    return cw.run(cw.Scenario.load(GPRS).with_({"record.sample": "1 s"}))


def test_kinds_of_events_are_those_of_the_engine_and_others_are_errors() -> None:
    source = (ROOT / "crates/base/src/probe.rs").read_text(encoding="utf-8")
    names = re.search(r"NAMES: \[&'static str; 17\] = \[(.*?)\];", source, re.S)
    assert names and tuple(re.findall(r'"(\w+)"', names[1])) == EVENT_KINDS
    scenario = cw.Scenario.load(ROOT / "scenarios/gprs.toml").with_({"duration": "60 s", "record.events": ["third"]})
    runs = cw.run(scenario)
    assert runs.events(kind="timeout").height > 0 and runs.events(kind="sack").is_empty()
    with pytest.raises(cw.InputError, match=r"found kind `timout`, .* did you mean `timeout`"):
        runs.events(kind="timout")


def test_unknown_names_are_errors_with_the_nearest_one(runs: cw.Runs) -> None:
    with pytest.raises(cw.InputError, match="did you mean `cwnd_bytes`"):
        runs.sample("cnwd_bytes")
    with pytest.raises(cw.InputError, match="did you mean `third`"):
        runs.sample("cwnd_bytes", "thrid")
    with pytest.raises(cw.InputError, match="did you mean `delay_ns`"):
        runs.hist("dealy_ns")
    with pytest.raises(cw.InputError, match="did you mean `gprs`"):
        runs.only("grps")
    with pytest.raises(cw.InputError, match="did you mean `flow`"):
        runs.table("flwo")
    with pytest.raises(cw.InputError, match="did you mean `third`"):
        runs.events("thrid")
    with pytest.raises(cw.InputError, match="did you mean `queue`"):
        cw.registry("quueue")
    assert runs.sample("cwnd_bytes", "third").height > 5
    # What could be recorded and was not is empty, not wrong.
    assert runs.sample("allowed_rate_bps").is_empty()
    bare = cw.run(cw.Scenario.load(GPRS).with_({"record": {}}))
    assert bare.sample("cwnd_bytes", "last-hop/forward").is_empty()
    with pytest.raises(cw.InputError, match="cnwd_bytes"):
        bare.sample("cnwd_bytes")


def test_scenarios_and_runs_say_something(runs: cw.Runs) -> None:
    said = str(cw.Scenario.load(GPRS))
    assert "gprs: 3 flows, 2 links, 400 s" in said and 'link last-hop: from "router"' in said
    said = str(cw.Scenario.load(ROOT / "scenarios" / "dumbbell.toml"))
    assert (
        "dumbbell: 10 flows, dumbbell template, 30 s" in said and "  topology template" in said and "pairs 10" in said
    )
    said = str(runs)
    assert said.startswith("Runs(1 run of gprs") and "goodput" in said and "third" in said
    gone = cw.run(cw.Scenario.load(GPRS).with_({"duration": "50 s"}))
    assert "warning: 1 of 1 runs reached the time limit" in str(gone)


def test_run_saves_what_it_is_told_to(tmp_path: Path) -> None:
    made = cw.run(GPRS, out=tmp_path / "deep" / "out")
    assert cw.Runs.load(tmp_path / "deep" / "out").flows().equals(made.flows())


def test_pandas_or_how_to_get_it(runs: cw.Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'crosswind\[pandas\]'"):
        runs.to_pandas()
    fake = types.ModuleType("pandas")
    fake.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", fake)
    frame = runs.to_pandas("link")
    assert frame["link"] == runs.links()["link"].to_list() and list(frame) == runs.links().columns


def test_the_list_is_one_screen_of_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == EXIT_DONE
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30 and max(len(line.rstrip()) for line in lines) <= 80
    kinds = [line.split()[0] for line in lines[3:-2]]
    assert {"queues", "laws", "experiments", "timer"} <= set(kinds) and len(kinds) == len(set(kinds))
    for kind in kinds:
        assert main(["list", kind, "--json"]) == EXIT_DONE
        assert json.loads(capsys.readouterr().out)


def test_help_shows_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--help"]) == EXIT_DONE
    assert "[sweep] table" in " ".join(capsys.readouterr().out.split())


def test_the_schema_is_json_and_knows_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == EXIT_DONE
    schema = json.loads(capsys.readouterr().out)
    assert {"link", "flow", "duration", "sweep"} <= set(schema["properties"])
    assert main(["schema", "--out", str(tmp_path / "s.json")]) == EXIT_DONE
    assert json.loads((tmp_path / "s.json").read_text()) == schema
    file = tmp_path / "with.toml"
    file.write_text("#:schema s.json\n" + GPRS.read_text())
    assert main(["validate", str(file)]) == EXIT_DONE


def _paths(data: dict[str, object], before: str = "") -> Iterator[str]:
    for key, value in data.items():
        yield before + key
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{key}.")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("link.last-hop.rat", "link.last-hop.rat: found no such key, .* did you mean `rate`"),
        ("link.last-hop.queue.lmit", "did you mean `limit`"),
        ("flow.third.tcp.presset", "did you mean `preset`"),
        ("duratoin", "did you mean `duration`"),
        ("record.sampel", "did you mean `sample`"),
    ],
)
def test_a_change_with_a_wrong_path_is_refused_at_once(path: str, message: str) -> None:
    with pytest.raises(cw.InputError, match=message):
        cw.Scenario.load(GPRS).with_({path: "1"})


def test_every_path_that_scenarios_and_experiments_use_is_a_known_one() -> None:
    """The check of paths errs on one side only: what an engine accepts may always be set."""
    known = [cw.Scenario.load(f) for f in (ROOT / "scenarios").rglob("*.toml")]
    for e in catalogue.registry().values():
        known += e.configurations(**e.settings("", "quick")).values()
    paths = {p for s in known for p in _paths(s.data)}
    assert len(paths) > 500
    assert [p for p in sorted(paths) if unknown_step(p)] == []


def test_templates_have_pages_with_their_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "dumbbell"]) == EXIT_DONE
    page = capsys.readouterr().out
    assert "pairs" in page and "access" in page and "Number of hosts on each side" in page
    assert main(["list", "templates"]) == EXIT_DONE
    said = capsys.readouterr().out
    assert "dumbbell" in said and "access-tree" in said


def test_help_keeps_what_stands_in_brackets() -> None:
    runner = CliRunner()
    wide = {"COLUMNS": "300", "TERMINAL_WIDTH": "300"}
    for name, command in _commands(get_command(application())):  # type: ignore[arg-type]
        out = runner.invoke(application(), [*name, "--help"], env=wide).output
        said = [command.help or "", command.epilog or "", *(getattr(p, "help", None) or "" for p in command.params)]
        lost = [b for text in said for b in re.findall(r"\[[^\]\n]*\]", text) if b not in out]
        assert not lost and "[[" not in out, (name, lost)


def _commands(group: typer.core.TyperGroup, before: tuple[str, ...] = ()) -> Iterator[tuple[list[str], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*before, name))
        else:
            yield [*before, name], command


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").rglob("*.toml")), ids=lambda p: p.stem)
def test_shipped_scenarios_name_their_schema(file: Path) -> None:
    first = file.read_text(encoding="utf-8").split("\n")[0]
    assert (file.parent / first.removeprefix("#:schema ")).resolve() == ROOT / "scenarios/scenario.schema.json"


@pytest.mark.parametrize("width", [80, 60])
def test_tables_fit_a_terminal_without_broken_words(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    heads = ["configuration", "flow", "goodput", "retransmissions", "elapsed (95 %)", "timeouts", "queue delay p95"]
    row = ["limit=10 packets", "bulk", "28.3 kbit/s", "17", "96.3 s (96.2 s to 96.4 s)", "0", "769.4 ms"]
    print_table(Table("Flows", heads, [row, [*row[:1], "third", *row[2:]]]))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    said = "\n".join(lines)
    for text in ("configuration", "28.3 kbit/s", "retransmissions", "timeouts", "769.4 ms", "96.3"):
        assert text in said, text
    # Each block says whom its rows are about.
    blocks = [line for line in lines if "bulk" in line]
    assert len(blocks) >= 2 and all("limit=10" in line for line in blocks)


def test_help_names_values_in_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in (["run"], ["sweep"], ["emulate"], ["study", "tc-red"]):
        assert main([*command, "--help"]) == EXIT_DONE
        said = capsys.readouterr().out
        assert not re.search(r"<bool>|<int|<str>|<path>|<list|…", said), said
    assert main(["study"]) == 2
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "x.toml", "--reps", "x"], "--reps: found `x`, expected a whole number (see `crosswind run --help`)"),
        (["run", "x.toml", "--reps", "0"], "--reps: found `0`, expected at least 1 (see"),
        (["sweep", "x.toml", "--design", "latin"], "did you mean `latin-hypercube`?"),
        (
            ["export", "x", "--as", "cvs"],
            "--as: found `cvs`, expected one of csv, arrow, qlog, ns2; did you mean `csv`?",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_what_is_shown_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "gprs"]) == EXIT_DONE
    assert "30 kbit/s down" in capsys.readouterr().out
    assert main(["show", "goodput_bps"]) == EXIT_DONE
    said = capsys.readouterr().out
    assert "of the table flow" in said and "of the table sample" in said


def test_the_summary_of_a_run_fits_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["run", str(GPRS), "--no-report", "--out", str(tmp_path)]) == EXIT_DONE
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(re.fullmatch(r"queue last-hop/forward +\S+ +max \S+ kB", line) for line in lines)
