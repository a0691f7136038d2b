"""Delay, loss and voice quality: the E-model, delay under load, and that summaries show them first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crosswind as cw
from crosswind import delays
from crosswind.cli import main
from crosswind.errors import InputError, UnknownNameError
from crosswind.results import voice
from crosswind.results.summary import delay_table, queue_table

Engine = Callable[..., Any]
HOP = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "10 ms"}
PING = {"from": "a", "to": "b", "workload": {"type": "ping", "interval": "100 ms"}}
CALL = {
    "from": "a",
    "to": "b",
    "dscp": "EF",
    "workload": {"type": "cbr", "payload": "172 B", "interval": "20 ms", "packets": 500},
}


def loaded(**flows: Any) -> cw.Scenario:
    load = {"from": "a", "to": "b", "start": "5 s", "workload": {"type": "bulk"}}
    hop = {**HOP, "queue": {"type": "droptail", "limit": "200 packets"}}
    return cw.Scenario.from_dict(
        {
            "name": "loaded",
            "duration": "15 s",
            "link": {"hop": hop},
            "flow": {"ping": PING, "load": load, **flows},
            "record": {"events": ["ping"]},
        }
    )


def test_the_e_model_gives_the_published_scores() -> None:
    # Values of the full formula, computed elsewhere by hand of the recommendation.
    delay_ms = [20, 50, 100, 150, 200, 250, 300, 400, 600]
    clean = [4.396, 4.380, 4.355, 4.328, 4.223, 3.993, 3.719, 3.216, 2.548]
    assert voice.mos(delay_ms, 0.0) == pytest.approx(clean, abs=6e-4)
    assert voice.mos([20, 100, 200, 400], 0.01) == pytest.approx([3.805, 3.723, 3.496, 2.280], abs=6e-4)
    assert voice.mos([20, 200], 0.03) == pytest.approx([2.759, 2.406], abs=6e-4)
    assert float(voice.r_factor(0, 0)) == pytest.approx(93.21, abs=5e-3)


def test_a_score_stays_on_its_scale_and_never_rises_with_delay_or_loss() -> None:
    assert voice.mos_of([-5, 0, 6, 101]).tolist() == [1.0, 1.0, 1.0, 4.5]
    losses = np.linspace(0, 1, 50)
    for form in ("full", "short"):
        by_loss = voice.mos(100.0, losses, form)  # type: ignore[arg-type]
        assert (np.diff(by_loss) <= 0).all() and by_loss[0] > 4 and by_loss[-1] < 1.05
        # From 20 ms on: the echo of a nearer end is no reason to wait longer.
        assert (np.diff(voice.r_factor(np.linspace(20, 800, 100), 0.0, form)) < 0).all()  # type: ignore[arg-type]
    assert voice.mos(20, 0.02, "short") > voice.mos(20, 0.02)


def frame(**columns: list[Any]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"configuration": ["c"] * n, "rep": [0] * n, "name": columns["group"], **columns})


def test_loss_counts_neither_the_way_back_nor_what_is_on_its_way() -> None:
    flows = frame(
        group=["open", "acks lost", "ping", "kernel", "silent"],
        sent_packets=[100, 100, 100, 100, 0],
        drops_packets=[2, 20, 5, 3, 0],
        lost_packets=[0, 0, 0, 1, 0],
        received_packets=[90, 100, 99, -1, 0],
        reply_packets=[-1, -1, 96, -1, -1],
    )
    found = delays.judged(flows, {"c": cw.Scenario.from_dict({"name": "c"})})["loss_ratio"].to_list()
    assert found == [0.02, 0.0, 0.04, 0.04, None]


def test_only_streams_that_are_marked_as_voice_have_a_score() -> None:
    scenario = cw.Scenario.from_dict(
        {
            "flow": {
                "call": CALL,
                "dead": CALL,
                "plain": {**CALL, "dscp": "AF11"},
                "transfer": {"dscp": "EF", "workload": {"type": "bulk"}},
            }
        }
    )
    assert delays.voice_groups(scenario) == ["call", "dead"]
    flows = frame(
        group=["call", "dead", "plain", "transfer"],
        sent_packets=[100] * 4,
        drops_packets=[1, 100, 0, 0],
        lost_packets=[0] * 4,
        received_packets=[99, 0, 100, 100],
        delay_mean_ns=[80e6, float("nan"), 80e6, 80e6],
        jitter_mean_ns=[10e6, float("nan"), 1e6, float("nan")],
    )
    found = delays.judged(flows, {"c": scenario})["mos"].to_list()
    assert found == [pytest.approx(3.723, abs=1e-3), 1.0, None, None]


@pytest.mark.engine
def test_load_adds_what_the_queue_holds() -> None:
    runs = cw.run(loaded())
    found = delays.under_load(runs, settle_s=3).row(0, named=True)
    # 60 bytes each way: 48 us of transmission and 10 ms of propagation.
    assert found["idle_p50_ns"] == found["idle_p99_ns"] == 20_096_000 and found["idle_pings"] == 50
    # 200 packets of 1500 bytes take 240 ms: a full queue is the most that can be added.
    assert 100e6 < found["added_p50_ns"] < 242e6
    assert found["added_p99_ns"] == found["loaded_p99_ns"] - found["idle_p99_ns"] <= 242e6
    assert found["idle_rpm"] == pytest.approx(60 / 0.020096)
    times = delays.round_trips(runs, "ping").filter(pl.col("time_ns") >= 8e9)["rtt_ns"].to_numpy()
    kept = np.sort(times)[: int(np.ceil(0.95 * (len(times) - 1))) + 1]
    assert found["responsiveness_rpm"] == pytest.approx(60e9 / kept.mean())
    assert found["loaded_pings"] == len(times) and found["grade"] in ("C", "D")
    without = cw.Scenario.from_dict({**loaded().data, "name": "idle", "flow": {"ping": PING}})
    other = delays.under_load(runs, settle_s=3, idle=cw.run(without)).row(0, named=True)
    assert other["idle_pings"] > 140 and other["added_p50_ns"] == found["added_p50_ns"]


def test_a_page_has_the_delays_and_the_losses_of_its_connections() -> None:
    flows = frame(
        group=["page"] * 3 + ["other"],
        sent_packets=[100, 300, 0, 50],
        drops_packets=[10, 10, 0, 50],
        lost_packets=[0] * 4,
        received_packets=[90, 290, 0, 0],
        delay_min_ns=[10e6, 8e6, float("nan"), 1e6],
        delay_p95_ns=[30e6, 40e6, float("nan"), 9e9],
        queue_delay_p95_ns=[20e6, 32e6, float("nan"), 9e9],
        rtt_p50_ns=[20e6, float("nan"), float("nan"), 9e9],
    ).with_columns(name=pl.Series(["page/body", "page/1", "page/2", "other"]))
    judged = delays.judged(flows, {"c": cw.Scenario.from_dict({"name": "c"})})
    pages = pl.DataFrame({"configuration": ["c"], "rep": [0], "group": ["page"], "name": ["page"]})
    page = delays.of_pages(judged, pages).row(0, named=True)
    assert page["loss_ratio"] == pytest.approx(20 / 400)
    assert (page["delay_min_ns"], page["delay_p95_ns"], page["rtt_p50_ns"]) == (8e6, 35e6, 20e6)
    assert page["queue_delay_p95_ns"] == pytest.approx((20e6 + 32e6) / 2)


@pytest.mark.engine
def test_every_transport_and_workload_reports_delay_and_loss() -> None:
    kinds: dict[str, dict[str, Any]] = {
        "bulk": {"workload": {"type": "bulk"}},
        "page": {"workload": {"type": "page"}},
        "web": {"workload": {"type": "web", "size": "20 kB", "every": "1 s"}},
        "stream": CALL,
        "bursts": {"workload": {"type": "on-off", "rate": "200 kbit/s", "payload": "500 B", "on": "1 s", "off": "1 s"}},
        "ping": PING,
        "tfrc": {"transport": "tfrc", "workload": {"type": "bulk"}},
        "udt": {"transport": "udt", "workload": {"type": "bulk"}},
    }
    flows = {name: {"from": "a", "to": "b", **flow} for name, flow in kinds.items()}
    runs = cw.run(loaded(**flows))
    shown = delay_table(runs)
    assert shown is not None
    cells = {row[0]: dict(zip(shown.heads, row, strict=True)) for row in shown.rows}
    assert set(flows) <= cells.keys()
    for name in flows:
        for head in ("delay p50", "delay p95", "delay p99", "loss", "in queues p50", "in queues p95", "in queues p99"):
            assert cells[name][head] != "-", (name, head)
    assert all(cells[name]["jitter"] != "-" for name in ("stream", "bursts", "ping", "tfrc", "udt"))
    assert all(cells[name]["rtt p99"] != "-" for name in ("bulk", "page", "web", "ping", "tfrc", "udt"))


@pytest.mark.engine
def test_sweeps_and_comparisons_know_the_responsiveness_that_a_load_leaves() -> None:
    from crosswind.sweep.summary import rows_of, table_of

    done = cw.sweep(loaded(), {"link.hop.queue.limit": ["20 packets", "200 packets"]})
    rows = {(r["group"], r["queue_limit"]): r for r in rows_of(done)}
    short, long = (rows["ping", limit]["responsiveness_rpm"] for limit in ("20 packets", "200 packets"))
    assert short > 2 * long > 0 and rows["load", "20 packets"]["responsiveness_rpm"] is None
    assert "round trips/min" in table_of(done).heads
    less = loaded().with_({"link.hop.queue.limit": "20 packets"})
    found = cw.compare(cw.run(less), cw.run(loaded()))
    assert {"added_p50_ns", "responsiveness_rpm"} <= set(found.filter(pl.col("flow") == "ping")["metric"])


@pytest.mark.engine
def test_what_only_one_side_has_is_not_compared() -> None:
    found = cw.compare(cw.run(loaded(call=CALL)), cw.run(loaded(call={**CALL, "dscp": "AF11"})))
    assert "mos" not in found["metric"].to_list() and "delay_p50_ns" in found["metric"].to_list()


@pytest.mark.engine
def test_what_cannot_be_measured_is_refused_with_the_reason() -> None:
    runs = cw.run(loaded(early=CALL))
    with pytest.raises(UnknownNameError, match="pong"):
        delays.under_load(runs, "pong")
    with pytest.raises(UnknownNameError, match="lod"):
        delays.under_load(runs, load="lod")
    with pytest.raises(InputError, match=r"\[record\] events"):
        delays.under_load(runs, "load", load="ping")
    with pytest.raises(InputError, match="no idle pings"):
        delays.under_load(runs, load="early")
    with pytest.raises(InputError, match="no loaded pings"):
        delays.under_load(runs, settle_s=100)


def test_grades() -> None:
    assert [delays.grade(x) for x in (0, 5, 29, 59, 199, 399, 400)] == ["A+", "A", "A", "B", "C", "D", "F"]


@pytest.mark.engine
def test_the_summary_shows_delay_loss_and_voice_within_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    scenario = tmp_path / "loaded.toml"
    scenario.write_text(loaded(call=CALL).to_toml())
    assert main(["run", str(scenario), "--no-report", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    for head in (
        "Under load",
        "round trips/min",
        "Delays",
        "Queues",
        "delay p50",
        "delay p95",
        "jitter",
        "loss",
        "MOS",
        "rtt p95",
    ):
        assert head in said
    assert main(["run", str(scenario), "--json", "--out", str(tmp_path / "json")]) == 0
    text = capsys.readouterr().out
    assert "NaN" not in text, "which is no JSON"
    found = json.loads(text)
    rows = {r["name"]: r for r in found["generators"]}
    assert [r["flow"] for r in found["under_load"]] == ["ping"] and found["under_load"][0]["responsiveness_rpm"] > 0
    assert 1 <= rows["call"]["mos"] <= 4.5 and rows["load"]["mos"] is None and rows["load"]["loss_ratio"] > 0


def test_tables_of_delays_have_the_99th_percentile(engine: Engine, file: Path) -> None:
    runs = cw.run(file)
    flows, queues = delay_table(runs), queue_table(runs)
    assert flows is not None and queues is not None
    assert [h for h in flows.heads if "p99" in h] == ["delay p99", "rtt p99"] and "delay p99" in queues.heads
    assert "MOS" not in flows.heads, "there is no call"


def test_sweeps_and_comparisons_show_delay(engine: Engine, file: Path) -> None:
    from crosswind.sweep.summary import rows_of, table_of

    done = cw.sweep(file, {"flow.bulk.count": [1, 2]}, reps=2)
    assert {"delay_p50", "p95", "p99"} <= {h.replace(" ", "_") for h in table_of(done).heads}
    assert rows_of(done)[0]["delay_p99_ns"] == 2.5e9
    compared = cw.compare(cw.run(file, reps=2), cw.run(file, reps=2, seed=2))["metric"].to_list()
    assert {"delay_p50_ns", "delay_p99_ns"} <= set(compared)


QUEUES_ON_THE_WAY: list[dict[str, Any]] = [
    *({"type": t} for t in ("droptail", "red-ns2", "codel", "cobalt", "pie", "pi2", "fq-codel", "fq-pie", "dualpi2")),
    *({"type": t} for t in ("cake", "sfq", "sfb", "blue", "fq")),
    {"type": "htb", "default": "all", "class": {"all": {"rate": "9 Mbit/s", "ceil": "9 Mbit/s", "queue": {}}}},
]


@pytest.mark.engine
@pytest.mark.parametrize("queue", QUEUES_ON_THE_WAY, ids=lambda q: q["type"])
def test_a_flow_knows_how_long_its_packets_were_in_the_queues_of_all_links(queue: dict[str, Any]) -> None:
    # Packets of one size over lines of one rate each: what the delay is longer than the shortest is waiting.
    stream = {"type": "on-off", "rate": "14 Mbit/s", "payload": "1000 B", "on": "200 ms", "off": "400 ms"}
    line = {"delay": "5 ms", "queue": {"limit": "30 packets"}}
    scenario = {
        "name": "three-queues",
        "duration": "10 s",
        "link": {
            "one": {"from": "a", "to": "r", "rate": "12 Mbit/s", **line},
            "two": {"from": "r", "to": "s", "rate": "10 Mbit/s", "delay": "5 ms", "queue": queue},
            "three": {"from": "s", "to": "b", "rate": "8 Mbit/s", **line},
        },
        "flow": {"stream": {"from": "a", "to": "b", "transport": "udp", "workload": stream}},
    }
    flow = cw.run(cw.Scenario.from_dict(scenario)).flows().row(0, named=True)
    least = flow["delay_min_ns"]
    assert flow["queue_delay_min_ns"] == 0 and flow["queue_delay_max_ns"] > 20e6
    for what in ("mean", "max"):
        assert flow[f"queue_delay_{what}_ns"] == pytest.approx(flow[f"delay_{what}_ns"] - least, abs=3), what
