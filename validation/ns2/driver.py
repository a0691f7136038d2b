"""Runs cases in ns-2 and reads what came out.

python -m validation.ns2.driver                     list the cases
python -m validation.ns2.driver one/sack1/every     print the send sequence of one case
python -m validation.ns2.driver --write             write the reference sequences anew
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from validation.ns2.scenarios import SENDERS, Case, deterministic_cases, ns2_arguments

HERE = Path(__file__).parent
SCRIPT = HERE / "dumbbell.tcl"
REFERENCE = HERE / "reference"
TIMEOUT_S = 600


@dataclass(frozen=True)
class Sent:
    """One transmission of a data segment. Segments count from 1; the SYN is not listed."""

    time_us: int
    segment: int
    retransmit: bool


@dataclass(frozen=True)
class FlowTotals:
    """What one sender did, without the SYN."""

    start_s: float
    done_s: float
    """When the last segment was acknowledged; -1 = not."""
    acked_segments: int
    sent_packets: int
    retransmitted_packets: int
    timeouts: int
    ecn_reductions: int


@dataclass(frozen=True)
class Outcome:
    """One run of ns-2."""

    sequence: tuple[Sent, ...]
    flows: tuple[FlowTotals, ...]
    queue_mean_bytes: float
    drops_packets: int
    bottleneck_packets: int
    tick_phase_s: float = field(compare=False, default=0.0)


class Ns2Error(Exception):
    """ns-2 stopped with an error, or said something that cannot be read."""


def ns2_program() -> str | None:
    """The ns-2 executable, if there is one."""
    for name in ("ns", "ns2"):
        path = shutil.which(name)
        if path is not None and _is_ns2(path):
            return path
    return None


def _is_ns2(path: str) -> bool:
    try:
        answer = subprocess.run(
            [path, "-"], input="puts [ns-version]\nexit 0\n", text=True, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip().startswith("2.")


def ns2_version(program: str) -> str:
    answer = subprocess.run(
        [program, "-"], input="puts [ns-version]\nexit 0\n", text=True, capture_output=True, timeout=20, check=False
    )
    return answer.stdout.strip()


def run(case: Case, program: str) -> Outcome:
    """Runs one case. Raises Ns2Error when ns-2 fails."""
    with tempfile.TemporaryDirectory(prefix="crosswind-ns2-") as folder:
        trace = str(Path(folder) / "send.tr") if case.segments else ""
        done = subprocess.run(
            [program, str(SCRIPT), *ns2_arguments(case, trace)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise Ns2Error(f"{case.key}: ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
        sequence = tuple(_sequence(Path(trace).read_text().splitlines())) if trace else ()
    return _outcome(case, done.stdout, sequence)


def run_all(cases: Iterable[Case], program: str, workers: int) -> list[Outcome]:
    """Runs many cases, `workers` at a time, results in the order of the cases."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda c: run(c, program), cases))


def _sequence(lines: Iterable[str]) -> Iterator[Sent]:
    """Data segments entering the first queue, from the lines `+ time from to type size flags fid src dst seq uid`."""
    highest = 0
    for line in lines:
        words = line.split()
        if len(words) < 12 or words[0] != "+" or words[4] != "tcp" or words[10] == "0":
            continue
        segment = int(words[10])
        yield Sent(round(float(words[1]) * 1e6), segment, segment <= highest)
        highest = max(highest, segment)


def _outcome(case: Case, text: str, sequence: tuple[Sent, ...]) -> Outcome:
    values: dict[str, str] = {}
    flows: list[FlowTotals] = []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key == "flow":
            flows.append(_flow(rest.split()[1:]))
        elif rest:
            values[key] = rest
    if len(flows) != case.flows or "bottleneck_drops" not in values:
        raise Ns2Error(f"{case.key}: no totals in the output of ns-2: {text[:200]!r}")
    return Outcome(
        sequence,
        tuple(flows),
        float(values["queue_mean_bytes"]),
        int(values["bottleneck_drops"]),
        int(values["bottleneck_packets"]),
        float(values["tick_phase_s"]),
    )


