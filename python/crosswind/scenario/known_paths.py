"""Which dotted paths a scenario may have at all, read off the JSON Schema of the engine.

A path is known when some element has it: whether the queue of this very link takes the key is for `validate` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from crosswind.core import core, schema

Node = dict[str, Any]
#: Tables whose members the user names.
NAMED = ("link", "flow", "domain", "contract")


def unknown_step(path: str) -> tuple[str, list[str]] | None:
    """The path as far as its first step that no scenario has, with the names that could stand there; None if known."""
    kind, _, rest = path.partition(".")
    name, _, inner = rest.partition(".")
    if kind not in NAMED or not inner:
        return _unknown(path, id(core()))
    # All flows are alike: thousands of them are looked up once.
    found = _unknown(f"{kind}.any.{inner}", id(core()))
    return found and (found[0].replace(f"{kind}.any", f"{kind}.{name}", 1), found[1])


def names_at(path: str) -> list[str]:
    """The names that may stand below a dotted path (at the top: an empty one); empty where nothing is known."""
    wrong = unknown_step(f"{path}.\0" if path else "\0")
    return wrong[1] if wrong is not None else []


def values_at(path: str) -> list[str]:
    """The names that a key may have as its value, whatever its element is; empty where none are fixed."""
    return _values(path, id(core()))


@cache
def _values(path: str, engine: int) -> list[str]:
    whole = _whole(engine)
    *above, last = path.split(".")
    nodes = list(_plain(whole, whole, frozenset()))
    for key in above:
        nodes = [p for n in nodes for s in _below(n, key) for p in _plain(s, whole, frozenset())]
    found = [v for n in nodes for s in _below(n, last) for v in _fixed(s, whole, frozenset())]
    return sorted({v for v in found if isinstance(v, str)})


def _fixed(node: Any, whole: Node, seen: frozenset[str]) -> Iterator[Any]:
    """The values that a schema names one by one, references followed."""
    if not isinstance(node, dict):
        return
    ref = str(node.get("$ref", ""))
    if ref and ref not in seen:
        yield from _fixed(_target(whole, ref), whole, seen | {ref})
    yield from node.get("enum", ())
    if "const" in node:
        yield node["const"]
    for some in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(some, ()):
            yield from _fixed(inner, whole, seen)


def _target(whole: Node, ref: str) -> Any:
    target: Any = whole
    for part in ref.removeprefix("#/").split("/"):
        target = target[part]
    return target


@cache
def _whole(_engine: int) -> Node:
    return schema()


@cache
def _unknown(path: str, engine: int) -> tuple[str, list[str]] | None:
    whole = _whole(engine)
    nodes = list(_plain(whole, whole, frozenset()))
    keys = path.split(".")
    for depth, key in enumerate(keys):
        names = {name for n in nodes for name in n.get("properties", ())}
        if not names and not any(n.keys() & {"additionalProperties", "patternProperties"} for n in nodes):
            return None  # not a table: that is said where the value is put
        found = [s for n in nodes for s in _below(n, key)]
        if not found:
            numbered = ["1", "2", ".."] if any("patternProperties" in n for n in nodes) else []
            return ".".join(keys[: depth + 1]), sorted(names) or numbered
        if any(s in (True, {}) for s in found):
            return None
        nodes = [p for s in found for p in _plain(s, whole, frozenset())]
    return None


def _below(node: Node, key: str) -> Iterable[Any]:
    """What the key of a table may hold, if the table may have it."""
    if key in node.get("properties", ()):
        return [node["properties"][key]]
    matching = [s for pattern, s in node.get("patternProperties", {}).items() if re.search(pattern, key)]
    if matching:
        return matching
    extra = node.get("additionalProperties", False)
    return [] if extra is False else [extra]


def _plain(node: Any, whole: Node, seen: frozenset[str]) -> Iterator[Node]:
    """The alternatives that a schema stands for, references followed."""
    if not isinstance(node, dict):
        return
    ref = str(node.get("$ref", ""))
    if ref and ref not in seen:
        yield from _plain(_target(whole, ref), whole, seen | {ref})
    for some in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(some, ()):
            yield from _plain(inner, whole, seen)
    if node.keys() & {"properties", "additionalProperties", "patternProperties"}:
        yield node
