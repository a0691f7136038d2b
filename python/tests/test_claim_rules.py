"""The rules S0 to S11, each against the numbers of its table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crosswind.reproduce.claims import Band, Criterion, Printed, Seeds, above, at_least, at_most, below, near, rules
from crosswind.reproduce.claims.measures import over_seeds
from crosswind.stats import NOTHING, Estimate, exact


def e(value: float, half: float = 0.0, n: int = 20) -> Estimate:
    return Estimate(value, value - half, value + half, n)


def half(c: Criterion, centre: float) -> float:
    return c.accept.high - centre


@pytest.mark.parametrize(("n", "s1", "s2"), [(120, 0.24, 0.26), (60, 0.33, 0.36), (40, 0.41, 0.44), (20, 0.58, 0.63)])
def test_half_widths_of_a_median_and_a_quartile(n: int, s1: float, s2: float) -> None:
    p = Printed(10.0, (1.0,), n)
    assert half(rules.median(p), 10.0) == pytest.approx(s1, abs=0.006)
    assert half(rules.quartile(p), 10.0) == pytest.approx(s2, abs=0.006)
    tenth = Printed(10.0, (1.0,), n, percentile=10)
    assert half(rules.quartile(tenth), 10.0) == pytest.approx(s2 * 3.5 / 2.8, abs=0.01)


@pytest.mark.parametrize(("n", "s3", "s4"), [(120, 1.34, 1.52), (60, 1.51, 1.81), (40, 1.66, 2.07), (20, 2.05, 2.80)])
def test_factors_of_an_iqr_and_of_a_ratio_of_two(n: int, s3: float, s4: float) -> None:
    assert rules.iqr(Printed(2.0, n=n)).accept.high / 2.0 == pytest.approx(s3, abs=0.006)
    assert rules.iqr_ratio(Printed(2.0, n=n)).accept.high / 2.0 == pytest.approx(s4, abs=0.006)
    assert 2.0 / rules.iqr(Printed(2.0, n=n)).accept.low == pytest.approx(s3, abs=0.006)


def test_printed_examples_of_the_corrections() -> None:
    slowest = rules.iqr(Printed(1.1, n=120)).accept
    assert (slowest.low, slowest.high) == pytest.approx((0.82, 1.5), abs=0.03)
    smaller = rules.iqr_ratio(Printed(0.70, n=120, says="smaller"))
    assert smaller.accept.low == pytest.approx(0.46, abs=0.005) and smaller.accept.high == 1.0
    assert smaller.judge(e(1.0)) == "consistent" and smaller.judge(e(0.99)) == "pass"
    assert smaller.judge(e(1.01)) == "fail"
    count = rules.small_count(Printed(10.0, (6.0,), 120))
    assert half(count, 10.0) == pytest.approx(1.4, abs=0.03)


def test_the_wider_of_both_bands_and_never_their_sum() -> None:
    own = near(10.0, 0.5)
    wide = rules.median(Printed(10.0, (1.0,), 20, band=own)).accept
    assert (wide.low, wide.high) == pytest.approx((10 - 0.58, 10 + 0.58), abs=0.01)
    assert rules.median(Printed(10.0, (1.0,), 20, band=near(10.0, 1.0))).accept == near(10.0, 1.0)
    one_sided = rules.iqr(Printed(0.16, n=20, band=Band(high=0.2))).accept
    assert one_sided.high == pytest.approx(0.33, abs=0.005) and one_sided.low == -math.inf
    raised = rules.median(Printed(0.9971, (0.0046,), 20, band=at_least(0.997))).accept
    assert raised.low == pytest.approx(0.9944, abs=0.0002) and raised.high == math.inf


def test_of_two_bands_with_different_centres_one_is_taken_and_not_what_both_cover() -> None:
    claims, narrow, wide = Band(-2, 2), Band(-3, 0.5), Band(-1, 5)
    assert claims.wider(narrow) == claims and claims.wider(wide) == wide
    assert claims.wider(Band(-1, 3)) == Band(-1, 3), "of two that are as wide it is the rule's"
    assert claims.wider(below(0.0)) == at_most(2.0), "one end: the one that lies farther out"
    assert at_most(0.0).wider(at_least(1.0)) == at_least(1.0), "opposite ends do not add up to everything"
    own = rules.median(Printed(-2.29, (2.56, 2.35), 20, band=near(0.0, 2.3))).accept
    assert own == near(0.0, 2.3)


def test_s0_a_value_without_the_stated_sign_is_consistent() -> None:
    c = Criterion(near(-0.1, 0.3), effect=below(0.0))
    assert [c.judge(e(v)) for v in (-0.3, -0.01, 0.0, 0.15, 0.25)] == [
        "pass",
        "pass",
        "consistent",
        "consistent",
        "fail",
    ]


def test_s5_never_passes_no_effect() -> None:
    c = rules.small_count(Printed(1.0, n=120, no_effect=0.0, band=Band(1.0, 2.0)))
    assert (c.accept.low, c.accept.high) == (0.0, 2.0)
    assert [c.judge(e(v)) for v in (2.0, 0.5, 0.0, -0.5)] == ["pass", "pass", "consistent", "fail"]
    assert half(rules.small_count(Printed(3.0, n=120)), 3.0) == 1.0


@pytest.mark.parametrize(("n", "width"), [(120, 0.13), (60, 0.18), (40, 0.22), (20, 0.31)])
def test_s6_a_share(n: int, width: float) -> None:
    assert half(rules.share(Printed(0.5, n=n)), 0.5) == pytest.approx(width, abs=0.006)
    with pytest.raises(ValueError, match="S7"):
        rules.share(Printed(1.0, n=n))


@pytest.mark.parametrize(("n", "allowed"), [(10, 3), (15, 3), (16, 4), (20, 4), (120, 4)])
def test_s7_exceptions_over_all_cells(n: int, allowed: int) -> None:
    c = rules.every(Printed(n=n))
    assert c.judge(exact(allowed, 120)) == "pass" and c.judge(exact(allowed + 1, 120)) == "fail"


@pytest.mark.parametrize(("n", "low", "high"), [(20, 0.001, 0.25), (120, 0.0002, 0.046)])
def test_s8_k_of_n_is_judged_by_clopper_and_pearson_over_two_hundred_runs(n: int, low: float, high: float) -> None:
    assert rules.clopper_pearson(1, n) == pytest.approx((low, high), abs=0.0005 if n == 120 else 0.0015)
    c = rules.k_of_n(Printed(1, n=n))
    assert c.judge(e((low + high) / 2, n=199)) == "unclear"
    assert c.judge(e((low + high) / 2, n=200)) == "pass" and c.judge(e(high + 0.01, n=200)) == "fail"
    assert rules.clopper_pearson(0, 20)[0] == 0.0 and rules.clopper_pearson(20, 20)[1] == 1.0


def test_s8_an_extreme_lies_among_ours_and_ours_in_twice_the_band() -> None:
    values = np.random.default_rng(1).normal(100.0, 10.0, 20 * 60)
    ours = rules.extremes(values, 20, np.max)
    assert ours.n == 60 and ours.low < ours.value < ours.high
    c = rules.extreme(Printed(ours.value, band=near(ours.value, 20.0)))
    assert c.judge(ours) == "pass"
    assert c.judge(Estimate(ours.value, ours.low, ours.high, 49)) == "unclear"
    assert rules.extreme(Printed(90.0, band=near(90.0, 60.0))).judge(ours) == "fail"
    assert rules.extreme(Printed(ours.value, band=near(ours.value, 2.0))).judge(ours) == "fail"
    assert rules.extremes(values[:19], 20, np.max) == NOTHING


def test_s9_an_order_is_strict_where_chance_cannot_turn_it() -> None:
    strict = rules.order(Printed(5.0, (1.0, 1.0), 20))
    assert [strict.judge(e(v)) for v in (0.1, 0.0, -0.1)] == ["pass", "fail", "fail"]
    loose = rules.order(Printed(-0.03, (1.7, 0.2), 20, band=Band(high=0.0)))
    reach = 2.6 * math.hypot(1.7, 0.2) / math.sqrt(20)
    assert loose.accept.high == pytest.approx(reach - 0.03)
    assert [loose.judge(e(v)) for v in (-0.5, 0.0, 0.9, 1.2)] == ["pass", "consistent", "consistent", "fail"]


def test_s9n_asks_for_ten_seeds_and_an_interval_without_zero() -> None:
    c = rules.order_without_gap(Printed(effect=above(0.0)))
    assert c.judge(e(1.0, 0.5, 9)) == "unclear" and c.why(e(1.0, 0.5, 9)) == "9 values; judged with at least 10"
    assert [c.judge(e(v, 0.5, 10)) for v in (1.0, 0.4, -0.4, -1.0)] == ["pass", "unclear", "unclear", "fail"]
    assert c.judge(e(-0.5, 0.5, 10)) == c.judge(e(0.0, 0.0, 10)) == "unclear"


def test_s10_words() -> None:
    harmed = rules.words(Printed(says="lower"))
    assert [harmed.judge(e(v, 0.02, 10)) for v in (-0.06, -0.04, -0.02, -0.01, 0.03)] == [
        *("pass", "unclear", "fail", "fail", "fail"),
    ]
    assert harmed.judge(e(-0.2, 0.3, 10)) == "unclear"
    similar = rules.words(Printed(says="similar"))
    assert [similar.judge(e(v, h, 10)) for v, h in ((0.04, 0.1), (0.04, 0.12), (0.06, 0.02), (0.09, 0.02))] == [
        *("pass", "unclear", "unclear", "fail"),
    ]
    slightly = rules.words(Printed(says="slightly lower"))
    assert [slightly.judge(e(v, 0.005, 10)) for v in (-0.02, -0.12, 0.02)] == ["pass", "fail", "fail"]
    with pytest.raises(ValueError, match="needs `says`"):
        rules.words(Printed())


def test_s11_one_printed_run_against_ten_seeds() -> None:
    values = np.arange(10.0) + 95.0
    ours = over_seeds(values)
    assert isinstance(ours, Seeds) and ours.sd == pytest.approx(3.0277, abs=1e-3)
    assert rules.one_run_half_width(ours) / ours.sd == pytest.approx(2.37, abs=0.005)
    c = rules.one_run(Printed(105.0, band=near(105.0, 10.0)))
    assert c.band(ours).high - 105.0 == pytest.approx(2.37 * 3.0277, abs=0.02)
    assert c.judge(ours) == "pass"
    assert c.band(exact(105.0)) == near(105.0, 20.0)  # one seed: only the cap is known
    capped = rules.one_run(Printed(105.0, band=near(105.0, 2.0)))
    assert capped.band(ours).high == 109.0 and capped.judge(ours) != "pass"
    with pytest.raises(TypeError, match="seeds"):
        c.judge(e(105.0, 1.0, 10))


def test_statistical_agreement_is_the_rule_alone() -> None:
    p = Printed(10.0, (1.0,), 20, band=near(10.0, 5.0))
    assert rules.agreement("", p) == rules.median(Printed(10.0, (1.0,), 20)).accept
    assert rules.agreement("S2", p) == rules.quartile(Printed(10.0, (1.0,), 20)).accept
    assert rules.agreement("S3", Printed(0.16, n=20, band=Band(high=0.2))) == rules.iqr(Printed(0.16, n=20)).accept
    assert rules.agreement("", Printed(10.0, n=20)) is None
