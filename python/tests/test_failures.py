"""Runs that break down cost themselves only and are named; files and numbers that no run may use."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from fake_core import FakeCore

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import InputError, MissingExtraError, RunFailedError
from crosswind.figures import Picture, plotting
from crosswind.figures.charts import Chart, Series
from crosswind.reproduce import Experiment, MissingDataError, Results, Tables
from crosswind.reproduce.one import Plan, reproduce
from crosswind.results import Runs

Engine = Callable[..., FakeCore]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_others_are_kept_and_the_failed_run_is_named(engine: Engine, file: Path) -> None:
    engine(breaks=lambda scenario, rep: rep == 1 and scenario["flow"]["bulk"]["count"] == 3)
    both = {"two": cw.Scenario.load(file), "three": cw.Scenario.load(file).with_({"flow.bulk.count": 3})}
    runs = cw.run(both, reps=4, seed=9)
    assert runs.runs().height == 7
    assert runs.failed == [
        {"configuration": "three", "rep": 1, "seed": 9, "message": "internal error: no way out"},
    ]
    assert not runs.manifest["trusted"]
    warning = "1 of 8 runs broke down, with no results; three, repetition 1, seed 9: internal error: no way out"
    assert warning.split("; ")[0] in runs.manifest["warnings"]
    with pytest.raises(RunFailedError, match=r"three, repetition 1, seed 9.*7 are kept in here"):
        runs.raise_failed("here")


def test_a_failed_run_is_in_the_summary_the_json_the_manifest_and_the_exit_code(
    engine: Engine, file: Path, capsys: Capture
) -> None:
    engine(breaks=lambda _, rep: rep == 2)
    command = ["run", str(file), "--reps", "5", "--out", "r"]
    assert main(command) == 70
    said = capsys.readouterr()
    assert "1 of 5 runs broke down" in said.out.replace("\n", " ")
    assert "repetition 2, seed 1: internal error" in said.err and "kept in r" in said.err
    assert main([*command, "--json"]) == 70
    found = json.loads(capsys.readouterr().out)
    assert [f["rep"] for f in found["failed"]] == [2] and len(found["runs"]) == 4
    manifest = json.loads(Path("r/manifest.json").read_text())
    assert manifest["failed"][0]["configuration"] == "pair" and manifest["runs"] == 4
    assert Runs.load("r").failed == manifest["failed"]


def test_when_all_fail_there_is_a_message_and_a_manifest(engine: Engine, file: Path, capsys: Capture) -> None:
    engine(breaks=lambda _, _rep: True)
    assert main(["run", str(file), "--out", "r"]) == 70
    err = capsys.readouterr().err
    assert "1 of 1 run broke down" in err and "no way out" in err and "Traceback" not in err
    assert json.loads(Path("r/manifest.json").read_text())["runs"] == 0


def test_an_experiment_with_a_failed_run_is_not_judged(engine: Engine, tmp_path: Path) -> None:
    from crosswind.reproduce import catalogue

    engine(breaks=lambda _, rep: rep == 1)
    name = "jarvinen-2006/w2-e0"
    experiment: Experiment = catalogue.of_study(name)[name]
    with pytest.raises(RunFailedError, match="repetition 1, seed"):
        reproduce(experiment, tmp_path / "e", Plan(reps=2, figures="none"))
    kept = Runs.load(tmp_path / "e")
    assert kept.runs().height == len(kept.scenarios) and len(kept.failed) == len(kept.scenarios)
    assert main(["report", str(tmp_path / "e")]) == 0
    assert (tmp_path / "e/report.html").is_file() and not (tmp_path / "e/claims.json").exists()


@pytest.mark.parametrize(
    ("problem", "verdict", "said"),
    [
        (MissingDataError("no samples"), "unclear", "no samples"),
        (KeyError("rtt"), "error", "no tables: KeyError: 'rtt'"),
    ],
)
def test_tables_that_cannot_be_made_cost_the_claims_on_them_and_no_run(
    engine: Engine, tmp_path: Path, problem: Exception, verdict: str, said: str
) -> None:
    from crosswind.reproduce import catalogue

    def broken(_: Runs) -> Tables:
        raise problem

    def needy(r: Results) -> dict[str, str]:
        return {"height": str(r.table("repetition").height)}

    engine()
    name = "jarvinen-2006/w2-e0"
    experiment = replace(
        catalogue.of_study(name)[name], tables=broken, headline=needy, figures=lambda r: needy(r) and []
    )
    found = reproduce(experiment, tmp_path / "e", Plan(reps=2, figures="files"))
    rows = {r["claim"]: r for r in found.rows}
    assert rows["J61"]["verdict"] == verdict and said in rows["J61"]["measured"]
    assert any("figures are left out" in w for w in found.results.runs.manifest["warnings"])
    assert Runs.load(tmp_path / "e").runs().height == 2 * len(found.results.runs.scenarios)
    assert (tmp_path / "e" / "report.html").is_file()


def test_a_figure_that_a_plain_installation_cannot_draw_costs_itself_only(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crosswind.reproduce import catalogue

    def missing() -> ModuleType:
        raise MissingExtraError("drawing", "matplotlib", "figures")

    def pictures(_: Results) -> list[Picture]:
        shown = [Chart("x", "y", [Series("a", np.ones(2), np.ones(2))])]
        by_hand = Picture("by-hand", "By hand.", "by hand", draw=lambda: plotting.plt.figure())
        return [by_hand, Picture("told", "Told.", "told", shown=shown)]

    engine()
    monkeypatch.setattr(plotting, "_pyplot", missing)
    name = "jarvinen-2006/w2-e0"
    experiment = replace(catalogue.of_study(name)[name], figures=pictures)
    found = reproduce(experiment, tmp_path / "e", Plan(reps=2, figures="files"))
    assert [w for w in found.results.runs.manifest["warnings"] if "figure by-hand is left out" in w]
    page = (tmp_path / "e" / "report.html").read_text(encoding="utf-8")
    assert "Told." in page and "By hand." not in page


@pytest.mark.parametrize("command", ["run", "sweep", "reproduce"])
@pytest.mark.parametrize("reps", ["1000000000", "4294967296"])
def test_more_repetitions_than_a_machine_holds_are_refused(
    engine: Engine, file: Path, capsys: Capture, command: str, reps: str
) -> None:
    what = {"run": [str(file)], "sweep": [str(file), "--vary", "seed=1,2"], "reproduce": ["jarvinen-2006/w2-e0"]}
    tracemalloc.start()
    assert main([command, *what[command], "--reps", reps, "--out", "r"]) == 2
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "--reps" in (err := capsys.readouterr().err) and "at most 1000000" in err
    assert len(err.strip().splitlines()) == 1 and most_bytes < 50e6


def test_two_scenarios_do_not_write_into_one_file(engine: Engine, file: Path) -> None:
    record: dict[str, Any] = {"record.event_file": "events.npy"}
    one = cw.Scenario.load(file).with_(record)
    with pytest.raises(InputError, match="a second time"):
        cw.run({"a": one, "b": one.with_({"flow.bulk.count": 3})})
    cw.run({"a": one, "b": one.with_({})})


@pytest.mark.engine
def test_many_links_run_and_are_not_sampled_unasked(tmp_path: Path, capsys: Capture) -> None:
    links = [f'[link.l{i}]\nfrom = "n{i}"\nto = "n{i + 1}"\nrate = "1 Mbit/s"' for i in range(3000)]
    flow = '[flow.f]\nfrom = "n0"\nto = "n5"\nworkload = { type = "bulk", size = "10 kB" }'
    file = tmp_path / "wide.toml"
    file.write_text("\n".join(['duration = "5 s"', *links, flow]), encoding="utf-8")
    assert main(["run", str(file), "--out", "r", "--no-report"]) == 0
    runs = Runs.load(tmp_path / "r")
    assert runs.links().height == 6000 and runs.sample().is_empty()


def test_a_scenario_hundreds_deep_is_refused_in_one_line(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(f"x = {'[' * 150}{']' * 150}\n", encoding="utf-8")
    assert main(["validate", str(file)]) == 2
    assert "hundreds deep" in (err := capsys.readouterr().err) and len(err.strip().splitlines()) == 1
