"""What a suite is made of: a setting, and cases that build scenarios for a subject and say what is read from them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from crosswind.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from crosswind.results import Runs

Table = dict[str, Any]
#: Case, variant and subject of a configuration.
Key = tuple[str, str, str]
PACKET_B = 1500


@dataclass(frozen=True)
class Setting:
    """How large and how long the runs are. Rates in bit/s, times in seconds.

    `limit_s`: what the buffer of a queue holds that gives no limit of its own, as time at the bottleneck's rate.
    `detail`: all variants of each case, or the few that a first look needs. `ecn`: whether all senders ask for ECN.
    """

    rate_bps: int = 10_000_000
    rtt_ms: float = 100.0
    seconds: float = 120.0
    reps: int = 10
    limit_s: float = 0.25
    seed: int = 1
    detail: Literal["all", "few"] = "all"
    ecn: Literal["off", "on"] = "off"

    @property
    def limit_packets(self) -> int:
        """Room for `limit_s` at the bottleneck, and for a bandwidth-delay product at least."""
        return round(max(self.limit_s, self.rtt_ms / 1e3) * self.rate_bps / 8 / PACKET_B)

    @property
    def path_packets(self) -> int:
        """Bandwidth-delay product of the usual path, in packets."""
        return round(self.rtt_ms / 1e3 * self.rate_bps / 8 / PACKET_B)


WHOLE = Setting()
# Six repetitions are the fewest of which the order statistics give a 95 % interval of a median.
QUICK = Setting(seconds=40.0, reps=6, detail="few")

Build = Callable[[Setting, Table], Mapping[str, Table]]


@dataclass(frozen=True)
class Measure:
    """A column of a case beside those that all have: its name with unit for people, and how it is read from a run."""

    column: str
    title: str
    better: str = "lower"
    digits: int = 1


@dataclass(frozen=True)
class Case:
    """One question: `build` gives the scenarios of a subject (its table) by the name of the variant.

    `where` is the section of the RFC that asks.
    """

    id: str
    where: str
    title: str
    question: str
    build: Build
    measures: Sequence[Measure] = field(default=())


@dataclass(frozen=True)
class Answers:
    """What a suite found. `rows` has one for each case, variant, subject and repetition; `keys` says which
    configuration of `runs` is which of them."""

    subjects: Mapping[str, Table]
    setting: Setting
    cases: Sequence[Case]
    rows: pl.DataFrame
    runs: Runs = field(repr=False)
    keys: Mapping[str, Key] = field(repr=False)


def chosen(wanted: Sequence[str], cases: Sequence[Case]) -> list[Case]:
    """The cases of these ids, in their order; all, if none is named. Raises InputError for an id that is none."""
    known = {c.id: c for c in cases}
    for name in wanted:
        if name not in known:
            raise InputError(
                "--case", found=f"`{name}`", expected=f"one of {', '.join(known)}", hint=did_you_mean(name, list(known))
            )
    return [c for c in known.values() if not wanted or c.id in wanted]


def merged(base: Mapping[str, Any], *more: Mapping[str, Any]) -> Table:
    """Tables of a scenario laid over each other; inner tables are joined."""
    out: Table = copy.deepcopy(dict(base))
    for table in more:
        for key, value in table.items():
            inner = out.get(key)
            out[key] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return out
