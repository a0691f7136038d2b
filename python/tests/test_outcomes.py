"""What became of flows: transfers that gave up, were cut off or never began are counted, named and left out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind import report, stats
from crosswind.cli import main
from crosswind.report import comparison as compare_runs
from crosswind.results import outcomes, summary
from crosswind.sweep import report as sweep_report
from crosswind.sweep import summary as sweep_summary
from crosswind.sweep import sweep

pytestmark = pytest.mark.engine


def scenario(loss: float = 0.0, **flow: Any) -> cw.Scenario:
    """A transfer of 30 kB, and a page, over a link that loses packets."""
    link = {"from": "a", "to": "b", "rate": "2 Mbit/s", "delay": "50 ms"}
    ends = {"from": "a", "to": "b"}
    return cw.Scenario(
        {
            "name": "lossy",
            "duration": "3000 s",
            "link": {"path": {**link, "loss": {"type": "uniform", "probability": loss}}},
            "flow": {
                "f": {**ends, "workload": {"type": "bulk", "size": "30 kB"}, **flow},
                "page": {**ends, "workload": {"type": "page", "objects": 1}},
            },
        }
    )


FILE = """\
name = "lossy"
duration = "3000 s"

[link.path]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "50 ms"
loss = { type = "uniform", probability = 0.35 }

