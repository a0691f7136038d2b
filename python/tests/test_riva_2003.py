"""The study of router queues: its tables, its scenarios, and what its parts measure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crosswind import experiments
from crosswind.experiments.riva_2003 import a, c, e, f, measures, mechanisms, published, readings, testbed

pytestmark = pytest.mark.engine


def test_all_claims_of_the_study_are_there_once() -> None:
    found = [x.id for one in experiments.find("riva-2003") for x in one.claims]
    assert sorted(found, key=lambda i: int(i[1:])) == [f"R{n}" for n in range(1, 115)]


def test_what_is_withheld_has_no_published_value_and_no_band() -> None:
    withheld = {x.id: x for one in experiments.find("riva-2003") for x in one.claims if x.withheld == "yes"}
    assert set(withheld) == {f"R{n}" for n in (*range(60, 66), 89, 90, 91, 95, 97, 99)}
    assert all(p.show_band() == "reported" and not p.published for x in withheld.values() for p in x.parts)


def test_the_listed_replications_give_the_printed_quartiles() -> None:
    third = published.replications("TD 2", "third", "elapsed_s")
    assert np.round(np.quantile(third, [0.25, 0.5, 0.75]), 2).tolist() == [17.88, 23.35, 26.42]
    assert third.size == 20


def test_the_first_listed_run_of_each_cell_is_that_of_a_host_that_remembers_nothing() -> None:
    for cell in published.REPLICATIONS:
        both = published.replications(cell, "fastest", "retx") + published.replications(cell, "slowest", "retx")
        assert both[0] > 1.4 * both[1:].max()


def test_withheld_cells_are_left_out_of_printed_columns() -> None:
    assert published.cells("table_5-6.csv", "third_elapsed_median_s", "third_flow_start_s") == {}
    assert len(e.mixes.printed(e.TABLE, e.mixes.ELAPSED, "TD")) == 5
    assert e.mixes.printed(e.TABLE, e.mixes.ELAPSED, "TD+DS") == {}


@pytest.mark.parametrize(("set_", "weight"), list(zip(testbed.TRIED, (4, 3, 4, 3, 4), strict=True)))
def test_the_weight_is_that_of_tc(set_: testbed.RedSet, weight: int) -> None:
    assert testbed.weight(set_) == 2.0**-weight


def test_every_reading_is_a_valid_scenario() -> None:
    for one in (a, c, e, f):
        for settings in [{}, *(v.settings for v in one.EXPERIMENT.variants.values())]:
            cells = one.configurations(**settings)
            next(iter(cells.values())).validate()
            list(cells.values())[-1].validate()


def test_the_main_reading_takes_every_suggested_resolution() -> None:
    main = testbed.Reading()
    assert (main.admission, main.kbit, main.overhead, main.cell, main.memory) == ("linux-2.4", 1024, 0, 1, "none")
    tcp = testbed.transfer(testbed.LONG_BYTES, 0.0, main)["tcp"]
    assert (tcp["delayed_ack"], tcp["quick_acks"]) == ("40 ms", 16)
    assert {tcp[k] for k in ("limited_transmit", "resend_overdue", "share_ssthresh", "share_rtt")} == {"off"}


def test_two_classes_take_the_time_that_the_bytes_of_both_flows_need() -> None:
    from crosswind.run import run

    kernel = testbed.Reading(**readings.ALL["kernel"].settings)
    cell = {"TD+DS 2": testbed.mixed(testbed.BRIEF, "TD+DS", 2.0, kernel)}
    row = measures.repetitions(run(cell, reps=1)).row(0, named=True)
    frames = 270 * 1512 + 384 + 251 * 144
    assert row["udp_received"] == 251
    assert row["tcp_elapsed_s"] == pytest.approx(frames / testbed.RATE_Bps, abs=0.25)
    assert row["tcp_xmit_s"] < row["tcp_xmit_acked_s"] <= row["tcp_elapsed_s"]


def test_statistics_are_type_7_quartiles_and_sample_deviations() -> None:
    frame = pl.DataFrame({"configuration": ["x"] * 4, "rep": range(4), "v": [1.0, 2.0, 3.0, 10.0]})
    row = measures.statistics(frame).row(0, named=True)
    assert (row["p25"], row["median"], row["p75"]) == (1.75, 2.5, 4.75)
    assert row["stdev"] == pytest.approx(4.0825, abs=1e-4)


@pytest.mark.parametrize(("settings", "failing"), [({}, {"R12"}), (readings.ALL["kernel"].settings, set())])
def test_mechanisms_hold_but_for_the_ack_that_waits(settings: dict[str, object], failing: set[str]) -> None:
    from crosswind.experiments.base import Results
    from crosswind.run import run

    results = Results(run(mechanisms.configurations(**settings), reps=1), {})
    verdicts = {x.id: x.check(results).verdict for x in mechanisms.CLAIMS}
    assert {k for k, v in verdicts.items() if v != "pass"} == failing


def test_replications_are_compared_metric_by_metric() -> None:
    from crosswind.run import run

    cells = {k: v for k, v in a.configurations().items() if k in published.REPLICATIONS}
    found = published.tables(run(cells, reps=3))["replications"]
    assert found.height == 3 * 3 * len(published.METRICS)
    assert found["ks"].is_between(0.0, 1.0).all()
    assert found["quartiles_inside"].is_between(0, 3).all()
