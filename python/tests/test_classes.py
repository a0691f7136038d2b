"""Queues with classes and flow queues: what each class gets, in tables and for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind.results.summary import class_table

ROOT = Path(__file__).resolve().parents[2]


def scenario(queue: dict[str, Any], **more: Any) -> cw.Scenario:
    """One long transfer and a small stream over 4 Mbit/s; `more`: further keys of the transfer's TCP."""
    return cw.Scenario(
        {
            "name": "classes",
            "duration": "8 s",
            "link": {"path": {"from": "a", "to": "b", "rate": "4 Mbit/s", "delay": "10 ms", "queue": queue}},
            "flow": {
                "bulk": {"from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": {"preset": "rfc", **more}},
                "voice": {
                    "from": "a",
                    "to": "b",
                    "workload": {"type": "cbr", "payload": "172 B", "interval": "20 ms", "packets": 300},
                },
            },
        }
    )


def of_class(runs: cw.Runs, name: str) -> dict[str, Any]:
    return runs.classes().filter((pl.col("class") == name) & (pl.col("direction") == "forward")).row(0, named=True)


def test_each_class_of_a_scheduler_has_its_delays_and_its_drops() -> None:
    queue = {
        "type": "prio",
        "filter": [{"class": "voice", "flow": "voice"}],
        "default": "rest",
        "class": {
            "voice": {"prio": 1, "queue": {"limit": "10 packets"}},
            "rest": {"prio": 2, "queue": {"limit": "60 packets"}},
        },
    }
    runs = cw.run(scenario(queue))
    voice, rest = of_class(runs, "voice"), of_class(runs, "rest")
    assert voice["arrived_packets"] == voice["sent_packets"] == 300
    assert voice["sent_bytes"] == 300 * 200
    # A packet on the line takes 3 ms; the others wait behind 60 of them.
    assert voice["queue_delay_max_ns"] < 3.1e6 < 60e6 < rest["queue_delay_p95_ns"]
    link = runs.links().filter(pl.col("direction") == "forward").row(0, named=True)
    assert rest["drops_packets"] == rest["drops_queue_full_packets"] == link["drops_queue_full_packets"] > 0
    table = class_table(runs)
    assert table is not None
    assert {row[2] for row in table.rows if row[1] == "forward"} == {"rest", "voice"}
    assert "dropped: queue full" in table.heads


@pytest.mark.parametrize("name", ["fq-codel", "fq_codel"])
def test_flow_queues_keep_a_stream_out_of_the_queue_of_a_transfer(name: str) -> None:
    runs = cw.run(scenario({"type": name}))
    new, old = of_class(runs, "new"), of_class(runs, "old")
    assert new["queue_delay_p95_ns"] < 4e6
    assert old["drops_early_drop_packets"] > 0 == old["drops_fat_flow_packets"]
    # 10 ms of the line, and what a packet of the transfer takes there at most.
    assert runs.flows().filter(pl.col("name") == "voice")["delay_p95_ns"].item() < 14e6


def test_codel_holds_the_standing_queue_of_a_transfer_near_its_target() -> None:
    means = {
        kind: cw.run(scenario({"type": kind, "limit": "500 packets"})).links().filter(pl.col("direction") == "forward")
        for kind in ("droptail", "codel")
    }
    assert means["codel"]["queue_delay_p50_ns"].item() < 15e6 < 200e6 < means["droptail"]["queue_delay_p50_ns"].item()
    assert means["codel"]["utilisation_ratio"].item() > 0.85


def test_in_the_example_of_l4s_only_the_usual_senders_wait() -> None:
    runs = cw.run(ROOT / "scenarios/l4s.toml")
    l4s, classic = of_class(runs, "l4s"), of_class(runs, "classic")
    assert l4s["queue_delay_p99_ns"] < 1e6 < 1e7 < classic["queue_delay_p50_ns"]
    assert l4s["marks_packets"] > 20 * classic["marks_packets"] > 0
    assert runs.flows()["drops_packets"].sum() == 0