[flow.f]
from = "a"
to = "b"
workload = { type = "bulk", size = "30 kB" }
tcp = { retries_max = 2 }
"""
IMPATIENT = {"tcp": {"retries_max": 2}}


def some_gave_up(reps: int = 30) -> cw.Runs:
    return cw.run(scenario(0.35, **IMPATIENT), reps=reps)


def of_f(runs: cw.Runs) -> pl.DataFrame:
    return runs.flows().filter(name="f")


def test_transfers_that_gave_up_are_no_result_to_be_trusted() -> None:
    runs = cw.run(scenario(1.0))
    assert set(runs.flows()["outcome"]) == {"gave up"} == set(runs.table("page")["outcome"])
    assert (runs.flows()["elapsed_ns"] == -1).all()
    assert not runs.manifest["trusted"]
    said = " ".join(runs.manifest["warnings"])
    assert "3 of 3 flows gave up (f, page/body, page/1)" in said
    assert "1 of 1 pages are not complete (1 gave up)" in said
    assert cw.run(scenario(0.0)).manifest["trusted"] and not cw.run(scenario(0.0)).manifest["warnings"]


def test_what_the_time_limit_cuts_off_is_a_warning_and_no_reason_for_distrust() -> None:
    short = scenario(0.0, workload={"type": "bulk", "size": "30 MB"}).with_({"duration": "5 s"})
    runs = cw.run(short, reps=2)
    assert set(of_f(runs)["outcome"]) == {"cut off"}
    assert "2 of 2 runs reached the time limit with transfers still open (2 cut off)" in runs.manifest["warnings"][0]
    assert runs.manifest["trusted"]


def test_the_summary_counts_outcomes_and_says_what_its_medians_leave_out() -> None:
    runs = some_gave_up()
    done = of_f(runs).filter(outcome="complete")
    assert 5 < done.height < 25
    table = summary.flow_table(runs)
    assert table is not None
    row = dict(zip(table.heads, table.rows[0], strict=True))
    assert row["outcome"] == f"{done.height} of 30 complete"
    assert row["elapsed"] == summary.show_time(float(done.filter(pl.col("elapsed_ns") > 0)["elapsed_ns"].median()))
    gone = outcomes.left_out(runs.generators()).height
    assert f"Elapsed times leave out {gone} of 60 (" in table.note and "gave up" in table.note
    whole = summary.flow_table(cw.run(scenario(0.0)))
    assert whole is not None and "outcome" not in whole.heads and "leave out" not in whole.note


def test_statistics_know_that_minus_one_is_no_time() -> None:
    runs = some_gave_up()
    times = of_f(runs)["elapsed_ns"]
    happened = times.filter(times >= 0)
    for found in (stats.median(times), stats.mean(times), stats.quantile(times, 0.25)):
        assert (found.n, found.left_out) == (happened.len(), 30 - happened.len())
        assert found.low > 0
    assert stats.median(times).value == happened.median()
    assert stats.quartiles(times)[0] == happened.min()
    paired = stats.paired_differences(times, pl.Series("elapsed_ns", [0] * 30))
    assert (paired.n, paired.left_out) == (happened.len(), 30 - happened.len())
    compared = stats.compare(times, pl.Series("elapsed_ns", [0] * 30))
    assert compared.n == happened.len()
    # A column that is no time, and numbers of one's own, may be -1.
    assert stats.mean(pl.Series("change", [-1, 1])).value == 0.0
    assert stats.mean([-1.0, 1.0]).n == 2
    nothing = stats.median(pl.Series("elapsed_ns", [-1, -1]))
    assert math.isnan(nothing.value) and (nothing.n, nothing.left_out) == (0, 2)


def test_sweeps_count_what_they_leave_out(tmp_path: Path) -> None:
    done = sweep(scenario(0.35), {"flow.f.tcp.retries_max": [2, 20]}, reps=20, out=tmp_path)
    rows = {(r["retries_max"], r["group"]): r for r in sweep_summary.rows_of(done)}
    flows = done.flows().filter(group="f", retries_max=2)
    assert rows[2, "f"]["left_out"] == (flows["elapsed_ns"] == -1).sum() > 0
    assert rows[2, "f"]["n"] == 20
    table = sweep_summary.table_of(done)
    assert "left out" in table.heads and "Elapsed times leave out" in table.note
    assert not done.runs.manifest["trusted"]
    assert any("gave up" in w for w in done.runs.manifest["warnings"])
    pictures = sweep_report.pictures_of(done)
    captions = [p.caption for p in pictures if "lapsed" in p.caption and " of f" in p.caption]
    assert any("leave out" in c for c in captions), [p.caption for p in pictures]
    _, compared = compare_runs.along(done.runs, "retries_max", metrics=["elapsed_ns"])
    row = next(r for r in compared if r.group == "f")
    assert row.left_out[1] == rows[2, "f"]["left_out"] and row.as_dict()["old_left_out"] == row.left_out[1]
    assert "leave out" in compare_runs.table(compared).note


def test_report_command_line_and_manifest_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(FILE)
    out = tmp_path / "out"
    assert main(["run", str(file), "--reps", "30", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "flows gave up (f" in printed and "30 complete" in printed and "Elapsed times leave out" in printed
    page = (out / "report.html").read_text()
    assert "gave up" in page and "leave out" in page
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["trusted"] is False and any("gave up" in w for w in manifest["warnings"])
    assert main(["run", str(file), "--reps", "30", "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["trusted"] is False
    assert {"gave up", "complete"} <= {f["outcome"] for f in said["flows"]}


def test_a_run_with_nothing_left_to_do_warns() -> None:
    runs = cw.run(scenario(0.0))
    runs.tables["run"] = runs.runs().with_columns(outcome=pl.lit("nothing left to do"))
    assert "1 of 1 runs stopped with flows open, because nothing was left to do" in runs.warnings()
    assert not runs.may_be_trusted()


def test_the_figure_of_elapsed_times_says_what_it_leaves_out() -> None:
    captions = [p.caption for p in report.run_report(some_gave_up(), "")[1]]
    assert any("Elapsed time over 30 repetitions" in c and "leave out" in c for c in captions), captions


def test_results_without_outcomes_are_read_as_before() -> None:
    runs = cw.run(scenario(0.35, **IMPATIENT), reps=2)
    runs.tables = {n: t.drop("outcome", strict=False) for n, t in runs.tables.items()}
    assert runs.warnings() == [] and summary.flow_table(runs) is not None and outcomes.note(runs.flows()) == ""
