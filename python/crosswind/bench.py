"""The speed benchmark: the same dumbbell here and, where they are installed, in other simulators, side by side.

Three hops each way, a round trip of 60 ms, a drop-tail queue of one bandwidth-delay product, segments of 1000 bytes,
SACK, every segment acknowledged, nothing recorded. Runs alternate (A B A B), so that a machine that changes its speed
changes it for both; medians are quoted, and ratios are taken pair by pair.
"""

from __future__ import annotations

import json
import shutil
import subprocess
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
NS2_TIMEOUT_s = 600


@dataclass
class Case:
    """One cell of the table, with the packets per CPU second of every repetition."""

    flows: int
    rate_bps: int
    ours: list[dict[str, Any]] = field(default_factory=list)
    ns2_packets_per_cpu_s: list[float] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """The row that `crosswind bench --json` prints. Ratios are None where the other simulator is missing."""
        speeds = [r["packets_per_cpu_s"] for r in self.ours]
        ratios = [a / b for a, b in zip(speeds, self.ns2_packets_per_cpu_s, strict=False)]
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
            "ratio_ns3": None,
        }


def ns2_program() -> str | None:
    """The installed ns-2, if its side of the benchmark is at hand too."""
    return (shutil.which("ns") or shutil.which("ns2")) if NS2_SCRIPT.is_file() else None


def run_ns2(program: str, flows: int, rate_bps: int, seconds: float) -> float:
    """Data packets through ns-2's bottleneck per CPU second, with its fastest scheduler for this kind of run."""
    command = [program, str(NS2_SCRIPT), str(flows), str(rate_bps), str(seconds), "Splay"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=NS2_TIMEOUT_s, check=True)
    words = done.stdout.split()
    facts = dict(zip(words[::2], words[1::2], strict=False))
    return float(facts["bottleneck_packets"]) / max(float(facts["cpu_s"]), 1e-9)


def cases(reps: int, on_step: Callable[[int, int], None] | None = None) -> Iterator[dict[str, Any]]:
    """Runs the whole table, `reps` times each cell; yields each row when it is complete."""
    program = ns2_program()
    total = len(RATES_bps) * len(FLOWS) * reps
    done = 0
    for rate in RATES_bps:
        for flows in FLOWS:
            case = Case(flows, rate)
            for _ in range(reps):
                case.ours.append(json.loads(core().bench(flows, rate, SECONDS[rate], "every-segment")))
                if program:
                    case.ns2_packets_per_cpu_s.append(run_ns2(program, flows, rate, SECONDS[rate]))
                done += 1
                if on_step:
                    on_step(done, total)
            yield case.row()
