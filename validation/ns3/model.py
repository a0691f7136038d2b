"""CoDel and FQ-CoDel as Linux and as ns-3 have them, which differ in three ways: each can be had alone.

Plain lists and whole numbers, one packet after the other; made from descriptions of both. `queues` holds it against
Crosswind without any of ns-3's ways, and against ns-3 with all of them, packet by packet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count as ordinals
from typing import NamedTuple

MASK = (1 << 32) - 1
#: ns-3's ways, by their names on the page.
WAYS = PLANS, SPARES, LISTED = ("plans marks from now", "spares each flow", "keeps empty flows listed")


class Came(NamedTuple):
    """A packet that comes to the queue."""

    at_ns: int
    flow: int
    size: int
    is_capable: bool


@dataclass
class Packet:
    """One that waits; `n` is its place among all."""

    n: int
    since_ns: int
    size: int
    is_capable: bool


@dataclass(frozen=True)
class Settings:
    """What the law goes by; times in ns. `spared`: a backlog of so many bytes or fewer is left alone."""

    marks: bool
    ways: frozenset[str]
    target_ns: int = 5_000_000
    interval_ns: int = 100_000_000
    threshold_ns: int | None = None
    spared: int = 1499
    quantum: int = 1514


def _after(a: int, b: int) -> bool:
    """In 32 bits that wrap around."""
    return ((b - a) & MASK) >> 31 == 1


@dataclass
class Flow:
    """A queue with CoDel in the kernel's numbers, and its place in the rounds."""

    s: Settings
    fates: list[tuple[str, int, int]]
    packets: deque[Packet] = field(default_factory=deque)
    deficit: int = 0
    is_listed: bool = False
    first_above: int = 0
    drop_next: int = 0
    count: int = 0
    last_count: int = 0
    root: int = 0
    is_dropping: bool = False

    def bytes(self) -> int:
        return sum(p.size for p in self.packets)

    def _step(self) -> None:
        x = self.root << 16
        v = (((3 << 32) - self.count * ((x * x) >> 32)) & ((1 << 64) - 1)) >> 2
        self.root = ((v * x) >> 31) >> 16 & 0xFFFF

    def _law(self, t: int) -> int:
        return (t + ((self.s.interval_ns >> 10) * (self.root << 16) >> 32)) & MASK

    def _take(self, now_ns: int, others: int) -> tuple[Packet | None, bool]:
        if not self.packets:
            self.first_above = 0
            return None, False
        p, now = self.packets.popleft(), now_ns >> 10 & MASK
        sojourn = (now - (p.since_ns >> 10)) & MASK
        held = self.bytes() + (0 if SPARES in self.s.ways else others)
        if _after(self.s.target_ns >> 10, sojourn) or held <= self.s.spared:
            self.first_above = 0
            return p, False
        if self.first_above == 0:
            self.first_above = (now + (self.s.interval_ns >> 10)) & MASK
            return p, False
        return p, _after(now, self.first_above)

    def _signal(self, p: Packet, now_ns: int) -> bool:
        """Whether it was marked; otherwise it is gone."""
        is_marked = self.s.marks and p.is_capable
        self.fates.append(("mark" if is_marked else "drop", now_ns, p.n))
        return is_marked

    def dequeue(self, now_ns: int, others: int) -> Packet | None:
        """The next packet; `others`: bytes that wait in other flows."""
        now = now_ns >> 10 & MASK
        p, ok = self._take(now_ns, others)
        if p is None:
            self.is_dropping = False
            return None
        is_signalled = False
        if self.is_dropping:
            self.is_dropping = ok
            while self.is_dropping and not _after(self.drop_next, now):
                self.count += 1
                self._step()
                if self._signal(p, now_ns):
                    is_signalled = True
                    self.drop_next = self._law(now if PLANS in self.s.ways else self.drop_next)
                    break
                p, ok = self._take(now_ns, others)
                if p is None:
                    self.is_dropping = False
                    return None
                self.is_dropping = ok
                if ok:
                    self.drop_next = self._law(self.drop_next)
        elif ok:
            is_signalled = self._signal(p, now_ns)
            if not is_signalled:
                p, _ = self._take(now_ns, others)
            self.is_dropping = True
            self._begin(now)
            if p is None:
                return None
        waited = ((now_ns >> 10) - (p.since_ns >> 10)) & MASK
        above = self.s.threshold_ns is not None and _after(waited, self.s.threshold_ns >> 10)
        if above and p.is_capable and not is_signalled:
            self.fates.append(("mark", now_ns, p.n))
        return p

    def _begin(self, now: int) -> None:
        delta = self.count - self.last_count
        if delta > 1 and _after(16 * (self.s.interval_ns >> 10), (now - self.drop_next) & MASK):
            self.count = delta
            self._step()
        else:
            self.count, self.root = 1, 0xFFFF
        self.last_count = self.count
        self.drop_next = self._law(now)


class Queue:
    """Flows in rounds, or one of them alone."""

    def __init__(self, s: Settings, *, is_fair: bool) -> None:
        self.s, self.is_fair = s, is_fair
        self.fates: list[tuple[str, int, int]] = []
        self.flows: dict[int, Flow] = {}
        self.new: deque[Flow] = deque()
        self.old: deque[Flow] = deque()

    def bytes(self) -> int:
        return sum(f.bytes() for f in self.flows.values())

    def enqueue(self, n: int, came: Came) -> None:
        f = self.flows.setdefault(came.flow if self.is_fair else 0, Flow(self.s, self.fates))
        f.packets.append(Packet(n, came.at_ns, came.size, came.is_capable))
        if not f.is_listed:
            f.is_listed, f.deficit = True, self.s.quantum
            self.new.append(f)

    def dequeue(self, now_ns: int) -> Packet | None:
        while self.new or self.old:
            here = self.new or self.old
            f = here[0]
            if self.is_fair and f.deficit <= 0:
                f.deficit += self.s.quantum
                here.popleft()
                self.old.append(f)
                continue
            p = f.dequeue(now_ns, self.bytes() - f.bytes())
            if p is not None:
                f.deficit -= p.size
                return p
            stays = here is self.new and (bool(self.old) or LISTED in self.s.ways)
            here.popleft()
            f.is_listed = stays
            if stays:
                self.old.append(f)
        return None


def fates(arrivals: Iterable[Came], rate_bps: int, s: Settings, *, is_fair: bool) -> list[tuple[str, int, int]]:
    """Drops and marks (what, when in ns, whom) of arrivals in order, in front of a line that sends one after the other.

    When a packet has been sent the queue is asked for another one, even if it is empty.
    """
    queue, busy_until = Queue(s, is_fair=is_fair), None

    def ask(now: int) -> int | None:
        p = queue.dequeue(now)
        return None if p is None else now + (8 * p.size * 10**9 + rate_bps // 2) // rate_bps

    for n, came in zip(ordinals(), arrivals, strict=False):
        while busy_until is not None and busy_until <= came.at_ns:
            busy_until = ask(busy_until)
        queue.enqueue(n, came)
        if busy_until is None:
            busy_until = ask(came.at_ns)
    return queue.fates
