"""The table of `crosswind bench`: the same dumbbell here and, where they are installed, in ns-2 and ns-3, side by side.

Three hops each way, a round trip of 60 ms, a queue of one bandwidth-delay product (drop-tail, or RED with the same
parameters everywhere), segments of 1000 bytes, SACK, every segment acknowledged, nothing recorded. Runs alternate
(A B A B), so that a machine that changes its speed changes it for both; medians are quoted, and ratios are taken pair
by pair. ns-3, which takes long, runs once a cell.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from crosswind.bench.cell import Cell, all_cells, fresh
from crosswind.bench.peers import Ns2, Ns3, PeerError

Step = Callable[[int, int], None]


@dataclass
class Peers:
    """The other simulators; None: not installed, or not wanted."""

    ns2: Ns2 | None = None
    ns3: Ns3 | None = None


@dataclass
class Case:
    """One cell of the table, with the packets per CPU second of every repetition."""

    cell: Cell
    ours: list[dict[str, Any]] = field(default_factory=list)
    ns2: list[float] = field(default_factory=list)
    ns3: list[float] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def run(self, peers: Peers) -> None:
        """One round: ours, then the others."""
        self.ours.append(fresh(self.cell.spec()))
        for name, peer, speeds in (("ns2", peers.ns2, self.ns2), ("ns3", peers.ns3, self.ns3)):
            if peer is None:
                self.notes.setdefault(name, "not run: not installed or not asked for")
            elif name not in self.notes and not (name == "ns3" and speeds):
                try:
                    speeds.append(peer.speed(self.cell))
                except PeerError as e:
                    self.notes[name] = str(e)

    def row(self, peers: Peers) -> dict[str, Any]:
        """The row that `crosswind bench --json` prints. Ratios are None where the other simulator gave no figure."""
        ours = [r["packets_per_cpu_s"] for r in self.ours]
        return {
            "flows": self.cell.flows,
            "rate": self.cell.rate,
            "queue": self.ours[0]["queue"],
            "packets": self.ours[0]["packets"],
            **_spread("packets_per_cpu_s", ours),
            "events_per_s": median(r["events_per_s"] for r in self.ours),
            "events_per_packet": self.ours[0]["events"] / max(1, self.ours[0]["packets"]),
            "bytes_per_flow": median(r["bytes_per_flow"] for r in self.ours),
            **_compared("ns2", ours, self.ns2),
            **_compared("ns3", ours, self.ns3),
            "ns2_scheduler": peers.ns2.scheduler.get(self.cell) if peers.ns2 else None,
            "ns2_note": self.notes.get("ns2"),
            "ns3_note": self.notes.get("ns3"),
        }


def _spread(name: str, values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {name: None, f"{name}_min": None, f"{name}_max": None}
    return {name: median(values), f"{name}_min": min(values), f"{name}_max": max(values)}


def _compared(name: str, ours: list[float], theirs: list[float]) -> dict[str, float | None]:
    """Their speed, and the ratios of the pairs that ran one after the other."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=False)]
    return {f"{name}_packets_per_cpu_s": median(theirs) if theirs else None, **_spread(f"ratio_{name}", ratios)}


def cases(
    reps: int, cells: Sequence[Cell] | None = None, on_step: Step | None = None, alone: str = ""
) -> Iterator[dict[str, Any]]:
    """Runs the cells, `reps` times each; yields each row when it is complete. `alone`: "ours" leaves the others out."""
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers() if alone else Peers(Ns2.find(), Ns3.build(Path(folder)))
        yield from side_by_side(peers, reps, all_cells() if cells is None else cells, on_step)


def side_by_side(
    peers: Peers, reps: int, cells: Sequence[Cell], on_step: Step | None = None
) -> Iterator[dict[str, Any]]:
    done = 0
    for cell in cells:
        case = Case(cell)
        for _ in range(reps):
            case.run(peers)
            done += 1
            if on_step:
                on_step(done, len(cells) * reps)
        yield case.row(peers)
