"""Claims: bands, verdicts, rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crosswind.reproduce.claims import (
    Band,
    Claim,
    MissingDataError,
    Part,
    Printed,
    Seeds,
    above,
    at_most,
    below,
    count,
    estimated,
    judge,
    near,
    needed,
    overall,
    rules,
    tally,
    within,
)
from crosswind.reproduce.claims.quantities import Quantity, largest, least, measured, total
from crosswind.reproduce.claims.tally import in_order
from crosswind.stats import NOTHING, Estimate, exact

NO_RESULTS: Any = None


def part(value: float, band: Band, low: float | None = None, high: float | None = None) -> Part:
    e = Estimate(value, value if low is None else low, value if high is None else high, 120)
    return Part("x", lambda _: e, band, "10 s", "s")


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (10, 9, 11, "pass"),
        (10, 0, 99, "pass"),
        (12, 11.5, 13, "fail"),
        (12, 10.5, 13, "unclear"),
        (8, 7, 9, "unclear"),
        (8, 7, 8.9, "fail"),
    ],
)
def test_a_value_is_judged_by_where_it_and_its_interval_lie(
    value: float, low: float, high: float, verdict: str
) -> None:
    assert judge(Estimate(value, low, high, 120), Band(9, 11)) == verdict


def test_bands_are_what_they_say() -> None:
    assert within(7817, 0.01).holds(7739) and not within(7817, 0.01).holds(7738)
    assert within(-10, 0.1) == Band(-11, -9)
    assert near(-0.27, 0.1).holds(-0.17) and not near(-0.27, 0.1).holds(-0.16)
    assert not below(0).holds(0) and not above(0).holds(0)
    assert at_most(0).holds(0)


def test_a_strict_band_does_not_accept_its_edge_from_an_exact_value() -> None:
    assert judge(exact(0.0), below(0.0)) == "fail"


@pytest.mark.parametrize(("found", "value"), [(3, 3.0), (np.float64(2.5), 2.5), (True, 1.0), (np.bool_(False), 0.0)])
def test_a_plain_number_is_exact(found: Any, value: float) -> None:
    @measured
    def times(_: Any, factor: int) -> Any:
        return found * factor

    assert estimated(times(1), NO_RESULTS) == exact(value)


def test_quantities_are_computed_with_numbers_and_like_functions() -> None:
    runs = {"a": np.array([1.0, 4.0]), "b": np.array([2.0, 2.0])}
    results: Any = runs
    a, b = (Quantity(lambda r, k=k: r[k]) for k in runs)
    assert ((3 - a / b) * 2 + b.then(np.sum))(results).tolist() == [9.0, 6.0]
    assert (1 / a - (lambda r: r["b"]))(results).tolist() == [-1.0, -1.75]
    assert [(x(results)).tolist() for x in (a < b, a <= 4, a > b, b >= a)] == [
        [True, False], [True, True], [False, True], [True, False],
    ]  # fmt: skip
    found = [of(q for q in (a, b))(results).tolist() for of in (least, largest, total)]
    assert found == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]


@pytest.mark.parametrize("nothing", [[], np.empty(0), 0, np.bool_(False)])
def test_what_is_needed_is_handed_on_or_said_to_be_missing(nothing: Any) -> None:
    assert needed([3], "never") == [3]
    with pytest.raises(MissingDataError, match="no drops"):
        needed(nothing, "no drops")


def test_nothing_measured_is_unclear() -> None:
    assert judge(NOTHING, Band(0, 1)) == "unclear"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [(["pass", "pass"], "pass"), (["pass", "unclear"], "unclear"), (["unclear", "fail"], "fail"), ([], "unclear")],
)
def test_a_claim_passes_only_when_all_parts_pass(parts: list[Any], verdict: str) -> None:
    assert overall(parts) == verdict


def test_every_part_shows_its_value() -> None:
    claim = Claim("J0", "two things", "10 s", [part(10, Band(9, 11)), part(20, Band(9, 11))])
    row = claim.check(NO_RESULTS).row("a/b", 1.234)
    assert row["verdict"] == "fail"
    assert row["measured"] == "x: 10.0 s; x: 20.0 s"
    assert row["accept"] == "x: 9.0 s to 11.0 s; x: 9.0 s to 11.0 s"
    assert (row["n"], row["seconds"], row["claim"]) == (120, 1.23, "J0")
    assert [p["verdict"] for p in row["parts"]] == ["pass", "fail"]


def test_missing_data_is_said_and_makes_a_claim_unclear() -> None:
    def measure(_: Any) -> Estimate:
        raise MissingDataError("no third flow")

    row = Claim("J0", "s", "p", [Part("x", measure)]).check(NO_RESULTS).row("a/b", 0)
    assert (row["verdict"], row["measured"]) == ("unclear", "x: no third flow")
    assert row["parts"][0]["value"] is None


def test_withheld_and_not_yet_are_neither_passed_nor_failed() -> None:
    withheld = Claim("J63", "s", "withheld", [part(99, Band(9, 11))], withheld="yes").check(NO_RESULTS)
    later = Claim("J2", "s", "", needs="the stream").check(NO_RESULTS)
    rows = [c.row("a/b", 0) for c in (withheld, later)]
    assert [r["verdict"] for r in rows] == ["withheld", "not yet"]
    assert rows[0]["measured"] == "x: 99.0 s"
    assert rows[1]["measured"] == "needs the stream"
    assert {v: n for v, n in count(rows).items() if n} == {"withheld": 1, "not yet": 1}


def test_a_broken_measurement_is_an_error_of_ours_and_no_result() -> None:
    def wrong(_: Any) -> Estimate:
        raise KeyError("no_such_column")

    row = Claim("J0", "s", "p", [part(10, Band(9, 11)), Part("x", wrong)]).check(NO_RESULTS).row("a/b", 0)
    assert row["verdict"] == "error" and "broken claim: KeyError" in row["measured"]
    assert Claim("J0", "s", "p", [Part("x", wrong)], withheld="yes").check(NO_RESULTS).verdict == "error"
    assert tally([row]).broken == 1


def test_what_is_only_shown_neither_passes_nor_fails() -> None:
    shown, judged = part(99, Band()), part(10, Band(9, 11))
    assert Claim("J0", "s", "p", [shown]).check(NO_RESULTS).verdict == "reported"
    assert Claim("J0", "s", "p", [shown, judged]).check(NO_RESULTS).verdict == "pass"
    row = Claim("J0", "s", "p", [shown]).check(NO_RESULTS).row("a/b", 0)
    assert sum(tally([row]).evidence.values()) == 0 and tally([row]).apart["reported"]["reported"] == 1


def test_distinct_claims_are_counted_and_evidence_apart() -> None:
    good, bad = part(10, Band(9, 11)), part(20, Band(9, 11))
    rows = [
        Claim("J2", "s", "p", [good]).check(NO_RESULTS).row("a/x", 0),
        Claim("J2", "s", "p", [bad]).check(NO_RESULTS).row("a/y", 0),
        Claim("J2", "s", "p", [good]).check(NO_RESULTS).row("b/y", 0),
        Claim("J3", "s", "p", [good], kind="calibration").check(NO_RESULTS).row("a/x", 0),
        Claim("J4", "s", "p", [good], kind="by construction").check(NO_RESULTS).row("a/x", 0),
    ]
    found = tally(rows)
    assert {v: n for v, n in found.evidence.items() if n} == {"pass": 1, "fail": 1}
    assert found.judged == 2 and found.apart["calibration"]["pass"] == 1
    assert found.text() == "2 claims: 1 pass, 1 fail; apart: 1 calibration, 1 by construction"


def test_parts_of_another_kind_are_shown_and_do_not_decide() -> None:
    tuned = replace(part(20, Band(9, 11)), kind="calibration")
    found = Claim("J5", "s", "p", [part(10, Band(9, 11)), tuned]).check(NO_RESULTS)
    assert found.verdict == "pass" and found.row("a/b", 0)["parts"][1]["verdict"] == "fail"


def test_values_are_shown_in_their_unit() -> None:
    share = Part("x", lambda _: exact(0), below(0.0), "-27 %", "%")
    assert (share.show(-0.2712), share.show_change(0.05), share.show_band()) == ("-27.1 %", "+5.0 %", "< 0.0 %")
    assert Part("x", lambda _: exact(0), Band()).show_band() == "reported"
    assert Part("x", lambda _: exact(0), Band(), "", "%").show_change(0.5) == "50.0 %"
    assert share.show(math.nan) == "nothing"


def test_of_one_printed_run_our_own_scatter_is_shown() -> None:
    rule = rules.one_run(Printed(10.0, band=near(10.0, 5.0)))
    found = Seeds(11.0, 10.5, 11.5, 10, sd=0.75)
    row = Claim("X1", "s", "p", [Part("x", lambda _: found, unit="s", rule=rule)]).check(NO_RESULTS).row("a/b", 0)
    assert row["parts"][0]["accept"] == "8.2 s to 11.8 s (S11, s = 0.8 s)" and row["parts"][0]["sd"] == 0.75
    plain = Claim("X2", "s", "p", [Part("x", lambda _: found, near(10.0, 5.0))]).check(NO_RESULTS).row("a/b", 0)
    assert "s =" not in plain["accept"]


def test_claims_stand_in_the_order_of_their_numbers() -> None:
    assert in_order(["R12", "R5", "IC7.14", "IC7.2", "R105"]) == ["IC7.2", "IC7.14", "R5", "R12", "R105"]


def test_a_claim_all_of_whose_parts_belong_to_the_other_bands_has_no_verdict_by_these() -> None:
    now, before = (replace(part(10, within(10, 0.1)), set=s) for s in ("corrected", "first"))
    only_now = Claim("X1", "s", "p", [now]).check(NO_RESULTS)
    only_before = Claim("X1", "s", "p", [before]).check(NO_RESULTS)
    assert (only_now.verdict, only_now.earlier) == ("pass", "not yet")
    assert (only_before.verdict, only_before.earlier) == ("reported", "pass")
