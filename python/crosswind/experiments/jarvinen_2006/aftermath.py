"""What spurious timeouts lead to: retransmissions that were not needed, out of the events of a connection.

The links keep the order, so copies of a segment meet their fates in the order in which they were sent; a copy that the
router drops is dropped before any later one is sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

Row = tuple[str, int, int]
FATES = ("drop", "lost", "receive")


@dataclass
class Copy:
    """One copy of a segment; `again`: it was sent before."""

    sent_ns: int
    again: bool
    fate: str = ""


@dataclass
class Connection:
    """The data of one connection as its events tell it."""

    copies: dict[int, list[Copy]] = field(default_factory=dict)
    timeouts: list[tuple[int, int, int]] = field(default_factory=list)
    acks: list[tuple[int, int]] = field(default_factory=list)

    def read(self, rows: Iterable[Row]) -> Connection:
        """`rows`: kind, time and sequence number of each event, in order of time."""
        highest = 0
        for kind, at, seq in rows:
            if kind in ("send", "retransmit"):
                self.copies.setdefault(seq, []).append(Copy(at, kind == "retransmit"))
                highest = max(highest, seq)
            elif kind in FATES:
                open_ones = [c for c in self.copies.get(seq, ()) if not c.fate]
                if open_ones:
                    open_ones[-1 if kind == "drop" else 0].fate = kind
            elif kind == "timeout":
                self.timeouts.append((at, seq, highest))
            else:
                self.acks.append((at, seq))
        return self

    def needless(self) -> list[int]:
        """When the copies were sent of which an earlier one arrived."""
        found = []
        for copies in self.copies.values():
            arrived = False
            for c in copies:
                if c.again and arrived:
                    found.append(c.sent_ns)
                arrived = arrived or c.fate == "receive"
        return found

    def spurious(self) -> list[tuple[int, int]]:
        """From when to when a spurious timeout is being recovered from: until all that was sent before is covered."""
        found = []
        for at, seq, highest in self.timeouts:
            if any(c.sent_ns < at and c.fate == "receive" for c in self.copies.get(seq, ())):
                found.append((at, next((t for t, ack in self.acks if t > at and ack > highest), 1 << 62)))
        return found


def needless_retransmissions(events: pl.DataFrame) -> tuple[int, int]:
    """How many retransmissions were needless, and how many followed a spurious timeout before its recovery ended."""
    data = pl.col("kind").is_in(["send", "retransmit", *FATES]) & (pl.col("len") > 0)
    own = pl.when(pl.col("kind") == "receive").then(pl.lit("receiver")).otherwise(pl.lit("sender"))
    kept = events.filter((data | pl.col("kind").is_in(["timeout", "ack"])) & (pl.col("end") == own))
    every, after = 0, 0
    for _, part in kept.group_by(["rep", "flow"], maintain_order=True):
        one = Connection().read(part.select("kind", "time_ns", "seq").iter_rows())
        phases = one.spurious()
        sent = one.needless()
        every += len(sent)
        after += sum(any(a <= t < b for a, b in phases) for t in sent)
    return every, after
