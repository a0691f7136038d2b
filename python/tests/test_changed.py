"""Experiments with other values than the published one: marked wherever they show; and their scenarios as files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from crosswind import Scenario
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, InputError
from crosswind.reproduce import catalogue
from crosswind.reproduce.gathered import gather
from crosswind.reproduce.one import Plan, write_scenarios

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
ID = "jarvinen-2006/w2-e0"


def _sorted(scenario: Scenario) -> str:
    return json.dumps(json.loads(scenario.content()), sort_keys=True)


def test_a_changed_experiment_says_so_in_its_table_its_report_and_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = ["reproduce", ID, "--reps", "2", "--json"]
    assert main(plain) in (0, 1)
    before = json.loads(capsys.readouterr().out)
    assert main([*plain, "--set", "link.last-hop.delay=50 ms"]) in (0, 1)
    rows = json.loads(capsys.readouterr().out)
    assert {r["experiment"] for r in rows} == {f"{ID} (changed)"}
    assert {r["changed"] for r in rows} == {"link.last-hop.delay=50 ms"}
    assert [r["claim"] for r in rows] == [r["claim"] for r in before]
    assert [r["measured"] for r in rows] != [r["measured"] for r in before]
    # The published experiment's own results are not touched, and a scoreboard counts them alone.
    made = tmp_path / "out/changed" / ID
    assert "<strong>changed</strong>: <code>link.last-hop.delay=50 ms</code>" in (made / "report.html").read_text()
    assert any("changed" in w for w in json.loads((made / "manifest.json").read_text())["warnings"])
    assert {r["experiment"] for r in gather([tmp_path / "out"]).rows} == {ID}


def test_a_change_that_fits_nothing_is_refused_with_the_nearest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", ID, "--set", "link.lst-hop.rate=640 kbit/s"]) == EXIT_BAD_INPUT
    assert "did you mean `last-hop`" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_change_that_the_tables_of_an_experiment_do_not_know_is_said_and_costs_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", ID, "--reps", "1", "--set", "link.last-hop.rate=640 kbit/s"]) == EXIT_BAD_INPUT
    assert "values that the tables of jarvinen-2006/w2-e0 are not made for" in capsys.readouterr().err
    assert (tmp_path / "out/changed" / ID / "flow.parquet").is_file()


def test_the_scenarios_of_an_experiment_are_files_that_run_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", ID, "--write-scenarios", str(tmp_path)]) == EXIT_DONE
    assert "crosswind run" in capsys.readouterr().out
    experiment = catalogue.find(ID)[0]
    files = sorted((tmp_path / ID).glob("*.toml"))
    wanted = experiment.configurations().values()
    first = files[0].read_text(encoding="utf-8").split("\n")[0]
    assert (files[0].parent / first.removeprefix("#:schema ")).resolve() == tmp_path / "scenario.schema.json"
    assert sorted(map(_sorted, map(Scenario.load, files))) == sorted(map(_sorted, wanted))


@pytest.mark.parametrize("study", ["riva-2003", "gurtov-2004", "igarashi", "bhandarkar-2006"])
def test_one_experiment_of_each_study_survives_being_written(study: str, tmp_path: Path) -> None:
    experiment = catalogue.find(f"{study}/*")[0]
    files = write_scenarios(experiment, Plan(size="quick"), tmp_path)
    wanted = Plan(size="quick").configurations(experiment, "")
    assert len(files) == len(wanted)
    for file, scenario in zip(files, wanted.values(), strict=True):
        again = Scenario.load(file)
        assert _sorted(again) == _sorted(scenario)
        assert again.validate() == scenario.validate()


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda p: p.stem)
def test_a_scenario_written_as_toml_is_the_same_scenario(file: Path) -> None:
    scenario = Scenario.load(file)
    data = tomllib.loads(scenario.to_toml())
    assert data.pop("sweep", {}) == scenario.sweep
    assert data == scenario.complete()


def test_an_unknown_reading_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--variant"):
        write_scenarios(catalogue.find(ID)[0], Plan(variant="none-such"), tmp_path)
    assert not list(tmp_path.iterdir())
