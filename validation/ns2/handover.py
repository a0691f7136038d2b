"""TCP and an ideal handover from GPRS to UMTS (figures 6.4 and 6.8 of [Gurtov 2004]) in ns-2 and in Crosswind.

python -m validation.ns2.handover            compare with the stored means of ns-2
python -m validation.ns2.handover --write    write them anew (needs ns-2)

Time to full use of UMTS by segment size and queue, mean over ten starts.

The time after which 95 % of what a second can carry arrives in each of three seconds running. Single starts differ: a
microsecond decides which packet a full queue drops.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import crosswind as cw
from crosswind.experiments.gurtov_2004.overlay import WINDOW
from crosswind.experiments.gurtov_2004.tfrc_handover import END_S, HANDOVER_S, UP, handover, tcp
from validation.ns2.driver import HERE, REFERENCE, TIMEOUT_S, Ns2Error, ns2_program

SCRIPT = HERE / "handover.tcl"
FILE = REFERENCE / "handover.csv"
TOLERANCE_S = 1.5
"""Difference of the means; the time has steps of a second."""
SEGMENTS_BYTES = (1000, 1460, 1500)
QUEUES = (7, 20)
UMTS_BPS, UMTS_PACKETS, SHARE = 384e3, 20, 0.95


@dataclass(frozen=True)
class Cell:
    """A segment size and a limit of the queue of GPRS, in packets as ns-2 counts them."""

    segment_bytes: int
    limit: int


CELLS = tuple(Cell(s, q) for q in QUEUES for s in SEGMENTS_BYTES)


STARTS_S = tuple(round(0.1 + 0.3 * i, 3) for i in range(10))
"""When the transfers begin."""


def time_to_full_use(arrivals: Iterable[tuple[float, float]]) -> float:
    """Seconds from the handover until UMTS is full for three seconds; `arrivals` are times (s) and sizes (bytes)."""
    found = np.array(list(arrivals)).reshape(-1, 2)
    sizes, _ = np.histogram(found[:, 0], bins=np.arange(HANDOVER_S, END_S + 0.5), weights=found[:, 1])
    full = sizes * 8 >= SHARE * UMTS_BPS
    return next((float(i) for i in range(len(full) - 2) if full[i : i + 3].all()), END_S - HANDOVER_S)


def in_ns2(cell: Cell, start_s: float, program: str) -> float:
    """Raises Ns2Error when ns-2 fails."""
    with tempfile.TemporaryDirectory(prefix="crosswind-ns2-") as folder:
        trace = Path(folder) / "out.tr"
        values: dict[str, Any] = {
            "window": WINDOW,
            "segment_bytes": cell.segment_bytes,
            "rto_min_s": 1,
            "delayed_ack_ms": 100,
            "access_rate_bps": 100e6,
            "access_delay_s": 0.05,
            "rate_bps": 30e3,
            "up_bps": 10e3,
            "delay_s": 0.3,
            "limit": cell.limit,
            "then_bps": UMTS_BPS,
            "then_up_bps": 64e3,
            "then_delay_s": 0.15,
            "then_limit": UMTS_PACKETS,
            "start_s": start_s,
            "handover_s": HANDOVER_S,
            "duration_s": END_S,
            "trace": trace,
        }
        words = [f"{k}={v}" for k, v in values.items()]
        done = subprocess.run(
            [program, str(SCRIPT), *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            raise Ns2Error(f"ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
        return time_to_full_use(_received(trace.read_text().splitlines()))


def _received(lines: Iterable[str]) -> Iterator[tuple[float, float]]:
    """Packets that arrive at the mobile, from the lines `r time from to type size ..`."""
    for line in lines:
        words = line.split()
        if words[0] == "r" and words[4] == "tcp":
            yield float(words[1]), float(words[5])


def in_crosswind(cell: Cell, starts_s: Iterable[float]) -> list[float]:
    """The same here."""
    limit = cell.limit if cell.limit != min(QUEUES) else None
    world = handover("handover", UP, {"tcp": tcp(cell.segment_bytes)}, limit)
    runs = cw.run({f"{s:g}": world.with_({"flow.tcp.start": f"{s:g} s"}) for s in starts_s}, reps=1)
    e = runs.events(flow="tcp", kind="receive")
    e = e.filter((e["end"] == "receiver") & (e["len"] > 0))
    parts = e.partition_by("configuration", maintain_order=True)
    return [time_to_full_use(zip(p["time_ns"] / 1e9, p["len"] + 52, strict=True)) for p in parts]


def references() -> dict[Cell, float]:
    """ns-2's means, as they are stored."""
    with FILE.open(encoding="utf-8", newline="") as f:
        return {Cell(int(r["segment_bytes"]), int(r["limit"])): float(r["mean_s"]) for r in csv.DictReader(f)}


def write(program: str) -> None:
    """Runs ns-2 and stores its means."""
    with FILE.open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["segment_bytes", "limit", "mean_s"])
        for cell in CELLS:
            mean = float(np.mean([in_ns2(cell, s, program) for s in STARTS_S]))
            out.writerow([cell.segment_bytes, cell.limit, f"{mean:.2f}"])


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        program = ns2_program()
        if program is None:
            print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
            return 2
        write(program)
    theirs = references()
    ours = {cell: in_crosswind(cell, STARTS_S) for cell in CELLS}
    print(f"{'':22}{'ns-2':>8}{'Crosswind':>12}   (s; mean of {len(STARTS_S)} starts, least to most)")
    for cell in CELLS:
        t = ours[cell]
        row = f"{cell.segment_bytes:6} B, {cell.limit:2} packets{theirs[cell]:10.1f}{np.mean(t):12.1f}"
        print(f"{row}   {min(t):.0f} to {max(t):.0f}")
    return int(any(abs(np.mean(ours[c]) - theirs[c]) > TOLERANCE_S for c in CELLS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
