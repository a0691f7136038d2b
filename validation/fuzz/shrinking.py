"""Makes a failing scenario small: whatever can go without changing the failure goes."""

from __future__ import annotations

import copy
import json
import re
import time
from collections.abc import Iterator
from typing import Any

from validation.fuzz.runner import Runner, Verdict

LEAST_s = 90.0
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+$")


def shrunk(
    runner: Runner, scenario: dict[str, Any], verdict: Verdict, seconds: float = LEAST_s
) -> tuple[dict[str, Any], Verdict]:
    """The smallest scenario found in this time that fails in the same way, and its verdict."""
    until = time.monotonic() + seconds
    usual_s, runner.deaf_s = runner.deaf_s, 20.0  # shorter than for the first time: there are many to try
    try:
        return _shrunk(runner, scenario, verdict, until)
    finally:
        runner.deaf_s = usual_s


def _shrunk(runner: Runner, scenario: dict[str, Any], verdict: Verdict, until: float) -> tuple[dict[str, Any], Verdict]:
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _smaller(scenario):
            if time.monotonic() > until:
                return scenario, verdict
            found = runner.examine({"scenario": candidate})
            if found.get("check") == verdict["check"]:
                scenario, verdict, is_smaller = candidate, found, True
                break
    return scenario, verdict


def _smaller(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Scenarios with one thing less, the largest things first; then with a shorter time."""
    paths = sorted(_paths(scenario), key=lambda p: -len(json.dumps(_at(scenario, p))))
    for path in paths:
        if path in (("name",), ("duration",), ("flow",), ("link",)):
            continue
        less = copy.deepcopy(scenario)
        del _at(less, path[:-1])[path[-1]]
        yield less
    number, _, unit = str(scenario["duration"]).partition(" ")
    if unit == "s" and float(number) > 0.02:
        yield {**scenario, "duration": f"{float(number) / 2:.3g} s"}


def _paths(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in items:
        yield (*above, key)
        yield from _paths(inner, (*above, key))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        node = node[step]
    return node


def toml(scenario: dict[str, Any]) -> str:
    """The scenario as a file; what stands below the first two levels is written on one line."""
    lines = [f"{_key(k)} = {_inline(v)}" for k, v in scenario.items() if not _is_named(v)]
    for table, named in scenario.items():
        for name, inner in named.items() if _is_named(named) else ():
            lines += ["", f"[{_key(table)}.{_key(name)}]", *(f"{_key(k)} = {_inline(v)}" for k, v in inner.items())]
    return "\n".join(lines) + "\n"


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(v, dict) for v in value.values())


def _key(key: str) -> str:
    return key if BARE_KEY.match(key) else json.dumps(key, ensure_ascii=False)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)
