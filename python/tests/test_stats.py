"""Statistics against values that can be worked out by hand, and their intervals against known coverage."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind import stats
from crosswind.errors import InputError
from crosswind.stats.precision import Precision, until_precise

positive = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=30)


@given(positive)
def test_jain_lies_between_one_over_n_and_one(x: list[float]) -> None:
    value = float(stats.jain(x))
    assert 1 / len(x) - 1e-9 <= value <= 1 + 1e-9


def test_jain_of_equal_and_of_greedy_shares() -> None:
    assert float(stats.jain([3, 3, 3])) == pytest.approx(1)
    assert float(stats.jain([1, 0, 0, 0])) == pytest.approx(0.25)
    assert stats.jain([[1, 1], [1, 0]]) == pytest.approx([1.0, 0.5])


def test_quartiles_and_range() -> None:
    assert stats.quartiles([1, 2, 3, 4, 5]) == (1, 2, 3, 4, 5)
    assert all(math.isnan(v) for v in stats.quartiles([math.nan]))
    assert stats.iqr([1, 2, 3, 4, 5]).value == 2


def test_the_interval_of_a_median_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(200):
        e = stats.median(rng.normal(10, 3, 60))
        hits += e.low <= 10 <= e.high
    assert 0.88 <= hits / 200 <= 0.99


def test_the_same_values_give_the_same_interval() -> None:
    x = np.random.default_rng(1).normal(size=50)
    assert stats.median(x) == stats.median(x)


def test_missing_values_are_left_out_pair_by_pair() -> None:
    e = stats.change([2.0, math.nan, 2.0, 2.0], [1.0, 1.0, math.nan, 1.0])
    assert (e.value, e.n) == (1.0, 2)


def test_pairing_makes_the_interval_of_a_difference_narrow() -> None:
    rng = np.random.default_rng(3)
    base = rng.normal(100, 20, 80)
    paired = stats.paired_differences(base + rng.normal(1, 0.1, 80), base)
    assert paired.value == pytest.approx(1, abs=0.05)
    assert paired.high - paired.low < 0.1
    loose = stats.estimate(lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis), base + 1, base)
    assert loose.high - loose.low > 5


def test_samples_of_different_length_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="same length"):
        stats.change([1.0, 2.0], [1.0])


def test_nothing_and_one_value_have_no_interval_to_speak_of() -> None:
    assert stats.median([]).n == 0
    assert stats.median([5.0]) == stats.Estimate(5, 5, 5, 1)


def test_order_with_slack() -> None:
    assert stats.ordered([[3], [2], [1]])
    assert not stats.ordered([[3], [3.1], [1]])
    assert stats.ordered([[3], [3.05], [1]], slack=0.02)


def test_bca_intervals_of_a_skewed_mean_cover_better_than_percentile_ones() -> None:
    rng = np.random.default_rng(11)
    truth, hits, plain = float(np.exp(0.5)), 0, 0
    mean = lambda x, axis: np.mean(x, axis=axis)  # noqa: E731
    for _ in range(60):
        x = rng.lognormal(size=25)
        e, p = stats.bca(mean, x), stats.estimate(mean, x)
        hits += e.low <= truth <= e.high
        plain += p.low <= truth <= p.high
        assert e.value == pytest.approx(p.value)
    assert hits >= plain and hits / 60 > 0.75


def test_bca_of_equal_values_is_that_value() -> None:
    assert stats.bca(lambda x, axis: np.mean(x, axis=axis), [4.0] * 9) == stats.Estimate(4, 4, 4, 9)


def test_a_comparison_says_how_large_how_sure_and_on_how_many_pairs() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(100, 20, 40)
    c = stats.compare(base + rng.normal(3, 1, 40), base)
    assert c.clear and c.n == 40 and c.pairing == "paired" and c.p_value < 1e-6
    assert 2.5 < c.difference.low < c.difference.value < c.difference.high < 3.5
    assert c.cohen_d > 2 and c.size == "negligible" and "n = 40" in str(c)
    loose = stats.compare(base + 3, base, pairing="independent")
    assert not loose.clear and loose.difference.high - loose.difference.low > 10
    assert stats.compare([], []).n == 0


def test_a_difference_of_fewer_than_six_values_is_never_clear() -> None:
    base = np.array([5.0, 6.0, 7.0, 8.0, 9.0, 9.5])
    for n in range(2, 7):
        assert stats.compare(base[:n] - 1.0, base[:n]).clear == (n == 6)
    assert not stats.compare(base - 100.0, base[:5], pairing="independent").clear


def test_cliffs_delta_against_counting_all_pairs() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 9, 17).astype(float), rng.integers(2, 11, 23).astype(float)
    pairs = [float(np.sign(x - y)) for x in a for y in b]
    assert stats.cliff_delta(a, b).value == pytest.approx(np.mean(pairs))
    assert stats.cliff_delta([2.0, 3.0], [0.0, 1.0]).value == 1


def test_the_median_of_order_statistics_covers_at_least_as_often_as_it_says() -> None:
    from crosswind.stats.comparing import median

    rng = np.random.default_rng(8)
    hits = sum(e.low <= 0 <= e.high for e in (median(rng.standard_cauchy(15)) for _ in range(400)))
    assert hits / 400 >= 0.94


def test_tests_of_distributions_know_equal_from_shifted() -> None:
    rng = np.random.default_rng(4)
    a = rng.exponential(size=60)
    equal, shifted = stats.same_distribution(a, rng.exponential(size=60)), stats.same_distribution(a, a + 1)
    assert equal.kolmogorov_smirnov_p > 0.05 and equal.anderson_darling_p > 0.05
    assert shifted.kolmogorov_smirnov_p < 0.001 and shifted.anderson_darling_p < 0.01
    assert stats.same_distribution([1.0] * 5, [1.0] * 5).kolmogorov_smirnov_p == 1


def test_jain_with_interval_over_repetitions_and_over_flows() -> None:
    rng = np.random.default_rng(6)
    e = stats.jain_interval(rng.uniform(0.8, 1.2, (30, 5)))
    assert 0.97 < e.low < e.value < e.high <= 1 and e.n == 30
    assert stats.jain_interval([1.0, 1.0, 1.0, 1.0]).value == 1


def test_holm_adjusts_and_keeps_the_order() -> None:
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([]) == []


def test_the_number_of_required_repetitions_reaches_the_wanted_precision() -> None:
    rng = np.random.default_rng(9)
    pilot = rng.normal(100, 10, 20)
    n = stats.required(pilot, 0.01)
    assert 250 < n < 900
    assert stats.half_width(rng.normal(100, 10, n)) <= 1.2
    assert stats.required([5.0], 0.1) == 2 and stats.required([5.0] * 4, 0.1) == 4


def _half_give_up(reps: int) -> Any:
    """Runs in which every second repetition has an elapsed time."""
    times = np.random.default_rng(12).normal(100, 40, 1000).clip(1).astype(int)
    elapsed = [int(t) if rep % 2 else -1 for rep, t in enumerate(times[:reps])]
    table = pl.DataFrame({"group": "f", "rep": range(reps), "elapsed_ns": elapsed, "outcome": "complete"})
    return SimpleNamespace(interrupted=False, failed=[], flows=lambda: table, manifest={"warnings": []})


def test_repetitions_without_a_value_do_not_count_for_the_precision() -> None:
    runs = until_precise([Precision("elapsed", 0.1)], 10, 1000, _half_give_up)
    means = runs.flows()["elapsed_ns"].filter(runs.flows()["elapsed_ns"] > 0)
    assert stats.half_width(means) <= 0.1 * float(np.mean(means.to_numpy())) and runs.manifest["warnings"] == []
    assert means.len() > 50 and runs.flows().height == 2 * means.len()
    # As many as would do with a value in each repetition are too few here.
    some = pl.DataFrame({"group": "f", "rep": range(10), "elapsed_ns": [-1, 50, -1, 90, -1, 60, -1, 150, -1, 100]})
    assert stats.required(some["elapsed_ns"], 0.45) < 10 < Precision("elapsed", 0.45).needed(some, 10)


def test_a_precision_that_is_not_reached_is_told_and_one_of_nothing_is_refused() -> None:
    runs = until_precise([Precision("elapsed", 0.01, "f")], 10, 40, _half_give_up)
    assert runs.manifest["warnings"] == ["the precision f.elapsed=0.01 is not reached with 40 repetitions"]
    with pytest.raises(InputError, match=r"`elapsed=0.01`, of which 1 repetitions have no value"):
        until_precise([Precision("elapsed", 0.01)], 1, 40, _half_give_up)
    with pytest.raises(InputError, match="found `outcome`, expected a numeric column"):
        until_precise([Precision("outcome", 0.01)], 10, 40, _half_give_up)


def test_mser_finds_where_the_warm_up_ends() -> None:
    rng = np.random.default_rng(10)
    ramp = np.concatenate([np.linspace(0, 100, 150), 100 + rng.normal(0, 3, 600)])
    assert 125 <= stats.warm_up(ramp) <= 180
    assert stats.warm_up(rng.normal(5, 1, 500)) <= 100
    assert stats.warm_up([1.0, 2.0]) == 0


def test_shares_of_variation_are_those_of_the_analysis_of_variance() -> None:
    rows = [(a, b, r, 3 * a + 1 * b + 2 * a * b) for a in (-1, 1) for b in (-1, 1) for r in range(3)]
    frame = pl.DataFrame(rows, schema=["a", "b", "rep", "y"], orient="row")
    found = {e.name: e.share for e in stats.shares(frame, ["a", "b"], "y")}
    assert found == pytest.approx({"a": 9 / 14, "a x b": 4 / 14, "b": 1 / 14, "rest": 0.0})
    assert stats.shares(frame.head(10), ["a", "b"], "y") == []
    # What has no value is left out, and the grid stays balanced where that is one of each cell.
    gone = frame.with_columns(y=pl.when(pl.col("rep") == 0).then(math.nan).otherwise(pl.col("y").cast(pl.Float64)))
    assert {e.name: e.share for e in stats.shares(gone, ["a", "b"], "y")} == pytest.approx(found)
