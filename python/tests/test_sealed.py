"""Folders of results hold what was written: checksums of tables, and nothing of another run."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT
from crosswind.reproduce.one import Plan, catalogue, reproduce
from crosswind.results import folder, sealed
from crosswind.run.kept import Ask, Shared, run_kept

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios" / "gprs.toml"
PLAN = Plan(reps=2, size="quick", figures="none", workers=1)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return cw.run(GPRS).save(tmp_path / "run")


def halve(out: Path, table: str = "flow", column: str = "elapsed_ns") -> None:
    frame = pl.read_parquet(out / f"{table}.parquet")
    frame.with_columns(pl.col(column) // 2).write_parquet(out / f"{table}.parquet")


@pytest.mark.parametrize("command", [["report"], ["query"], ["compare"], ["export"]])
def test_a_table_that_was_changed_is_refused(
    command: list[str], saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    halve(saved)
    more = {"query": ["select 1 from flow"], "compare": [str(saved)], "export": ["--as", "csv"]}
    assert main([*command, str(saved), *more.get(command[0], [])]) == EXIT_BAD_INPUT
    assert "found flow.parquet, which is not what was written" in capsys.readouterr().err


def test_every_file_is_checked_and_the_manifest_too(saved: Path) -> None:
    manifest = json.loads((saved / "manifest.json").read_text())
    assert set(manifest["files"]) == {f"{t}.parquet" for t in manifest["tables"]}
    for name in manifest["files"]:
        whole = (saved / name).read_bytes()
        (saved / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(sealed.DamagedError, match=name):
            cw.Runs.load(saved)
        (saved / name).write_bytes(whole)
    assert cw.Runs.load(saved).manifest["trusted"]
    (saved / "manifest.json").write_text(json.dumps({**manifest, "seed": 7}))
    with pytest.raises(sealed.DamagedError, match=r"manifest\.json"):
        cw.Runs.load(saved)
    (saved / "manifest.json").write_text(json.dumps(manifest))
    (saved / "link.parquet").unlink()
    with pytest.raises(sealed.DamagedError, match=r"no link\.parquet"):
        cw.Runs.load(saved)


def test_results_from_before_there_were_checksums_are_read(saved: Path) -> None:
    manifest = json.loads((saved / "manifest.json").read_text())
    bare = {k: v for k, v in manifest.items() if k not in ("files", "checksum")}
    (saved / "manifest.json").write_text(json.dumps(bare))
    assert cw.Runs.load(saved).flows().height > 0


def test_a_saved_result_that_is_saved_again_is_whole(saved: Path, tmp_path: Path) -> None:
    again = cw.Runs.load(saved).save(tmp_path / "again")
    assert cw.Runs.load(again).flows().equals(cw.Runs.load(saved).flows())


def test_a_reproduction_makes_damaged_runs_again_and_says_so(tmp_path: Path) -> None:
    experiment = catalogue.find("igarashi/e6-2")[0]
    first = reproduce(experiment, tmp_path, PLAN)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert {"claims.json", "claim.parquet"} <= set(manifest["files"])
    halve(tmp_path, "run", "packets")
    second = reproduce(experiment, tmp_path, PLAN)
    assert second.results.runs.manifest["packets"] > 0
    assert any(
        "run.parquet, which is not what was written: its runs were made again" in w
        for w in second.results.runs.manifest["warnings"]
    )
    assert [r["measured"] for r in first.rows] == [r["measured"] for r in second.rows]
    third = reproduce(experiment, tmp_path, PLAN)
    assert third.results.runs.manifest["packets"] == 0
    assert not any("made again" in w for w in third.results.runs.manifest["warnings"])
    text = (tmp_path / "claims.json").read_text()
    (tmp_path / "claims.json").write_text(text.replace("pass", "fail").replace("unclear", "pass"))
    with pytest.raises(sealed.DamagedError, match=r"claims\.json"):
        cw.Runs.load(tmp_path)


def test_runs_that_experiments_share_are_checked_and_made_again_when_damaged(tmp_path: Path) -> None:
    world, ask = {"gprs": cw.Scenario.load(GPRS)}, Ask(1, 2, workers=1)
    shared = Shared(tmp_path, frozenset(ask.of(world).all_keys()))
    first, read = (run_kept(world, ask, shared=shared) for _ in range(2))
    assert first.manifest["packets"] > 0 and read.manifest["packets"] == 0
    assert read.flows().equals(first.flows())
    table = next((tmp_path / "runs").glob("*.flow.parquet"))
    table.write_bytes(table.read_bytes()[:-20])
    third = run_kept(world, ask, shared=shared)
    assert third.manifest["packets"] > 0 and third.flows().equals(first.flows())


def test_a_new_run_leaves_nothing_of_another_in_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["run", str(ROOT / "scenarios" / "lossy.toml"), "--out", str(out), "--pcap", "--formats", "svg"]) == 0
    first = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert {"packets.pcapng", "event.parquet", "report.html", "figures/time-sequence.svg"} <= first
    mine = [out / "notes.txt", out / "figures" / "mine.svg", out / "own.parquet"]
    for path in mine:
        path.write_text("mine")
    other = ["run", str(GPRS), "--reps", "2", "--set", 'record={sample="1 s"}']
    assert main([*other, "--out", str(out), "--no-report"]) == 0
    second = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    tables = {f"{t}.parquet" for t in json.loads((out / "manifest.json").read_text())["tables"]}
    own = {p.relative_to(out).as_posix() for p in mine}
    assert second == {"manifest.json", ".lock"} | tables | own
    assert "event.parquet" not in tables


def test_folders_in_use_and_those_of_sweeps_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    commands = [
        ["run", str(GPRS)],
        ["reproduce", "igarashi/e6-6", "--quick"],
        ["sweep", str(GPRS), "--vary", "seed=1,2"],
    ]
    with folder.results_in(out):
        for command in commands:
            assert main([*command, "--out", str(out)]) == EXIT_ENVIRONMENT
            said = capsys.readouterr().err
            assert "which another command is writing to" in said and said.count("\n") == 1
    assert main([*commands[2], "--out", str(out)]) == 0
    capsys.readouterr()
    for command in commands[:2]:
        assert main([*command, "--out", str(out)]) == EXIT_BAD_INPUT
        assert "which holds a sweep" in capsys.readouterr().err


def test_tables_of_sweeps_are_checked_where_they_lie_together(tmp_path: Path) -> None:
    assert main(["sweep", str(GPRS), "--vary", "seed=1,2", "--out", str(tmp_path)]) == 0
    halve(tmp_path)
    with pytest.raises(sealed.DamagedError, match=r"flow\.parquet"):
        cw.Runs.load(tmp_path)
    assert main(["sweep", str(GPRS), "--vary", "seed=1,2", "--out", str(tmp_path)]) == 0
    assert cw.Runs.load(tmp_path).flows().height > 0
