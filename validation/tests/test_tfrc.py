"""TFRC beside ns-2: the stored curves, the comparison, and Crosswind against them.

ns-2 is needed for the last test only."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from validation.ns2 import driver, tfrc
from validation.ns2.tfrc import CASES, HEAD, Curve, TfrcCase, compare

CASE = TfrcCase("c", "a case", duration_s=4)
CURVE = Curve(tuple(range(0, 1000 * HEAD, 1000)), (100, 200, 200, 200))


def test_every_case_has_a_curve_of_its_length() -> None:
    for case in CASES:
        curve = tfrc.references()[case.name]
        assert (len(curve.head_us), len(curve.per_second)) == (HEAD, case.duration_s)
        assert sum(curve.per_second) > HEAD


def test_verdicts_follow_the_mean_and_the_single_seconds() -> None:
    late = replace(CURVE, head_us=(*CURVE.head_us[:9], *(t + 5000 for t in CURVE.head_us[9:])))
    assert (compare(CASE, CURVE, CURVE).verdict, compare(CASE, CURVE, CURVE).in_step) == ("same", HEAD)
    assert (compare(CASE, CURVE, late).verdict, compare(CASE, CURVE, late).in_step) == ("close", 9)
    assert compare(CASE, CURVE, replace(late, per_second=(90, 190, 190, 190))).verdict == "differs"
    swings = replace(late, per_second=(150, 150, 250, 150))
    assert compare(CASE, CURVE, swings).verdict == "differs", "the mean is right, the seconds are not"
    assert compare(replace(CASE, expect="a reason"), CURVE, swings).verdict == "explained"


def test_the_script_reads_the_keys_that_it_is_given() -> None:
    read = set(re.findall(r"\$opt\((\w+)\)", tfrc.SCRIPT.read_text()))
    given = set(re.findall(r'"(\w+)":', Path(tfrc.__file__).read_text()))
    assert "drops" in read and read <= given


@pytest.mark.engine
def test_rate_curves_are_those_of_ns2() -> None:
    apart = [c.case.name for c in tfrc.compare_all() if c.verdict == "differs"]
    assert apart == []


@pytest.mark.engine
def test_the_profile_of_the_rfc_is_told_apart_from_ns2(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 5348 jumps to the rate of the equation and doubles at once: its curves are others."""
    original = tfrc.scenario

    def other(case: TfrcCase) -> dict[str, object]:
        s = original(case)
        s["flow"]["tfrc"]["tfrc"]["preset"] = "rfc5348"
        return s

    monkeypatch.setattr(tfrc, "scenario", other)
    assert sum(c.verdict == "differs" for c in tfrc.compare_all()) >= 2


# ns-2 is an optional tool; its stored curves are compared with above, without it.
@pytest.mark.skipif(driver.ns2_program() is None, reason="ns-2 is not installed")
def test_ns2_gives_a_stored_curve_again() -> None:
    program = driver.ns2_program()
    assert program is not None
    case = next(c for c in CASES if c.name == "one-loss")
    assert tfrc.ns2_curve(case, program) == tfrc.references()[case.name]
