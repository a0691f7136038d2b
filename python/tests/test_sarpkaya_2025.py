"""Claims of [Sarpkaya 2025]: rows and their names, buffers as the source counts them, what both sides get."""

import pytest

from crosswind.experiments.sarpkaya_2025 import groups, pairs, study
from crosswind.experiments.sarpkaya_2025.study import GROUPS, PAIRS, chosen
from crosswind.run import run


def test_every_printed_row_is_a_claim_and_a_configuration() -> None:
    assert (len(PAIRS), len(GROUPS)) == (270, 72)
    for module, rows in ((pairs, PAIRS), (groups, GROUPS)):
        assert len({r.id for r in rows}) == len(module.configurations()) == len(rows)
        assert {r.id for r in rows} <= set(module.CLAIMS)
        for scenario in module.configurations().values():
            scenario.validate()


def test_a_buffer_is_counted_in_packets_as_in_the_source() -> None:
    limits = [study.queue("FIFO", n)["limit"] for n in (0.5, 1.0, 2.0, 4.0, 8.0)]
    assert limits == ["42 packets", "84 packets", "167 packets", "334 packets", "667 packets"]
    assert {study.queue("DualPI2", n)["limit"] for n in (0.5, 8.0)} == {"10000 packets"}


def test_rows_are_chosen_by_their_fields() -> None:
    assert len(chosen(PAIRS, aqm="DualPI2", other=["cubic", "cubic+ecn"], fallback="off")) == 10
    assert [r.flows for r in chosen(GROUPS, aqm="FIFO", flows=(5, 5))] == [(5, 5)]


def test_both_sides_of_a_row_are_measured_over_the_whole_run() -> None:
    (row,) = chosen(GROUPS, aqm="FQ_Codel", flows=(2, 1))
    runs = run(study.scenario_of(row).with_({"duration": "10 s"}))
    table = study.tables(runs)["repetition"].row(0, named=True)
    # Rates are per second of 60 s, however long the run was.
    assert table["sum_mbps"] == pytest.approx(95.6 * 10 / 60, rel=0.05)
    assert table["share"] == pytest.approx(2 / 3, abs=0.05)
    assert 10 < table["prague_ms"] < 25 and 10 < table["classic_ms"] < 25
