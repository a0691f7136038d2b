"""A lesson as its file has it, its runs, and whether its claims hold."""

from __future__ import annotations

import math
import operator
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.errors import InputError, did_you_mean
from crosswind.results import Runs
from crosswind.results.summary import show_bytes, show_count, show_rate, show_share, show_time
from crosswind.run import run
from crosswind.scenario import Scenario
from crosswind.stats import jain

FOLDER = Path(__file__).parent / "data"
#: The scenario as it stands, beside its steps.
BASE = "start"
REPETITIONS = 5
_SHOWN: dict[str, Callable[[float], str]] = {
    "bps": show_rate, "ns": show_time, "bytes": show_bytes, "ratio": show_share,
}  # fmt: skip
_REDUCED: dict[str, Callable[[pl.Series], float]] = {
    "mean": lambda s: float(s.mean()),  # type: ignore[arg-type]
    "max": lambda s: float(s.max()),  # type: ignore[arg-type]
    "min": lambda s: float(s.min()),  # type: ignore[arg-type]
    "sum": lambda s: float(s.sum()),
    "jain": lambda s: float(jain(s.to_numpy())),
}


@dataclass(frozen=True)
class Measure:
    """A number out of the runs of one configuration: the mean over the repetitions of a column, reduced in each.

    `of`: flow, link, class or sample. `name`: a flow or group, `link/direction`, `link/direction/class`, or the entity
    of samples; empty: all.
    `between`: seconds of the samples that count.
    """

    column: str
    of: str = "flow"
    name: str = ""
    reduce: str = "mean"
    step: str = BASE
    between: tuple[float, float] = (0.0, math.inf)

    def value(self, runs: Runs) -> float:
        """Raises InputError when there is nothing to measure."""
        rows = self._rows(runs)
        if not rows.is_empty():
            rows = rows.filter(pl.col("configuration") == self.step)
        parts = rows.partition_by("rep", maintain_order=True) if not rows.is_empty() else []
        values = [_REDUCED[self.reduce](part["value"]) for part in parts]
        if not values:
            raise InputError(
                "lesson", path=self.column, found=f"nothing of `{self.name}` in `{self.step}`", expected="rows"
            )
        return sum(values) / len(values)

    def _rows(self, runs: Runs) -> pl.DataFrame:
        if self.of == "sample":
            low, high = (s * 1e9 for s in self.between)
            rows = runs.sample(self.column).filter(pl.col("time_ns").is_between(low, high))
            named = rows.filter(_named(pl.col("entity"), self.name)) if self.name else rows
            each = named.group_by("configuration", "rep", "entity", maintain_order=True).agg(pl.col("value").mean())
            return each if self.reduce == "jain" else named
        if self.of in ("link", "class"):
            keys = ("link", "direction", "class")
            rows = runs.table(self.of)
            if rows.is_empty():  # no queue has classes
                return rows
            rows = rows.filter(**dict(zip(keys, self.name.split("/"), strict=False)))
        else:
            rows = runs.flows()
            rows = rows.filter((pl.col("name") == self.name) | (pl.col("group") == self.name)) if self.name else rows
        value = pl.col(self.column).cast(pl.Float64)
        return rows.with_columns(value=value).filter(pl.col("value").is_not_nan() & (pl.col("value") != -1))

    def shown(self, value: float) -> str:
        """With its unit."""
        if self.reduce == "jain":
            return f"{value:.2f}"
        return _SHOWN.get(self.column.rpartition("_")[2], show_count)(value)


def _named(column: pl.Expr, name: str) -> pl.Expr:
    return (column == name) | column.str.contains(f"^{name}-\\d+$")


@dataclass(frozen=True)
class Claim:
    """A statement, and what it says of two measures: the first is at least, or at most, so many times the second."""

    says: str
    measure: Measure
    than: Measure | float
    at_least: float = -math.inf
    at_most: float = math.inf

    def judged(self, runs: Runs) -> tuple[bool, str]:
        """Whether it holds, and what was measured."""
        left = self.measure.value(runs)
        right = self.than.value(runs) if isinstance(self.than, Measure) else self.than
        told = self.measure.shown(left)
        if isinstance(self.than, Measure):
            told += f" against {self.than.shown(right)}"
        return self.at_least * right <= left <= self.at_most * right if right else left <= 0, told


@dataclass(frozen=True)
class Step:
    """Something to move, and what is to be seen then."""

    name: str
    move: str
    see: str
    change: Mapping[str, Any]


@dataclass(frozen=True)
class Lesson:
    """One lesson; `figure` names the picture of a report that shows it best."""

    name: str
    title: str
    question: str
    paragraphs: Sequence[str]
    text: str
    steps: Sequence[Step]
    claims: Sequence[Claim]
    figure: str
    order: int

    def scenarios(self) -> dict[str, Scenario]:
        """The scenario as it stands, and as each step has it."""
        base = Scenario.from_toml(self.text)
        return {BASE: base, **{s.name: base.with_(s.change) for s in self.steps}}

    def runs(self) -> Runs:
        """All of them, repeated with common random numbers."""
        return run(self.scenarios(), seed=1, reps=REPETITIONS)


def _measure(told: Any) -> Measure:
    return Measure(**{**told, "between": tuple(told.get("between", (0.0, math.inf)))})


def load(file: Path) -> Lesson:
    """A lesson out of its file. Raises InputError when a claim names a step that there is not."""
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    steps = [Step(**s) for s in told["step"]]
    claims = [
        Claim(
            c["says"],
            _measure(c["measure"]),
            _measure(c["than"]) if isinstance(c.get("than"), dict) else float(c.get("than", 1.0)),
            c.get("at_least", -math.inf),
            c.get("at_most", math.inf),
        )
        for c in told["claim"]
    ]
    known = {BASE, *(s.name for s in steps)}
    for m in (m for c in claims for m in (c.measure, c.than) if isinstance(m, Measure)):
        if m.step not in known:
            raise InputError(str(file), path="claim", found=f"step `{m.step}`", expected=", ".join(known))
    return Lesson(
        file.stem, told["title"], told["question"], told["paragraphs"], told["scenario"].lstrip("\n"), steps, claims,
        told["figure"], told["order"],
    )  # fmt: skip


@cache
def registry() -> dict[str, Lesson]:
    """All lessons by name, in the order in which they are to be read."""
    found = sorted((load(f) for f in FOLDER.glob("*.toml")), key=operator.attrgetter("order"))
    return {one.name: one for one in found}


def find(name: str) -> Lesson:
    """One lesson. Raises InputError for another name."""
    known = registry()
    if name not in known:
        expected = f"one of {', '.join(known)}"
        raise InputError("lesson", found=f"`{name}`", expected=expected, hint=did_you_mean(name, known))
    return known[name]
