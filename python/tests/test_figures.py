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

from crosswind import claims, drawn, figures, scoreboard
from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.stats import Estimate

Engine = Callable[..., Any]


@settings(deadline=None)
@given(st.integers(1, 30_000), st.integers(0, 10_000), st.integers(5, 100))
def test_thinning_keeps_the_highest_the_lowest_and_the_ends(n: int, seed: int, buckets: int) -> None:
    x, y = np.arange(float(n)), np.random.default_rng(seed).normal(size=n)
    tx, ty = drawn.thinned(x, y, buckets)
    assert tx.size <= max(n if n <= 4 * buckets else 0, 4 * buckets)
    assert ty.max() == y.max() and ty.min() == y.min() and (tx[0], tx[-1]) == (x[0], x[-1])
    assert (np.diff(tx) > 0).all()


def test_what_is_drawn_is_written_beside_the_figure(tmp_path: Path) -> None:
    p = figures.over_time("w", "Windows.", {"a": ([0.0, 1, 2], [5.0, 9, 7]), "b": ([0.0, 1], [1.0, 2])}, "window (kB)")
    p.save(tmp_path, "crosswind run x.toml")
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


def test_points_lie_where_the_figure_shows_them() -> None:
    p = figures.over_time("w", "Windows.", {"a": ([0.0, 10.0], [0.0, 10.0])}, "window (kB)", "lines")
    svg = p.svg()
    (line,) = drawn.points(p.figure)["series"]
    path = re.search(rf'<g id="w-{line["id"]}">\s*<path d="M ([\d.]+) ([\d.]+)\s*L ([\d.]+) ([\d.]+)', svg)
    assert path is not None
    ends = [line["at"][0][:2], line["at"][1][:2]]
    assert np.allclose(np.array(path.groups(), dtype=float).reshape(2, 2), ends, atol=0.1)
    p.close()


# Chromium is an optional tool (tools/optional-tools.sh): what the scripts of a page do shows only in a browser.
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_report_answers_to_the_keyboard_in_a_browser(engine: Engine, file: Path, tmp_path: Path) -> None:
    assert main(["run", str(file), "--out", str(tmp_path / "r")]) == 0
    page = tmp_path / "r/report.html"
    press = """<script>{ for (const d of document.querySelectorAll(".drawing"))
      for (const key of ["ArrowRight", "End"]) d.dispatchEvent(new KeyboardEvent("keydown", {key}));
      const [box] = document.querySelectorAll(".drawing"), svg = box.querySelector("svg"), seen = [];
      const look = () => seen.push(svg.getAttribute("viewBox").split(" ").map(Number));
      const key = (key) => { box.dispatchEvent(new KeyboardEvent("keydown", {key})); look(); };
      look(); key("+"); key("-"); key("+");
      const { left, top, width, height } = svg.getBoundingClientRect();
      const to = (type, dx) => box.dispatchEvent(new PointerEvent(type,
        { clientX: left + width / 2 + dx, clientY: top + height / 2, pointerId: 1 }));
      box.setPointerCapture = () => {};
      to("pointerdown", 0); to("pointermove", 30); to("pointerup", 30); look();
      const wheel = { clientX: left, clientY: top, deltaY: -1, bubbles: true };
      box.dispatchEvent(new WheelEvent("wheel", wheel)); look();
      box.dispatchEvent(new WheelEvent("wheel", { ...wheel, ctrlKey: true })); look();
      key("0");
      document.body.dataset.seen = JSON.stringify(seen);
      document.querySelectorAll(".toggles button")[4].click(); }</script></body>"""
    page.write_text(page.read_text().replace("</body>", press))
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    said = re.findall(r"<output[^>]*>([^<]*)</output>", dom)
    assert len(said) == 5 and any("congestion window (kB) " in s for s in said), said
    assert 'aria-pressed="false"' in dom and 'style="display: none;"' in dom
    whole, closer, back, again, dragged, scrolled, wheeled, at_last = json.loads(
        html.unescape(re.findall(r'data-seen="([^"]*)"', dom)[0])
    )
    assert closer[2] == pytest.approx(whole[2] / 1.5) and np.allclose(closer, again)
    assert np.allclose([back, at_last], whole)
    assert dragged[0] < again[0] and np.allclose(dragged[1:], again[1:]), "the figure follows the pointer"
    assert scrolled == dragged and wheeled[2] == pytest.approx(dragged[2] / 1.25), "the wheel alone scrolls the page"


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
    for place in ("o/e1", "o/e1/variants/x"):
        (tmp_path / place / "claims.json").write_text(json.dumps(rows))
    assert main(["scoreboard", str(tmp_path / "o")]) == 0
    page = (tmp_path / "o/scoreboard.html").read_text()
    assert "crosswind reproduce study-2006/e1" in page and page.count('class="spark"') == 2
    assert "4.0 s to 6.0 s" in page and "needs an aeroplane" in page and "n = 30" in page
    with pytest.raises(InputError, match="no claims"):
        scoreboard.collect(tmp_path / "r")
