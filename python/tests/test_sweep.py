"""Sweeps: every wanted run once, whatever stops them; on the stand-in engine, and on the real one where it counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import InputError, InterruptedRunError
from crosswind.results.place import place
from crosswind.results.summary import show_rate
from crosswind.run import work as run_work
from crosswind.run.store import Store
from crosswind.run.wanted import Job
from crosswind.sweep import report as sweep_report
from crosswind.sweep.design import Design
from crosswind.sweep.summary import table_of, with_interval
from crosswind.sweep.sweeps import load

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios/gprs.toml"
RATES = ["1 Mbit/s", "2 Mbit/s"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def without_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take seconds; one test looks at them."""
    if "report" not in request.node.name:
        monkeypatch.setattr(sweep_report, "write", lambda done, folder, *_: folder / "report.html")


def counted(fake: Any) -> list[int]:
    """Makes a stand-in engine count the runs it is asked for."""
    asked: list[int] = []
    real = fake.run_many

    def run_many(scenarios: list[str], seed: int, reps: list[int], *rest: Any, **named: Any) -> Any:
        asked.append(len(scenarios) * len(reps))
        return real(scenarios, seed, reps, *rest, **named)

    fake.run_many = run_many
    return asked


def test_a_sweep_runs_every_combination_with_the_same_repetitions(engine: Engine, file: Path) -> None:
    s = cw.sweep(file, {"flow.bulk.count": [1, 2], "link.last-hop.rate": RATES}, reps=3, out="s")
    assert s.parameters.height == 4 and s.table("run").height == 12
    flows = s.flows()
    assert flows.columns[:5] == ["configuration", "rep", "bulk_count", "rate", "rate_bps"]
    assert flows.group_by("bulk_count").len().sort("bulk_count")["len"].to_list() == [6, 12]
    assert set(flows["rate_bps"]) == {1e6, 2e6}


def test_what_is_there_is_not_run_again_and_a_wider_sweep_runs_only_what_is_new(engine: Engine, file: Path) -> None:
    asked = counted(engine())
    cw.sweep(file, {"link.last-hop.rate": RATES}, reps=3, out="s")
    assert sum(asked) == 6
    again = cw.sweep(file, {"link.last-hop.rate": RATES}, reps=3, out="s")
    assert sum(asked) == 6 and (again.made, again.kept) == (0, 6)
    wider = cw.sweep(file, {"link.last-hop.rate": [*RATES, "3 Mbit/s"]}, reps=4, out="s")
    assert sum(asked) == 12 and (wider.made, wider.kept) == (6, 6)
    narrow = cw.sweep(file, {"link.last-hop.rate": ["2 Mbit/s"]}, reps=2, out="s")
    assert sum(asked) == 12 and narrow.table("run").height == 2


def test_title_and_name_do_not_matter_but_seed_ties_and_values_do(engine: Engine, file: Path) -> None:
    asked = counted(engine())
    base = cw.Scenario.load(file)
    vary = {"link.last-hop.rate": RATES}
    cw.sweep(base, vary, out="s")
    cw.sweep(base.with_(title="another", name="other"), vary, out="s")
    assert sum(asked) == 2
    cw.sweep(base, vary, seed=5, out="s")
    cw.sweep(base, vary, ties="shuffled", out="s")
    cw.sweep(base.with_(duration="9 s"), vary, out="s")
    assert sum(asked) == 8


def test_strata_depend_on_the_number_of_repetitions_so_they_are_run_anew(engine: Engine, file: Path) -> None:
    asked = counted(engine())
    base = cw.Scenario.load(file).with_({"flow.bulk.start": {"stratified": ["0 s", "9 s"]}})
    cw.sweep(base, {"link.last-hop.rate": RATES}, reps=2, out="s")
    cw.sweep(base, {"link.last-hop.rate": RATES}, reps=4, out="s")
    assert sum(asked) == 4 + 8


def test_repetitions_that_share_memory_are_made_together(engine: Engine, file: Path) -> None:
    asked = counted(engine())
    base = cw.Scenario.load(file).with_({"sharing": {"persist": "across-repetitions"}})
    cw.sweep(base, {"link.last-hop.rate": RATES}, reps=3, out="s")
    assert asked == [3, 3]
    cw.sweep(base, {"link.last-hop.rate": RATES}, reps=5, out="s")
    assert asked[2:] == [5, 5]


