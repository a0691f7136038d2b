"""TFRC beside ns-2's `Agent/TFRC`: start-up, loss events, a step of the capacity; packet by packet and as rate curves.

python -m validation.ns2.tfrc            compare with the stored references
python -m validation.ns2.tfrc --write    write the references anew (needs ns-2)
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

import crosswind as cw
from validation.ns2.driver import REFERENCE, TIMEOUT_S, Ns2Error, ns2_program

SCRIPT = Path(__file__).with_name("tfrc.tcl")
FILE = REFERENCE / "tfrc.csv"
PACKET_BYTES = 1000
SECOND_US = 1_000_000
HEAD = 50
"""So many packets are compared one by one."""
TOLERANCE = 0.05
"""Relative difference of the mean rate that needs no explanation."""
DEVIATION = 0.10
"""The same for the mean absolute difference of the rates of single seconds."""

Verdict = Literal["same", "close", "explained", "differs"]
Preset = Literal["ns2-tfrc", "ns2-tfrc-2003"]


@dataclass(frozen=True)
class TfrcCase:
    """One run of one flow."""

    name: str
    question: str
    drops: tuple[int, ...] = ()
    """Data packets lost at the entry of the bottleneck, counted from 1."""
    rate_bps: int = 2_000_000
    delay_us: int = 40_000
    access_rate_bps: int = 10_000_000
    access_delay_us: int = 10_000
    limit_packets: int = 1000
    """`limit_` of ns-2."""
    cross_rate_bps: int = 0
    cross_us: tuple[int, int] = (0, 0)
    duration_s: int = 30
    start_us: int = 0
    preset: Preset = "ns2-tfrc"
    """Which releases of ns-2: the later has `rate_init_option_` 2."""
    group: str = ""
    """Cases of one group differ in their start alone and are judged together: with a drop-tail queue and a constant
    stream a microsecond decides who is dropped."""
    expect: str = ""
    """Why the two simulators may differ here; empty = they must not."""


GROUPS: dict[Preset, str] = {"ns2-tfrc-2003": "first-rate-1", "ns2-tfrc": "first-rate-2"}
"""By `rate_init_option_`."""
PHASES = 8


def _started(phase: int, preset: Preset) -> TfrcCase:
    """A flow that starts at one of eight moments between two packets of a stream that takes half the link."""
    return TfrcCase(
        f"{GROUPS[preset]}-{phase}",
        f"beside a stream, {PHASES} starts between two of its packets; `rate_init_option_` {GROUPS[preset][-1]}",
        cross_rate_bps=1_000_000,
        cross_us=(0, 20_000_000),
        limit_packets=15,
        duration_s=20,
        # Between two ticks of the microsecond, so that no packet meets another at the same instant.
        start_us=1_000_137 + 1000 * phase,
        preset=preset,
        group=GROUPS[preset],
    )


CASES: tuple[TfrcCase, ...] = (
    TfrcCase("start-up", "slow start without a loss, until the link is full", duration_s=8, limit_packets=5000),
    TfrcCase("one-loss", "the first loss ends slow start; the first interval is made up", drops=(60,)),
    TfrcCase("loss-events", "a loss now and then, alone and in groups", drops=(60, 61, 150, 300, 301, 305, 700, 1400)),
    TfrcCase("every-fiftieth", "regular losses: the rate of the equation", drops=tuple(range(50, 5000, 50))),
    TfrcCase("discounting", "early losses, then none for long", drops=(60, 90, 120, 150, 180, 210, 240, 270, 300)),
    TfrcCase("overflow", "slow start overflows a short queue", limit_packets=20),
    TfrcCase(
        "step",
        "70 % of the capacity is taken from 20 s to 40 s",
        limit_packets=25,
        cross_rate_bps=1_400_000,
        cross_us=(20_000_000, 40_000_000),
        duration_s=60,
    ),
    TfrcCase("first-packet", "the first packet is lost: no loss event", drops=(1,), duration_s=15),
    TfrcCase("first-packets", "the first two are lost, and a later one", drops=(1, 2, 60)),
    *(_started(k, preset) for preset in GROUPS for k in range(PHASES)),
)


@dataclass(frozen=True)
class Curve:
    """What a sender sent: when its first packets left (microseconds), and how many in each second."""

    head_us: tuple[int, ...]
    per_second: tuple[int, ...]

    @classmethod
    def of(cls, times_us: Sequence[int], case: TfrcCase) -> Curve:
        counts = [0] * case.duration_s
        for t in times_us:
            if t < case.duration_s * SECOND_US:
                counts[t // SECOND_US] += 1
        return cls(tuple(times_us[:HEAD]), tuple(counts))


@dataclass(frozen=True)
class Compared:
    """One case."""

    case: TfrcCase
    verdict: Verdict
    packets: tuple[int, int]
    """Sent by ns-2 and by Crosswind."""
    in_step: int
    """So many packets, from the first and at most `HEAD`, leave within a millisecond of ns-2's."""
    mean_difference: float
    deviation: float
    """Mean absolute difference of the packets of one second, of ns-2's mean."""


