"""Reports and figures: self-contained, labelled, readable without pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crosswind as cw
from crosswind import figures, report
from crosswind.figures.of_runs import run_pictures
from crosswind.figures.pictures import packet_delays

Engine = Callable[..., Any]
GATEWAY = Path(__file__).resolve().parents[2] / "scenarios/home-gateway.toml"
VOID = {"meta", "br", "img", "link", "input", "hr", "path", "use", "rect", "line", "circle", "stop"}


class Balanced(HTMLParser):
    """Fails when a tag is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, tag


def page(file: Path, **options: Any) -> str:
    html, pictures = report.run_report(cw.run(file, **options))
    figures.close_all(pictures)
    return html


def test_the_report_stands_alone_and_is_well_formed(engine: Engine, file: Path) -> None:
    html = page(file)
    assert not re.search(r'(?:src|href)="(?!#|figures/)', html)
    assert "@import" not in html and "url(http" not in html
    checker = Balanced()
    checker.feed(html)
    assert checker.open == []


def test_the_report_shows_every_kind_of_figure(engine: Engine, file: Path) -> None:
    html = page(file)
    for name in ("goodput", "cwnd", "queue", "queue-delay-cdf", "time-sequence"):
        assert f'id="fig-{name}"' in html
    shown = html.count('<figure id="fig-')
    assert html.count('role="img" aria-label="') == html.count('class="chart-data"') == shown >= 5
    assert "<svg" not in html, "nothing is drawn before it is asked for"
    for label in (
        "time (s)",
        "congestion window (kB)",
        "queue backlog (kB)",
        "queueing delay (s)",
        "sequence number (kB)",
    ):
        assert label in html


def test_a_picture_of_one_series_names_it_and_lines_come_in_natural_order(engine: Engine, file: Path) -> None:
    file.write_text(file.read_text().replace("count = 2", "count = 11"))
    runs = cw.run(file)
    pictures = {p.name: p for p in run_pictures(runs)}
    assert pictures["queue"].caption == "Backlog of the queues: last-hop."
    legend = [t.get_text() for t in pictures["cwnd"].figure.legends[0].get_texts()]
    assert len(legend) == 6 and legend == sorted(legend, key=lambda n: int(n.split("-")[1]))
    assert "the 6 largest of 11" in pictures["cwnd"].caption
    figures.close_all(list(pictures.values()))


def test_goodput_is_shown_as_means_over_whole_parts_of_the_run(engine: Engine, file: Path) -> None:
    (picture,) = (p for p in run_pictures(cw.run(file)) if p.name == "goodput")
    line = picture.figure.axes[0].lines[0]
    assert len(line.get_xdata()) == 60
    steps = np.diff(np.asarray(line.get_xdata(), dtype=float))
    assert np.allclose(steps, steps[0], rtol=0.1)
    picture.close()


def test_a_flow_that_the_receiving_end_saw_is_not_mixed_into_its_time_sequence_graph() -> None:
    rows = {"kind": ["send", "timeout", "ack", "timeout"], "end": ["sender", "sender", "sender", "receiver"]}
    events = pl.DataFrame({**rows, "time_ns": [1, 2, 3, 4], "seq": [1, 0, 537, 1], "len": [536, 0, 0, 0]})
    picture = figures.time_sequence("t", "c", events)
    assert picture.figure.legends and "timeout" not in {t.get_text()[:7] for t in picture.figure.legends[0].get_texts()}
    picture.close()


def test_ids_of_inline_figures_do_not_collide(engine: Engine, file: Path) -> None:
    ids = re.findall(r'<(?!g)\w+ [^>]*?id="([^"]+)"', page(file))
    assert len(ids) == len(set(ids))


def test_text_from_a_scenario_cannot_become_markup(engine: Engine, file: Path) -> None:
    file.write_text(file.read_text().replace("Two flows on a slow link", "<script>alert(1)</script>"))
    html = page(file)
    assert "<script>alert" not in html and "&lt;script&gt;" in html


def test_repetitions_add_spread_figures_and_a_note(engine: Engine, file: Path) -> None:
    html = page(file, reps=4)
    assert 'id="fig-goodput-spread"' in html and "Medians over 4 repetitions" in html


def test_an_interrupted_run_carries_a_warning(engine: Engine, file: Path) -> None:
    engine(stop_after=1)
    assert "Check before trusting" in page(file, reps=3)


