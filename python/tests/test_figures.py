"""Figures: no peak is lost, what is drawn can be read back, and reports answer to the keyboard."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosswind import figures
from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.figures import charts
from crosswind.reproduce import claims, gathered, scoreboard
from crosswind.stats import Estimate

Engine = Callable[..., Any]


@settings(deadline=None)
@given(st.integers(1, 30_000), st.integers(0, 10_000), st.integers(5, 100))
def test_thinning_keeps_the_highest_the_lowest_and_the_ends(n: int, seed: int, buckets: int) -> None:
    x, y = np.arange(float(n)), np.random.default_rng(seed).normal(size=n)
    tx, ty = charts.thinned(x, y, buckets)
    assert tx.size <= max(n if n <= 4 * buckets else 0, 4 * buckets)
    assert ty.max() == y.max() and ty.min() == y.min() and (tx[0], tx[-1]) == (x[0], x[-1])
    assert (np.diff(tx) > 0).all()


def test_what_is_drawn_is_written_beside_the_figure(tmp_path: Path) -> None:
    p = figures.over_time("w", "Windows.", {"a": ([0.0, 1, 2], [5.0, 9, 7]), "b": ([0.0, 1], [1.0, 2])}, "window (kB)")
    p.save(tmp_path, "crosswind run x.toml", figures.FORMATS)
    table = pl.read_csv(tmp_path / "w.csv")
    assert table.columns == ["panel", "series", "time (s)", "window (kB)"] and table.height == 5
    assert "crosswind run x.toml" in (tmp_path / "w.svg").read_text()
    assert (tmp_path / "w.pdf").read_bytes().startswith(b"%PDF")
    p.close()


def test_a_figure_is_written_in_the_formats_that_are_asked_for(tmp_path: Path) -> None:
    p = figures.over_time("w", "Windows & more.", {"a": ([0.0, 1], [5.0, 9])}, "window (kB)")
    inline = p.svg()
    p.save(tmp_path, formats=("svg",))
    assert {f.suffix for f in tmp_path.iterdir()} == {".svg", ".csv"}
    text = (tmp_path / "w.svg").read_text()
    assert "<desc>Windows &amp; more.</desc>" in text and p.svg() == inline
    p.close()


def test_a_figure_is_laid_out_like_one_that_is_laid_out_by_the_first_drawing(tmp_path: Path) -> None:
    lines = {"a": ([0.0, 1, 2], [5.0, 9, 7]), "b": ([0.0, 1], [1.0, 2])}
    ours, theirs = (figures.over_time("w", "Windows.", lines, "window (kB)") for _ in range(2))
    ours.svg()
    theirs.figure.draw_without_rendering()
    at = [p.figure.axes[0].get_position().bounds for p in (ours, theirs)]
    assert at[0] == at[1]
    for p in (ours, theirs):
        p.close()


def test_a_chart_holds_what_is_drawn() -> None:
    lines = {"a": ([0.0, 10.0], [0.0, 10.0]), "b": ([0.0, 5.0], [1.0, 2.0])}
    p = figures.over_time("w", "Windows.", lines, "window (kB)")
    (chart,) = (c.told() for c in p.charts)
    assert (chart["x"], chart["y"], chart["xlog"], chart["names"]) == ("time (s)", "window (kB)", False, [])
    assert [(s["label"], s["kind"], s["x"], s["y"]) for s in chart["series"]] == [
        ("a", "steps", [0.0, 10.0], [0.0, 10.0]),
        ("b", "steps", [0.0, 5.0], [1.0, 2.0]),
    ]
    p.close()


def test_published_medians_stand_as_crosses_beside_the_measured_ones() -> None:
    groups = {"BL": {"faster": [1.0, 2.0, 3.0], "slower": [4.0, 5.0, 6.0]}, "ETCP": {"faster": [2.0], "slower": [7.0]}}
    p = figures.quartile_bars("q", "Times.", groups, "s", printed={"slower": {"BL": 5.5, "elsewhere": 9.0}})
    (chart,) = (c.told() for c in p.charts)
    measured, cross = (s for s in chart["series"] if s["label"].startswith("slower"))
    assert cross["label"] == "slower, published" and cross["y"] == [5.5]
    assert cross["x"] == measured["x"][:1]
    p.close()


def test_marks_at_one_time_stand_beside_each_other_in_a_chart() -> None:
    rows = {"kind": ["send", "send", "drop", "timeout"], "end": ["sender"] * 4}
    events = pl.DataFrame({**rows, "time_ns": [10**9] * 3 + [2 * 10**9], "seq": [1, 2, 3, 1], "len": [9, 9, 9, 0]})
    p = figures.time_sequence("t", "c", events)
    (chart,) = (c.told() for c in p.charts)
    sent = next(s for s in chart["series"] if s["label"].startswith("sent"))
    assert sent["kind"] == "points" and len(set(sent["x"])) == 2 and np.allclose(sent["x"], 1.0)
    assert [v["x"] for v in chart["verticals"]] == [2.0]
    p.close()


def test_what_a_chart_cannot_show_stays_a_picture() -> None:
    bars = figures.bars("b", "c", {"x": {"A": 1.0}}, "y")
    back = figures.over_time("w", "c", {"a": ([0.0, 2.0, 1.0], [0.0, 1.0, 2.0])}, "y", "lines")
    assert not bars.charts and not back.charts
    figures.close_all([bars, back])


def browse(page: Path, script: str, *options: str) -> str:
    """The page as a browser has it after a script has run in it."""
    page.write_text(page.read_text().replace("</body>", f"<script>{{ {script} }}</script></body>"))
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


# Chromium is an optional tool (tools/optional-tools.sh): what the scripts of a page do shows only in a browser.
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_report_answers_to_keyboard_and_pointer_in_a_browser(engine: Engine, file: Path, tmp_path: Path) -> None:
    assert main(["run", str(file), "--out", str(tmp_path / "r")]) == 0
    dom = browse(
        tmp_path / "r/report.html",
        """
        const seen = {}, [goodput, cwnd] = live, press = (c, key) =>
          c.frame.dispatchEvent(new KeyboardEvent("keydown", { key }));
        const ends = (c) => [c.u.scales.x.min, c.u.scales.x.max, c.u.scales.y.max];
        setTimeout(() => {
          seen.whole = ends(cwnd);
          cwnd.frame.focus(); press(cwnd, "ArrowRight"); press(cwnd, "ArrowRight"); press(cwnd, "+");
          setTimeout(() => {
            seen.closer = ends(cwnd); seen.linked = ends(goodput);
            press(cwnd, "0");
            setTimeout(() => {
              seen.back = ends(cwnd); press(cwnd, "l");
              seen.log = cwnd.u.scales.y.distr;
              const toggle = cwnd.box.parentElement.querySelector("button.series");
              toggle?.click(); seen.hidden = toggle ? cwnd.u.series.filter((s) => !s.show).length : 1;
              document.querySelector("table.data th button")?.click();
              document.body.dataset.seen = JSON.stringify(seen);
            }, 50);
          }, 50);
        }, 50);""",
        "--virtual-time-budget=5000",
    )
    seen = json.loads(html.unescape(re.findall(r'data-seen="([^"]*)"', dom)[0]))
    said = re.findall(r"<output[^>]*>([^<]+)</output>", dom)
    assert any("congestion window (kB)" in s for s in said), said
    assert seen["closer"][1] - seen["closer"][0] < seen["whole"][1] - seen["whole"][0]
    assert seen["linked"][1] == pytest.approx(seen["closer"][1]), "figures over time move together"
    assert seen["back"] == pytest.approx(seen["whole"]) and seen["log"] == 3 and seen["hidden"] == 1
    assert dom.count('class="uplot') == len(re.findall('class="chart-data"', dom))


def part(value: float | None, low: float, high: float, accept: tuple[float | None, float | None]) -> dict[str, Any]:
    ends = {"accept_low": accept[0], "accept_high": accept[1]}
    return {"label": "x", "value": value, "low": low, "high": high, "n": 9, **ends}


def test_the_spark_of_a_claim_says_whether_the_value_lies_in_the_band() -> None:
    assert "inside it" in scoreboard.spark(part(5, 4, 6, (3, 7)))
    assert "inside it" in scoreboard.spark(part(5, 4, 6, (None, 7)))
    assert "outside it" in scoreboard.spark(part(9, 8, 10, (3, 7)))
    assert scoreboard.spark(part(None, 0, 0, (None, None))) == ""


def test_the_scoreboard_lists_every_claim_with_its_command(tmp_path: Path) -> None:
    measured = claims.Part("median", lambda _: Estimate(5.0, 4.0, 6.0, 30), claims.near(5.5, 1.0), "5.5 s", "s")
    known = claims.Claim("J1", "It takes a while", "5.5 s", [measured, measured])
    later = claims.Claim("J2", "It works in the air", "yes", needs="an aeroplane")
    nothing: Any = None
    rows = [c.check(nothing).row("study-2006/e1", 1.0) for c in (known, later)]
    (tmp_path / "o/e1/variants/x").mkdir(parents=True)
    for place, variant in (("o/e1", "main"), ("o/e1/variants/x", "x")):
        manifest = {"experiment": "study-2006/e1", "variant": variant, "code_version": "1", "wall_s": 1, "warnings": []}
        (tmp_path / place / "manifest.json").write_text(json.dumps(manifest))
        (tmp_path / place / "claims.json").write_text(json.dumps(rows))
    assert main(["scoreboard", str(tmp_path / "o")]) == 0
    page = (tmp_path / "o/scoreboard.html").read_text()
    assert "crosswind reproduce study-2006/e1" in page and page.count('class="spark"') == 2
    assert "4.0 s to 6.0 s" in page and "needs an aeroplane" in page and "n = 30" in page
    with pytest.raises(InputError, match="no claims"):
        gathered.gather([tmp_path / "r"])


def test_published_values_are_marked_in_bars_and_over_time() -> None:
    bars = figures.bars("b", "c", {"x": {"A": 1.0, "B": 2.0}, "y": {"A": 3.0}}, "share", {"x": {"B": 2.5, "Z": 9.0}})
    crosses = [line for line in bars.figure.axes[0].get_lines() if line.get_marker() == "x"]
    assert [list(line.get_ydata()) for line in crosses] == [[2.5]], "a category that is not shown is left out"
    plain = figures.over_time("t", "c", {"a": ([0, 1], [1, 2])}, "y")
    marked = figures.over_time("t", "c", {"a": ([0, 1], [1, 2])}, "y", printed={"it is back": 0.5})
    assert not plain.charts[0].verticals
    assert [(v.x, v.label) for v in marked.charts[0].verticals] == [(0.5, "published: it is back")]
