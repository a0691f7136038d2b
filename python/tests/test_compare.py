"""Comparisons of results: pairs where random numbers are shared, intervals and n everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.report import comparison
from crosswind.stats.comparing import compare

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_results_of_one_seed_are_compared_in_pairs(engine: Engine, file: Path, capsys: Capture) -> None:
    cw.run(file, reps=9).save("old")
    cw.run(cw.Scenario.load(file).with_({"flow.bulk.workload.size": "300000 B"}), reps=9).save("new")
    assert main(["compare", "new", "old", "--metric", "elapsed", "--json", "--out", "c", "--formats", "pdf"]) == 0
    rows = {(r["flow"], r["metric"]): r for r in json.loads(capsys.readouterr().out)}
    elapsed = rows["bulk", "elapsed_ns"]
    assert elapsed["pairing"] == "paired" and elapsed["n"] == 9 and elapsed["clear"] and elapsed["change_high"] < 0
    page = Path("c/report.html").read_text()
    assert "Wilcoxon" in page and "(new) against" in page and "change-elapsed-bulk" in page
    assert Path("c/comparison.csv").exists() and Path("c/figures/change-elapsed-bulk.pdf").exists()
    cw.run(file, reps=9, seed=4).save("other")
    assert main(["compare", "other", "old", "--metric", "goodput", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["pairing"] == "independent" and not row["clear"]


def test_the_values_of_one_axis_are_compared_inside_a_sweep(engine: Engine, file: Path, capsys: Capture) -> None:
    vary = {"flow.bulk.workload.size": ["343040 B", "171520 B"], "link.last-hop.rate": ["1 Mbit/s", "2 Mbit/s"]}
    cw.sweep(file, vary, reps=5, out="s")
    assert main(["compare", "s", "--by", "workload_size", "--metric", "elapsed", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["where"] for r in rows] == [f"rate={rate}" for rate in ("1 Mbit/s", "2 Mbit/s")]
    assert all(r["n"] == 5 and r["change"] < -0.3 for r in rows)
    assert main(["compare", "s", "--by", "workload_size", "--base", "171520 B"]) == 0


def test_a_flow_of_which_nothing_arrived_is_left_out_and_counted(engine: Engine, file: Path) -> None:
    old = cw.run(file, reps=8)
    tables = old.tables.sources()
    # Of one of two flows nothing arrived in three repetitions; of none anything in a fourth.
    nothing = ((pl.col("name") == "bulk-1") & (pl.col("rep") < 3)) | (pl.col("rep") == 3)
    delay = pl.when(nothing).then(math.nan).otherwise(2 * pl.col("delay_p50_ns").cast(pl.Float64))
    tables["flow"] = old.flows().with_columns(delay_p50_ns=delay)
    new = cw.Runs(tables, old.scenarios, old.manifest, old.extra)
    (row,) = comparison.results(new, old, ["delay_p50"])
    assert (row.comparison.n, row.comparison.change.value, row.left_out) == (7, 1.0, (5, 0))
    assert "Rows leave out flows without a value: delay p50 5 new, 0 old." in comparison.table([row]).note


def test_what_cannot_be_compared_is_refused(engine: Engine, file: Path, capsys: Capture) -> None:
    cw.run(file, reps=2).save("a")
    cw.run({"x": cw.Scenario.load(file), "y": cw.Scenario.load(file)}, reps=2).save("b")
    for arguments, said in (
        (["a"], "neither OLD nor --by"),
        (["a", "b", "--by", "x"], "one of the two"),
        (["a", "b"], "configurations of the same name"),
        (["a", "--by", "rate"], "not a sweep"),
        (["a", "a", "--metric", "godput"], "did you mean"),
        (["a", "nowhere"], "no manifest.json"),
    ):
        assert main(["compare", *arguments]) == 2
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1


def test_a_metric_is_a_column_of_numbers_of_both_results(engine: Engine, file: Path, capsys: Capture) -> None:
    old = cw.run(file, reps=2)
    tables = old.tables.sources()
    tables["flow"] = old.flows().with_columns(reply_packets=pl.lit(3))
    cw.Runs(tables, old.scenarios, old.manifest, old.extra).save("new")
    old.save("old")
    for new, before, metric, said in (
        ("new", "old", "reply_packets", "a numeric column of the old results"),
        ("old", "new", "reply", "a numeric column of the new results"),
        ("old", "old", "outcome", "a numeric column of the new results"),
    ):
        assert main(["compare", new, before, "--metric", metric]) == 2
        assert said in capsys.readouterr().err


def test_a_column_may_have_its_first_number_after_many_rows(tmp_path: Path) -> None:
    few, some = compare([2.0], [1.0]), compare([2.0] * 6, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    rows = [comparison.Row("", f"f-{i}", "goodput_bps", few if i < 120 else some) for i in range(121)]
    comparison.write(rows, tmp_path, [], "New against old")
    written = pl.read_csv(tmp_path / "comparison.csv", infer_schema_length=None)
    assert written["change_low"].is_not_null().sum() == 1


def test_one_repetition_has_no_interval(engine: Engine, file: Path, capsys: Capture) -> None:
    cw.run(file, reps=3).save("old")
    cw.run(cw.Scenario.load(file).with_({"flow.bulk.workload.size": "300000 B"})).save("new")
    assert main(["compare", "new", "old", "--metric", "elapsed", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["change"] < 0 and row["change_low"] is None and not row["clear"]
    assert main(["compare", "new", "old", "--metric", "elapsed"]) == 0
    said = capsys.readouterr().out
    assert " to " not in said and "1, 3" in said and "not clear" in said
