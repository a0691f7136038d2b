"""A measured value in its band, as a small picture."""

from __future__ import annotations

from crosswind.figures.spark import WIDTH, spark

PART = {"value": 10.0, "low": 9.0, "high": 11.0, "accept_low": 8.0, "accept_high": 12.0}


def test_the_published_value_stands_as_a_bar_in_the_band() -> None:
    plain, marked = spark(PART), spark(PART | {"printed": 10.0})
    assert "printed" not in plain and marked.count('class="printed"') == 1
    assert f'd="M{WIDTH / 2:.1f} 1V' in marked


def test_a_published_value_outside_of_everything_measured_is_in_the_picture() -> None:
    far = spark(PART | {"printed": 30.0})
    at = float(far.split('class="printed" d="M')[1].split(" ")[0])
    assert 0 <= at <= WIDTH


def test_nothing_measured_draws_nothing() -> None:
    assert spark(PART | {"value": None}) == ""
