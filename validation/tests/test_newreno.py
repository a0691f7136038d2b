"""NewReno after a timeout: Crosswind sends what ns-2 sends, segment by segment."""

from __future__ import annotations

import pytest

from validation.ns2 import newreno


@pytest.fixture(scope="module")
def ours() -> dict[str, newreno.Sequence]:
    return newreno.in_crosswind()


@pytest.mark.parametrize("label", list(newreno.TESTS))
def test_every_transmission_is_that_of_ns2(ours: dict[str, newreno.Sequence], label: str) -> None:
    theirs = newreno.reference()[label]
    at = newreno.first_difference(ours[label], theirs)
    assert at is None, f"transmission {at}: {ours[label][at : at + 3]} here, {theirs[at : at + 3]} in ns-2"


def test_a_difference_in_segment_or_time_is_found() -> None:
    one = [(0, 1), (10, 2), (20, 3)]
    assert newreno.first_difference(one, one) is None
    assert newreno.first_difference(one, [*one[:2], (20, 4)]) == 2
    assert newreno.first_difference(one, [*one[:2], (90_000, 3)]) == 2
    assert newreno.first_difference(one, one[:2]) == 2
