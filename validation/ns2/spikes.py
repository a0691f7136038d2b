"""A transfer through delay spikes (E2 of [Gurtov 2004]) in ns-2 and in Crosswind, with the same spikes in both.

python -m validation.ns2.spikes [repetitions]      both sides, means of all repetitions

ns-2 has no Eifel, so only the senders without it can be compared; it is they who decide the ratio of table 4.1.
Spikes are drawn here and given to both simulators as a list.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import crosswind as cw
from crosswind.experiments.gurtov_2004.worlds import SEGMENTS, transfer
from validation.ns2.driver import HERE, Ns2Error, ns2_program

SCRIPT = HERE / "spikes.tcl"
Spikes = list[tuple[float, float]]


@dataclass(frozen=True)
class Cell:
    """One row of the comparison."""

    sender: str
    ours: str
    cbr_bytes: int = 0


CELLS: dict[str, Cell] = {
    "Sack1 alone": Cell("Sack1", "Reno-SACK"),
    "Sack1, stream of 210 B": Cell("Sack1", "Reno-SACK", 210),
    "Sack1, stream of 1000 B": Cell("Sack1", "Reno-SACK", 1000),
}


def draw(seed: int, count: int = 40) -> Spikes:
    """Start and length of the spikes of one repetition (process D1; the lengths of one repetition are equal)."""
    r = random.Random(seed)
    at, length = r.uniform(0, 5), round(r.uniform(3, 15), 6)
    out = []
    for _ in range(count):
        out.append((round(at, 6), length))
        at += r.uniform(20, 40)
    return out


def in_ns2(cell: Cell, spikes: Spikes, program: str) -> dict[str, float]:
    """Time, segments, expiries and drops in ns-2."""
    values: Mapping[str, Any] = {
        "window": 150,
        "packet_bytes": 1000,
        "reset_backoff": "true",
        "rto_min_s": 1,
        "delayed_ack_ms": 100,
        "access_rate_bps": 100e6,
        "access_delay_s": 0.001,
        "rate_bps": 2e6,
        "delay_s": 0.15,
        "limit": 75,
        "sender": cell.sender,
        "cbr_bps": 1e6 if cell.cbr_bytes else 0,
        "cbr_packet_bytes": cell.cbr_bytes or 210,
        "start_s": 0,
        "segments": SEGMENTS,
        "duration_s": 2000,
        "trace": "",
        "spikes": " ".join(f"{a} {b}" for a, b in spikes),
    }
    words = [f"{k}={v}" for k, v in values.items()]
    done = subprocess.run([program, str(SCRIPT), *words], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise Ns2Error(f"ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
    return {k: float(v) for k, v in (line.split() for line in done.stdout.splitlines())}


def in_crosswind(cell: Cell, all_spikes: list[Spikes]) -> dict[str, float]:
    """The same in Crosswind, means."""
    worlds = {}
    for i, spikes in enumerate(all_spikes):
        world = transfer("spikes", cell.ours, cbr_bytes=cell.cbr_bytes)
        listed = {"at": [f"{a} s" for a, _ in spikes], "length": f"{spikes[0][1]} s"}
        worlds[str(i)] = world.with_({"link.bottleneck.spikes": listed})
    f = cw.run(worlds, reps=1).flows().filter(pl.col("name") == "tcp")
    return {
        "done_s": f["elapsed_ns"].mean() / 1e9,  # type: ignore[operator]
        "sent": float(f["sent_packets"].mean()) - 1,  # type: ignore[arg-type]
        "timeouts": float(f["timeouts"].mean()),  # type: ignore[arg-type]
        "drops": float(f["drops_packets"].mean()),  # type: ignore[arg-type]
    }


def main(arguments: list[str]) -> int:
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
        return 2
    reps = int(arguments[0]) if arguments else 30
    all_spikes = [draw(s) for s in range(reps)]
    print(f"{'':26}{'time (s)':>20}{'segments':>20}{'expiries':>20}   (ns-2, Crosswind; {reps} repetitions)")
    for name, cell in CELLS.items():
        rows = [in_ns2(cell, s, program) for s in all_spikes]
        theirs = {k: float(np.mean([r[k] for r in rows])) for k in ("done_s", "sent", "timeouts")}
        ours = in_crosswind(cell, all_spikes)
        print(f"{name:26}" + "".join(f"{theirs[k]:12.1f}{ours[k]:8.1f}" for k in ("done_s", "sent", "timeouts")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
