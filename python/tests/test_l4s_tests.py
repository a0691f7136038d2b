"""Claims of [l4s-tests]: the bands of rows, the goodput of a window."""

import math

import pytest

from crosswind.experiments.l4s_tests import one_queue, rtt_fairness
from crosswind.experiments.l4s_tests.study import ONE_QUEUE, RTT_FAIRNESS, WHY, share_band, tables_of
from crosswind.run import run

CUBIC = ("cubic", "cubic")
MIXED = ("prague", "cubic")


def test_every_printed_row_is_a_claim() -> None:
    assert (len(RTT_FAIRNESS), len(ONE_QUEUE)) == (192, 24)
    assert sum(r.goodputs_mbps is None for r in RTT_FAIRNESS) == 64
    assert not any("/" in r.cell for r in (*RTT_FAIRNESS, *ONE_QUEUE)), "results of an experiment are asked for so"
    assert len({r.id for r in RTT_FAIRNESS}) == len({r.cell for r in RTT_FAIRNESS}) == 192


@pytest.mark.parametrize(
    ("first", "second", "queue", "laws", "low", "high"),
    [
        # Within 15 % of the larger share, on the printed side of 2:1.
        (25.0, 25.0, "fq_codel", CUBIC, 0.425, 0.575),
        (40.0, 20.0, "fq_codel", CUBIC, 0.85 * 2 / 3, 1.15 * 2 / 3),  # 2:1 itself: no side
        (30.0, 10.0, "fq_codel", CUBIC, 2 / 3, 0.8625),
        # Five to one and more: the logarithm of the ratio within a factor of two.
        (16.0, 1.0, "fq_codel", CUBIC, 0.8, 1.0),
        # Drop-tail with Prague: the side alone.
        (25.0, 25.0, "pfifo(1000)", MIXED, 1 / 3, 2 / 3),
    ],
)
def test_a_share_is_accepted_round_the_printed_one(
    first: float, second: float, queue: str, laws: tuple[str, str], low: float, high: float
) -> None:
    found = share_band(first, second, queue, laws)
    assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(found, (low, high), strict=True))
    mirrored = share_band(second, first, queue, laws)
    if first != second:
        assert all(math.isclose(a, 1 - b, abs_tol=1e-9) for a, b in zip(mirrored, reversed(found), strict=True))


@pytest.mark.parametrize("row", [r for r in RTT_FAIRNESS if r.goodputs_mbps], ids=lambda r: r.id)
def test_each_row_accepts_what_it_printed(row: rtt_fairness.Row) -> None:
    assert row.goodputs_mbps is not None
    a, b = row.goodputs_mbps
    low, high = share_band(a, b, row.queue, row.laws)
    assert low <= a / (a + b) <= high


def test_reasons_of_failing_rows_stand_with_their_claims() -> None:
    claims = {c.id: c for e in (rtt_fairness.EXPERIMENT, one_queue.EXPERIMENT) for c in e.claims}
    assert all((claims[id].cause, claims[id].because) == why for id, why in WHY.items())


def test_goodput_is_that_of_the_window() -> None:
    row = next(r for r in rtt_fairness.ROWS if r.queue == "fq_codel" and r.rate_mbps == 10)
    runs = run(rtt_fairness.scenario_of(row, {"type": "fq-codel"}, rtt_fairness.LAWS, 20))
    table = tables_of(8, 18)(runs)["repetition"]
    line = 10 * 1500 / 1514 * 1448 / 1500
    assert table["sum_mbps"].item() == pytest.approx(line, rel=0.01)
    assert table["share"].item() == pytest.approx(0.5, abs=0.1)
