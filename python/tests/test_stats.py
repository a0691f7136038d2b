"""Statistics against values that can be worked out by hand, and their intervals against known coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind import stats

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
