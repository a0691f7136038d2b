"""Changes one value in the text of a scenario, and leaves its comments and its order alone where that is possible."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from crosswind.errors import InputError
from crosswind.scenario import Scenario
from crosswind.scenario.toml_lines import places
from crosswind.scenario.toml_text import value_text, written

_ASSIGNED = re.compile(r"^(\s*[^=#]+?=\s*)(.*)$")


def changed(scenario: Scenario, changes: Mapping[str, Any]) -> Scenario:
    """The scenario with the changes, and its text with them. A value of None removes a key. Raises InputError."""
    for path, value in changes.items():
        scenario = _one(scenario, path, value)
    return scenario


def _one(scenario: Scenario, path: str, value: Any) -> Scenario:
    path, value = _meant(scenario, path, value)
    after = scenario.with_({path: value})
    text = _in_place(scenario.text, after, path) or written({**after.data, **_sweep(scenario)})
    return Scenario.from_toml(text, file=scenario.file)


def _sweep(scenario: Scenario) -> dict[str, Any]:
    return {"sweep": scenario.sweep} if scenario.sweep else {}


def _meant(scenario: Scenario, path: str, value: Any) -> tuple[str, Any]:
    """A queue of another type keeps only its limit, if it is one of packets or bytes; a share of losses is a loss."""
    parent, _, key = path.rpartition(".")
    if key == "type" and parent.endswith(".queue"):
        old = scenario.get(parent)
        kept = {"limit": old["limit"]} if isinstance(old, Mapping) and "limit" in old else {}
        wanted = {"type": value, **kept}
        try:
            scenario.with_({parent: wanted}).validate()
        except InputError:
            wanted = {"type": value}
        return parent, wanted
    if key == "loss" and isinstance(value, int | float):
        return path, {"type": "uniform", "probability": value} if value > 0 else None
    return path, value


def _in_place(text: str, after: Scenario, path: str) -> str | None:
    """The text with one line changed, added or removed; None when that does not say what is wanted."""
    lines = text.splitlines()
    keys = path.split(".")
    for candidate in (_replaced, _added):
        new = candidate(lines, after, keys)
        if new is not None and _says(new, after):
            return new
    return None


def _says(text: str, after: Scenario) -> bool:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    data.pop("sweep", None)
    data.setdefault("name", after.data.get("name"))
    return data == after.data


def _replaced(lines: list[str], after: Scenario, keys: list[str]) -> str | None:
    """The line that assigns the key, or the inline table round it, with its new value."""
    for parts, number in reversed(places("\n".join(lines))):
        if parts != keys[: len(parts)] or not (found := _ASSIGNED.match(lines[number - 1])):
            continue
        head, rest = found.groups()
        value = after.get(".".join(parts))
        if value is None:
            return "\n".join([*lines[: number - 1], *lines[number:]]) + "\n"
        comment = _comment(rest)
        return "\n".join([*lines[: number - 1], f"{head}{value_text(value)}{comment}", *lines[number:]]) + "\n"
    return None


def _added(lines: list[str], after: Scenario, keys: list[str]) -> str | None:
    """A new line below the head of the table that the key belongs to."""
    value = after.get(".".join(keys))
    if value is None:
        return None
    heads = [(p, n) for p, n in places("\n".join(lines)) if lines[n - 1].lstrip().startswith("[")]
    for depth in range(len(keys) - 1, 0, -1):
        number = next((n for p, n in heads if p == keys[:depth]), None)
        if number is not None:
            end = number
            while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith("["):
                end += 1
            return "\n".join([*lines[:end], f"{'.'.join(keys[depth:])} = {value_text(value)}", *lines[end:]]) + "\n"
    return f"{'.'.join(keys)} = {value_text(value)}\n" + "\n".join(lines) + "\n" if len(keys) == 1 else None


def _comment(rest: str) -> str:
    """The comment behind a value, with the blanks before it; empty when a `#` may stand inside of text."""
    for at in (i for i, c in enumerate(rest) if c == "#"):
        try:
            tomllib.loads(f"v = {rest[:at]}")
        except tomllib.TOMLDecodeError:
            continue
        return rest[len(rest[:at].rstrip()) :]
    return ""
