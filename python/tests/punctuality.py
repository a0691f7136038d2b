"""Checks of times in runs that go by the machine's own clock.

Continuous integration runs on machines that other work disturbs. What physics forbids (a file that came faster than the
link carries it) must hold in every run. How long something may take at most can only be said of a run that the emulator
itself calls trusted, and even then a program may have waited for a core outside the emulator's sight. A disturbance
makes runs longer, never shorter: one undisturbed run in a few shows that the code can do it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

RUNS_MAX = 4
PATIENCE_s = 120.0
"""For what happens at once on a machine that has nothing else to do."""


def in_real_time(skipped: pytest.MarkDecorator) -> Callable[[Any], Any]:
    """Marks tests that want the machine for themselves, or are skipped: `make test` makes one of them at a time."""
    return lambda test: pytest.mark.realtime(skipped(test))


class Run(NamedTuple):
    """What one run gave, and what the emulator says of the machine."""

    result: Any
    is_trusted: bool
    late_p99_ns: float


@dataclass
class Repeated:
    """A run, made again when it was disturbed, but no more often than `RUNS_MAX`."""

    make: Callable[[], Run]
    runs: list[Run] = field(default_factory=list)

    def each(self) -> Iterator[Run]:
        """The runs made so far, then new ones."""
        for i in range(RUNS_MAX):
            if i == len(self.runs):
                self.runs.append(self.make())
            yield self.runs[i]

    @property
    def calmest(self) -> Run:
        """The first run that is to be trusted; without one, the most punctual."""
        trusted = next((r for r in self.each() if r.is_trusted), None)
        return trusted or min(self.runs, key=lambda r: r.late_p99_ns)

    def check_undisturbed(
        self, seen: Callable[[Any], float], *, at_least: float = float("-inf"), at_most: float
    ) -> None:
        """`seen` lies between the bounds in one of the trusted runs; skips when there is none."""
        trusted = []
        for run in self.each():
            if not run.is_trusted:
                continue
            trusted.append(seen(run.result))
            if at_least <= trusted[-1] <= at_most:
                return
        if not trusted:
            # Nothing that a test could install: the machine gives the emulator no quiet second.
            late = ", ".join(f"{r.late_p99_ns / 1e6:.3f}" for r in self.runs)
            pytest.skip(f"not checked: none of {len(self.runs)} runs was punctual (p99 lateness {late} ms)")
        pytest.fail(f"in trusted runs {trusted}; expected {at_least} to {at_most}")


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Waits, patiently, until something is so; fails by name when it never is."""
    until = time.monotonic() + PATIENCE_s
    while not is_so():
        assert time.monotonic() < until, f"not within {PATIENCE_s:.0f} s: {what}"
        time.sleep(0.05)
