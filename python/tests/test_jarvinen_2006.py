"""[Järvinen 2006]: what follows timeouts, the main reading of decision 0024, and questions about what no run has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from crosswind.experiments.jarvinen_2006 import mechanisms, readings, stream, testbed, w3_e0
from crosswind.experiments.jarvinen_2006.aftermath import Connection, Row
from crosswind.reproduce import MissingDataError, Results, Runs
from crosswind.reproduce.claims import BrokenClaimError


def connection(*rows: Row) -> Connection:
    return Connection().read(rows)


def test_a_retransmission_is_needless_when_an_earlier_copy_arrives_and_follows_the_timeout_until_it_is_over() -> None:
    late = connection(
        ("send", 0, 1),
        ("send", 1, 537),
        ("timeout", 30, 1),
        ("retransmit", 30, 1),
        ("receive", 31, 1),
        ("ack", 34, 537),
        ("retransmit", 34, 537),
        ("receive", 35, 537),
        ("ack", 38, 1073),
        ("receive", 39, 1),
        ("receive", 43, 537),
    )
    assert late.needless() == [30, 34]
    assert late.spurious() == [(30, 38)]


def test_a_timeout_of_a_lost_segment_is_not_spurious_and_its_retransmission_not_needless() -> None:
    lost = connection(
        ("send", 0, 1),
        ("drop", 0, 1),
        ("timeout", 30, 1),
        ("retransmit", 30, 1),
        ("receive", 34, 1),
        ("ack", 38, 537),
    )
    assert lost.needless() == [] and lost.spurious() == []


def test_a_dropped_retransmission_is_told_from_the_copy_that_is_still_under_way() -> None:
    one = connection(
        ("send", 0, 1), ("timeout", 30, 1), ("retransmit", 30, 1), ("drop", 30, 1), ("receive", 35, 1), ("ack", 39, 537)
    )
    assert [c.fate for c in one.copies[1]] == ["receive", "drop"]
    assert one.needless() == [30] and one.spurious() == [(30, 39)]


def _hop(reading: testbed.Reading, label: str) -> tuple[dict[str, Any], dict[str, Any]]:
    world = testbed.world(testbed.Workload("w", ("page",)), testbed.setting(label), reading).data
    return world["link"]["last-hop"], world["flow"]["bulk"]


def test_the_main_reading_is_what_the_decision_says_and_the_former_one_is_kept() -> None:
    hop, bulk = _hop(testbed.Reading(), "BL+DS+ECN")
    assert hop["tx_tick"] == "1 ms" and bulk["tcp"]["flight_bound"] == "on"
    assert bulk["tcp"]["receive_buffer"] == "65535 B" and bulk["start"] == {"uniform": ["0 s", "0.3 s"]}
    page = hop["queue"]["class"]["page"]
    assert (page["rate"], page["ceil"], page["burst"]) == ("32 kbit/s", "64 kbit/s", "12000 B")
    assert page["queue"]["max_p_rounding"] == "tc-plog" and page["queue"]["admission"] == "linux-2.4"
    hop, bulk = _hop(testbed.Reading(**readings.MAIN["former"].settings), "BL+DS+ECN")
    page = hop["queue"]["class"]["page"]
    assert "tx_tick" not in hop and bulk["tcp"]["flight_bound"] == "off" and bulk["start"] == "0 s"
    assert page["rate"] == "64 kbit/s" and page["queue"]["max_p_rounding"] == "none"
    assert "admission" not in page["queue"]


def _results(size: str) -> Results:
    flow = pl.DataFrame({"configuration": ["a"], "rep": [0], "flow": [0], "name": ["one"], "drops_packets": [2]})
    event = pl.DataFrame(
        {"configuration": ["a"], "rep": [0], "flow": [0], "end": ["sender"], "kind": ["send"], "seq": [1], "len": [9]}
        | {"time_ns": [5], "aux": [0]}
    )
    hist = pl.DataFrame({"configuration": ["a"], "metric": ["delay_ns"], "low": [1e6], "high": [3e6], "count": [4]})
    of = pl.DataFrame({"configuration": ["a"], "rep": [0], "object": [0], "drops": [3]})
    return Results(Runs({"flow": flow, "event": event}, {}, {"size": size}), {"stream_hist": hist, "objects": of})


# Each helper that filters: what it finds, and the same question about a configuration, a flow or a metric of none.
LOOKS: dict[str, tuple[Callable[[Results], Any], Any, list[Callable[[Results], Any]]]] = {
    "a value of a flow": (
        lambda r: r.flow("a", "one", "drops_packets"),
        2.0,
        [
            lambda r: r.flow("b", "one", "drops_packets"),
            lambda r: r.flow("a", "two", "drops_packets"),
        ],
    ),
    "events of a small scenario": (
        lambda r: mechanisms.events(r, "a").height,
        1,
        [lambda r: mechanisms.events(r, "b")],
    ),
    "delays of the stream": (
        lambda r: stream.pooled(r, "a", "delay_ns", 0.5),
        2.0,
        [lambda r: stream.pooled(r, "b", "delay_ns", 0.5), lambda r: stream.pooled(r, "a", "rtt_ns", 0.5)],
    ),
    "objects of the page": (
        lambda r: w3_e0.by_object(r, "a", "drops").tolist(),
        [3.0],
        [lambda r: w3_e0.by_object(r, "b", "drops")],
    ),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_what_no_run_has_is_a_broken_claim_at_full_size_and_missing_in_a_first_look(look: Any) -> None:
    found, expected, wrong = look
    assert found(_results("full")) == expected
    for ask in wrong:
        with pytest.raises(BrokenClaimError):
            ask(_results("full"))
        with pytest.raises(MissingDataError):
            ask(_results("quick"))


def test_an_unknown_column_of_a_flow_is_a_broken_claim_at_any_size() -> None:
    for size in ("full", "quick"):
        with pytest.raises(BrokenClaimError, match="drops"):
            _results(size).flow("a", "one", "drops")
