"""The E3 scenarios of [Gurtov 2004] in ns-2 and in Crosswind, segment by segment.

python -m validation.ns2.newreno            compares all of them, side by side where they differ
python -m validation.ns2.newreno --write    writes what ns-2 does as the reference

The scenarios are those of the experiment `gurtov-2004/f4-10`; what ns-2 calls each of its options is said here.
ns-2 is needed only to write the reference.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import crosswind as cw
from crosswind.experiments.gurtov_2004 import f4_10
from crosswind.experiments.gurtov_2004.worlds import ACKS, DUP, LOSS, LOSS_ACKS
from validation.ns2.driver import HERE, REFERENCE, Ns2Error, ns2_program

SCRIPT = HERE / "newreno.tcl"
STORED = REFERENCE / "newreno-e3.csv"
# Both simulators make the same decisions; their clocks of 10 ms and the header of the timestamps differ a little.
TOLERANCE_us = 25_000


@dataclass(frozen=True)
class Test:
    """One test of ns-2's suite: its name there, and what it switches on."""

    name: str
    drops: tuple[int, ...]
    acks: tuple[int, ...] = ()
    switches: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()


TESTS: dict[str, Test] = {
    "dup, bugfix": Test("newreno_rto_dup", DUP),
    "dup, no bugfix": Test("control", DUP, off=frozenset({"bugfix"})),
    "dup, ACK heuristic": Test("newreno_rto_dup_ack", DUP, switches=frozenset({"ack_heuristic"})),
    "dup, timestamps": Test("newreno_rto_dup_ts", DUP, switches=frozenset({"timestamps"})),
    "dup, timestamp heuristic": Test("newreno_rto_dup_tsh", DUP, switches=frozenset({"timestamps", "ts_heuristic"})),
    "loss, bugfix": Test("newreno_rto_loss", LOSS),
    "loss, no bugfix": Test("control", LOSS, off=frozenset({"bugfix"})),
    "loss, ACK heuristic": Test("newreno_rto_loss_ack", LOSS, switches=frozenset({"ack_heuristic"})),
    "loss, timestamps": Test("newreno_rto_loss_ts", LOSS, switches=frozenset({"timestamps"})),
    "loss, timestamp heuristic": Test("newreno_rto_loss_tsh", LOSS, switches=frozenset({"timestamps", "ts_heuristic"})),
    "ackf, ACK heuristic": Test("newreno_rto_loss_ackf", LOSS_ACKS, ACKS, frozenset({"ack_heuristic"})),
}

Sequence = list[tuple[int, int]]
"""Microseconds and segment of every transmission."""


def in_ns2(label: str, program: str) -> Sequence:
    """What ns-2 sends."""
    t = TESTS[label]
    loss = not label.startswith("dup")
    values = {
        "drops": " ".join(map(str, t.drops)),
        "acks": " ".join(map(str, t.acks)),
        "bugfix": int("bugfix" not in t.off),
        "rfc1323": int(loss),
        "impatient": int(loss),
        "deflation": int(loss),
        **{k: int(k in t.switches) for k in ("timestamps", "ack_heuristic", "ts_heuristic")},
    }
    with tempfile.TemporaryDirectory(prefix="crosswind-ns2-") as folder:
        trace = Path(folder) / "send.tr"
        words = [f"{k}={v}" for k, v in values.items()]
        done = subprocess.run(
            [program, str(SCRIPT), *words, f"trace={trace}"], capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != 0:
            raise Ns2Error(f"{label}: ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
        lines = [line.split() for line in trace.read_text().splitlines()]
    data = [w for w in lines if w[0] == "+" and w[4] == "tcp" and w[10] != "0"]
    return [(round(float(w[1]) * 1e6), int(w[10])) for w in data]


def in_crosswind() -> dict[str, Sequence]:
    """What Crosswind sends, by label."""
    known = f4_10.configurations()
    runs = cw.run({label: known[label] for label in TESTS}, reps=1)
    sent = runs.table("event").filter(pl.col("kind").is_in(["send", "retransmit"]) & (pl.col("len") > 0))
    out: dict[str, Sequence] = {}
    for (label,), e in sent.group_by("configuration", maintain_order=True):
        out[str(label)] = [(round(t / 1000), (s - 1) // 1000 + 1) for t, s in e.select("time_ns", "seq").iter_rows()]
    return out


def reference() -> dict[str, Sequence]:
    """What ns-2 did when the reference was written."""
    out: dict[str, Sequence] = {label: [] for label in TESTS}
    with STORED.open(newline="") as f:
        for row in csv.DictReader(f):
            out[row["test"]].append((int(row["time_us"]), int(row["segment"])))
    return out


def first_difference(ours: Sequence, theirs: Sequence) -> int | None:
    """The first transmission in which the sequences differ; None when they agree."""
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a[1] != b[1] or abs(a[0] - b[0]) > TOLERANCE_us:
            return i
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def write(program: str) -> None:
    """Runs ns-2 and stores what it does."""
    with STORED.open("w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["test", "time_us", "segment"])
        for label in TESTS:
            rows.writerows([label, *one] for one in in_ns2(label, program))


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        program = ns2_program()
        if program is None:
            print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
            return 2
        write(program)
        return 0
    ours, theirs = in_crosswind(), reference()
    same = 0
    for label, test in TESTS.items():
        at = first_difference(ours[label], theirs[label])
        same += at is None
        count = f"{len(ours[label])} and {len(theirs[label])} transmissions"
        print(f"{label:28} {test.name:24} {count:32} {'the same' if at is None else f'differ from number {at + 1} on'}")
        if at is not None:
            for k in range(max(0, at - 2), at + 6):
                both = (s[k] if k < len(s) else ("-", "-") for s in (ours[label], theirs[label]))
                print("   ", k + 1, *both)
    print(f"{same} of {len(TESTS)} the same")
    return 0 if same == len(TESTS) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
