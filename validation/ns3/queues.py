"""The same arrivals through a queue of Crosswind and through that of ns-3: who is dropped or marked, and when.

    python -m validation.ns3.queues [--no-write]

Crosswind runs a scenario of datagrams, or of ECN-capable transfers, and writes down when each packet came to the queue
and what became of it; ns-3's queue disc gets the same arrivals in front of a line of the same rate (`queue.cc`). Exit
code 0: as claimed; 1: a queue that is claimed to be the same differs; 2: bad arguments. Where ns-3 or a C++ compiler is
missing everything is skipped, loudly.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import crosswind as cw
from validation.ns3 import model, pie_model

SOURCE = Path(__file__).with_name("queue.cc")
HEADERS = Path("/usr/include/ns3")
MODULES = ("core", "network", "point-to-point", "traffic-control")
PAGE = Path(__file__).parents[2] / "docs" / "validation-ns3.md"
HEADER_BYTES = 28
# The first packet comes at an even nanosecond and every other one at an odd one; lines are busy from then on and take
# an even time for each packet, so that nothing comes at the instant at which something leaves.
FIRST = ("first", 1472, "10 us", "100 s")
STEADY = (
    FIRST,
    ("a", 1472, "17001 ns", "3.001 ms"),
    ("b", 972, "328001 ns", "5.003 ms"),
    ("c", 472, "639001 ns", "7.013 ms"),
)
MIXED = (
    FIRST,
    ("a", 1472, "17001 ns", "3.001 ms"),
    ("b", 1172, "328001 ns", "37.3 ms"),
    ("c", 72, "639001 ns", "1.93 ms"),
)
HEAVY = (
    FIRST,
    ("a", 1472, "17001 ns", "2.001 ms"),
    ("b", 972, "328001 ns", "2.003 ms"),
    ("c", 472, "639001 ns", "0.713 ms"),
)
SPARSE = (
    FIRST,
    ("a", 1472, "17001 ns", "5.001 ms"),
    ("b", 1372, "328001 ns", "5.003 ms"),
    ("c", 1272, "639001 ns", "4.013 ms"),
)
LIMIT = "1000 packets"
NS3_LIMIT = "MaxSize=1000p"
# Where random numbers differ, medians of numbers over seeds are compared.
PIE_BAND, SEEDS = 0.10, 9


@dataclass(frozen=True)
class Case:
    """One queue on both sides. `claim`: why it is the same, or why it is not."""

    name: str
    queue: dict[str, Any]
    kind: str
    flows: Sequence[tuple[str, int, str, str]]
    rate_mbps: int
    seconds: int
    claim: str
    is_same: bool = True
    attributes: tuple[str, ...] = (NS3_LIMIT,)
    #: What is compared: what happens to packets that are ECN-capable, or to those that are not.
    fate: str = "drop"
    #: Which of ns-3's ways (`model.WAYS`, `pie_model.WAYS`) explain that it differs.
    ways: tuple[str, ...] = ()
    #: What stands below the queue here; in ns-3 it is among `attributes`.
    device: Mapping[str, Any] = field(default_factory=dict)


# ns-3 spares a queue of less than 1500 B, the kernel one of up to its MTU.
CODEL = {"type": "codel", "profile": "linux", "limit": LIMIT, "mtu": "1499 B"}
COBALT = {"type": "cobalt", "profile": "ns3", "limit": LIMIT, "blue_threshold": "none", "ecn": "drop"}
FQ_CODEL = {"type": "fq-codel", "isolation": "exact", "mtu": "1499 B"}
PIE = {"type": "pie", "limit": LIMIT}
KERNEL = "the kernel's arithmetic on both sides"
NO_CHANCE = "profile `ns3`, without BLUE's chance"
NO_BLUE = (NS3_LIMIT, "BlueThreshold=1000s")
# Transfers that are ECN-capable: names and starts. Nothing of theirs is dropped, so nothing is sent twice.
TRANSFERS = (("a", "17001 ns"), ("b", "328001 ns"), ("c", "639001 ns"))
MARK = {"ecn": "mark"}
#: Nothing is dropped, however large the probability.
ALL_MARKED = {"ecn": "mark", "ecn_below": 1.0}
ONLY_THRESHOLD = {"ecn": "mark", "target": "99 s", "interval": "100 s", "ce_threshold": "2 ms"}
NS3_THRESHOLD = ("Target=99s", "Interval=100s", "CeThreshold=2ms")


def below(packets: int, hold_ms: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A device below the queue, here and in ns-3: so many packets, with limits of bytes."""
    here = {"device_packets": packets, "device_limits": "ns-3", "device_hold": f"{hold_ms} ms"}
    return here, (f"device={packets}", f"hold={hold_ms}ms")


