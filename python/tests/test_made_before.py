"""A command that is given again makes only the runs that its earlier try has not left."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from crosswind.cli import main
from crosswind.experiments.riva_2003 import testbed
from crosswind.reproduce.one import Outcome, Plan, catalogue, reproduce
from crosswind.results import Runs
from crosswind.run import kept, run
from crosswind.run.kept import Ask, run_kept
from crosswind.run.wanted import Wanted
from crosswind.scenario import Scenario

pytestmark = pytest.mark.engine
GPRS = Path(__file__).resolve().parents[2] / "scenarios/gprs.toml"
SHORT = Scenario.load(GPRS).with_({"duration": "20 s", "flow.third.start": {"uniform": ["0 s", "9 s"]}})
PLAN = Plan(reps=2, size="quick", figures="none", workers=1)


def _made(folder: Path, plan: Plan = PLAN) -> Outcome:
    return reproduce(catalogue.find("igarashi/e6-2")[0], folder, plan)


def _same(a: Outcome, b: Outcome) -> bool:
    """Every table of the engine and of the experiment, but for the time that runs took."""
    one, two = ({**o.results.runs.tables, **o.results.tables} for o in (a, b))
    return one.keys() == two.keys() and all(
        one[n].drop("wall_ns", strict=False).equals(two[n].drop("wall_ns", strict=False), null_equal=True) for n in one
    )


def test_a_finished_experiment_is_read_and_gives_the_same_tables_and_claims(tmp_path: Path) -> None:
    first, second = _made(tmp_path), _made(tmp_path)
    assert first.results.runs.manifest["packets"] > 0 and "runs_before" not in first.results.runs.manifest
    assert second.results.runs.manifest["packets"] == 0
    assert second.results.runs.manifest["runs_before"] == first.results.runs.runs().height
    assert _same(first, second) and [r["measured"] for r in first.rows] == [r["measured"] for r in second.rows]


def test_of_an_interrupted_experiment_only_what_is_missing_is_made(tmp_path: Path) -> None:
    first = _made(tmp_path)
    saved = Runs.load(tmp_path)
    lost, *others = list(saved.scenarios)
    incomplete = (pl.col("configuration") != lost) | (pl.col("rep") == 0)
    cut = {n: t.filter(incomplete) if "rep" in t.columns else t for n, t in saved.tables.items()}
    Runs(cut, saved.scenarios, {**saved.manifest, "interrupted": True}).save(tmp_path)
    second = _made(tmp_path)
    manifest = second.results.runs.manifest
    own = saved.only(lost).runs().filter(pl.col("rep") > 0)["packets"].sum()
    assert (manifest["packets"], manifest["runs_before"]) == (own, len(others) * PLAN.reps + 1)
    assert not manifest["interrupted"] and _same(first, second)


@pytest.mark.parametrize("change", [{"seed": 7}, {"reps": 3}, {"ties": "shuffled"}, {"again": True}])
def test_other_runs_or_all_again_are_made(change: dict[str, object], tmp_path: Path) -> None:
    _made(tmp_path)
    plan = Plan(**{"reps": 2, "size": "quick", "figures": "none", "workers": 1, **change})  # type: ignore[arg-type]
    assert _made(tmp_path, plan).results.runs.manifest["packets"] > 0


@pytest.mark.parametrize("damage", ["build", "manifest", "table"])
def test_runs_of_another_engine_and_damaged_ones_are_made_anew(damage: str, tmp_path: Path) -> None:
    first = _made(tmp_path)
    manifest = tmp_path / "manifest.json"
    if damage == "build":
        other = {**json.loads(manifest.read_text(encoding="utf-8")), "build": "0.1.0+0123456789"}
        manifest.write_text(json.dumps(other), encoding="utf-8")
    else:
        (manifest if damage == "manifest" else tmp_path / "flow.parquet").write_bytes(b"\0")
    second = _made(tmp_path)
    assert second.results.runs.manifest["packets"] > 0 and _same(first, second)


def test_runs_that_were_made_when_the_process_was_killed_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as m:
        m.setattr(kept, "manifest_of", killed)
        with pytest.raises(SystemExit):
            _made(tmp_path)
    assert list((tmp_path / "runs").glob("*.run.parquet")) and not (tmp_path / "manifest.json").exists()
    second = _made(tmp_path)
    manifest = second.results.runs.manifest
    assert (manifest["packets"], manifest["runs_before"]) == (0, second.results.runs.runs().height)
    assert not (tmp_path / "runs").exists() and _same(second, _made(tmp_path / "again"))


def test_the_command_says_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "igarashi/e6-6", "--quick", "--formats", "none", "--out", str(tmp_path)]
    assert main(command) == 0 and "already" not in capsys.readouterr().out
    assert main(command) == 0 and "runs were there already" in capsys.readouterr().out
    assert main([*command, "--again"]) == 0 and "already" not in capsys.readouterr().out


def test_in_blocks_hosts_remember_within_and_not_beyond() -> None:
    world = testbed.three("TD", 0.0, testbed.reading())
    ask = Ask(1, 6, workers=1, block=3)
    blocks = run_kept({"x": world}, ask).table("flow").sort("rep", "flow")
    second = run({"x": world}, reps=range(3, 6), reps_total=6, workers=1).table("flow")
    whole = run({"x": world}, reps=6, workers=1).table("flow")
    column = "retransmitted_packets"
    assert blocks["rep"].n_unique() == 6
    assert blocks.filter(pl.col("rep") >= 3)[column].equals(second.sort("rep", "flow")[column])
    assert not blocks[column].equals(whole.sort("rep", "flow")[column]), "the hosts of all six runs remember"
    assert not ask.of({"x": world}).all_keys() & Ask(1, 6, workers=1).of({"x": world}).all_keys()


def test_jobs_hold_whole_blocks_of_repetitions_that_follow_each_other() -> None:
    remembering = SHORT.with_({"sharing.persist": "across-repetitions"})
    wanted = Wanted.of({"x": remembering}, 1, 8, "fixed", block=3)
    sizes = iter([1, 7, 1])
    count, jobs = wanted.missing(set())
    assert count == 8
    assert [(j.reps, j.block) for j in jobs(lambda: next(sizes))] == [((0, 1, 2), 3), ((3, 4, 5, 6, 7), 3)]
    have = {k for k in wanted.keys(0) if k != wanted.key(0, 4)}
    count, jobs = wanted.missing(have)
    assert (count, [j.reps for j in jobs(lambda: 100)]) == (3, [(3, 4, 5)])


def _alike(a: Runs, b: Runs) -> bool:
    return a.tables.keys() == b.tables.keys() and all(
        t.drop("wall_ns", strict=False).equals(b.tables[n].drop("wall_ns", strict=False)) for n, t in a.tables.items()
    )


def test_a_run_reads_what_is_in_its_folder_and_makes_the_rest(tmp_path: Path) -> None:
    both = {"a": SHORT, "b": SHORT.with_({"link.last-hop.queue.limit": "3 packets"})}
    first = run(both, reps=2, out=tmp_path)
    again = run(both, reps=2, out=tmp_path)
    assert first.manifest["packets"] > 0 and "runs_before" not in first.manifest
    assert (again.manifest["packets"], again.manifest["runs_before"]) == (0, 4) and _alike(first, again)
    more = run(both, reps=3, out=tmp_path)
    third = int(more.runs().filter(pl.col("rep") == 2)["packets"].sum())
    assert (more.manifest["packets"], more.manifest["runs_before"]) == (third, 4)
    assert _alike(more, run(both, reps=3)) and _alike(more, Runs.load(tmp_path))
    assert not (tmp_path / "runs").exists()
    assert "runs_before" not in run(both, reps=3, out=tmp_path, again=True).manifest
    assert _alike(run(SHORT, reps=[1, 2], reps_total=3, out=tmp_path / "some"), run(SHORT, reps=[1, 2], reps_total=3))


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as m:
        m.setattr(Runs, "save", killed)
        with pytest.raises(SystemExit):
            run(SHORT, reps=3, out=tmp_path)
    assert not (tmp_path / "manifest.json").exists()
    second = run(SHORT, reps=3, out=tmp_path)
    assert (second.manifest["packets"], second.manifest["runs_before"]) == (0, 3) and _alike(second, run(SHORT, reps=3))


def test_runs_whose_tables_are_not_all_are_always_made(tmp_path: Path) -> None:
    writes = SHORT.with_({"record.events": "all", "record.event_file": "events.npy"})
    run(writes, out=tmp_path)
    (tmp_path / "events.npy").unlink()
    assert run(writes, out=tmp_path).manifest["packets"] > 0 and (tmp_path / "events.npy").exists()


def test_what_was_emulated_is_not_read(tmp_path: Path) -> None:
    made = run(SHORT)
    made.manifest["mode"] = "emulate"
    made.save(tmp_path)
    assert run(SHORT, out=tmp_path).manifest["packets"] > 0


def test_crosswind_run_says_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.toml"
    file.write_text(SHORT.to_toml(), encoding="utf-8")
    command = ["run", str(file), "--no-report", "--out", str(tmp_path / "out")]
    assert main(command) == 0 and "already" not in capsys.readouterr().out
    assert main(command) == 0 and "1 run was there already" in capsys.readouterr().out
    assert main([*command, "--again"]) == 0 and "already" not in capsys.readouterr().out
