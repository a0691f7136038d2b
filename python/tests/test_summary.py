"""Tables for people: what they leave out, how long they get, and what they say of repetitions and units."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind import figures, report
from crosswind.figures.of_runs import run_pictures
from crosswind.results.summary import FLOWS_SHOWN, ROWS_SHOWN, tables_of
from crosswind.studio.series import charts

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]


def tables(runs: cw.Runs) -> dict[str, Any]:
    return {t.title: t for t in tables_of(runs)}


def test_directions_that_are_idle_are_named_below_the_tables_and_have_no_rows() -> None:
    shown = tables(cw.run(ROOT / "scenarios/l4s.toml"))
    for title in ("Links", "Queues", "Classes"):
        assert {row[1] for row in shown[title].rows} == {"forward"}, title
    assert shown["Links"].note.endswith("Left out, used below 2 % and without a drop, loss or mark: access reverse.")
    assert [row[2] for row in shown["Classes"].rows] == ["l4s", "classic"]


def test_a_table_has_some_hundred_rows_at_most_and_says_how_many_there_are() -> None:
    base = cw.Scenario.load(ROOT / "scenarios/l4s.toml").with_({"duration": "20 ms", "record": {}, "flow.prague": None})
    runs = cw.run(base.with_({"flow.cubic.start": "0 s", "flow.cubic.count": FLOWS_SHOWN}), reps=1)
    assert len(tables(runs)["Flows"].rows) == FLOWS_SHOWN
    runs = cw.run({str(n): base.with_({"flow.cubic.start": f"{n} us"}) for n in range(ROWS_SHOWN // 2 + 1)})
    flows = tables(runs)["Flows"]
    assert len(flows.rows) == ROWS_SHOWN < runs.flows().height
    assert flows.note.startswith(
        f"The first {ROWS_SHOWN} of {runs.flows().height} rows; all are in the Parquet tables."
    )


def test_medians_leave_out_what_has_no_value() -> None:
    whole = cw.run(ROOT / "scenarios/gprs.toml", reps=6)
    shown = whole.tables.sources()
    rep = pl.col("rep").cast(pl.Float64)
    shown["flow"] = whole.flows().with_columns(delay_p50_ns=pl.when(rep < 4).then(1e9 * (1 + rep)).otherwise(math.nan))
    delays = tables(cw.Runs(shown, whole.scenarios, whole.manifest, whole.extra))["Delays"]
    assert {row[delays.heads.index("delay p50")] for row in delays.rows} == {"2.5 s"}


def test_repetitions_that_are_identical_are_said_to_be() -> None:
    fixed = cw.Scenario.load(ROOT / "scenarios/lossy.toml")
    said = "All 3 repetitions are identical: nothing in this scenario is random."
    runs = cw.run(fixed, reps=3)
    html, pictures = report.run_report(runs)
    assert tables(runs)["Flows"].note.startswith(said) and said in html
    assert not any(p.name.endswith("spread") for p in pictures), "no spread of what does not vary"
    figures.close_all(pictures)
    varied = tables(cw.run(cw.Scenario.load(ROOT / "scenarios/gprs.toml"), reps=3))["Flows"]
    assert "Medians over 3 repetitions." in varied.note and "identical" not in varied.note


def test_the_time_of_a_page_is_that_of_its_response_and_not_of_its_connections() -> None:
    runs = cw.run(ROOT / "scenarios/page-and-audio.toml")
    page = runs.table("page").row(0, named=True)
    flows = tables(runs)["Flows"]
    row = next(r for r in flows.rows if r[0] == page["group"])
    shown = row[flows.heads.index("elapsed")]
    parts = runs.flows().filter(group=page["group"])["elapsed_ns"].mean()
    assert shown == f"{page['response_ns'] / 1e9:.3g} s" and abs(parts - page["response_ns"]) > 1e8  # type: ignore[operator]


@pytest.mark.parametrize(("name", "unit"), [("gprs", "kbit/s"), ("l4s", "Mbit/s")])
def test_axes_have_the_unit_that_tables_have(name: str, unit: str) -> None:
    runs = cw.run(ROOT / f"scenarios/{name}.toml")
    pictures = run_pictures(runs)
    goodput = next(p for p in pictures if p.name == "goodput")
    assert goodput.charts[0].told()["y"] == f"goodput ({unit})"
    assert tables(runs)["Flows"].rows[0][1].endswith(unit)
    figures.close_all(pictures)


def test_a_ping_and_a_call_are_in_the_figures_beside_many_downloads() -> None:
    base = cw.Scenario.load(ROOT / "scenarios/home-gateway.toml")
    runs = cw.run(base.with_({"duration": "10 s", "flow.backup.start": "2 s", "flow.backup.count": 14}))
    pictures = {p.name: p for p in run_pictures(runs)}
    for name, wanted in (("delay-cdf", {"ping", "call"}), ("rtt-cdf", {"ping"})):
        shown = {s["label"] for c in pictures[name].charts for s in c.told()["series"]}
        assert wanted < shown and len(shown) == 6, (name, shown)
        assert "the 6 largest in each group of 1" in pictures[name].caption
    assert pictures["cwnd"].caption.endswith("the 6 largest of 14.")
    figures.close_all([*pictures.values()])
    (goodput,) = (c for c in charts(runs, runs) if c["key"] == "goodput")
    assert "call" in [s["name"] for s in goodput["series"]] and goodput["hidden"] == 16 - len(goodput["series"])
