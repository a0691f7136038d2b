"""Other simulators on the same dumbbell: ns-2 and ns-3, where they are installed."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from crosswind.bench.cell import QUEUES, Cell

VALIDATION = Path(__file__).resolve().parents[3] / "validation"
NS2_SCRIPT = VALIDATION / "ns2" / "bench.tcl"
NS2_SCHEDULERS = ("Splay", "Calendar", "Heap")
NS3_SOURCE = VALIDATION / "ns3" / "bench.cc"
NS3_HEADERS = Path("/usr/include/ns3")
NS3_MODULES = ("core", "network", "internet", "point-to-point", "traffic-control", "applications")
NS2_TIMEOUT_s = 600.0
# For one cell, and for all of them: then the remaining cells have no ratio.
NS3_TIMEOUT_s = 60.0
NS3_BUDGET_s = 180.0
# ns-3 is slower by a factor of tens to hundreds: one short run a cell tells enough, and is waited for.
NS3_SECONDS = {100_000_000: 3.0, 1_000_000_000: 1.5}


class PeerError(Exception):
    """The other simulator gave no figure; the message says why."""


def speed(command: list[str], timeout_s: float) -> float:
    """Runs a program that prints `key value` lines; data packets through the bottleneck per CPU second."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=True)
    except subprocess.TimeoutExpired:
        raise PeerError(f"was not ready after {timeout_s:g} s") from None
    except subprocess.CalledProcessError as e:
        last = (e.stderr.strip().splitlines() or [f"exit code {e.returncode}"])[-1]
        raise PeerError(f"has failed: {last}") from None
    words = done.stdout.split()
    facts = dict(zip(words[::2], words[1::2], strict=False))
    try:
        return float(facts["bottleneck_packets"]) / max(float(facts["cpu_s"]), 1e-9)
    except (KeyError, ValueError):
        raise PeerError("printed no packets or no processor time") from None


#: Queues that `validation/ns3/bench.cc` has.
NS3_QUEUES = (*QUEUES, "adaptive-red", "codel", "cobalt", "fq-codel", "fq-pie", "pie")


def _has(cell: Cell, queues: tuple[str, ...]) -> None:
    if cell.queue not in queues:
        raise PeerError(f"its side of the benchmark has no {cell.queue}")


class Ns2:
    """ns-2 with the fastest of its schedulers for each cell, tried once."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.scheduler: dict[Cell, str] = {}

    @classmethod
    def find(cls) -> Ns2 | None:
        """The installed ns-2, if its side of the benchmark is at hand too."""
        program = (shutil.which("ns") or shutil.which("ns2")) if NS2_SCRIPT.is_file() else None
        return cls(program) if program else None

    def run(self, cell: Cell, seconds: float, scheduler: str) -> float:
        command = [self.program, str(NS2_SCRIPT), str(cell.flows), str(cell.rate_bps), str(seconds)]
        return speed([*command, scheduler, cell.queue], NS2_TIMEOUT_s)

    def speed(self, cell: Cell) -> float:
        """Packets per CPU second of one run of the cell."""
        _has(cell, QUEUES)
        if cell not in self.scheduler:
            tried = {s: self.run(cell, cell.seconds / 2, s) for s in NS2_SCHEDULERS}
            self.scheduler[cell] = max(tried, key=lambda s: tried[s])
        return self.run(cell, cell.seconds, self.scheduler[cell])


class Ns3:
    """ns-3, compiled for the occasion with optimisation."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.left_s = NS3_BUDGET_s

    @classmethod
    def build(cls, folder: Path) -> Ns3 | None:
        """None where ns-3's libraries or a C++ compiler are missing."""
        if not NS3_SOURCE.is_file() or not NS3_HEADERS.is_dir() or shutil.which("g++") is None:
            return None
        program = folder / "ns3-bench"
        libraries = [f"-lns3-{m}" for m in NS3_MODULES]
        command = ["g++", "-O2", "-std=c++17", str(NS3_SOURCE), "-o", str(program), *libraries]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return cls(program) if done.returncode == 0 else None

    def speed(self, cell: Cell) -> float:
        """Packets per CPU second of one short run of the cell."""
        _has(cell, NS3_QUEUES)
        seconds = NS3_SECONDS.get(cell.rate_bps, cell.seconds / 10)
        if self.left_s <= 0:
            raise PeerError(f"the {NS3_BUDGET_s:g} s for all of its runs were used up")
        command = [str(self.program), str(cell.flows), str(cell.rate_bps), str(seconds), cell.queue]
        began = time.monotonic()
        try:
            return speed(command, min(NS3_TIMEOUT_s, self.left_s))
        finally:
            self.left_s -= time.monotonic() - began