def _flow(words: list[str]) -> FlowTotals:
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    return FlowTotals(
        start_s=float(pairs["start_s"]),
        done_s=float(pairs["done_s"]),
        acked_segments=max(0, int(pairs["acked"])),
        sent_packets=int(pairs["sent"]) - 1,
        retransmitted_packets=int(pairs["resent"]),
        timeouts=int(pairs["timeouts"]),
        ecn_reductions=int(pairs["ecn"]),
    )


# -- reference sequences, so that the comparison runs without ns-2 -----------------------------------------------------


def reference_file(case: Case) -> Path:
    return REFERENCE / f"{case.sender.lower()}-{'delack' if case.delayed_ack else 'every'}.csv"


def write_references(program: str, workers: int) -> int:
    """Runs every deterministic case and writes its sequence. Returns the number of cases."""
    cases = deterministic_cases()
    outcomes = dict(zip(cases, run_all(cases, program, workers), strict=True))
    REFERENCE.mkdir(exist_ok=True)
    for path in sorted({reference_file(c) for c in cases}):
        with path.open("w", newline="") as f:
            rows = csv.writer(f, lineterminator="\n")
            rows.writerow(["case", "time_us", "segment", "retransmit"])
            for case in (c for c in cases if reference_file(c) == path):
                rows.writerows([case.name, s.time_us, s.segment, int(s.retransmit)] for s in outcomes[case].sequence)
    with (REFERENCE / "totals.csv").open("w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["case", "sent", "resent", "timeouts", "done_us", "drops"])
        rows.writerows([c.key, *_totals_row(outcomes[c])] for c in cases)
    return len(cases)


def _totals_row(outcome: Outcome) -> list[int]:
    f = outcome.flows[0]
    return [f.sent_packets, f.retransmitted_packets, f.timeouts, round(f.done_s * 1e6), outcome.drops_packets]


@dataclass(frozen=True)
class Reference:
    """What ns-2 did when the reference was written."""

    sequence: tuple[Sent, ...]
    sent_packets: int
    retransmitted_packets: int
    timeouts: int
    done_us: int
    drops_packets: int


def references() -> dict[str, Reference]:
    """The stored reference of every deterministic case, by key."""
    sequences: dict[str, list[Sent]] = {}
    for sender in SENDERS:
        for ack in ("every", "delack"):
            with (REFERENCE / f"{sender.lower()}-{ack}.csv").open(newline="") as f:
                for row in csv.DictReader(f):
                    key = f"{row['case']}/{sender.lower()}/{ack}"
                    sent = Sent(int(row["time_us"]), int(row["segment"]), row["retransmit"] == "1")
                    sequences.setdefault(key, []).append(sent)
    out: dict[str, Reference] = {}
    with (REFERENCE / "totals.csv").open(newline="") as f:
        for row in csv.DictReader(f):
            totals = (int(row[k]) for k in ("sent", "resent", "timeouts", "done_us", "drops"))
            out[row["case"]] = Reference(tuple(sequences[row["case"]]), *totals)
    return out


def as_reference(outcome: Outcome) -> Reference:
    return Reference(outcome.sequence, *_totals_row(outcome))


def main(arguments: list[str]) -> int:
    cases = {c.key: c for c in deterministic_cases()}
    if not arguments:
        print("\n".join(f"{key:45} {case.question}" for key, case in cases.items()))
        return 0
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
        return 2
    if arguments == ["--write"]:
        print(f"{write_references(program, workers=2)} reference sequences written")
        return 0
    unknown = [a for a in arguments if a not in cases]
    if unknown:
        print(f"no case `{unknown[0]}`; without arguments all are listed", file=sys.stderr)
        return 2
    for key in arguments:
        outcome = run(cases[key], program)
        print(key, outcome.flows[0])
        for n, s in enumerate(outcome.sequence, 1):
            print(f"{n:5} {s.time_us / 1e6:12.6f} s  segment {s.segment}{'  again' if s.retransmit else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