def ns2_curve(case: TfrcCase, program: str) -> Curve:
    """What ns-2's sender sends. Raises Ns2Error when ns-2 fails."""
    with tempfile.TemporaryDirectory(prefix="crosswind-ns2-") as folder:
        trace = Path(folder) / "send.tr"
        values: dict[str, Any] = {
            "packet_size": PACKET_BYTES,
            "rate_bps": case.rate_bps,
            "delay_s": case.delay_us / 1e6,
            "access_rate_bps": case.access_rate_bps,
            "access_delay_s": case.access_delay_us / 1e6,
            "limit": case.limit_packets,
            # ns-2 counts from 0.
            "rate_init_option": 1 if case.preset == "ns2-tfrc-2003" else 2,
            "start_s": case.start_us / 1e6,
            "drops": " ".join(str(n - 1) for n in case.drops),
            "cross_rate_bps": case.cross_rate_bps,
            "cross_from_s": case.cross_us[0] / 1e6,
            "cross_to_s": case.cross_us[1] / 1e6,
            "duration_s": case.duration_s,
            "trace": trace,
        }
        done = subprocess.run(
            [program, str(SCRIPT), *(f"{k}={v}" for k, v in values.items())],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise Ns2Error(f"{case.name}: ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
        words = (line.split() for line in trace.read_text().splitlines())
        times = [round(float(w[1]) * 1e6) for w in words if w[0] == "+" and w[4] == "tcpFriend"]
        return Curve.of(times, case)


def scenario(case: TfrcCase) -> dict[str, Any]:
    """The same run as a scenario of Crosswind."""
    wide = {"type": "droptail", "limit": "1000000 packets"}
    bottleneck: dict[str, Any] = {
        "from": "router",
        "to": "far",
        "rate": f"{case.rate_bps} bit/s",
        "delay": f"{case.delay_us} us",
        "queue": {"type": "droptail", "limit": f"{case.limit_packets - 1} packets"},
        "reverse": {"queue": wide},
    }
    if case.drops:
        bottleneck["loss"] = {"type": "list", "packets": list(case.drops), "counts": "data", "at": "entry"}
        bottleneck["reverse"]["loss"] = {"type": "none"}
    ends = {"from": "near", "to": "far"}
    tfrc = {"preset": case.preset, "packet_size": f"{PACKET_BYTES} B"}
    stream = {**ends, "start": f"{case.start_us} us", "workload": {"type": "bulk"}, "tfrc": tfrc}
    flows: dict[str, Any] = {"tfrc": stream}
    if case.cross_rate_bps:
        begin, end = case.cross_us
        interval_ns = 8_000_000_000 * PACKET_BYTES // case.cross_rate_bps
        packets = (end - begin) * 1000 // interval_ns
        cbr = {"type": "cbr", "payload": f"{PACKET_BYTES - 28} B", "interval": f"{interval_ns} ns", "packets": packets}
        flows["cross"] = {**ends, "start": f"{begin} us", "workload": cbr}
    access = {
        "from": "near",
        "to": "router",
        "rate": f"{case.access_rate_bps} bit/s",
        "delay": f"{case.access_delay_us} us",
        "queue": wide,
    }
    return {
        "name": f"tfrc-{case.name}",
        "title": case.question,
        "duration": f"{case.duration_s} s",
        "link": {"access": access, "bottleneck": bottleneck},
        "flow": flows,
        "record": {"events": ["tfrc"]},
    }


def crosswind_curves(cases: Sequence[TfrcCase]) -> dict[str, Curve]:
    """The same of Crosswind, by name of the case."""
    runs = cw.run({c.name: cw.Scenario.from_dict(scenario(c)) for c in cases}, reps=1)
    sent = runs.table("event").filter(pl.col("kind") == "send")
    times = {name: [round(t / 1000) for t in f["time_ns"]] for (name,), f in sent.group_by("configuration")}
    return {c.name: Curve.of(times[c.name], c) for c in cases}


def compare(case: TfrcCase, expected: Curve, got: Curve) -> Compared:
    """Whether the curves are the same."""
    pairs = list(zip(expected.head_us, got.head_us, strict=False))
    in_step = next((i for i, (a, b) in enumerate(pairs) if abs(a - b) > 1000), len(pairs))
    theirs, ours = expected.per_second, got.per_second
    mean = sum(theirs) / len(theirs)
    difference = sum(ours) / sum(theirs) - 1
    deviation = sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(theirs) / mean
    verdict: Verdict = "differs"
    if in_step == HEAD and max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 1:
        verdict = "same"
    elif abs(difference) <= TOLERANCE and deviation <= DEVIATION:
        verdict = "close"
    elif case.expect:
        verdict = "explained"
    return Compared(case, verdict, (sum(theirs), sum(ours)), in_step, difference, deviation)


def compare_group(cases: Sequence[TfrcCase], expected: Sequence[Curve], got: Sequence[Curve]) -> Compared:
    """Whether cases that differ in their start alone have the same curve in the mean."""

    def mean(curves: Sequence[Curve]) -> Curve:
        counts = zip(*(c.per_second for c in curves), strict=True)
        heads = zip(*(c.head_us for c in curves), strict=True)
        n = len(curves)
        return Curve(tuple(sum(h) // n for h in heads), tuple(round(sum(c) / n) for c in counts))

    return compare(replace(cases[0], name=cases[0].group), mean(expected), mean(got))


def references() -> dict[str, Curve]:
    """The stored curves of ns-2, by name of the case."""
    values: dict[tuple[str, str], list[int]] = {}
    with FILE.open(newline="") as f:
        for row in csv.DictReader(f):
            values.setdefault((row["case"], row["kind"]), []).append(int(row["value"]))
    return {c.name: Curve(tuple(values[c.name, "time_us"]), tuple(values[c.name, "packets"])) for c in CASES}


def write_references(program: str) -> None:
    with FILE.open("w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["case", "kind", "value"])
        for case in CASES:
            curve = ns2_curve(case, program)
            rows.writerows([case.name, "time_us", t] for t in curve.head_us)
            rows.writerows([case.name, "packets", n] for n in curve.per_second)


def compare_all() -> list[Compared]:
    """Crosswind against the stored references."""
    stored, got = references(), crosswind_curves(CASES)
    alone = [compare(c, stored[c.name], got[c.name]) for c in CASES if not c.group]
    for group in dict.fromkeys(c.group for c in CASES if c.group):
        cases = [c for c in CASES if c.group == group]
        alone.append(compare_group(cases, [stored[c.name] for c in cases], [got[c.name] for c in cases]))
    return alone


def stale(program: str) -> list[str]:
    """Cases for which ns-2 gives something else than the stored reference."""
    stored = references()
    return [f"tfrc/{c.name}" for c in CASES if ns2_curve(c, program) != stored[c.name]]


def table(compared: Sequence[Compared]) -> str:
    """The Markdown table of the page."""
    lines = [
        "| case | packets, ns-2 | packets, Crosswind | in step | mean rate | seconds differ by | |",
        "|---|---|---|---|---|---|---|",
    ]
    for c in compared:
        word = f"explained: {c.case.expect}" if c.verdict == "explained" else c.verdict
        lines.append(
            f"| **{c.case.name}**: {c.case.question} | {c.packets[0]} | {c.packets[1]} | {c.in_step} | "
            f"{c.mean_difference:+.1%} | {c.deviation:.1%} | {word if c.verdict != 'differs' else '**differs**'} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--write"]:
        program = ns2_program()
        if program is None:
            print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
            return 2
        write_references(program)
    found = compare_all()
    print(table(found))
    return int(any(c.verdict == "differs" for c in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
