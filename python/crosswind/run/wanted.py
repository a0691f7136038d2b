"""Which runs are wanted, what each is called, and which of them are missing.

A *key* names one run by all that determines its result: the scenario with every default filled in but for its name, the
files of the laws of one's own that it asks, the build of the engine, seed, repetition and the order of ties. Two runs
with one key are the same run, whoever asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import polars as pl

from crosswind.core import build
from crosswind.errors import InputError
from crosswind.scenario import Scenario, show
from crosswind.scenario.scenario import NO_MATTER

Ties = Literal["fixed", "shuffled"]
MAX_SEED = 2**63 - 1
SEEDS = f"a whole number from 0 to {MAX_SEED}"
#: Most repetitions of one call: their numbers alone take memory.
MAX_REPS = 1_000_000


def is_seed(value: Any) -> bool:
    """Whether a value can be the base seed of runs."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEED


def seed_of(scenario: Scenario) -> int:
    """The base seed that a scenario states, else 1. Raises InputError for what is none."""
    seed = scenario.get("seed", 1)
    if not is_seed(seed):
        raise InputError(scenario.place("seed"), path="seed", found=show(seed), expected=SEEDS)
    return int(seed)


def check_reps(reps: int) -> None:
    """Refuses a number of repetitions that no machine can hold. Raises InputError."""
    if reps > MAX_REPS:
        raise InputError("--reps", found=str(reps), expected=f"at most {MAX_REPS} repetitions at a time")


@dataclass(frozen=True)
class Point:
    """One configuration: its label, the scenario, what is changed in it, and the name of what it computes.

    The strata of a stratified one depend on how many repetitions there are; those of a chained one follow each other.
    """

    label: str
    scenario: Scenario
    seed: int
    digest: str
    stratified: bool
    chained: bool
    changes: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(
        label: str,
        scenario: Scenario,
        seed: int,
        changes: Mapping[str, Any] | None = None,
        laws: Mapping[str, str] | None = None,
    ) -> Point:
        """`laws`: digests of the window laws of one's own, by name. Raises InputError for a wrong scenario."""
        normal = {k: v for k, v in scenario.validate().items() if k not in NO_MATTER}
        plain = json.dumps(normal, sort_keys=True, ensure_ascii=False)
        plain += "".join(d for n, d in sorted((laws or {}).items()) if f'"own_law": {json.dumps(n)}' in plain)
        digest = hashlib.blake2b(plain.encode(), digest_size=16).hexdigest()
        stratified, chained = '"stratified":' in plain, '"across-repetitions"' in plain
        return Point(label, scenario, seed, digest, stratified, chained, changes or {})

    def files(self) -> list[str]:
        """The files that its runs write, which no table can stand for."""
        return [
            str(path)
            for key in ("pcap", "event_file", "qlog")
            if (path := self.scenario.get(f"record.{key}")) is not None
        ]


