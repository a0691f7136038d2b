"""Scenarios: what to run. Read from TOML, changed by dotted paths, handed to the engine as JSON.

The engine's own types are the single source of truth for what a scenario may say; nothing here knows the keys of a
queue or of a TCP. Checks made here concern only the file itself.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crosswind.core import core
from crosswind.errors import InputError, did_you_mean
from crosswind.scenario import traces
from crosswind.scenario.known_paths import unknown_step
from crosswind.scenario.toml_lines import line_of, places, table_lines
from crosswind.scenario.toml_text import written

_AT = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_DECLARED_TWICE = re.compile(r"Cannot (?:declare|redefine|overwrite)|twice|already")
# Tables whose members are named by the user: a change to a member that does not exist is a slip, not a new member.
_NAMED = ("link", "flow", "domain", "contract")
# A list of valid names longer than this is left out where the nearest one is named.
LONG = 160
#: Levels of tables and lists; nested queues need more than six.
DEEPEST = 100
#: What stands at the ends of most paths. Thousands of flows have ten times as many: it is passed by without a call.
_LEAVES = frozenset((str, int, bool))
# What a scenario is called decides nothing; the seed is given with the run.
NO_MATTER = ("name", "title", "seed")


@dataclass(frozen=True)
class Scenario:
    """What to run. Immutable: `with_` returns a changed copy.

    >>> s = Scenario.from_dict({"name": "s", "link": {"x": {"rate": "1 Mbit/s"}}})
    >>> s.with_(**{"link.x.rate": "2 Mbit/s"}).get("link.x.rate")
    '2 Mbit/s'
    """

    data: dict[str, Any]
    file: str | None = None
    text: str = field(default="", repr=False)
    changed: tuple[str, ...] = ()
    # The [sweep] table of the file: what `crosswind sweep` varies. No part of what is run.
    sweep: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def load(path: str | Path) -> Scenario:
        """Reads a scenario from a TOML file. Raises InputError (with the line) for what cannot be read."""
        path = Path(path)
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            near = did_you_mean(path.name, (p.name for p in _siblings(path)))
            raise InputError(str(path), found="no such file", expected="a scenario file (.toml)", hint=near) from None
        except IsADirectoryError:
            raise InputError(str(path), found="a directory", expected="a scenario file (.toml)") from None
        except UnicodeDecodeError as e:
            raise InputError(
                str(path), found=f"bytes that are not UTF-8 (at byte {e.start})", expected="a TOML file in UTF-8"
            ) from None
        except OSError as e:
            raise InputError(str(path), found=e.strerror or str(e), expected="a readable scenario file") from None
        return Scenario.from_toml(text, file=str(path))

    @staticmethod
    def from_toml(text: str, file: str | None = None) -> Scenario:
        """Reads a scenario from TOML text; `file` is only used in messages."""
        where = file or "scenario"
        try:
            data = tomllib.loads(text.removeprefix("\ufeff"))
            scenario = Scenario(data, file, text, sweep=_sweep_of(data, where))
            _check_values(scenario, data, "")
            _check_values(scenario, scenario.sweep, "sweep")
        except tomllib.TOMLDecodeError as e:
            raise _explain_toml(str(e), text, where) from None
        except RecursionError:
            raise _too_deep(where) from None
        if "name" not in data and file:
            scenario.data["name"] = re.sub(r"[^a-z0-9_-]+", "-", Path(file).stem.lower())
        return scenario

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Scenario:
        """A scenario from nested dicts shaped like the TOML file."""
        plain = _copied(dict(data))
        scenario = Scenario(plain, sweep=_sweep_of(plain, "scenario"))
        _check_values(scenario, scenario.data, "")
        return scenario

    def __repr__(self) -> str:
        flows, links = (v if isinstance(v := self.data.get(k), dict) else {} for k in ("flow", "link"))
        counts = [f.get("count", 1) if isinstance(f, dict) else 1 for f in flows.values()]
        members = sum(c if isinstance(c, int) else 1 for c in counts)
        counted = [f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((members, "flow"), (len(links), "link"))]
        if template := self.get("topology.template"):
            counted[1:] = [f"{template} template", *(counted[1:] if links else [])]
        return f"Scenario({self.name}: {', '.join(counted)}, {self.data.get('duration', 'no duration')})"

    def __str__(self) -> str:
        """Its title, template, links and flows, one a line."""
        lines = [repr(self), *([self.title] if self.title != self.name else [])]
        if template := self.data.get("topology"):
            lines.append(f"  topology {_line(template)}")
        for kind in ("link", "flow"):
            found = self.data.get(kind, {})
            lines += (
                [f"  {kind} {name}: {_line(one)}" for name, one in found.items()] if isinstance(found, dict) else []
            )
        return "\n".join(lines)

    @property
    def name(self) -> str:
        return str(self.data.get("name", "scenario"))

    @property
    def title(self) -> str:
        return str(self.data.get("title", self.name))

    def get(self, path: str, default: Any = None) -> Any:
        """The value at a dotted path, or `default`."""
        node: Any = self.data
        for key in path.split("."):
            if not isinstance(node, dict) or key not in node:
                return default
            node = node[key]
        return node

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Scenario:
        """A copy with values replaced: `with_(**{"link.x.rate": "1 Mbit/s"})` or `with_({"seed": 3})`.

        A value of None removes the key. Raises InputError when the path leads through something that is not a table,
        or names a link or flow that does not exist.
        """
        paths = (*(changes or {}), *more)
        out = Scenario(_copied(self.data), self.file, self.text, (*self.changed, *paths), self.sweep)
        for path, value in {**(changes or {}), **more}.items():
            out._put(path, _copied(value))
            if value is not None:  # the rest was looked at before
                _check_values(out, value, path)
        return out

    def _put(self, path: str, value: Any) -> None:
        keys = path.split(".")
        where = self.file or "scenario"
        if not all(keys):
            raise InputError("--set", path=path, found="an empty step", expected="a path such as link.x.rate")
        self._check_path(path)
        profile = self.data.get("link")
        if keys[0] == "link" and len(keys) > 1 and isinstance(profile, str):  # one link by the name of its profile
            self.data["link"] = {"last-hop": {"from": "server", "to": "mobile", "profile": profile}}
        node = self.data
        for depth, key in enumerate(keys[:-1]):
            if depth == 1 and keys[0] in _NAMED and key not in node:
                names = {**node, **self._made_by_template(keys[0])}
                raise InputError(
                    where,
                    path=".".join(keys[:2]),
                    found=f"no {keys[0]} `{key}`",
                    expected=f"one of {', '.join(sorted(names)) or '(none)'}",
                    hint=self._of_template(path) or did_you_mean(key, names),
                )
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise InputError(
                    where,
                    path=".".join(keys[: depth + 1]),
                    found=f"the value {show(node)}",
                    expected=f"a table that could hold `{keys[depth + 1]}`",
                )
        if value is None:
            node.pop(keys[-1], None)
        else:
            node[keys[-1]] = value

    def _check_path(self, path: str) -> None:
        """Refuses a key that no scenario has, before anything is run with it."""
        wrong = unknown_step(path)
        if wrong is not None:
            at, names = wrong
            hint = did_you_mean(at.rsplit(".", 1)[-1], names)
            expected = "a key that a scenario may have there"
            if not hint and len(all_names := ", ".join(names)) <= LONG:
                expected = f"one of {all_names}"
            raise InputError(self.file or "scenario", path=at, found="no such key", expected=expected, hint=hint)

    def _repr_html_(self) -> str:
        from crosswind.scenario.shown import scenario_html

        return scenario_html(self)

    def to_json(self) -> str:
        """The scenario as JSON, keys in the order of the file, the contents of trace files filled in."""
        return json.dumps(self.complete(), ensure_ascii=False)

    def to_toml(self) -> str:
        """The scenario as the text of a TOML file, the contents of trace files filled in, without its comments."""
        return written(self.complete() | ({"sweep": self.sweep} if self.sweep else {}))

    def complete(self) -> dict[str, Any]:
        """The data with the contents of the files that it names."""
        return traces.expanded(self.data, Path(self.file).parent if self.file else Path())

    def content(self) -> str:
        """What decides the results, as JSON in the order of the file; two scenarios of one content are one."""
        return json.dumps({k: v for k, v in self.complete().items() if k not in NO_MATTER}, ensure_ascii=False)

    def digest(self) -> str:
        """Twelve hex digits that change when anything in the scenario changes (order of keys does not matter)."""
        canonical = json.dumps(self.complete(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def validate(self) -> dict[str, Any]:
        """The scenario with every default filled in. Raises InputError with file, line and path when it is wrong."""
        engine = core()
        try:
            normal: dict[str, Any] = json.loads(engine.validate(self.to_json()))
        except engine.ScenarioError as e:
            raise self.explain(e) from None
        return normal

    def explain(self, e: Any) -> InputError:
        """Turns the engine's complaint into an InputError that names the file and, if possible, the line."""
        path, expected, hint = (str(getattr(e, name, "")) for name in ("path", "expected", "hint"))
        if hint and len(expected) > LONG:
            expected = expected.split(": one of ")[0]
        hint = hint or self._of_template(path)
        return InputError(self.place(path), path=path, found=str(getattr(e, "found", e)), expected=expected, hint=hint)

    def _made_by_template(self, kind: str) -> dict[str, Any]:
        """Links that a template makes, by the name of their table in it."""
        template = self.data.get("topology")
        made = template if kind == "link" and isinstance(template, dict) else {}
        return {name: table for name, table in made.items() if isinstance(table, dict)}

    def _of_template(self, path: str) -> str:
        """Links that a template makes have their parameters in its table."""
        kind, _, rest = path.partition(".")
        name = rest.split(".")[0]
        made = name in self._made_by_template(kind)
        return f"the template makes this link: its parameters are at topology.{name}" if made else ""

    def place(self, path: str) -> str:
        """`file:line` of a dotted path for messages; just the file (or the scenario's name) when it is not found.

        What was changed after loading (`with_`, `--set`) stands on no line.
        """
        where = self.file or f"scenario `{self.name}`"
        if any(path == c or path.startswith(f"{c}.") for c in self.changed):
            return f"{where} as changed"
        line = line_of(self.text, path) if self.text and path else None
        return f"{where}:{line}" if line else where