DEVICE, NS3_DEVICE = below(3, 20)
PLANS, SPARES, LISTED = model.WAYS
IN_WORDS = {
    PLANS: "after a mark ns-3 plans the next one from now, the kernel from when it was due",
    SPARES: "CoDel of ns-3 spares a flow that holds little, that of the kernel all flows when all hold little together",
    LISTED: "the last flow that runs empty while it is new stays listed in ns-3",
    pie_model.HOLDS: "other random numbers; ns-3 holds the probability at 0 in a burst",
    pie_model.GRANTS: "grants the next burst after 1.5 quiet seconds",
    pie_model.SPREADS: "spreads no verdicts",
}
#: Lengths of SYN, of the ACK that completes a handshake, and of data, with the options of Linux.
SYN_BYTES, ACK_BYTES, DATA_BYTES = 60, 52, 1500


def _by(ways: tuple[str, ...]) -> str:
    return "; ".join(IN_WORDS[w] for w in ways)


def _marks(
    name: str,
    queue: dict[str, Any],
    kind: str,
    claim: str,
    *,
    ways: tuple[str, ...] = (),
    is_same: bool = True,
    more: tuple[str, ...] = (),
    device: Mapping[str, Any] | None = None,
) -> Case:
    limit = () if kind == "FqCoDel" else (NS3_LIMIT,)
    attributes = (*limit, "UseEcn=true", *more)
    return Case(name, queue, kind, (), 5, 20, claim, is_same and not ways, attributes, "mark", ways, device or {})


CASES = (
    Case("codel-steady", CODEL, "CoDel", STEADY, 5, 30, KERNEL),
    Case("codel-mixed", CODEL, "CoDel", MIXED, 4, 30, KERNEL),
    Case("codel-heavy", CODEL, "CoDel", HEAVY, 8, 6, KERNEL),
    Case("codel-rfc", CODEL | {"profile": "rfc8289"}, "CoDel", MIXED, 4, 30, "real numbers here", is_same=False),
    Case("cobalt-steady", COBALT, "Cobalt", STEADY, 5, 30, NO_CHANCE, attributes=NO_BLUE),
    Case("cobalt-mixed", COBALT, "Cobalt", MIXED, 4, 30, NO_CHANCE, attributes=NO_BLUE),
    Case("fq-codel-steady", FQ_CODEL, "FqCoDel", STEADY, 5, 30, "no flow runs empty", attributes=()),
    Case("fq-codel-heavy", FQ_CODEL, "FqCoDel", HEAVY, 5, 6, "no flow runs empty", attributes=()),
    Case(
        "fq-codel-sparse",
        FQ_CODEL,
        "FqCoDel",
        SPARSE,
        5,
        30,
        _by((SPARES, LISTED)),
        is_same=False,
        attributes=(),
        ways=(SPARES, LISTED),
    ),
    Case(
        "pie-mixed",
        PIE,
        "Pie",
        MIXED,
        4,
        60,
        _by(pie_model.WAYS),
        is_same=False,
        ways=pie_model.WAYS,
    ),
    _marks("codel-marks", CODEL | MARK, "CoDel", _by((PLANS,)), ways=(PLANS,)),
    _marks("codel-threshold", CODEL | ONLY_THRESHOLD, "CoDel", "the threshold alone", more=NS3_THRESHOLD),
    _marks(
        "codel-device",
        CODEL | ONLY_THRESHOLD,
        "CoDel",
        "limits of bytes below it",
        more=NS3_THRESHOLD + NS3_DEVICE,
        device=DEVICE,
    ),
    Case(
        "codel-device-heavy",
        CODEL,
        "CoDel",
        HEAVY,
        8,
        6,
        "limits of bytes below it",
        attributes=(NS3_LIMIT, *NS3_DEVICE),
        device=DEVICE,
    ),
    _marks("cobalt-marks", COBALT | MARK, "Cobalt", NO_CHANCE, more=NO_BLUE[1:]),
    _marks("fq-codel-marks", FQ_CODEL | MARK, "FqCoDel", _by((PLANS, SPARES)), ways=(PLANS, SPARES)),
    _marks("fq-codel-threshold", FQ_CODEL | ONLY_THRESHOLD, "FqCoDel", "the threshold alone", more=NS3_THRESHOLD),
    _marks(
        "pie-marks", PIE | ALL_MARKED, "Pie", _by(pie_model.WAYS), ways=pie_model.WAYS, more=("MarkEcnThreshold=1",)
    ),
)


