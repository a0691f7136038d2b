"""Instruction counts of hot paths by callgrind: a regression shows whatever else the machine does.

Each path is one example program that repeats the path as often as it is told. It runs twice, with different numbers of
repetitions; the difference divided by the difference is the count of one, without the start of the program.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from crosswind.bench.cell import MODERN, QUEUES
from crosswind.errors import CrosswindError

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "benches" / "instructions.json"
PROGRAM = "hot_paths"
PATHS = {
    "hop": "a packet through one egress: arrival, service, delivery",
    "ack": "one segment from sender to receiver and its ACK back, TCP alone",
    "agenda": "the agenda: take the first of 1000 entries, put it back later",
    "dumbbell": "a data packet of the benchmark (ten flows, 100 Mbit/s), all hops and its ACK",
}
REPETITIONS = (20_000, 60_000)
#: Drop-tail first: the others are compared with it.
QUEUES_OF_ALL = (*QUEUES, *MODERN)
# Reno first: the others are compared with it.
SENDERS = ("reno", "reno-paced", "linux-6", "linux-6-cubic", "linux-6-bbr", "bbr3", "prague")
QUEUES_OF_SENDERS = ("droptail", "dualpi2")
# As the engine is built (`tools/rustflags.sh`), on any machine. Callgrind knows no AVX-512.
FLAGS = "-C llvm-args=-inline-threshold=1000 -C target-cpu=x86-64-v3"

Say = Callable[[str], None]
Store = Literal["compare", "store"]


def missing() -> str | None:
    """What is needed and not here, as a sentence."""
    for name, package in (("cargo", "Rust"), ("valgrind", "the package valgrind")):
        if shutil.which(name) is None:
            return f"instruction counts need {package}"
    return None if (ROOT / "Cargo.toml").is_file() else "instruction counts need the source tree"


def build() -> Path:
    """The program, compiled for a processor that callgrind knows, in a folder of its own."""
    target = ROOT / "target" / "instructions"
    command = ["cargo", "build", "--quiet", "--release", "-p", "crosswind-sim", "--example", PROGRAM]
    light = {"CARGO_PROFILE_RELEASE_LTO": "thin"}
    env = {**os.environ, **light, "RUSTFLAGS": FLAGS, "CARGO_TARGET_DIR": str(target)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CrosswindError(f"the program for instruction counts does not compile:\n{done.stderr}")
    return target / "release" / "examples" / PROGRAM


def count(program: Path, path: str, repetitions: int) -> tuple[int, int]:
    """Instructions of one run, and how often the path was really taken."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        run = [*command, str(program), path, str(repetitions)]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise CrosswindError(f"callgrind has failed on `{path}`: {done.stderr[-300:]}")
    return int(found[1]), int(done.stdout.split()[0])


def measure(say: Say, store: Store = "compare") -> list[dict[str, Any]]:
    """One row per path: instructions now, in the reference, and the difference in per cent."""
    if (why := missing()) is not None:
        return [{"path": p, "what": what, "instructions": None, "note": why} for p, what in PATHS.items()]
    say("building the program of the hot paths")
    program = build()
    reference: dict[str, float] = json.loads(REFERENCE.read_text()) if REFERENCE.is_file() else {}
    rows = []
    for path, what in PATHS.items():
        say(f"callgrind: {path}")
        (few, taken), (many, more) = (count(program, path, n) for n in REPETITIONS)
        rows.append(compared(path, what, (many - few) / (more - taken), reference.get(path)))
    if store == "store":
        REFERENCE.write_text(json.dumps({r["path"]: round(r["instructions"], 1) for r in rows}, indent=1) + "\n")
    return rows


def queues(say: Say) -> list[dict[str, Any]]:
    """One row per queue: instructions of a data packet of the dumbbell, and how many times those behind drop-tail."""
    if (why := missing()) is not None:
        return [{"queue": q, "instructions": None, "relative": None, "note": why} for q in QUEUES_OF_ALL]
    say("building the program of the hot paths")
    costs = _each(build(), QUEUES_OF_ALL, say)
    plain = costs[QUEUES_OF_ALL[0]]
    return [{"queue": q, "instructions": n, "relative": n / plain, "note": None} for q, n in costs.items()]


def senders(say: Say) -> list[dict[str, Any]]:
    """One row per sender and queue: instructions of a data packet of the dumbbell, and how many times those of Reno.

    Reno is the one behind the same queue.
    """
    if (why := missing()) is not None:
        nothing = {"queue": None, "instructions": None, "relative": None, "note": why}
        return [{"sender": s, **nothing} for s in SENDERS]
    say("building the program of the hot paths")
    costs = _each(build(), [f"{s}+{q}" for q in QUEUES_OF_SENDERS for s in SENDERS], say)
    rows = []
    for name, n in costs.items():
        sender, queue = name.split("+")
        relative = n / costs[f"{SENDERS[0]}+{queue}"]
        rows.append({"sender": sender, "queue": queue, "instructions": n, "relative": relative, "note": None})
    return rows


def _each(program: Path, paths: Iterable[str], say: Say) -> dict[str, float]:
    """Instructions of one passage of each path."""
    costs: dict[str, float] = {}
    for path in paths:
        say(f"callgrind: {path}")
        (few, taken), (many, more) = (count(program, path, n) for n in REPETITIONS)
        costs[path] = (many - few) / (more - taken)
    return costs


def compared(path: str, what: str, now: float, before: float | None) -> dict[str, Any]:
    """A row of the table of differences."""
    change = 100 * (now / before - 1) if before else None
    row = {"path": path, "what": what, "instructions": now, "reference": before, "change_percent": change}
    return {**row, "note": None if before else "no reference stored"}
