"""What the cost of a packet and the memory of a flow depend on: flows, hops, window, the length of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from crosswind.bench.cell import Cell, Spec, fresh, spec
from crosswind.bench.peers import Ns2, PeerError

Pace = Literal["full", "quick"]
Say = Callable[[str], None]

MBIT = 1_000_000
GBIT = 1000 * MBIT


@dataclass(frozen=True)
class Point:
    """One measurement of a series: `x` is what the series varies."""

    series: str
    x: float
    spec: Spec


def points(pace: Pace) -> list[Point]:
    """All measurements, about a million packets each (a fifth of that when quick)."""
    share = 1.0 if pace == "full" else 0.2
    out = [
        Point(f"flows, {name}", n, spec(n, rate, max(2.0, share * seconds)))
        for name, rate, seconds in (
            ("100 Mbit/s", 100 * MBIT, 80.0),
            ("1 Gbit/s", GBIT, 8.0),
            ("10 Gbit/s", 10 * GBIT, 3.0),
        )
        for n in (1, 10, 100, 1000, 10_000)
        if (rate, n) != (100 * MBIT, 10_000)  # less than a packet of window for each
    ]
    out += [
        Point("hops", n + 2, spec(10, 100 * MBIT, max(10.0, share * 40), routers_apart=n)) for n in (1, 2, 4, 8, 16, 32)
    ]
    for rtt_ms in (6, 20, 60, 200, 600):
        # Slow start and several losses of a whole window.
        seconds = max(4.0, share * 10, rtt_ms / 1000 * 40)
        window = 2 * GBIT / 8 * rtt_ms / 1000 / 1040
        out.append(Point("window", round(window), spec(1, GBIT, seconds, rtt=f"{rtt_ms} ms")))
    return out


def short_flows(pace: Pace) -> Spec:
    """100 000 transfers of 50 kB that arrive as a Poisson process and load 1 Gbit/s to 85 %."""
    n = 100_000 if pace == "full" else 20_000
    return spec(n, GBIT, n * 55e-5, traffic={"transfers": "50 kB"})


def idle_flows(pace: Pace) -> Spec:
    """Open connections without traffic."""
    return spec(20_000 if pace == "full" else 5000, 10 * GBIT, 3.0, traffic="idle")


def long_run(pace: Pace) -> Cell:
    """One flow at 1 Gbit/s for 2000 s: 2.4e8 packets, a window of 15 000."""
    return LongRun(1, GBIT, "droptail", 2000.0 if pace == "full" else 60.0)


@dataclass(frozen=True)
class LongRun(Cell):
    """A cell with a time of its own."""

    length_s: float = 0.0

    @property
    def seconds(self) -> float:
        return self.length_s


def row(series: str, x: float, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of the table of costs out of repeated runs."""
    costs = [1e9 / r["packets_per_cpu_s"] for r in runs]
    first = runs[0]
    return {
        "series": series,
        "x": x,
        "packets": first["packets"],
        "ns_per_packet": median(costs),
        "ns_per_packet_min": min(costs),
        "ns_per_packet_max": max(costs),
        "events_per_packet": first["events"] / max(1, first["packets"]),
        "build_cpu_s": median(r["build_cpu_s"] for r in runs),
        "cpu_s": median(r["cpu_s"] for r in runs),
        "added_bytes": median(r["added_bytes"] for r in runs),
        "bytes_per_flow": median(r["bytes_per_flow"] for r in runs),
        "flows": first["flows"],
        "simulated_s": first["simulated_s"],
    }


def costs(pace: Pace, reps: int, say: Say) -> Iterator[dict[str, Any]]:
    """The series over flows, hops and window; every round runs all points once, so that a slow minute meets all."""
    wanted = points(pace)
    runs: list[list[dict[str, Any]]] = [[] for _ in wanted]
    for rep in range(reps):
        for i, p in enumerate(wanted):
            say(f"round {rep + 1} of {reps}: {p.series}, {p.x:g}")
            runs[i].append(fresh(p.spec))
    for p, done in zip(wanted, runs, strict=True):
        yield row(p.series, p.x, done)


def crowds(pace: Pace, reps: int, say: Say) -> Iterator[dict[str, Any]]:
    """Many short flows beside ten endless ones on the same link, what an idle flow takes, laws of today together."""
    seconds = 8.0 if pace == "full" else 2.0
    named = [
        ("ten endless flows", spec(10, GBIT, seconds)),
        ("short flows", short_flows(pace)),
        ("idle flows", idle_flows(pace)),
        ("CUBIC, BBRv3 and Prague", spec(10, GBIT, seconds, queue="dualpi2", sender="mixed")),
    ]
    runs: list[list[dict[str, Any]]] = [[] for _ in named]
    for rep in range(reps):
        for i, (name, what) in enumerate(named):
            say(f"round {rep + 1} of {reps}: {name}")
            runs[i].append(fresh(what))
    for (name, what), done in zip(named, runs, strict=True):
        yield row(name, what["flows"], done)


def long_pair(pace: Pace, say: Say, ns2: Ns2 | None) -> dict[str, Any]:
    """The long run here and in ns-2, one after the other."""
    cell = long_run(pace)
    say(f"one flow at 1 Gbit/s for {cell.seconds:g} s")
    out = row("long run", cell.seconds, [fresh(cell.spec())])
    theirs, note = None, "not run: not installed or not asked for"
    if ns2 is not None:
        say("the same in ns-2")
        # The scheduler that is the fastest for short runs of this cell.
        try:
            short = Cell(cell.flows, cell.rate_bps, cell.queue)
            ns2.speed(short)
            theirs, note = ns2.run(cell, cell.seconds, ns2.scheduler[short]), ""
        except PeerError as e:
            note = str(e)
    ours = 1e9 / out["ns_per_packet"]
    return {
        **out,
        "packets_per_cpu_s": ours,
        "ns2_packets_per_cpu_s": theirs,
        "ratio_ns2": ours / theirs if theirs else None,
        "ns2_note": note or None,
    }