@dataclass
class Wanted:
    """Configurations, and how many repetitions of each.

    `apart`: no job holds two of them. `block`: hosts that remember do so through so many repetitions, then they begin
    anew (0: through all). `only`: some of the repetitions, each once; hosts remember through these.
    """

    points: list[Point]
    reps: list[int]
    ties: Ties = "fixed"
    apart: bool = False
    block: int = 0
    only: tuple[int, ...] | None = None
    build: str = field(default_factory=build)

    @staticmethod
    def of(
        configurations: Mapping[str, Scenario],
        seed: int,
        reps: int,
        ties: Ties,
        block: int = 0,
        only: tuple[int, ...] | None = None,
        laws: Mapping[str, str] | None = None,
    ) -> Wanted:
        """The same repetitions of every configuration. Tables of a job have the columns of its own scenario only.

        Raises InputError for a wrong scenario, or more repetitions than a machine can hold.
        """
        check_reps(reps if only is None else len(only))
        points = [Point.of(label, s, seed, laws=laws) for label, s in configurations.items()]
        return Wanted(points, [reps] * len(points), ties, apart=True, block=block, only=only)

    def repetitions(self, i: int) -> Sequence[int]:
        """Which ones of the configuration at place `i`."""
        return range(self.reps[i]) if self.only is None else self.only

    def key(self, i: int, rep: int) -> str:
        """The name of one run of the configuration at place `i`."""
        p = self.points[i]
        text = f"{p.digest}:{self.build}:{p.seed}:{rep}:{self.reps[i] if p.stratified else 0}:{self.ties}"
        if p.chained and (self.block or self.only):
            text += f":{self.block or self.only}"
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()

    def keys(self, i: int) -> list[str]:
        """All of one configuration."""
        return [self.key(i, rep) for rep in self.repetitions(i)]

    def chains(self, i: int) -> list[tuple[int, ...]]:
        """The repetitions of a chained configuration that follow each other, and so are made together."""
        if self.only is not None:
            return [self.only]
        reps, step = self.reps[i], self.block or max(1, self.reps[i])
        return [tuple(range(first, min(first + step, reps))) for first in range(0, reps, step)]

    def all_keys(self) -> set[str]:
        return {k for i in range(len(self.points)) for k in self.keys(i)}

    def index(self) -> pl.DataFrame:
        """One row per wanted run: key, configuration, rep."""
        rows: dict[str, list[Any]] = {"key": [], "configuration": [], "rep": []}
        for i, p in enumerate(self.points):
            rows["key"] += self.keys(i)
            rows["configuration"] += [p.label] * len(self.repetitions(i))
            rows["rep"] += self.repetitions(i)
        types = {"key": pl.String, "configuration": pl.String, "rep": pl.Int64}
        return pl.DataFrame(rows, schema=types)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Label of a configuration -> its place."""
        return {p.label: i for i, p in enumerate(self.points)}

    def missing(self, have: Collection[str]) -> tuple[int, Jobs]:
        """How many runs are not in `have`, and a function that cuts them into jobs of (about) the size asked for."""
        groups: dict[tuple[int, int, tuple[int, ...], bool], list[int]] = {}
        claimed = set(have)
        count = 0
        for i, p in enumerate(self.points):
            keys = self.keys(i)
            reps = tuple(rep for rep, k in zip(self.repetitions(i), keys, strict=True) if k not in claimed)
            claimed.update(keys)
            if not reps:
                continue
            total = self.reps[i] if p.stratified or p.chained or p.files() else max(reps) + 1
            if p.chained:
                reps = tuple(rep for chain in self.chains(i) if set(chain) & set(reps) for rep in chain)
            groups.setdefault((p.seed, total, reps, p.chained), []).append(i)
            count += len(reps)
        return count, lambda size: self._jobs(groups, size)

    def _jobs(
        self, groups: Mapping[tuple[int, int, tuple[int, ...], bool], Sequence[int]], size: Callable[[], int]
    ) -> Iterator[Job]:
        for (seed, total, reps, chained), members in groups.items():
            at = rep_at = 0
            block = self.block if chained and not self.only else 0
            while at < len(members):
                want = max(1, size())
                if chained:  # a block is made as one
                    want = block * max(1, want // block) if block else len(reps)
                whole = rep_at == 0 and want >= len(reps)
                take = max(1, want // len(reps)) if whole and not (chained or self.apart) else 1
                some = members[at : at + take]
                chosen = reps if whole else reps[rep_at : rep_at + want]
                texts = tuple(self.points[i].scenario.to_json() for i in some)
                keys = tuple(tuple(self.key(i, rep) for rep in chosen) for i in some)
                yield Job(texts, keys, seed, chosen, total, self.ties, block)
                rep_at = 0 if whole or rep_at + want >= len(reps) else rep_at + want
                at += len(some) if rep_at == 0 else 0


@dataclass(frozen=True)
class Job:
    """Runs to make at once: each scenario with each repetition.

    `keys` has one row per scenario; `block` is that of `Wanted`.
    """

    scenarios: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    seed: int
    reps: tuple[int, ...]
    reps_total: int
    ties: Ties
    block: int = 0


Jobs = Callable[[Callable[[], int]], Iterator[Job]]