def _sweep_of(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Takes the [sweep] table out of a file."""
    sweep = data.pop("sweep", {})
    if not isinstance(sweep, dict):
        raise InputError(where, path="sweep", found=show(sweep), expected="a table")
    return sweep


def parse_value(text: str) -> Any:
    """A value as written after `--set path=`: TOML where it is TOML (numbers, lists, tables), else plain text."""
    text = text.strip()
    try:
        value = tomllib.loads(f"v = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError:
        raise InputError("--set", found="lists or tables hundreds deep", expected="a value of a scenario") from None
    v = value["v"]
    plain = list(value) == ["v"] and not isinstance(v, datetime.date | datetime.time | datetime.datetime)
    return v if plain and not (isinstance(v, float) and not math.isfinite(v)) else text


def parse_assignment(text: str, option: str = "--set") -> tuple[str, Any]:
    """Splits `path=value`. Raises InputError when there is no `=`."""
    path, eq, value = text.partition("=")
    if not eq or not path.strip():
        raise InputError(option, found=f"`{text}`", expected="path=value, for example link.x.rate='1 Mbit/s'")
    return path.strip(), parse_value(value)


def show(value: Any) -> str:
    """A value as it should appear in a message: JSON, cut to 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _line(value: Any) -> str:
    return ", ".join(f"{k} {show(v)}" for k, v in value.items()) if isinstance(value, dict) else show(value)


def _siblings(path: Path) -> list[Path]:
    try:
        return [p for p in path.parent.iterdir() if p.suffix == ".toml"]
    except OSError:
        return []


def _explain_toml(message: str, text: str, where: str) -> InputError:
    """tomllib's sentence with file and line; a table or key that is declared twice is named with both places."""
    at = _AT.search(message)
    line = int(at.group(1)) if at and at.group(1) else max(1, len(text.splitlines()))
    said = _AT.sub("", message)
    if _DECLARED_TWICE.search(message):
        here = next((parts for parts, n in places(text) if n == line), None)
        if here is None:
            here = next((parts for parts, n in reversed(places(text)) if n < line), [])
        name = ".".join(here)
        both = table_lines(text, name) or [n for parts, n in places(text) if parts == here]
        first = f" (first on line {both[0]})" if both and both[0] != line else ""
        kind = (
            f"a second {here[0]} with the name `{here[1]}`"
            if len(here) == 2 and here[0] in _NAMED
            else f"`{name}` a second time"
        )
        return InputError(f"{where}:{line}", path=name, found=kind + first, expected="each name once")
    return InputError(
        f"{where}:{line}",
        found=f"text that is not TOML ({said[:1].lower()}{said[1:]})",
        expected='a value such as "64 kbit/s" (text in quotes), a number, a list or a table',
    )


def _too_deep(where: str) -> InputError:
    found = "tables or lists inside each other, hundreds deep"
    return InputError(where, found=found, expected="a scenario, which needs six levels at most")


def _copied(value: Any, depth: int = 0) -> Any:
    """A copy of tables and lists. What stands at two places of the data is two tables afterwards: they change alone."""
    if depth > DEEPEST:
        return value
    if isinstance(value, dict):
        return {k: v if type(v) in _LEAVES else _copied(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [v if type(v) in _LEAVES else _copied(v, depth + 1) for v in value]
    return value


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether JSON can carry it, and it is no deeper than a scenario."""
    kind = type(value)
    if depth > DEEPEST:
        return False
    if kind is dict or kind is list:
        for inner in value.values() if kind is dict else value:
            if type(inner) not in _LEAVES and not _is_plain(inner, depth + 1):
                return False
        return True
    return kind in _LEAVES or (kind is float and math.isfinite(value))


def _check_values(scenario: Scenario, value: Any, path: str) -> None:
    """Refuses what JSON cannot carry: dates, infinities, not-a-number; and what is deeper than any scenario."""
    depth = path.count(".") + 1 if path else 0
    if not _is_plain(value, depth):
        _refuse(scenario, value, path, depth)


def _refuse(scenario: Scenario, value: Any, path: str, depth: int = 0) -> None:
    """Names the place of what is not plain."""
    if depth > DEEPEST:
        raise _too_deep(scenario.file or "scenario")
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse(scenario, inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            _refuse(scenario, inner, f"{path}[{i}]", depth + 1)
    elif isinstance(value, datetime.date | datetime.time | datetime.datetime):
        raise InputError(
            scenario.place(path),
            path=path,
            found=f"the date or time {value}",
            expected="text, a number, a list or a table",
        )
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(scenario.place(path), path=path, found=f"{value}", expected="a finite number")
    elif not isinstance(value, str | int | float | bool):
        raise InputError(
            scenario.place(path), path=path, found=show(value), expected="text, a number, a list or a table"
        )
