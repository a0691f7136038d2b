"""The helper that keeps disturbed machines from failing tests does not keep wrong code from failing them."""

from __future__ import annotations

import pytest
from punctuality import RUNS_MAX, Repeated, Run


def runs_of(*seen: tuple[float, bool]) -> Repeated:
    left = list(seen)

    def make() -> Run:
        seconds, is_trusted = left.pop(0)
        return Run(seconds, is_trusted, 3e6)

    return Repeated(make)


def test_one_undisturbed_run_in_time_is_enough_and_ends_the_trying() -> None:
    found = runs_of((9.0, False), (9.0, True), (1.0, True))
    found.check_undisturbed(float, at_least=0.5, at_most=2.0)
    assert len(found.runs) == 3 and found.calmest.result == 9.0


def test_runs_that_are_trusted_and_too_long_fail() -> None:
    with pytest.raises(pytest.fail.Exception, match="trusted runs"):
        runs_of((9.0, True), (1.0, False), (9.0, True), (9.0, True)).check_undisturbed(float, at_most=2.0)
    with pytest.raises(pytest.fail.Exception):
        runs_of(*[(0.1, True)] * RUNS_MAX).check_undisturbed(float, at_least=0.5, at_most=2.0)


def test_without_a_trusted_run_the_check_is_skipped_and_says_how_late_they_were() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"none of 4 runs was punctual.*3\.000"):
        runs_of(*[(1.0, False)] * RUNS_MAX).check_undisturbed(float, at_most=2.0)