@dataclass(frozen=True)
class Compared:
    """What came out. `first`: the first drop that differs, as time in ns and ordinal of the packet on either side."""

    case: Case
    packets: int
    ours: list[tuple[int, int]]
    theirs: list[tuple[int, int]]
    #: Of a case with `ways`: whether a model without them does what is done here, and with them what ns-3 does.
    is_explained: bool = False

    @property
    def first(self) -> int | None:
        """Place of the first drop that differs."""
        if self.ours == self.theirs:
            return None
        pairs = zip(self.ours, self.theirs, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(self.ours), len(self.theirs)))

    @property
    def verdict(self) -> str:
        """`same`, `explained` (by `ways`), `close` (not claimed to be more), or `differs`."""
        if self.first is None:
            return "same"
        if self.case.is_same:
            return "differs"
        if self.case.ways:
            return "explained" if self.is_explained else "differs"
        return "close" if _is_near(len(self.ours), len(self.theirs)) else "apart, as documented"


def _is_near(a: float, b: float) -> bool:
    return abs(a / max(1, b) - 1) <= PIE_BAND


def build(folder: Path) -> Path | None:
    """The program; None where ns-3 or a compiler is missing. Raises RuntimeError where it does not compile."""
    if not HEADERS.is_dir() or shutil.which("g++") is None:
        return None
    program = folder / "queue"
    command = ["g++", "-O1", "-std=c++17", str(SOURCE), "-o", str(program), *(f"-lns3-{m}" for m in MODULES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{SOURCE.name} does not compile with this ns-3:\n{done.stderr[-2000:]}")
    return program


def scenario(case: Case) -> dict[str, Any]:
    """Datagrams that go straight to the queue, or transfers that are ECN-capable."""
    tcp = {"preset": "linux-6-cubic", "ecn": "on"}
    transfer = {"from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": tcp}
    flows: dict[str, Any] = {name: {"start": start, **transfer} for name, start in TRANSFERS}
    if case.fate == "drop":
        flows = _datagrams(case)
    # No acknowledgement comes back at the instant at which a packet leaves: ends are an odd number of ns apart.
    back = {"rate": "1 Gbit/s", "queue": {"type": "droptail"}}
    delay = "1 ms" if case.fate == "drop" else "10.000501 ms"
    line = {"from": "a", "to": "b", "rate": f"{case.rate_mbps} Mbit/s", "delay": delay, "queue": case.queue}
    line |= case.device
    return {
        "name": case.name,
        "duration": f"{case.seconds} s",
        "link": {"line": line | ({"reverse": back} if case.fate == "mark" else {})},
        "flow": flows,
        "record": {"events": list(flows)},
    }


def _datagrams(case: Case) -> dict[str, Any]:
    return {
        name: {
            "from": "a",
            "to": "b",
            "start": start,
            "workload": {"type": "cbr", "payload": f"{payload} B", "interval": interval},
        }
        for name, payload, start, interval in case.flows
    }


def arrivals(case: Case, events: pl.DataFrame) -> pl.DataFrame:
    """What came to the queue, in order: time, flow, bytes, whether it is ECN-capable, and what names a packet."""
    sent = events.filter(pl.col("kind") == "send").select("time_ns", "flow", "seq", "len")
    if case.fate == "drop":
        return sent.with_columns(pl.col("len") + HEADER_BYTES, capable=pl.lit(0)).with_row_index("n")
    if not events.filter(pl.col("kind") == "retransmit").is_empty():
        raise RuntimeError(f"{case.name}: something was dropped and retransmitted, so not all arrivals are known")
    # A handshake is no event: a SYN when the connection opens, an ACK before the first data.
    nameless = {"seq": pl.lit(-1, dtype=pl.Int64), "capable": pl.lit(0), "rank": pl.lit(0)}
    opened = events.filter(pl.col("kind") == "open").select("time_ns", "flow")
    syns = opened.with_columns(len=pl.lit(SYN_BYTES, dtype=pl.Int64), **nameless)
    firsts = sent.group_by("flow").agg(pl.col("time_ns").min()).select("time_ns", "flow")
    acks = firsts.with_columns(len=pl.lit(ACK_BYTES, dtype=pl.Int64), **nameless)
    data = sent.with_columns(len=pl.lit(DATA_BYTES, dtype=pl.Int64), capable=pl.lit(1), rank=pl.lit(1))
    columns = ["time_ns", "flow", "seq", "len", "capable", "rank"]
    every = pl.concat([part.select(columns) for part in (syns, acks, data)])
    return every.sort("time_ns", "flow", "rank", "seq").drop("rank").with_row_index("n")


def compare(case: Case, program: Path) -> Compared:
    """Runs both sides."""
    events = cw.run(cw.Scenario.from_dict(scenario(case)), reps=1).table("event")
    sent = arrivals(case, events)
    # ns-3 stops with the last arrival.
    until = pl.col("time_ns") <= sent["time_ns"].max()
    selected = events.filter((pl.col("kind") == case.fate) & until).select(
        "flow", "seq", pl.col("time_ns").alias("at_ns")
    )
    ours = selected.join(sent, on=["flow", "seq"]).select("at_ns", "n").sort("at_ns", "n").rows()
    theirs = _in_ns3(case, sent, program, 1)
    return Compared(case, sent.height, ours, theirs, bool(case.ways) and _explains(case, sent, program, ours, theirs))


def _in_ns3(case: Case, sent: pl.DataFrame, program: Path, seed: int) -> list[tuple[int, int]]:
    """What ns-3 does to the arrivals: times and places of the packets."""
    came = "".join(
        f"{at} {flow} {size} {capable}\n"
        for at, flow, size, capable in sent.select("time_ns", "flow", "len", "capable").iter_rows()
    )
    command = [str(program), case.kind, str(case.rate_mbps * 10**6), str(seed), *case.attributes]
    done = subprocess.run(command, input=came, capture_output=True, text=True, check=True)
    fates = [line.split() for line in done.stdout.splitlines()]
    return sorted((int(at), int(n)) for fate, at, n in fates if fate == case.fate)


def _explains(
    case: Case, sent: pl.DataFrame, program: Path, ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> bool:
    """Whether models say on both sides what was seen: of PIE in numbers, of CoDel to the packet and nanosecond."""
    columns = sent.select("time_ns", "flow", "len", pl.col("capable") > 0)
    came = [model.Came(*row) for row in columns.iter_rows()]
    if case.kind != "Pie":
        return [modelled(case, came, ways) for ways in ((), case.ways)] == [ours, theirs]
    rate, marks = case.rate_mbps * 10**6, case.fate == "mark"

    def usual(ways: Sequence[str]) -> float:
        found = [pie_model.count(came, rate, frozenset(ways), seed, marks=marks) for seed in range(SEEDS)]
        return statistics.median(found)

    in_ns3 = statistics.median(len(_in_ns3(case, sent, program, seed)) for seed in range(1, 1 + SEEDS))
    return _is_near(usual(()), len(ours)) and _is_near(usual(case.ways), in_ns3)


def modelled(case: Case, came: Sequence[model.Came], ways: Sequence[str]) -> list[tuple[int, int]]:
    """What the model of CoDel and FQ-CoDel does to the same arrivals, with some of ns-3's ways."""
    settings = model.Settings(marks=case.fate == "mark", ways=frozenset(ways))
    all_of_them = model.fates(came, case.rate_mbps * 10**6, settings, is_fair=case.kind == "FqCoDel")
    return sorted((at, n) for what, at, n in all_of_them if what == case.fate and at <= came[-1].at_ns)


def version() -> str:
    """Of ns-3, as its package says."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libns3-dev"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown version"


def page(rows: Sequence[Compared]) -> str:
    """The Markdown page."""
    claimed = [r for r in rows if r.case.is_same]
    same = sum(r.verdict == "same" for r in claimed)
    lines = [
        "# Queues beside ns-3",
        "",
        "Written by `make validate`. The same datagrams come at the same instants to a queue of Crosswind and to that"
        f" of ns-3 {version()}, in front of lines of the same rate. Compared is which packets are dropped (datagrams"
        " that are not ECN-capable) or marked (transfers that are), and when, to the nanosecond.",
        "",
        f"* {same} of {len(claimed)} cases that are claimed to be the same drop or mark the same packets at the same"
        " times.",
        f"* {sum(r.verdict == 'explained' for r in rows)} of {sum(bool(r.case.ways) for r in rows)} that differ are"
        " explained: models without ns-3's ways do what Crosswind does, and with them, which stand beside the case,"
        " what ns-3 does: CoDel and FQ-CoDel to the packet and nanosecond, PIE, whose verdicts are drawn, in the median"
        f" number of {SEEDS} seeds within {PIE_BAND:.0%} (`validation/ns3/model.py`, `pie_model.py`).",
        "* The others are not claimed to be the same; the reason stands beside each.",
        "* Not compared: BLUE's chance in COBALT, hashes.",
        "",
        "| case | ns-3 | packets | drops or marks here | in ns-3 | verdict | first that differs | why |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        first = "" if r.first is None else f"{r.case.fate} {r.first + 1}"
        numbers = f"{r.packets} | {len(r.ours)} | {len(r.theirs)}"
        lines.append(f"| {r.case.name} | {r.case.kind} | {numbers} | {r.verdict} | {first} | {r.case.claim} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares all cases; writes the page unless told not to."""
    parser = argparse.ArgumentParser(prog="python -m validation.ns3.queues", description="Queues beside ns-3.")
    parser.add_argument("--no-write", action="store_true", help=f"do not write docs/{PAGE.name}")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        if program is None:
            line = "!" * 72
            print(
                f"{line}\nns-3 OR g++ IS NOT INSTALLED (Debian: apt-get install libns3-dev g++).\n"
                f"{len(CASES)} comparisons of queues were SKIPPED.\n{line}",
                file=sys.stderr,
            )
            return 0
        rows = [compare(case, program) for case in CASES]
    for r in rows:
        print(f"{r.case.name}: {len(r.ours)} {r.case.fate}s here, {len(r.theirs)} in ns-3: {r.verdict}")
    if not chosen.no_write:
        PAGE.write_text(page(rows), encoding="utf-8")
        print(f"written: {PAGE}")
    return int(any(r.verdict == "differs" for r in rows))


if __name__ == "__main__":
    sys.exit(main())
