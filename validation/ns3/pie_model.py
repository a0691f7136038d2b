"""PIE as RFC 8033 and as ns-3 has it, which differ in three ways: each can be had alone.

Verdicts are drawn, so numbers are compared over seeds. Real numbers, one packet after the other; made from descriptions
of both.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from validation.ns3.model import Came

#: ns-3's ways, by their names on the page.
WAYS = HOLDS, GRANTS, SPREADS = ("holds P at 0 in a burst", "grants bursts anew", "spreads no drops")
TARGET_s, UPDATE_s = 0.015, 0.015
#: The allowance for a burst, and how long it is quiet until ns-3 grants another one, in updates.
BURST, QUIET = 10, 100
ALPHA, BETA = 0.125, 1.25
LADDER = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2))
SPARED_bytes, SPARED_packets, MARKS_BELOW = 3000, 2, 1.0


@dataclass
class Pie:
    """The law: probability, delays, allowance."""

    ways: frozenset[str]
    draws: random.Random
    p: float = 0.0
    accu: float = 0.0
    delay: float = 0.0
    last: float = 0.0
    burst: int = BURST
    state: str = "none"
    quiet: int = 0

    def __post_init__(self) -> None:
        if GRANTS in self.ways:
            self.burst = 0  # The first packet is granted one.

    def update(self) -> None:
        """Every 15 ms."""
        step = ALPHA * (self.delay - TARGET_s) + BETA * (self.delay - self.last)
        step /= next((by for below, by in LADDER if self.p < below), 1)
        if self.p >= 0.1:
            step = min(step, 0.02)
        self.p = 0.0 if HOLDS in self.ways and self.burst > 0 else self.p + step
        if self.delay == 0 and self.last == 0:
            self.p *= 0.98
        self.p = min(max(self.p, 0.0), 1.0)
        self.burst = max(0, self.burst - 1)
        if GRANTS in self.ways:
            self._states(is_quiet=max(self.delay, self.last) < TARGET_s / 2 and self.p == 0 and self.burst == 0)
        self.last = self.delay

    def _states(self, *, is_quiet: bool) -> None:
        """Protecting, then in a burst; after 1.5 quiet seconds none, and the next packet is granted another one."""
        if is_quiet and self.state == "protecting":
            self.state, self.quiet = "in", 0
        elif is_quiet and self.state == "in":
            self.quiet += 1
            if self.quiet > QUIET:
                self.state, self.quiet = "none", 0
        elif self.state == "in":
            self.quiet = 0

    def picks(self, packets: int, held: int) -> bool:
        """Whether a packet that comes is selected; the backlog is without it."""
        if self.burst > 0:
            return False
        if GRANTS in self.ways and self.state == "none":
            self.state, self.burst = "protecting", BURST
        is_short = packets <= SPARED_packets if GRANTS in self.ways else held <= SPARED_bytes
        if (self.last < TARGET_s / 2 and self.p < 0.2) or is_short:
            return False
        if SPREADS in self.ways:
            return self.draws.random() <= self.p
        self.accu = self.accu + self.p if self.p > 0 else 0.0
        if self.accu < 0.85 or self.accu >= 8.5:
            return self.accu >= 8.5
        is_selected = self.draws.random() < self.p
        self.accu = 0.0 if is_selected else self.accu
        return is_selected

    def rearm(self) -> None:
        """RFC 8033 looks at every arrival."""
        if GRANTS not in self.ways and self.p == 0 and max(self.delay, self.last) < TARGET_s / 2:
            self.burst = BURST


def count(arrivals: Iterable[Came], rate_bps: int, ways: frozenset[str], seed: int, *, marks: bool) -> int:
    """How many of the arrivals are marked, or dropped early, in front of a line that sends one after the other."""
    law, queue, held, found = Pie(ways, random.Random(seed)), deque[tuple[int, int]](), 0, 0
    busy_until: int | None = None
    updates = 0.0 if GRANTS in ways else UPDATE_s

    def ask(now: int) -> int | None:
        nonlocal held
        if not queue:
            return None
        since, size = queue.popleft()
        held -= size
        law.delay = (now - since) / 1e9 if queue else 0.0
        return now + (8 * size * 10**9 + rate_bps // 2) // rate_bps

    def until(now: int) -> None:
        """Updates and departures up to now, each at its time."""
        nonlocal busy_until, updates
        while min(updates * 1e9, busy_until if busy_until is not None else now + 1) <= now:
            if busy_until is not None and busy_until < updates * 1e9:
                busy_until = ask(busy_until)
            else:
                law.update()
                updates += UPDATE_s

    for came in arrivals:
        until(came.at_ns)
        is_selected = law.picks(len(queue), held)
        law.rearm()
        is_marked = is_selected and marks and came.is_capable and law.p < MARKS_BELOW
        found += is_marked if marks else is_selected
        if is_selected and not is_marked:
            law.accu = 0.0
            continue
        queue.append((came.at_ns, came.size))
        held += came.size
        if busy_until is None:
            busy_until = ask(came.at_ns)
    return found
