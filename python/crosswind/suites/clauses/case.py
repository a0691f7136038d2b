"""The cases of `audit`: one TOML file for each document, one table for each case.

A case has a scenario, which is laid over the usual one (`BASE`); conditions that must hold before it says anything
(`given`: a fault elsewhere must not pass it silently); and expectations, each a quantity with bounds. What it
demands of TCP is in `flow.body.tcp`, of a stack in `flow.body.stack`; another flow with `like = "body"` has the
transport that is examined. What is different for a body that lives in real
time is in the table `live`: a shorter scenario, or why there is none (`no`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from crosswind.errors import InputError, did_you_mean
from crosswind.suites.case import Table, merged
from crosswind.suites.clauses.measure import QUANTITIES
from crosswind.suites.clauses.trace import Values

FOLDER = Path(__file__).parent / "data"
#: What a clause says of itself. Only a broken `must` or `value` fails; a broken `should` deviates.
STRENGTHS = ("must", "should", "value", "informational")
#: How several values of a quantity become one truth or one number.
SUMMARIES: dict[str, Callable[[Values], Any]] = {
    **{"max": np.max, "min": np.min, "mean": np.mean, "median": np.median, "sum": np.sum},
    **{"first": lambda v: v[0], "last": lambda v: v[-1]},
    **{"p95": lambda v: np.percentile(v, 95), "p99": lambda v: np.percentile(v, 99)},
}
BOUNDS = ("is", "at_least", "at_most")
KEYS = {"quantity", "of", "with", "within", "because", "unit", *BOUNDS}
CASE_KEYS = {"title", "clause", "strength", "applies", "given", "expect", "scenario", "seconds", "live"}
LIVE_KEYS = {"no", "given", "expect", "scenario", "seconds"}
#: One greedy flow, named `body`, over 20 Mbit/s and 60 ms with a queue of one bandwidth-delay product.
BASE: Table = {
    "link": {
        "bottleneck": {
            "from": "a", "to": "b", "rate": "20 Mbit/s", "delay": "30 ms",
            "queue": {"type": "droptail", "limit": "100 packets"},
            "reverse": {"queue": {"type": "droptail", "limit": "10000 packets"}},
        }
    },
    "flow": {"body": {"from": "a", "to": "b", "workload": {"type": "bulk"}}},
    "record": {"events": ["body"]},
}  # fmt: skip


@dataclass(frozen=True)
class Bound:
    """One quantity and what it must be: `of` says which summary (`each` of its values by default)."""

    quantity: str
    of: str = "each"
    args: Mapping[str, Any] = field(default_factory=dict)
    least: float = -np.inf
    most: float = np.inf
    because: str = ""

    def holds(self, values: Values) -> bool:
        """Whether all values that count lie within. Nothing to look at holds nothing."""
        seen = self.summary(values)
        return bool(len(seen)) and bool(np.all((seen >= self.least) & (seen <= self.most)))

    def summary(self, values: Values) -> Values:
        """The values that are judged."""
        if self.of == "each" or not len(values):
            return values
        return np.array([SUMMARIES[self.of](values)])

    def accept(self) -> str:
        """The bounds for people."""
        if self.least == self.most:
            return f"{self.least:g}"
        if np.isinf(self.least):
            return f"<= {self.most:g}"
        return f">= {self.least:g}" if np.isinf(self.most) else f"{self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class AuditCase:
    """One clause as an experiment. `applies`: feature -> the values with which the clause says something."""

    id: str
    document: str
    title: str
    clause: str
    strength: str
    seconds: float
    scenario: Table
    given: tuple[Bound, ...]
    expect: tuple[Bound, ...]
    applies: Mapping[str, tuple[str, ...]]
    #: The same for real time, with the scenario that was asked for there; or why there is none.
    live: AuditCase | str = ""


@cache
def load(folder: Path = FOLDER) -> dict[str, AuditCase]:
    """All cases by id, in the order of the files. Raises InputError with file and path for one that is wrong."""
    found: dict[str, AuditCase] = {}
    for file in sorted(folder.glob("*.toml")):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        for name, table in data["case"].items():
            if name in found:
                raise InputError(str(file), found=f"`{name}` twice", expected="one case of a name")
            found[name] = _case(file, name, table)
    return found


def _case(file: Path, name: str, table: Table) -> AuditCase:
    at = f"{file.name}: case.{name}"
    _known(at, table, CASE_KEYS)
    if table.get("strength") not in STRENGTHS:
        raise InputError(
            f"{at}.strength", found=f"`{table.get('strength')}`", expected=f"one of {', '.join(STRENGTHS)}"
        )
    applies = {k: tuple(v) if isinstance(v, list) else (str(v),) for k, v in table.get("applies", {}).items()}
    scenario = merged(BASE, {"duration": f"{table['seconds']} s"}, table.get("scenario", {}))
    given, expect = (
        tuple(_bound(f"{at}.{key}[{i}]", b) for i, b in enumerate(table.get(key, []))) for key in ("given", "expect")
    )
    if not expect:
        raise InputError(f"{at}.expect", found="nothing", expected="what the clause says")
    case = AuditCase(
        name, file.stem, table["title"], table["clause"], table["strength"], float(table["seconds"]), scenario,
        given, expect, applies,
    )  # fmt: skip
    return replace(case, live=_live(f"{at}.live", case, table.get("live", {}), table))


def _live(at: str, case: AuditCase, live: Table, table: Table) -> AuditCase | str:
    _known(at, live, LIVE_KEYS)
    if "no" in live:
        return str(live["no"])
    seconds = float(live.get("seconds", case.seconds))
    scenario = merged(BASE, {"duration": f"{seconds:g} s"}, live.get("scenario") or table.get("scenario", {}))
    given, expect = (
        tuple(_bound(f"{at}.{key}[{i}]", b) for i, b in enumerate(live[key])) if key in live else getattr(case, key)
        for key in ("given", "expect")
    )
    return replace(case, seconds=seconds, scenario=scenario, given=given, expect=expect)


def _bound(at: str, table: Table) -> Bound:
    _known(at, table, KEYS)
    name = str(table.get("quantity"))
    if name not in QUANTITIES:
        expected = f"one of {', '.join(QUANTITIES)}"
        raise InputError(f"{at}.quantity", found=f"`{name}`", expected=expected, hint=did_you_mean(name, [*QUANTITIES]))
    of = str(table.get("of", "each"))
    if of != "each" and of not in SUMMARIES:
        raise InputError(f"{at}.of", found=f"`{of}`", expected=f"each, {', '.join(SUMMARIES)}")
    within = float(table.get("within", 0.0))
    if "is" in table:
        least, most = table["is"] - within, table["is"] + within
    else:
        least, most = float(table.get("at_least", -np.inf)), float(table.get("at_most", np.inf))
    if np.isinf(least) and np.isinf(most):
        raise InputError(at, found="no bound", expected=f"one of {', '.join(BOUNDS)}")
    return Bound(name, of, table.get("with", {}), least, most, str(table.get("because", "")))


def _known(at: str, table: Table, keys: set[str]) -> None:
    for key in table:
        if key not in keys:
            raise InputError(
                f"{at}.{key}", found="a key that there is not", expected=f"one of {', '.join(sorted(keys))}",
                hint=did_you_mean(key, sorted(keys)),
            )  # fmt: skip
