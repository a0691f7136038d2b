"""Bands: the values that a claim accepts, in code and in words.

| words | band |
|---|---|
| `<= 0.2`, `>= 3`, `< 0`, `> 0`, `= 2` | one end, open or closed; or one value |
| `24.5..24.9` | both ends, which belong to it |
| `+-25 %` | round the published value, relative to it |
| `+-0.5` | round the published value, in its unit |
| `12.53 +-25 %`, `12.53 +-0.5` | round another value |
| `reported` | everything: the value is shown and not judged |
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from crosswind.errors import InputError
from crosswind.stats import Estimate

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
ONE_END = re.compile(rf"(<=|>=|<|>|=)\s*({NUMBER})")
BOTH_ENDS = re.compile(rf"({NUMBER})\s*\.\.\s*({NUMBER})")
ROUND = re.compile(rf"({NUMBER})?\s*\+-\s*({NUMBER})\s*(%?)")
WORDS = "such as `<= 0.2`, `> 0`, `= 2`, `24.5..24.9`, `+-25 %`, `+-0.5`, `12.5 +-0.5` or `reported`"


@dataclass(frozen=True)
class Band:
    """The values that a claim accepts: low <= value <= high, or low < value < high when the ends are open."""

    low: float = -math.inf
    high: float = math.inf
    ends: Literal["closed", "open"] = "closed"

    @property
    def free(self) -> bool:
        """Whether every value lies in it."""
        return math.isinf(self.low) and math.isinf(self.high)

    @property
    def width(self) -> float:
        return self.high - self.low

    def holds(self, value: float) -> bool:
        if self.ends == "open":
            return self.low < value < self.high
        return self.low <= value <= self.high

    def holds_all(self, e: Estimate) -> bool:
        """Whether the whole interval of an estimate lies in the band."""
        return self.holds(e.low) and self.holds(e.high)

    def touches(self, e: Estimate) -> bool:
        """Whether the interval of an estimate reaches into the band."""
        if self.ends == "open":
            return e.low < self.high and e.high > self.low
        return e.low <= self.high and e.high >= self.low

    def wider(self, rule: Band) -> Band:
        """The wider of a claim's band and its rule's: never their sum, nor what only both together cover.

        One that holds the other is the wider. Else it is the one of the larger width, the rule's when they are equal.
        A band with one end says nothing of the other end: there the end counts that lies farther out.
        """
        low, high = min(self.low, rule.low), max(self.high, rule.high)
        if (low, high) == (self.low, self.high):
            return self
        if (low, high) == (rule.low, rule.high):
            return rule
        if math.isinf(self.width) != math.isinf(rule.width):
            return Band(low, high)
        return self if self.width > rule.width else rule

    def show(self, show: Callable[[float], str]) -> str:
        """In words; `show` writes one value."""
        equal = "" if self.ends == "open" else "="
        if self.free:
            return "reported"
        if math.isinf(self.low):
            return f"<{equal} {show(self.high)}"
        if math.isinf(self.high):
            return f">{equal} {show(self.low)}"
        return f"{show(self.low)} to {show(self.high)}"


FREE = Band()


def within(value: float, tolerance: float) -> Band:
    """value * (1 -+ tolerance): "7817 B/s (+-1 %)" is within(7817, 0.01)."""
    return Band(value - abs(value) * tolerance, value + abs(value) * tolerance)


def near(value: float, tolerance: float) -> Band:
    """value -+ tolerance in the unit of the value: "-27 % +-10 points" is near(-0.27, 0.10)."""
    return Band(value - tolerance, value + tolerance)


def at_most(value: float) -> Band:
    return Band(high=value)


def at_least(value: float) -> Band:
    return Band(low=value)


def between(low: float, high: float) -> Band:
    return Band(low, high)


def above(value: float) -> Band:
    """Strictly above `value`."""
    return Band(low=value, ends="open")


def below(value: float) -> Band:
    """Strictly below `value`."""
    return Band(high=value, ends="open")


def read_band(text: str, printed: float | None = None, where: str = "band") -> Band:
    """The band that words mean; `+-` without a value of its own stands round the published one.

    Raises InputError for words that mean none, and where there is no published value to stand round.
    """
    words = text.strip()
    if words == "reported":
        return FREE
    if m := ONE_END.fullmatch(words):
        value = float(m[2])
        ends = {"<=": at_most, ">=": at_least, "<": below, ">": above, "=": lambda v: Band(v, v)}
        return ends[m[1]](value)
    if m := BOTH_ENDS.fullmatch(words):
        low, high = float(m[1]), float(m[2])
        if low <= high:
            return Band(low, high)
        raise InputError(where, found=f"`{text}`", expected="the lower end first")
    if m := ROUND.fullmatch(words):
        centre = float(m[1]) if m[1] else printed
        if centre is None:
            raise InputError(where, found=f"`{text}` without a published number", expected="`print`, or `12.5 +-0.5`")
        size = float(m[2])
        return within(centre, size / 100) if m[3] else near(centre, size)
    raise InputError(where, found=f"`{text}`", expected=f"a band in words, {WORDS}")
