"""What a sweep has to run: points, keys of their runs, and what of them is missing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from crosswind.core import build
from crosswind.errors import InputError
from crosswind.run import Ties
from crosswind.scenario import Scenario, quantity
from crosswind.scenario.scenario import NO_MATTER
from crosswind.sweep.design import Changes, Design

# Names that the tables of results use already: a parameter's column is called something else.
TAKEN = {"key", "configuration", "rep", "seed", "name", "group", "link", "direction", "from", "to", "flow", "time_ns"}
TAKEN |= {"entity", "metric", "value", "low", "high", "count", "kind", "seq", "len", "aux", "end", "events", "packets"}
TAKEN |= {"limit", "order", "select", "by", "where", "all", "table", "case", "type", "size", "start", "to"}  # SQL's


@dataclass(frozen=True)
class Point:
    """One combination of values: its label, the scenario, and the name of what it computes."""

    label: str
    changes: Changes
    scenario: Scenario
    seed: int
    digest: str
    stratified: bool
    chained: bool

    def key(self, rep: int, plan: Plan) -> str:
        """Names one run by all that determines its result. Strata depend on how many repetitions there are."""
        total = plan.reps[plan.numbers[self.label]] if self.stratified else 0
        text = f"{self.digest}:{plan.build}:{self.seed}:{rep}:{total}:{plan.ties}"
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@dataclass(frozen=True)
class Impossible:
    """A combination that is no valid scenario, and why."""

    changes: Changes
    why: InputError


@dataclass
class Plan:
    """Points and the number of repetitions that each is to have."""

    base: Scenario
    points: list[Point]
    columns: dict[str, str]
    reps: list[int]
    ties: Ties = "fixed"
    impossible: list[Impossible] = field(default_factory=list)
    build: str = field(default_factory=build)

    def keys(self, i: int) -> list[str]:
        return [self.points[i].key(rep, self) for rep in range(self.reps[i])]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Label of a point -> its place."""
        return {p.label: i for i, p in enumerate(self.points)}

    def index(self) -> pl.DataFrame:
        """One row per wanted run: key, configuration, rep."""
        rows: dict[str, list[Any]] = {"key": [], "configuration": [], "rep": []}
        for i, p in enumerate(self.points):
            rows["key"] += self.keys(i)
            rows["configuration"] += [p.label] * self.reps[i]
            rows["rep"] += range(self.reps[i])
        types = {"key": pl.String, "configuration": pl.String, "rep": pl.Int64}
        return pl.DataFrame(rows, schema=types)

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
) -> Plan:
    """Checks every point. Raises InputError for a wrong path or value; `invalid="skip"` leaves such points out."""
    if base.get("record.pcap"):
        raise InputError("sweep", path="record.pcap", found="a capture", expected="no capture in a sweep of many runs")
    if base.get("record.event_file"):
        expected = "no file of events in a sweep of many runs"
        raise InputError("sweep", path="record.event_file", found="a file of events", expected=expected)
    columns = _columns(design.paths)
    points: list[Point] = []
    impossible: list[Impossible] = []
    for changes in design.points:
        try:
            points.append(_point(base, changes, columns, seed))
        except InputError as e:
            impossible.append(Impossible(changes, e))
    if impossible and (invalid != "skip" or not points):
        raise _refusal(impossible, len(design.points))
    return Plan(base, _labelled_once(points), columns, [reps] * len(points), ties, impossible)


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


def _point(base: Scenario, changes: Changes, columns: dict[str, str], seed: int | None) -> Point:
    if "seed" in changes and seed is not None:
        raise InputError("--seed", found="--seed, while the design varies `seed`", expected="one of the two")
    scenario = base.with_(changes)
    normal = scenario.validate()
    own = scenario.get("seed", 1)
    plain = json.dumps({k: v for k, v in normal.items() if k not in NO_MATTER}, sort_keys=True, ensure_ascii=False)
    return Point(
        ", ".join(f"{columns[path]}={say(v)}" for path, v in changes.items()) or scenario.name,
        changes,
        scenario,
        seed if seed is not None else int(own),
        hashlib.blake2b(plain.encode(), digest_size=16).hexdigest(),
        '"stratified":' in plain,
        '"across-repetitions"' in plain,
    )


def say(value: Any) -> str:
    """A value as a label: text as it is, tables as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labelled_once(points: list[Point]) -> list[Point]:
    seen: dict[str, int] = {}
    out = []
    for p in points:
        seen[p.label] = seen.get(p.label, 0) + 1
        again = seen[p.label]
        out.append(p if again == 1 else Point(f"{p.label} #{again}", *list(vars(p).values())[1:]))
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


# ---- what is missing, in pieces --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """Runs to make at once: each scenario with each repetition. `keys` has one row per scenario."""

    scenarios: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    seed: int
    reps: tuple[int, ...]
    reps_total: int
    ties: Ties

    @property
    def runs(self) -> int:
        return len(self.scenarios) * len(self.reps)


def missing(plan: Plan, have: set[str]) -> tuple[int, Callable[[Callable[[], int]], Iterator[Job]]]:
    """How many runs are missing, and a function that cuts them into jobs of (about) the size asked for each time."""
    groups: dict[tuple[int, int, tuple[int, ...], bool], list[int]] = {}
    claimed: set[str] = set(have)
    count = 0
    for i, p in enumerate(plan.points):
        keys = plan.keys(i)
        reps = tuple(rep for rep, k in enumerate(keys) if k not in claimed)
        claimed.update(keys)
        if not reps:
            continue
        if p.chained:  # repetitions that follow each other are made together
            reps = tuple(range(plan.reps[i]))
        total = plan.reps[i] if p.stratified else max(reps) + 1
        groups.setdefault((p.seed, total, reps, p.chained), []).append(i)
        count += len(reps)

    def jobs(size: Callable[[], int]) -> Iterator[Job]:
        for (seed, total, reps, chained), members in groups.items():
            at = rep_at = 0
            while at < len(members):
                want = max(1, size())
                whole = chained or (rep_at == 0 and want >= len(reps))
                take = max(1, want // len(reps)) if whole and not chained else 1
                some = members[at : at + take]
                chosen = reps if whole else reps[rep_at : rep_at + want]
                yield _job(plan, some, seed, chosen, total)
                rep_at = 0 if whole or rep_at + want >= len(reps) else rep_at + want
                at += len(some) if rep_at == 0 else 0

    return count, jobs


def _job(plan: Plan, members: Sequence[int], seed: int, reps: tuple[int, ...], total: int) -> Job:
    def keys(i: int) -> tuple[str, ...]:
        return tuple(plan.points[i].key(rep, plan) for rep in reps)

    texts = tuple(plan.points[i].scenario.to_json() for i in members)
    return Job(texts, tuple(keys(i) for i in members), seed, reps, total, plan.ties)
