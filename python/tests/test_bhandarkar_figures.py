"""Figures of [Bhandarkar 2006], and the runs that are made for them alone."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind.experiments.bhandarkar_2006 import f18_f25, f30_f36, f38_f41, f56_f70, f59_f68
from crosswind.figures.panels import Lines, panels
from crosswind.reproduce import MissingDataError, Results
from crosswind.scenario import Scenario


def _without(scenario: Scenario, *paths: str) -> dict[str, Any]:
    """The scenario as a table, without these entries."""
    whole: dict[str, Any] = scenario.complete()
    for path in ("name", "title", *paths):
        *folders, last = path.split(".")
        part = whole
        for folder in folders:
            part = part[folder]
        part.pop(last, None)
    return whole


def _shown(count: int, y: list[float], **more: Any) -> Any:
    wanted: dict[str, Lines] = {f"panel {k}": {"one": ([1, 10], y), "two": ([1, 10], y)} for k in range(count)}
    return panels("name", "Caption.", wanted, "x", **more)


def test_the_last_panel_of_each_column_names_the_axis() -> None:
    picture = _shown(3, [1.0, 2.0])
    assert [ax.get_xlabel() for ax in picture.figure.axes[:3]] == ["", "x", "x"]
    assert not picture.figure.axes[3].get_visible()
    picture.close()


@pytest.mark.parametrize(("y", "top"), [([0.0, 0.0], 1e-4), ([0.0, 0.01], 0.02)])
def test_a_log_axis_of_shares_ends_at_nothing(y: list[float], top: float) -> None:
    picture = _shown(1, y, logarithmic=("panel 0",))
    low, high = picture.figure.axes[0].get_ylim()
    assert -1e-6 < low <= 0 and high == pytest.approx(top)
    picture.close()


def test_panels_of_one_scale_have_the_largest_in_them() -> None:
    wanted: dict[str, Lines] = {"small": {"one": ([0, 1], [1, 1])}, "large": {"one": ([0, 1], [1, 9])}}
    picture = panels("name", "Caption.", wanted, "x", axis="linear", shape="points", scale="one")
    assert [ax.get_ylim() for ax in picture.figure.axes[:2]] == [(0.0, pytest.approx(9.45))] * 2
    assert not picture.figure.legends, "one series needs no legend"
    picture.close()


def test_a_packet_is_delivered_when_it_first_arrives_after_it_was_first_sent() -> None:
    rows = [("send", 0, 1), ("send", 0, 1001), ("retransmit", 50, 1), ("receive", 20, 1001), ("receive", 90, 1)]
    rows += [("receive", 95, 1)]
    own = pl.DataFrame([(k, t * 1_000_000, s) for k, t, s in rows], schema=["kind", "time_ns", "seq"], orient="row")
    once, again = f18_f25.delivered(own)
    assert once.select("seq", "ms").rows() == [(1001, 20.0)]
    assert again.select("seq", "ms").rows() == [(1, 90.0)]


@pytest.mark.parametrize("size", ["full", "quick"])
def test_what_is_watched_is_what_is_measured(size: str) -> None:
    """A run made for a picture is one that the claims are about, seen more closely."""
    queues, late = f18_f25.configurations(size=size), f56_f70.configurations(size=size)
    assert _without(queues["f24 watched sack"], "record") == _without(queues["f24 sack"], "record")
    assert _without(queues["f21 dcr"], "record") == _without(queues["f23 dcr"], "record")
    assert _without(late["f58 0.01"], "record") == _without(late["one 0.01 LTCP-DCR"], "record")
    variant = f56_f70.configurations(size=size, ltcp_dcr="LTCP-NCR")
    assert _without(variant["f58 0.02"]) != _without(late["f58 0.02"])


def test_figure_30_gives_every_protocol_the_same_start() -> None:
    for size, first in (("full", "100000 B"), ("quick", "10000 B")):
        made = f30_f36.configurations(size=size)
        for p in ("SACK", *f30_f36.PROTOCOLS):
            assert made[f"f30 {p}"].get("flow.one.tcp.initial_ssthresh") == first


def test_figure_64_is_one_flow_behind_5000_packets() -> None:
    made = f59_f68.configurations(size="quick")
    limits = {p: made[f"f64 {p}"].get("topology.bottleneck.queue.limit") for p in f59_f68.ONE}
    assert set(limits.values()) == {"5000 packets"}
    delays = [made["f64 BIC"].get(f"topology.{part}.delay") for part in ("access", "bottleneck")]
    assert delays == ["10 ms", "40 ms"]


@pytest.mark.engine
def test_a_flow_that_is_never_answered_costs_its_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = f38_f41.world("seen", 10, 10, 16.0)
    silent = seen.with_({"flow.one.start": "15.99 s"})
    monkeypatch.setattr(f38_f41, "CASES", {"seen": (10, 10), "silent": (10, 10)})
    runs = cw.run({"seen": seen, "silent": silent})
    r = Results(runs, f38_f41.tables(runs))
    assert r.table("unseen").rows() == [("silent", 0)]
    assert set(r.table("score")["case"]) == {"seen"}
    parts = {p.label: p for c in f38_f41.EXPERIMENT.claims for p in c.parts}
    share = parts["efficiency and false positives less 1, largest"].measure(r)
    assert not isinstance(share, float) and share.value == pytest.approx(0)
    with pytest.raises(MissingDataError, match="no round-trip samples in silent"):
        parts["Vegas, reported"].measure(r)
    for picture in f38_f41.pictures(r):
        picture.close()
