"""The lessons for the page, and the scenario that it begins with."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from crosswind.lessons import Lesson, registry
from crosswind.scenario import Scenario
from crosswind.studio.edit import changed

FIRST = Path(__file__).parent / "page" / "first.toml"


def first() -> str:
    """The scenario of a studio that was started without one."""
    return FIRST.read_text(encoding="utf-8")


@cache
def told() -> list[dict[str, Any]]:
    """Every lesson: name, title, question, paragraphs, text, steps (move, see, text) and what it claims."""
    return [_told(lesson) for lesson in registry().values()]


def _told(lesson: Lesson) -> dict[str, Any]:
    base = Scenario.from_toml(lesson.text)
    steps = [{"move": s.move, "see": s.see, "text": changed(base, s.change).text} for s in lesson.steps]
    return {
        "name": lesson.name, "title": lesson.title, "question": lesson.question, "text": lesson.text,
        "paragraphs": list(lesson.paragraphs), "steps": steps, "claims": [c.says for c in lesson.claims],
    }  # fmt: skip