def test_another_build_of_the_engine_runs_everything_again(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = counted(engine())
    cw.sweep(file, {"link.last-hop.rate": RATES}, out="s")
    monkeypatch.setattr("crosswind.core.version", lambda: "0.2.0")
    cw.sweep(file, {"link.last-hop.rate": RATES}, out="s")
    assert sum(asked) == 4


def test_a_job_that_is_told_to_stop_at_once_is_cut_and_breaks_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine(), "run_many", lambda *arguments, **_: arguments[6](0, 1))
    job = Job(scenarios=("{}",), seed=1, reps=(0,), reps_total=1, ties="ordered", keys=(("k",),))
    made = run_work.make(job, lambda: True)
    assert (made.cut, made.tables, made.failed) == (True, {}, [])


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(
    engine: Engine, file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["sweep", str(file), "--vary", "flow.bulk.count=1,2,3", "--reps", "4", "--workers", "1", "--out", "s"]
    fake = engine()
    real, calls = fake.run_many, []

    def pressed(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # The main thread hears it before this job, which may be the last, has ended.
        return real(*arguments, **named)

    monkeypatch.setattr(fake, "run_many", pressed)
    assert main(command) == 130
    err = capsys.readouterr().err
    assert "of 12 runs are finished and kept in s" in err and "goes on from there" in err
    kept = Store.open(cw.place.Folder("s")).keys()
    assert 0 < len(kept) < 12
    assert load("s").table("run").height == len(kept)
    assert main([*command, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3
    assert load("s").table("run").height == 12


@pytest.mark.parametrize("shards", [{"SHARD_S": 0.0}, {"SHARD_S": 1e9, "SHARD_ROWS": 0}], ids=["each", "shared"])
def test_ctrl_c_while_a_run_is_kept_loses_no_other_that_has_ended(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch, shards: dict[str, float]
) -> None:
    real, kept = Store.put, []

    def all_at_once(threads: run_work.Threads) -> list[run_work.Made]:
        done, threads._open = wait(threads._open)
        return [f.result() for f in done]

    def pressed(store: Store, tables: Any) -> None:
        kept.append(1)
        if len(kept) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        real(store, tables)

    monkeypatch.setattr(Store, "put", pressed)
    for name, value in shards.items():
        monkeypatch.setattr(run_work, name, value)
    monkeypatch.setattr(run_work.Threads, "results", all_at_once)
    with pytest.raises(InterruptedRunError, match="3 of 6 runs are finished"):
        cw.sweep(file, {"flow.bulk.count": [1, 2, 3]}, reps=2, workers=3, out="s")


def test_a_full_disk_ends_a_sweep_with_one_line_and_keeps_what_is_finished(
    engine: Engine, file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    real, written = Path.open, []

    def filling(path: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if mode == "wb":
            written.append(path)
            if len(written) > 20:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", filling)
    monkeypatch.setattr(run_work, "SHARD_S", 0.0)
    command = ["sweep", str(file), "--vary", "flow.bulk.count=1,2,3", "--reps", "4", "--workers", "1", "--out", "s"]
    assert main(command) == 3
    err = capsys.readouterr().err
    assert err.startswith("crosswind: s: no space left; finished runs are kept") and err.count("\n") == 1
    monkeypatch.setattr(Path, "open", real)
    kept = Store.open(cw.place.Folder("s")).keys()
    assert 0 < len(kept) < 12 and not list(Path("s").rglob("*.part"))
    assert main(command) == 0
    assert f"12 runs ({len(kept)} of them were there already)" in capsys.readouterr().out


def test_a_run_that_breaks_down_does_not_take_the_others_with_it(engine: Engine, file: Path, capsys: Capture) -> None:
    engine(breaks=lambda scenario, rep: rep == 2 and scenario["link"]["last-hop"]["rate"] == "2 Mbit/s")
    assert (
        main(["sweep", str(file), "--vary", "link.last-hop.rate=1 Mbit/s,2 Mbit/s", "--reps", "5", "--out", "s"]) == 70
    )
    out = capsys.readouterr().out
    assert "1 of 10 runs broke down" in out and "rate=2 Mbit/s, repetition 2, seed 1: internal error: no way out" in out
    failed = load("s").runs.manifest  # a later reader knows that one is missing
    assert failed["runs"] == 9 and not failed["trusted"] and [f["rep"] for f in failed["failed"]] == [2]
    assert load("s").table("run").height == 9


def test_bad_sweeps_are_refused_before_anything_runs(engine: Engine, file: Path, capsys: Capture) -> None:
    asked = counted(engine())

    def refused(arguments: list[str], *said: str) -> None:
        assert main(["sweep", str(file), "--out", "s", *arguments]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "Traceback" not in err
        assert all(text in err for text in said), err

    refused([], "no [sweep] table and no --vary")
    refused(["--vary", "seed"], "--vary", "path=a,b,c")
    refused(["--vary", "link.lasthop.rate=1 Mbit/s,2 Mbit/s"], "every combination", "did you mean `last-hop`")
    refused(
        ["--vary", "link.last-hop.rate=1 Mbit/s,-1 bit/s"], "1 of 2 combinations", "rate=-1 bit/s", "--skip-invalid"
    )
    refused(["--vary", "link.last-hop.rate=1 Mbit/s", "--vary", "link.last-hop.rate=2 Mbit/s"], "two lists of values")
    refused(["--vary", "seed=1,2", "--seed", "3"], "one of the two")
    refused(["--vary", "seed=1..9"], "--draw takes ranges")
    refused(["--draw", "flow.bulk.count=1..9"], "no --points")
    refused(["--points", "4"], "no --draw")
    refused(["--zip", "seed=1,2", "--zip", "flow.bulk.count=1"], "as many values")
    refused(["--vary", "seed=1,2", "--precision", "goodput"], "--precision", "goodput=1%")
    refused(["--vary", "seed=1,2", "--set", "record.pcap=x.pcapng"], "no capture in a sweep")
    refused(["--vary", "seed=one,two"], "(every combination): seed: found", "a whole number from 0")
    refused(["--vary", "flow.bulk.count=1,2", "--set", "seed=x"], "seed", 'found "x"', "a whole number from 0")
    refused(["--vary", "flow.bulk.count=1,2", "--formats", "svgg"], "--formats", "did you mean `svg`")
    text = file.read_text()
    for wrong in ('reps = "ten"', "precision = 5", "random = { points = 2, seed = -1 }"):
        file.write_text(f"{text}\n[sweep]\n{wrong}\n")
        refused([], str(file), f"sweep.{wrong.split()[0]}", "expected")
        assert main(["validate", str(file)]) == 2 and f"sweep.{wrong.split()[0]}" in capsys.readouterr().err
    file.write_text(f'{text}\n[sweep]\nreps = "ten"\n')
    refused(["--vary", "flow.bulk.count=1,2"], "sweep.reps", "a whole number from 1")
    assert not asked


def test_a_sweep_that_does_not_begin_leaves_tables_and_manifest_as_they_are(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cw.sweep(file, {"link.last-hop.rate": RATES}, out="s")
    before = Path("s/manifest.json").read_bytes()

    def unreachable(*_: Any) -> None:
        raise InputError("--cluster", found="no scheduler", expected="one")

    monkeypatch.setattr("crosswind.sweep.cluster.Cluster", unreachable)
    with pytest.raises(InputError, match="no scheduler"):
        cw.sweep(file, {"link.last-hop.rate": [*RATES, "3 Mbit/s"]}, cluster="tcp://x:1", out="s")
    assert load("s").parameters["rate"].to_list() == RATES
    assert Path("s/manifest.json").read_bytes() == before


def test_impossible_combinations_can_be_left_out(engine: Engine, file: Path, capsys: Capture) -> None:
    command = ["sweep", str(file), "--vary", "link.last-hop.rate=1 Mbit/s,-1 bit/s", "--out", "s", "--skip-invalid"]
    assert main(command) == 0
    assert "left out: 1 impossible" in capsys.readouterr().out
    assert load("s").parameters.height == 1


def test_the_sweep_table_of_the_file_is_used_and_no_part_of_the_scenario(
    engine: Engine, file: Path, capsys: Capture
) -> None:
    file.write_text(file.read_text() + '\n[sweep]\nreps = 2\ngrid.link.last-hop.rate = ["1 Mbit/s", "2 Mbit/s"]\n')
    assert "sweep" not in cw.Scenario.load(file).data
    assert main(["sweep", str(file), "--out", "s", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["rate"], r["n"]) for r in rows] == [("1 Mbit/s", 2), ("2 Mbit/s", 2)]
    assert main(["validate", str(file)]) == 0


def test_drawn_points_and_zips_reach_the_engine(engine: Engine, file: Path, capsys: Capture) -> None:
    command = ["sweep", str(file), "--draw", "link.last-hop.rate=100 kbit/s..10 Mbit/s log", "--points", "5"]
    assert main([*command, "--zip", "seed=1,2", "--zip", "flow.bulk.count=1,2", "--out", "s", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 10
    numbers = load("s").parameters["rate_bps"]
    assert numbers.n_unique() == 5 and 1e5 <= numbers.min() <= numbers.max() <= 1e7  # type: ignore[operator]


def test_results_are_asked_in_one_line(engine: Engine, file: Path, tmp_path: Path, capsys: Capture) -> None:
    s = cw.sweep(file, {"link.last-hop.rate": RATES}, reps=4, out="s")
    by_polars = pl.read_parquet("s/flow.parquet").group_by("rate").agg(pl.median("goodput_bps")).sort("rate")
    by_sql = s.sql("select rate, median(goodput_bps) as goodput_bps from flow group by rate order by rate")
    assert by_sql.equals(by_polars)
    by_duck = duckdb.sql("select rate, median(goodput_bps) from 's/flow.parquet' group by all order by rate").fetchall()
    assert by_duck == by_polars.rows()
    assert main(["query", "s", "select rate, count(*) n from flow group by rate order by rate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"rate": "1 Mbit/s", "n": 8}, {"rate": "2 Mbit/s", "n": 8}]
    for wrong, said in (
        ("select nothing from flow", "query: found column `nothing`, expected a known column, such as"),
        ("select goodput_bp from flow", "did you mean `goodput_bps`?"),
        ("select rate from flo", "query: found table `flo`, expected a known table, such as"),
        ("selct rate from flow", "SQL over the tables"),
    ):
        assert main(["query", "s", wrong]) == 2
        err = capsys.readouterr().err
        assert said in err and "FAILED" not in err and err.count("\n") == 1


def test_repetitions_go_on_until_the_mean_is_precise_enough(engine: Engine, file: Path) -> None:
    s = cw.sweep(file, {"link.last-hop.rate": RATES}, precision="goodput=3%", out="s", reps_max=60)
    from crosswind.stats.precision import half_width

    for _, one in s.flows().group_by("configuration", "group"):
        means = one.group_by("rep").agg(pl.mean("goodput_bps"))["goodput_bps"]
        assert half_width(means) <= 0.03 * float(means.mean()) or means.len() == 60  # type: ignore[arg-type]
        assert means.len() > 8
    few = cw.sweep(file, {"link.last-hop.rate": RATES}, precision="goodput=0.001%", out="s", reps_max=9)
    assert few.runs.manifest["imprecise"] == {"goodput=1e-05": 2}
    assert (
        "the precision goodput=1e-05 is not reached in 2 of 2 configurations with at most 9 repetitions"
        in few.runs.manifest["warnings"]
    )
    with pytest.raises(InputError, match="did you mean"):
        cw.sweep(file, {"link.last-hop.rate": RATES}, precision="goodputs=1%", out="s")


def test_the_report_shows_intervals_maps_and_what_explains_the_variation(engine: Engine, file: Path) -> None:
    vary = ["--vary", "link.last-hop.rate=1 Mbit/s,2 Mbit/s,4 Mbit/s", "--vary", "flow.bulk.count=1,2,3"]
    assert main(["sweep", str(file), *vary, "--reps", "4", "--out", "s", "--formats", "svg"]) == 0
    page = Path("s/report.html").read_text()
    assert "What explains the variation" in page and "rate x bulk_count" in page
    assert page.count('class="chart-data"') == 4 and page.count('class="heat"') == 2 and "goodput-map-bulk" in page
    assert "queue-delay-p50-map-bulk" not in page, "a constant is no map"
    drawn = pl.read_csv("s/figures/goodput-bulk.csv")
    assert drawn.height == 9 and (drawn["low"] <= drawn["y"]).all() and drawn["n"].to_list() == [4] * 9
    assert {p.suffix for p in Path("s/figures").glob("goodput-bulk.*")} == {".svg", ".csv"}


def test_a_store_at_an_fsspec_address_resumes_too(engine: Engine, file: Path) -> None:
    asked = counted(engine())
    for _ in range(2):
        s = cw.sweep(file, {"link.last-hop.rate": RATES}, out="memory://sweeps/a")
    assert sum(asked) == 2 and s.kept == 2
    assert load("memory://sweeps/a").table("run").height == 2


def test_the_report_of_a_sweep_goes_where_its_results_go(
    engine: Engine, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vary = ["--vary", "link.last-hop.rate=1 Mbit/s,2 Mbit/s"]
    assert main(["sweep", str(file), *vary, "--reps", "2", "--out", "memory://sweeps/b"]) == 0
    assert "report: memory://sweeps/b/report.html" in " ".join(capsys.readouterr().out.split())
    kept = place("memory://sweeps/b")
    assert b"</html>" in kept.read("report.html")
    assert any(name.endswith(".csv") for name in kept.names("figures"))


def test_equal_points_written_differently_are_run_once(engine: Engine, file: Path) -> None:
    points = Design([{"link.last-hop.rate": "1 Mbit/s"}, {"link.last-hop.rate": "1 Mbit/s"}])
    asked = counted(engine())
    s = cw.sweep(file, points, out="s")
    assert sum(asked) == 1 and s.table("run")["configuration"].to_list() == ["rate=1 Mbit/s", "rate=1 Mbit/s #2"]


@pytest.mark.engine
def test_a_sweep_gives_the_numbers_of_plain_runs() -> None:
    limits = ["10 packets", "40 packets"]
    base = cw.Scenario.load(GPRS)
    s = cw.sweep(base, {"link.last-hop.queue.limit": limits}, reps=3, out="s", workers=2)
    plain = cw.run([base.with_({"link.last-hop.queue.limit": v}) for v in limits], reps=3)
    same = [c for c in plain.flows().columns if c not in ("configuration", "rep")]
    assert s.flows().select(same).equals(plain.flows().select(same), null_equal=True)


@pytest.mark.engine
def test_a_killed_sweep_goes_on_and_ends_with_the_results_of_one_that_was_not(tmp_path: Path) -> None:
    vary = "link.last-hop.queue.limit=" + ",".join(f"{n} packets" for n in range(5, 35))
    command = [sys.executable, "-m", "crosswind", "sweep", str(GPRS), "--vary", vary, "--reps", "3", "--out", "s"]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waited = time.monotonic()
    while len(list((tmp_path / "s/runs").glob("*.run.parquet"))) < 4 and time.monotonic() - waited < 60:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = Store.open(cw.place.Folder("s")).keys()
    assert 0 < len(before) < 90
    assert load("s").table("run").height == len(before)
    limits = {"link.last-hop.queue.limit": [f"{n} packets" for n in range(5, 35)]}
    again = cw.sweep(GPRS, limits, reps=3, out="s")
    assert (again.made, again.kept) == (90 - len(before), len(before))
    fresh = cw.sweep(GPRS, limits, reps=3, out="fresh")
    assert again.flows().equals(fresh.flows(), null_equal=True)
    assert again.table("run").drop("wall_ns").equals(fresh.table("run").drop("wall_ns"), null_equal=True)


@pytest.mark.engine
def test_intervals_name_a_unit_once_and_stand_beside_what_is_headed_so(tmp_path: Path) -> None:
    row = {"goodput_bps": 29_600.0, "goodput_bps_low": 28_900.0, "goodput_bps_high": 30_300.0}
    assert with_interval(row, "goodput_bps", show_rate) == "29.6 kbit/s (28.9 to 30.3)"
    assert with_interval(row | {"goodput_bps_low": 900.0}, "goodput_bps", show_rate) == (
        "29.6 kbit/s (900 bit/s to 30.3 kbit/s)"
    )
    table = table_of(cw.sweep(GPRS, {"flow.bulk.count": [2]}, reps=3, out=tmp_path))
    with_one = {head for row in table.rows for head, cell in zip(table.heads, row, strict=True) if " to " in cell}
    assert with_one == {"goodput (95 %)", "elapsed (95 %)"}
