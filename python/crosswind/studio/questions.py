"""What the page may ask of the server, by name: each takes the JSON of a question and gives that of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crosswind.errors import InputError
from crosswind.scenario.known_paths import names_at, values_at
from crosswind.studio import exports, limits, live, motion
from crosswind.studio.answer import Asked, Studio

Question = Callable[[Any], dict[str, Any]]


def _run(studio: Studio) -> Question:
    def answer(told: Any) -> dict[str, Any]:
        found = studio.answer(Asked.of(told))
        return {**found, "there": exports.tables_there(studio.runs(found["key"]))}

    return answer


def _check(studio: Studio) -> Question:
    """Whether a text is right, without running it."""

    def answer(told: Any) -> dict[str, Any]:
        limits.checked(Asked.of(told).text, studio.file).validate()
        return {}

    return answer


def _differs(studio: Studio) -> Question:
    def answer(told: Any) -> dict[str, Any]:
        new = Asked.of(told)
        old = told.get("before")
        if not isinstance(old, str):
            raise InputError("studio", path="before", found="no text", expected="that of the run before")
        return studio.differs(new, old)

    return answer


def _complete(_studio: Studio) -> Question:
    """The names that may stand at a place of the file: keys, or with `value` what the key there may have."""

    def answer(told: Any) -> dict[str, Any]:
        path = told.get("path")
        if not isinstance(path, str) or len(path) > 200:
            raise InputError("studio", path="path", found="no path", expected="a dotted path")
        return {"names": values_at(path) if told.get("value") is True else names_at(path)}

    return answer


def _packets(studio: Studio) -> Question:
    """The packets of a flow on their way."""

    def answer(told: Any) -> dict[str, Any]:
        key, flow, at = (told.get(k) for k in ("key", "flow", "at"))
        if not isinstance(key, str) or not isinstance(flow, str) or not isinstance(at, int | float):
            raise InputError("studio", found="another question", expected="the key of an answer, a flow and a time")
        return motion.told(studio.runs(key), flow, float(at))

    return answer


def _live(studio: Studio) -> Question:
    return lambda _told: live.look(studio.emulation)


def _control(studio: Studio) -> Question:
    return lambda told: live.change(told, studio.emulation)


QUESTIONS: dict[str, Callable[[Studio], Question]] = {
    "run": _run,
    "check": _check,
    "differs": _differs,
    "complete": _complete,
    "packets": _packets,
}
#: Of a page that shows an emulation.
LIVE: dict[str, Callable[[Studio], Question]] = {"live": _live, "control": _control}