def test_a_picture_is_written_as_svg_and_png(tmp_path: Path) -> None:
    picture = figures.quartile_bars("p", "Caption.", {"A": {"x": [1, 2, 3]}, "B": {"x": [2, 3]}}, "elapsed time (s)")
    picture.save(tmp_path, formats=figures.FORMATS)
    assert (tmp_path / "p.svg").stat().st_size > 1000 and (tmp_path / "p.png").stat().st_size > 1000
    assert "A x 2" in picture.alt and "elapsed time (s)" in picture.alt
    picture.close()


def test_figures_leave_matplotlibs_settings_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    figures.scatter("s", "c", {"a": (np.arange(3), np.arange(3))}, "x (s)", "y (s)").close()
    assert dict(matplotlib.rcParams) == before


def test_a_figure_of_nothing_does_not_fail() -> None:
    figures.quartile_bars("p", "c", {"A": {"x": []}}, "y").close()
    empty = pl.DataFrame(
        {"kind": [], "end": [], "time_ns": [], "seq": [], "len": []},
        schema={"kind": pl.String, "end": pl.String, "time_ns": pl.Int64, "seq": pl.Int64, "len": pl.Int64},
    )
    figures.time_sequence("t", "c", empty).close()


def test_quartile_bars_are_told_by_configuration_as_a_table_and_as_a_chart() -> None:
    groups = {"A": {"x": [1, 2, 3], "y": [float("nan")]}, "B": {"x": [2, 3], "y": [4.0]}}
    picture = figures.quartile_bars("p", "Caption.", groups, "elapsed time (s)")
    table = picture.table()
    assert table is not None and table.columns[:3] == ["configuration", "series", "min"]
    assert table.filter(configuration="A", series="x").row(0)[2:] == (1.0, 1.5, 2.0, 2.5, 3.0)
    (chart,) = (c.told() for c in picture.charts)
    assert chart["names"] == ["A", "B"] and chart["y"] == "elapsed time (s)"
    told = {s["label"]: (s["y"], s["low"], s["high"]) for s in chart["series"]}
    assert told == {"x": ([2.0, 2.5], [1.5, 2.25], [2.5, 2.75]), "y": ([4.0], [4.0], [4.0])}
    picture.close()


def test_every_configuration_has_a_panel_and_a_flow_one_colour_in_all_figures(engine: Engine, file: Path) -> None:
    base = cw.Scenario.load(file)
    runs = cw.run({"short": base, "long": base.with_({"link.last-hop.queue.limit": "40 packets"})}, reps=2)
    pictures = {p.name: p for p in run_pictures(runs)}
    colours: dict[str, set[str]] = {}
    for name in ("goodput", "cwnd", "goodput-spread"):
        charts = [c.told() for c in pictures[name].charts]
        if name != "goodput-spread":
            assert [c["title"] for c in charts] == ["short", "long"]
            assert "the first of 2 repetitions" in pictures[name].caption
        for s in (s for c in charts for s in c["series"]):
            colours.setdefault(s["label"], set()).add(s["colour"])
    assert colours and all(len(c) == 1 for c in colours.values()), colours
    figures.close_all(list(pictures.values()))


@pytest.mark.engine
def test_pings_and_calls_are_shown_by_the_delay_of_each_packet() -> None:
    scenario = cw.Scenario.load(GATEWAY).with_({"record.events": ["ping", "call"], "duration": "30 s"})
    runs = cw.run(scenario)
    last = run_pictures(runs)[-1]
    assert last.name == "packet-delays" and "Flow ping, packet by packet" in last.caption
    for name, answered, largest in (("ping", True, "rtt_max_ns"), ("call", False, "delay_max_ns")):
        (chart,) = packet_delays("d", "c", runs.events().filter(pl.col("name") == name), answered=answered).charts
        came, missing = chart.series
        flow = runs.flows().filter(name=name).row(0, named=True)
        assert chart.y == f"{'round-trip time' if answered else 'one-way delay'} (s)"
        assert came.y.max() * 1e9 == pytest.approx(flow[largest], abs=1)
        assert came.x.size + missing.x.size == flow["sent_packets"] and missing.x.size >= flow["drops_packets"] > 0
        before = came.y[came.x < 10]
        assert before.max() < 0.03 < 0.5 < came.y.max(), "before the backup and while it lasts"
