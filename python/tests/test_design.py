"""Designs and quantities: which points a sweep runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.errors import InputError
from crosswind.scenario import quantity
from crosswind.sweep import design
from crosswind.sweep.design import Range


def test_a_grid_is_every_combination_in_the_order_of_writing() -> None:
    d = design.grid({"a": [1, 2], "b": ["x", "y"]})
    assert d.points == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]


def test_zipped_values_step_together_and_multiply_with_a_grid() -> None:
    d = design.grid({"g": [0, 1]}) * design.zipped({"a": [1, 2], "b": [10, 20]})
    assert [(p["g"], p["a"], p["b"]) for p in d.points] == [(0, 1, 10), (0, 2, 20), (1, 1, 10), (1, 2, 20)]
    with pytest.raises(InputError, match="as many values"):
        design.zipped({"a": [1, 2], "b": [1]})


def test_one_path_cannot_have_two_axes() -> None:
    with pytest.raises(InputError, match="two axes"):
        design.grid({"a": [1]}) * design.grid({"a": [2]})


@given(st.integers(2, 40), st.integers(0, 1000))
def test_a_latin_hypercube_uses_every_part_of_every_axis_once(points: int, seed: int) -> None:
    d = design.latin_hypercube({"a": Range(0.0, 1.0), "b": Range("0 ms", "1000 ms")}, points=points, seed=seed)
    for path in ("a", "b"):
        ends = [quantity.parse(p[path]).value / (1 if path == "a" else 1e9) for p in d.points]  # type: ignore[union-attr]
        parts = sorted(min(math.floor(v * points + 1e-4), points - 1) for v in ends)
        assert len(set(parts)) >= points - 1  # six digits may round a value over the border of its part


@given(st.sampled_from(["linear", "log"]), st.floats(0, 1))
def test_drawn_values_lie_in_their_range_and_keep_the_unit(scale: design.Scale, share: float) -> None:
    value = Range("500 kbit/s", "10 Mbit/s", scale).at(share)
    found = quantity.parse(value)
    assert value.endswith(" kbit/s") and found is not None and 0.5e6 <= found.value <= 10e6


def test_the_same_seed_draws_the_same_points() -> None:
    axes = {"a": Range(1, 100), "b": ["x", "y", "z"]}
    assert design.random(axes, points=9, seed=4) == design.random(axes, points=9, seed=4)
    assert design.random(axes, points=9, seed=4) != design.random(axes, points=9, seed=5)
    assert all(isinstance(p["a"], int) for p in design.random(axes, points=9).points)


def test_the_sweep_table_reads_nested_and_dotted_paths_alike() -> None:
    nested = design.from_table({"grid": {"link": {"x": {"rate": ["1 Mbit/s", "2 Mbit/s"]}}}})
    dotted = design.from_table({"grid": {"link.x.rate": ["1 Mbit/s", "2 Mbit/s"]}})
    assert nested == dotted and nested.paths == ["link.x.rate"]
    drawn = design.from_table(
        {"latin-hypercube": {"points": 7, "link.x.delay": {"from": "1 ms", "to": "1 s", "scale": "log"}}}
    )
    assert len(drawn) == 7


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"gird": {}}, "one of reps"),
        ({"grid": {"a": 1}}, "a list of values"),
        ({"grid": {"a": []}}, "a list of values"),
        ({"random": {"a": [1]}}, "no `points`"),
        ({"random": {"points": 0, "a": [1]}}, r"sweep\.random\.points: found 0, expected a whole number from 1"),
        ({"random": {"points": 2, "seed": -1}}, r"sweep\.random\.seed: found -1, expected a whole number from 0"),
        ({"latin-hypercube": {"points": 2, "seed": "a"}}, r'sweep\.latin-hypercube\.seed: found "a"'),
        ({"seed": True}, r"sweep\.seed: found true"),
        ({"reps": "ten"}, r'sweep\.reps: found "ten", expected a whole number from 1'),
        ({"precision": 5}, r"sweep\.precision: found 5, expected metric=share"),
        ({"precision": ["goodput=1%", "goodput"]}, r"sweep\.precision: found .*expected metric=share"),
        ({"skip_invalid": "yes"}, r"sweep\.skip_invalid: found \"yes\", expected true or false"),
        ({"random": {"points": 3, "a": {"from": 1}}}, "a list of choices or a range"),
        ({"random": {"points": 3, "a": {"from": "1 ms", "to": "1 Mbit/s"}}}, "two quantities alike"),
        ({"random": {"points": 3, "a": {"from": "0 ms", "to": "1 ms", "scale": "log"}}}, "above zero"),
        ({"grid": {"a": list(range(2000)), "b": list(range(2000))}}, "at most 1,000,000"),
    ],
)
def test_a_wrong_sweep_table_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        design.from_table(table)


def test_values_on_the_command_line_split_outside_of_brackets_and_quotes() -> None:
    assert design.split_values('a,{ type = "red", p = [1, 2] },"x,y"') == ["a", '{ type = "red", p = [1, 2] }', '"x,y"']
    assert design.parse_axis("link.x.delay=1 ms..300 ms log", "--draw") == (
        "link.x.delay",
        Range("1 ms", "300 ms", "log"),
    )


@given(st.floats(1e-3, 1e9), st.sampled_from(["kbit/s", "ms", "kB", "min", "GB"]))
def test_a_quantity_survives_writing_and_reading(value: float, unit: str) -> None:
    back = quantity.parse(quantity.written(value, f"1 {unit}"))
    assert back is not None and back.value == pytest.approx(value, rel=1e-5)


def test_names_and_tables_are_no_quantities() -> None:
    assert [quantity.parse(v) for v in ("reno", "5 parsec", True, {"a": 1}, "..")] == [None] * 5
    assert quantity.common(["1 ms", "2 s"]) == ("ns", [1e6, 2e9])
    assert quantity.common(["1 ms", "2 B"]) is None
