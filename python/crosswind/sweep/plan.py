"""What a sweep has to run: its points, their labels and columns, and what cannot be run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from crosswind.errors import InputError
from crosswind.run import Ties
from crosswind.run.wanted import Point, Wanted, seed_of
from crosswind.scenario import Scenario, quantity
from crosswind.sweep.design import Changes, Design

# Names that the tables of results use already: a parameter's column is called something else.
TAKEN = {"key", "configuration", "rep", "seed", "name", "group", "link", "direction", "from", "to", "flow", "time_ns"}
TAKEN |= {"entity", "metric", "value", "low", "high", "count", "kind", "seq", "len", "aux", "end", "events", "packets"}
TAKEN |= {"limit", "order", "select", "by", "where", "all", "table", "case", "type", "size", "start", "to"}  # SQL's


@dataclass(frozen=True)
class Impossible:
    """A combination that is no valid scenario, and why."""

    changes: Changes
    why: InputError


@dataclass(kw_only=True)
class Plan(Wanted):
    """The runs of a sweep: `columns` says what the varied paths are called in tables."""

    base: Scenario
    columns: dict[str, str]
    impossible: list[Impossible] = field(default_factory=list)

    @cached_property
    def parameters(self) -> pl.DataFrame:
        """One row per configuration, one column per varied path, and its number beside it where it has a unit."""
        columns: dict[str, Any] = {"configuration": [p.label for p in self.points]}
        for path, name in self.columns.items():
            values = [p.changes.get(path) for p in self.points]
            numbers = quantity.common(values)
            if numbers is not None and not numbers[0]:
                columns[name] = values if all(isinstance(v, int) for v in values) else numbers[1]
                continue
            columns[name] = [say(v) for v in values]
            if numbers is not None:
                columns[f"{name}_{numbers[0]}"] = numbers[1]
        return pl.DataFrame(columns)


def make(
    base: Scenario,
    design: Design,
    *,
    reps: int,
    seed: int | None,
    ties: Ties = "fixed",
    invalid: str = "refuse",
    laws: Mapping[str, str] | None = None,
) -> Plan:
    """Checks every point; `laws` as in `Point.of`.

    Raises InputError for a wrong path or value; `invalid="skip"` leaves such points out.
    """
    if base.get("record.pcap"):
        raise InputError("sweep", path="record.pcap", found="a capture", expected="no capture in a sweep of many runs")
    if base.get("record.event_file"):
        expected = "no file of events in a sweep of many runs"
        raise InputError("sweep", path="record.event_file", found="a file of events", expected=expected)
    if base.get("record.qlog"):
        expected = "no logs of stacks in a sweep of many runs"
        raise InputError("sweep", path="record.qlog", found="a folder of logs", expected=expected)
    columns = _columns(design.paths)
    points: list[Point] = []
    impossible: list[Impossible] = []
    for changes in design.points:
        try:
            points.append(_point(base, changes, columns, seed, laws))
        except InputError as e:
            impossible.append(Impossible(changes, e))
    if impossible and (invalid != "skip" or not points):
        raise _refusal(impossible, len(design.points))
    points = _labelled_once(points)
    return Plan(points, [reps] * len(points), ties, base=base, columns=columns, impossible=impossible)


def _refusal(impossible: Sequence[Impossible], of: int) -> InputError:
    first = impossible[0]
    e = first.why
    what = ", ".join(f"{path}={say(v)}" for path, v in first.changes.items()) or "the scenario itself"
    if len(impossible) == of:
        where = f"{e.where} (every combination)" if of > 1 else e.where
    else:
        where = f"{e.where} ({len(impossible)} of {of} combinations, first: {what})"
    skip = "--skip-invalid runs the others" if len(impossible) < of else ""
    return InputError(where, e.path, e.found, e.expected, "; ".join(h for h in (e.hint, skip) if h))


def _point(
    base: Scenario, changes: Changes, columns: dict[str, str], seed: int | None, laws: Mapping[str, str] | None
) -> Point:
    if "seed" in changes and seed is not None:
        raise InputError("--seed", found="--seed, while the design varies `seed`", expected="one of the two")
    scenario = base.with_(changes)
    label = ", ".join(f"{columns[path]}={say(v)}" for path, v in changes.items()) or scenario.name
    return Point.of(label, scenario, seed if seed is not None else seed_of(scenario), changes, laws)


def say(value: Any) -> str:
    """A value as a label: text as it is, tables as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labelled_once(points: list[Point]) -> list[Point]:
    seen: dict[str, int] = {}
    out = []
    for p in points:
        seen[p.label] = seen.get(p.label, 0) + 1
        again = seen[p.label]
        out.append(p if again == 1 else replace(p, label=f"{p.label} #{again}"))
    return out


def _columns(paths: Sequence[str]) -> dict[str, str]:
    """The shortest endings of the paths that tell them apart and that no result column has."""
    parts = {p: [re.sub(r"\W", "_", part) for part in p.split(".")] for p in paths}
    out: dict[str, str] = {}
    for path, words in parts.items():
        names = ["_".join(words[-n:]) for n in range(1, len(words) + 1)]
        others = {"_".join(w[-n:]) for q, w in parts.items() if q != path for n in range(1, len(w) + 1)}
        out[path] = next((n for n in names if n not in others and n not in TAKEN), f"{names[-1]}_set")
    return out
