"""Claims of our L4S summary beyond its tables: sentences, abstracts, a tenth of the buffer, a call, video, a tunnel."""

import polars as pl
import pytest

from crosswind.experiments.aqm import l4s
from crosswind.experiments.cardwell_2017 import cellular
from crosswind.experiments.l4s_tests import call, picoquic, sentences, tunnel, video
from crosswind.experiments.tcp_validation import buffers
from crosswind.run import run
from crosswind.scenario.traces import OPPORTUNITY_BYTES, opportunities

ALL = [l4s, sentences, buffers, call, video, tunnel, picoquic, cellular]


@pytest.mark.parametrize("experiment", ALL)
def test_scenarios_are_valid(experiment: object) -> None:
    for scenario in experiment.configurations().values():  # type: ignore[attr-defined]
        scenario.validate()


def test_a_tenth_of_the_buffer_is_used_to_the_step_and_no_further() -> None:
    scenario = buffers.configurations()["DCTCP, 2 flows"].with_({"duration": "0.5 s"})
    line = run(scenario).links().row(0, named=True)
    assert line["drops_queue_full_packets"] == 0 and line["marks_packets"] > 0
    assert line["queue_delay_p50_ns"] == pytest.approx(buffers.STEP_US * 1e3, rel=0.5)


def test_a_call_is_in_the_queue_that_its_run_names() -> None:
    for cell, of in {call.PRAGUE_L: "l4s", call.PRAGUE_C: "classic"}.items():
        runs = run(call.configurations()[cell].with_({"duration": "2 s", "flow.one": None, "record": None}))
        rows = runs.classes().filter((pl.col("link") == "line") & (pl.col("direction") == "forward"))
        sent = dict(rows.select("class", "sent_packets").iter_rows())
        assert sent.pop(of) > 300 and not any(sent.values()), cell


def test_a_tunnel_refuses_what_waits_too_long() -> None:
    cells = {w: tunnel._pair(20, w).with_({"duration": "3 s"}) for w in (0, 32)}
    lost = {
        w: run(s).links().filter(pl.col("link") == "bottleneck")["drops_link_error_packets"].sum()
        for w, s in cells.items()
    }
    assert lost[0] == 0 and lost[32] > 0


def test_the_cellular_channel_has_the_mean_that_is_said() -> None:
    instants = opportunities(cellular._rates())
    mbps = len(instants) * OPPORTUNITY_BYTES * 8e-3 / instants[-1]
    assert instants[-1] == 60_000 and mbps == pytest.approx(cellular.MEAN_MBPS, rel=0.01)
