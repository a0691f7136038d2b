"""The speed benchmark: the same dumbbell here and, where they are installed, in other simulators, side by side.

Three hops each way, a round trip of 60 ms, a drop-tail queue of one bandwidth-delay product, segments of 1000 bytes,
SACK, every segment acknowledged, nothing recorded. Runs alternate (A B A B), so that a machine that changes its speed
changes it for both; medians are quoted, and ratios are taken pair by pair. ns-3, which takes long, runs once a cell.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from crosswind.core import core

RATES_bps = (100_000_000, 1_000_000_000)
FLOWS = (1, 10, 100, 1000)
# Simulated seconds: about a million packets each.
SECONDS = {100_000_000: 80.0, 1_000_000_000: 10.0}
NS2_SCRIPT = Path(__file__).resolve().parents[2] / "validation" / "ns2" / "bench.tcl"
PEER_TIMEOUT_s = 1200
NS3_SOURCE = NS2_SCRIPT.parent.parent / "ns3" / "bench.cc"
NS3_HEADERS = Path("/usr/include/ns3")
NS3_MODULES = ("core", "network", "internet", "point-to-point", "traffic-control", "applications")
# ns-3 is slower by a factor of tens to hundreds: one short run a cell tells enough, and is waited for.
NS3_SECONDS = {100_000_000: 3.0, 1_000_000_000: 1.5}


@dataclass
class Case:
    """One cell of the table, with the packets per CPU second of every repetition."""

    flows: int
    rate_bps: int
    ours: list[dict[str, Any]] = field(default_factory=list)
    ns2_packets_per_cpu_s: list[float] = field(default_factory=list)
    ns3_packets_per_cpu_s: list[float] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """The row that `crosswind bench --json` prints. Ratios are None where the other simulator is missing."""
        speeds = [r["packets_per_cpu_s"] for r in self.ours]
        ratios = [a / b for a, b in zip(speeds, self.ns2_packets_per_cpu_s, strict=False)]
        ratios_ns3 = [a / b for a, b in zip(speeds, self.ns3_packets_per_cpu_s, strict=False)]
        return {
            "flows": self.flows,
            "rate": f"{self.rate_bps // 1_000_000} Mbit/s",
            "queue": self.ours[0]["queue"],
            "packets": self.ours[0]["packets"],
            "packets_per_cpu_s": median(speeds),
            "packets_per_cpu_s_min": min(speeds),
            "packets_per_cpu_s_max": max(speeds),
            "events_per_s": median(r["events_per_s"] for r in self.ours),
            "bytes_per_flow": median(r["bytes_per_flow"] for r in self.ours),
            "ns2_packets_per_cpu_s": median(self.ns2_packets_per_cpu_s) if ratios else None,
            "ratio_ns2": median(ratios) if ratios else None,
            "ns3_packets_per_cpu_s": median(self.ns3_packets_per_cpu_s) if ratios_ns3 else None,
            "ratio_ns3": median(ratios_ns3) if ratios_ns3 else None,
        }


def ns2_program() -> str | None:
    """The installed ns-2, if its side of the benchmark is at hand too."""
    return (shutil.which("ns") or shutil.which("ns2")) if NS2_SCRIPT.is_file() else None


def run_ns2(program: str, flows: int, rate_bps: int, seconds: float) -> float:
    """Data packets through ns-2's bottleneck per CPU second, with its fastest scheduler for this kind of run."""
    return _speed([program, str(NS2_SCRIPT), str(flows), str(rate_bps), str(seconds), "Splay"])


def _speed(command: list[str]) -> float:
    """Runs a program that prints `key value` lines; packets per CPU second."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_TIMEOUT_s, check=True)
    words = done.stdout.split()
    facts = dict(zip(words[::2], words[1::2], strict=False))
    return float(facts["bottleneck_packets"]) / max(float(facts["cpu_s"]), 1e-9)


def run_ns3(program: Path, flows: int, rate_bps: int, seconds: float) -> float:
    """Data packets through ns-3's bottleneck per CPU second."""
    return _speed([str(program), str(flows), str(rate_bps), str(seconds)])


def build_ns3(folder: Path) -> Path | None:
    """Compiles ns-3's side of the benchmark, optimised; None where ns-3's libraries or a C++ compiler are missing."""
    if not NS3_SOURCE.is_file() or not NS3_HEADERS.is_dir() or shutil.which("g++") is None:
        return None
    program = folder / "ns3-bench"
    libraries = [f"-lns3-{m}" for m in NS3_MODULES]
    command = ["g++", "-O2", "-std=c++17", str(NS3_SOURCE), "-o", str(program), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_TIMEOUT_s, check=False)
    return program if done.returncode == 0 else None


def cases(reps: int, on_step: Callable[[int, int], None] | None = None) -> Iterator[dict[str, Any]]:
    """Runs the whole table, `reps` times each cell; yields each row when it is complete."""
    program = ns2_program()
    with tempfile.TemporaryDirectory() as folder:
        yield from _cases(reps, program, build_ns3(Path(folder)), on_step)


def _cases(
    reps: int, ns2: str | None, ns3: Path | None, on_step: Callable[[int, int], None] | None
) -> Iterator[dict[str, Any]]:
    total = len(RATES_bps) * len(FLOWS) * reps
    done = 0
    for rate in RATES_bps:
        for flows in FLOWS:
            case = Case(flows, rate)
            for _ in range(reps):
                case.ours.append(json.loads(core().bench(flows, rate, SECONDS[rate], "every-segment")))
                if ns2:
                    case.ns2_packets_per_cpu_s.append(run_ns2(ns2, flows, rate, SECONDS[rate]))
                if ns3 and not case.ns3_packets_per_cpu_s:
                    case.ns3_packets_per_cpu_s.append(run_ns3(ns3, flows, rate, NS3_SECONDS[rate]))
                done += 1
                if on_step:
                    on_step(done, total)
            yield case.row()
