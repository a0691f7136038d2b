"""Every claim of every lesson against the runs; what the page and the documentation make of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, InputError
from crosswind.lessons import find, lesson, registry
from crosswind.lessons.lesson import Claim, Measure
from crosswind.scenario import Scenario
from crosswind.studio import lessons
from crosswind.studio.answer import Asked, Studio

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
NAMES = list(registry())


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_the_lesson_holds(name: str) -> None:
    one = registry()[name]
    runs = one.runs()
    assert one.claims and not runs.manifest["failed"]
    judged = [(c.says, *c.judged(runs)) for c in one.claims]
    assert not [f"{says} ({told})" for says, holds, told in judged if not holds]
    page = (ROOT / f"docs/phenomena/{name}.md").read_text(encoding="utf-8")
    stale = [f"{says} ({told})" for says, _, told in judged if f"| {says} | {told} | holds |" not in page]
    assert not stale, f"crosswind explain {name} --out docs/phenomena writes the page anew"


def test_the_lessons_are_these_and_something_is_claimed_of_each_step() -> None:
    assert NAMES == [
        "slow-start", "saw-tooth", "bufferbloat", "rtt-unfairness", "spurious-timeouts", "cubic-and-bbr", "ecn", "l4s",
        "incast",
    ]  # fmt: skip
    for one in registry().values():
        assert 1 <= len(one.steps) <= 7 and one.question.endswith("?")
        assert {one.order for one in registry().values()} == {*range(1, 10)}
        measured = {m.step for c in one.claims for m in (c.measure, c.than) if isinstance(m, Measure)}
        assert {s.name for s in one.steps} <= measured, f"{one.name}: a step of which nothing is claimed"


def test_a_claim_that_is_wrong_does_not_hold() -> None:
    one = find("ecn")
    runs = one.runs()
    marks = Measure("marks_packets", name="download", reduce="sum", step="ecn")
    assert Claim("", marks, 1.0, at_least=1.0).judged(runs)[0]
    assert not Claim("", marks, 1e9, at_least=1.0).judged(runs)[0]
    assert not Claim("", marks, 0.0).judged(runs)[0], "none at all"
    assert not Claim("", marks, dataclasses.replace(marks, step="start"), at_most=1.0).judged(runs)[0]
    for nobody in ({"name": "nobody"}, {"of": "link", "name": "path/aside"}, {"of": "class", "name": "path/forward/x"}):
        with pytest.raises(InputError, match="nothing of"):
            Claim("", dataclasses.replace(marks, **nobody), 1.0).judged(runs)


@pytest.mark.parametrize("name", NAMES)
def test_the_studio_shows_each_step_and_it_is_the_one_that_is_claimed_of(name: str) -> None:
    told = next(one for one in lessons.told() if one["name"] == name)
    scenarios = registry()[name].scenarios()
    for step, meant in zip(told["steps"], registry()[name].steps, strict=True):
        assert Scenario.from_toml(step["text"]).data == scenarios[meant.name].data
    answer = Studio().answer(Asked(told["text"]))
    assert answer["charts"] and not answer["warnings"]


def test_the_first_scenario_answers_at_once_and_has_the_delay_under_load() -> None:
    told = Studio().answer(Asked(lessons.first()))
    assert "Under load" in [t["title"] for t in told["tables"]]


def test_explain_writes_a_lesson_with_what_was_measured(tmp_path: Path, capsys: Any) -> None:
    assert main(["explain", "ecn", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "ecn.md").read_text()
    assert "does not hold" not in text and "holds" in text and "![" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ecn.md", "ecn.svg"]
    assert main(["explain"]) == 0
    assert "slow-start-overshoot" in (listed := capsys.readouterr().out) and "cubic-and-bbr" in listed
    assert main(["explain", "cubik-and-bbr"]) == EXIT_BAD_INPUT
    assert "did you mean `cubic-and-bbr`" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_the_page_in_the_documentation_is_that_of_the_lesson(name: str) -> None:
    text = (ROOT / f"docs/phenomena/{name}.md").read_text(encoding="utf-8")
    one = registry()[name]
    assert one.text.rstrip() in text and "does not hold" not in text
    assert all(c.says in text for c in one.claims) and all(s.see in text for s in one.steps)
    picture = ROOT / f"docs/phenomena/{name}.svg"
    assert f"]({name}.svg)" in text and f"crosswind explain {name}" in picture.read_text(encoding="utf-8")


def test_a_lesson_whose_claim_names_no_step_is_refused(tmp_path: Path) -> None:
    text = (lesson.FOLDER / "ecn.toml").read_text().replace('step = "ecn"', 'step = "enc"')
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(InputError, match="enc"):
        lesson.load(tmp_path / "x.toml")
