"""A transfer through delay spikes (E2 of [Gurtov 2004]) in ns-2 and in Crosswind, with the same spikes in both.

python -m validation.ns2.spikes            compare with the stored numbers of ns-2
python -m validation.ns2.spikes --write    write them anew (needs ns-2)

A dumb bell: access links of 1, 10 or 20 ms on both sides. Many spikes, drawn here and given to both as a list, for the
senders without detection of spurious timeouts; one spike for those with it. ns-2 has no Eifel, but F-RTO, whose first
response restores the window as option 1 of the source does.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

import crosswind as cw
from crosswind.experiments.gurtov_2004.worlds import SEGMENTS, transfer
from crosswind.scenario import Scenario
from validation.ns2.driver import HERE, REFERENCE, TIMEOUT_S, Ns2Error, ns2_program

SCRIPT = HERE / "spikes.tcl"
FILE = REFERENCE / "spikes.csv"
REPETITIONS = 10
"""Of a case with many spikes."""
ACCESS_MS = (1, 10, 20)
STREAMS_BYTES = (0, 210, 1000)
Spikes = list[tuple[float, float]]
Shape = Literal["none", "2.5 s", "9 s", "many"]
"""After one of 2.5 s the timer has expired once, after one of 9 s three times."""
ONE: dict[Shape, Spikes] = {"none": [], "2.5 s": [(10.0, 2.5)], "9 s": [(10.0, 9.0)]}
MEASURES = ("done_s", "sent", "resent", "timeouts")

# -- the senders ------------------------------------------------------------------------------------------------------

NS2: dict[str, dict[str, Any]] = {
    "Sack1": {},
    "Sack1, partial_ack_": {"partial_ack": 1},
    "Fack": {"sender": "Fack"},
    **{f"F-RTO, response {r}": {"frto": 1, "response": r} for r in (1, 2, 3)},
    **{f"SACK-based F-RTO, response {r}": {"sfrto": 1, "response": r} for r in (1, 2, 3)},
    "SACK-based F-RTO, response 1, partial_ack_": {"sfrto": 1, "partial_ack": 1},
}
"""Senders of ns-2 by what is set, beyond the defaults of `in_ns2`."""
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "Reno-SACK": ("Reno-SACK", {}),
    "NewReno-SACK": ("NewReno-SACK", {}),
    "FACK": ("FACK", {}),
    "Eifel": ("Reno-SACK", {"eifel": "on"}),
    "Eifel, half": ("Reno-SACK", {"eifel": "on", "spurious_response": "option-2"}),
    "Eifel, slow start": ("Reno-SACK", {"eifel": "on", "spurious_response": "option-3"}),
    "Eifel, NewReno-SACK": ("NewReno-SACK", {"eifel": "on"}),
    "F-RTO of Linux": ("Reno-SACK", {"frto": "linux-6"}),
    "F-RTO of RFC 5682": ("Reno-SACK", {"frto": "basic"}),
    "F-RTO of RFC 5682, SACK": ("Reno-SACK", {"frto": "sack"}),
}
"""Senders here: variant of the source, and keys."""


@dataclass(frozen=True)
class Case:
    """One row of the reference: a sender of ns-2 in one surrounding."""

    sender: str
    spikes: Shape
    access_ms: int
    stream_bytes: int = 0

    def all_spikes(self) -> list[Spikes]:
        """The spikes of each repetition."""
        return [draw(s) for s in range(REPETITIONS)] if self.spikes == "many" else [ONE[self.spikes]]


@dataclass(frozen=True)
class Result:
    """Means over the repetitions."""

    done_s: float
    sent: float
    resent: float
    timeouts: float


def many() -> Iterator[Case]:
    """Without detection, alone and beside a stream."""
    return (Case("Sack1", "many", a, b) for b in STREAMS_BYTES for a in ACCESS_MS)


def one() -> Iterator[Case]:
    """One spike, or none; alone."""
    yield from (Case("Sack1", "none", a) for a in ACCESS_MS)
    yield from (Case(s, shape, a) for s in NS2 for shape in ("2.5 s", "9 s") for a in ACCESS_MS)  # type: ignore[arg-type]


CASES = (*many(), *one())


def draw(seed: int, count: int = 40) -> Spikes:
    """Start and length of the spikes of one repetition (process D1; the lengths of one repetition are equal)."""
    r = random.Random(seed)
    at, length = r.uniform(0, 5), round(r.uniform(3, 15), 6)
    out = []
    for _ in range(count):
        out.append((round(at, 6), length))
        at += r.uniform(20, 40)
    return out


# -- ns-2 -------------------------------------------------------------------------------------------------------------


def in_ns2(case: Case, program: str) -> Result:
    """Raises Ns2Error when ns-2 fails."""
    return _mean([_run(case, spikes, program) for spikes in case.all_spikes()])


def _run(case: Case, spikes: Spikes, program: str) -> Result:
    values: Mapping[str, Any] = {
        "window": 150,
        "packet_bytes": 1000,
        "reset_backoff": "true",
        "rto_min_s": 1,
        "delayed_ack_ms": 100,
        "access_rate_bps": 100e6,
        "access_delay_s": case.access_ms / 1000,
        "rate_bps": 2e6,
        "delay_s": 0.15,
        "limit": 75,
        "sender": "Sack1",
        "frto": 0,
        "sfrto": 0,
        "response": 1,
        "partial_ack": 0,
        "cbr_bps": 1e6 if case.stream_bytes else 0,
        "cbr_packet_bytes": case.stream_bytes or 210,
        "start_s": 0,
        "segments": SEGMENTS,
        "duration_s": 2000,
        "trace": "",
        "spikes": " ".join(f"{a} {b}" for a, b in spikes),
        **NS2[case.sender],
    }
    words = [f"{k}={v}" for k, v in values.items()]
    done = subprocess.run(
        [program, str(SCRIPT), *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise Ns2Error(f"ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
    found = {k: float(v) for k, v in (line.split() for line in done.stdout.splitlines())}
    return Result(*(found[m] for m in MEASURES))


def _mean(results: Iterable[Result]) -> Result:
    return Result(*np.mean([astuple(r) for r in results], axis=0).tolist())


# -- Crosswind --------------------------------------------------------------------------------------------------------


def scenario(name: str, ours: str, case: Case, spikes: Spikes) -> Scenario:
    """The same dumb bell here, with a sender of `OURS`."""
    variant, tcp = OURS[ours]
    listed = {"at": [f"{a} s" for a, _ in spikes], "length": f"{spikes[0][1]} s"} if spikes else "none"
    path = transfer(name, variant, tcp, cbr_bytes=case.stream_bytes, access_ms=case.access_ms, dumb_bell=True)
    return path.with_({"link.bottleneck.spikes": listed})


def in_crosswind(pairs: Iterable[tuple[str, Case]]) -> list[Result]:
    """What senders of `OURS` do in the surroundings of the cases."""
    known, worlds = list(pairs), {}
    for n, (ours, case) in enumerate(known):
        for r, spikes in enumerate(case.all_spikes()):
            worlds[f"{n} {r}"] = scenario(f"spikes-{n}-{r}", ours, case, spikes)
    flows = cw.run(worlds, reps=1).flows().filter(pl.col("name") == "tcp")
    columns = ("configuration", "elapsed_ns", "sent_packets", "retransmitted_packets", "timeouts")
    found: dict[int, list[Result]] = {}
    for label, elapsed_ns, sent, resent, timeouts in flows.select(columns).iter_rows():
        # The SYN is not counted in ns-2 either.
        found.setdefault(int(label.split()[0]), []).append(Result(elapsed_ns / 1e9, sent - 1, resent, timeouts))
    return [_mean(found[n]) for n in range(len(known))]


# -- what ns-2 gave ---------------------------------------------------------------------------------------------------


def references() -> dict[Case, Result]:
    """The stored numbers of every case."""
    out = {}
    with FILE.open(encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            shape = next(s for s in get_args(Shape) if s == r["spikes"])
            case = Case(r["sender"], shape, int(r["access_ms"]), int(r["stream_bytes"]))
            out[case] = Result(*(float(r[m]) for m in MEASURES))
    return out


def write(program: str) -> None:
    """Runs ns-2 and stores its numbers."""
    with FILE.open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow([*(x.name for x in fields(Case)), *MEASURES])
        for case in CASES:
            out.writerow([*astuple(case), *(f"{x:.3f}" for x in astuple(in_ns2(case, program)))])


# -- which sender stands beside which ---------------------------------------------------------------------------------


def counterparts(case: Case) -> tuple[str, ...]:
    """The senders here that do what this sender of ns-2 does; none where ns-2 does something of its own."""
    plain = {"Sack1": ("Reno-SACK",), "Sack1, partial_ack_": ("NewReno-SACK",), "Fack": ("FACK",)}
    if case.sender in plain:
        return plain[case.sender]
    if case.sender == "F-RTO, response 1":
        return ("Eifel", "F-RTO of Linux", "F-RTO of RFC 5682")
    if case.sender == "SACK-based F-RTO, response 1":
        return ("Eifel", "F-RTO of Linux", "F-RTO of RFC 5682, SACK")
    return ()


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        program = ns2_program()
        if program is None:
            print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
            return 2
        write(program)
    pairs = [(ours, case) for case in CASES for ours in counterparts(case)]
    found = dict(zip(pairs, in_crosswind(pairs), strict=True))
    print(f"{'ns-2, then Crosswind':44}{'spikes':>7}{'access':>8}{'stream':>8}{'time':>9}", end="")
    print(f"{'segments':>10}{'resent':>8}{'expiries':>10}")
    for case, theirs in references().items():
        place = f"{case.spikes:>7}{case.access_ms:>5} ms{case.stream_bytes:>6} B"
        for name, r in {case.sender: theirs, **{f"  {o}": found[o, case] for o in counterparts(case)}}.items():
            print(f"{name:44}{place}{r.done_s:7.1f} s{r.sent:10.1f}{r.resent:8.1f}{r.timeouts:10.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
