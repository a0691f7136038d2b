"""The scenarios that run in ns-2 and in Crosswind, defined once.

A `Case` holds plain numbers; `ns2_arguments` turns it into the arguments of `dumbbell.tcl`, `crosswind_scenario` into a
scenario of Crosswind. Where the two simulators count differently, the translation is here and nowhere else:

* ns-2's drop-tail queue refuses a packet when `limit - 1` packets wait; Crosswind's holds `limit` waiting packets.
* ns-2 numbers segments from 0 and its segment 0 is the SYN; segment n of ns-2 is payload n-1 of Crosswind.
* A listed loss counts data packets from 1 where they enter the bottleneck. ns-2 counts from 0 with the SYN as 0, which
  gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, Literal

Sender = Literal["Tahoe", "Reno", "Newreno", "Sack1", "Aimd", "Scalable"]
SENDERS: tuple[Sender, ...] = ("Tahoe", "Reno", "Newreno", "Sack1", "Aimd")
"""Senders that are compared segment by segment. `Agent/TCP/Linux` repairs losses in its own way: of `Scalable`, growth
alone is compared (`growth`)."""


@dataclass(frozen=True)
class Ends:
    """A sender in both simulators: the agent of ns-2, whether its sink reports SACK blocks, the preset here."""

    agent: str
    preset: str
    sack: bool = False
    increase: float = 1.0
    """Segments that a window without loss adds."""
    kept: float = 0.5
    """Share of the window that is left after a loss."""
    law: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the law here."""
    linux_law: str = ""
    """Law of Linux that `Agent/TCP/Linux` is to run."""


AIMD = {"law": "aimd", "aimd": {"increase": 0.31, "decrease": 0.125}}
SCALABLE = {"law": "scalable", "scalable": {"version": "linux-2.6"}}
ENDS: dict[Sender, Ends] = {
    "Tahoe": Ends("Agent/TCP", "ns2-tahoe"),
    "Reno": Ends("Agent/TCP/Reno", "ns2-reno"),
    "Newreno": Ends("Agent/TCP/Newreno", "ns2-newreno"),
    "Sack1": Ends("Agent/TCP/Sack1", "ns2-sack1", sack=True),
    "Aimd": Ends("Agent/TCP/Sack1", "ns2-sack1", sack=True, increase=0.31, kept=0.875, law=AIMD),
    "Scalable": Ends("Agent/TCP/Linux", "ns2-sack1", sack=True, law=SCALABLE, linux_law="scalable"),
}
DELAYED_ACK_MS = 100

# ns-2 draws the phase of every agent's 10 ms clock; this seed gives 3 microseconds, so a clock that starts with the run
# is the same clock.
SEED_OF_PHASE_ZERO = 1


@dataclass(frozen=True)
class Red:
    """RED at the bottleneck, in the terms of ns-2: byte mode, gentle, `wait_`; thresholds in packets of
    `mean_packet_bytes`. Zero thresholds and a negative weight let each simulator find them from the link."""

    min_packets: float = 5.0
    max_packets: float = 15.0
    weight: float = 0.002
    mean_packet_bytes: int = 1040
    max_p: float = 0.1


@dataclass(frozen=True)
class Case:
    """One run: N senders, an access link each, one bottleneck, all receivers behind it."""

    name: str
    family: str
    question: str
    sender: Sender = "Sack1"
    delayed_ack: bool = False
    segments: int = 60
    """Segments per flow; 0 = endless."""
    drops: tuple[int, ...] = ()
    """Data packets lost at the entry of the bottleneck, counted from 1, retransmissions included."""
    window: int = 20
    limit_packets: int = 100
    """`limit_` of ns-2."""
    rate_bps: int = 1_600_000
    delay_us: int = 50_000
    access_rate_bps: int = 10_000_000
    access_delay_us: int = 5_000
    packet_bytes: int = 1000
    starts_us: tuple[int, ...] = (0,)
    duration_s: int = 120
    red: Red | None = None
    ecn: bool = False
    seed: int = SEED_OF_PHASE_ZERO
    expect: str = ""
    """Why the two simulators may differ here; empty = they must not."""

    @property
    def flows(self) -> int:
        return len(self.starts_us)

    @property
    def key(self) -> str:
        """Name of this case for one sender and one receiver."""
        return f"{self.name}/{self.sender.lower()}/{'delack' if self.delayed_ack else 'every'}"


# -- deterministic cases ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """A list of losses and what it probes; `drops_delayed` is for delayed ACKs, which move retransmissions."""

    name: str
    question: str
    drops: tuple[int, ...]
    drops_delayed: tuple[int, ...] | None = None
    segments: int = 60


PATTERNS: tuple[Pattern, ...] = (
    Pattern("none", "no loss: start, growth, window limit", ()),
    Pattern("one", "one loss, repaired by fast retransmit", (14,)),
    Pattern("one-in-slow-start", "a loss while the window is too small for three duplicate ACKs", (3,)),
    Pattern("first-segment", "the first data segment is lost", (1,)),
    Pattern("first-window", "the whole initial window is lost", (1, 2)),
    Pattern("two-in-a-window", "two losses with received segments between", (24, 28)),
    Pattern("two-consecutive", "two losses in a row", (24, 25)),
    Pattern("three-in-a-window", "three losses in one window", (22, 25, 28)),
    Pattern("four-in-a-window", "four losses in one window", (22, 24, 26, 28)),
    Pattern("four-consecutive", "four losses in a row", (24, 25, 26, 27)),
    Pattern("retransmission", "the retransmission is lost too", (14, 31), (14, 25)),
    Pattern("retransmission-twice", "the retransmission after the timeout is lost as well", (14, 31, 35), (14, 25, 31)),
    Pattern("tail", "the last segment is lost: timeout", (60,)),
    Pattern("two-at-the-tail", "the last two segments are lost: timeout", (59, 60)),
    Pattern("a-window", "a whole window is lost: timeout and go-back-N", tuple(range(15, 29))),
    Pattern("three-windows", "one loss in each of three windows", (14, 52, 84), segments=110),
    Pattern("every-tenth", "every tenth packet is lost, retransmissions included", tuple(range(10, 61, 10))),
)


def _pattern_cases() -> list[Case]:
    return [
        Case(
            name=p.name,
            family="listed drops",
            question=p.question,
            sender=sender,
            delayed_ack=delayed,
            segments=p.segments,
            drops=p.drops_delayed if delayed and p.drops_delayed is not None else p.drops,
        )
        for p in PATTERNS
        for sender in SENDERS
        for delayed in (False, True)
    ]


def _undisturbed_cases() -> list[Case]:
    limited = Case(
        name="window-limited",
        family="window-limited",
        question="the receiver's window limits the flow",
        window=8,
        segments=400,
    )
    # The path holds fewer packets than the queue: from the second round on the queue does not run empty before it
    # overflows, so no packet arrives at the very instant at which another leaves and no tie decides a drop.
    overflow = Case(
        name="slow-start",
        family="slow start into drop-tail",
        question="slow start overflows the queue",
        window=100,
        segments=400,
        limit_packets=20,
        delay_us=10_300,
    )
    return [replace(c, sender=s, delayed_ack=d) for c in (limited, overflow) for s in SENDERS for d in (False, True)]


def deterministic_cases() -> list[Case]:
    """Cases in which both simulators must send the same segments at the same times."""
    return _pattern_cases() + _undisturbed_cases()


GROWTH = Case(
    name="growth",
    family="growth",
    question="how many ACKs make the window one segment longer, up to the receiver's window",
    sender="Scalable",
    segments=4000,
    drops=(14,),
    window=100,
    limit_packets=400,
)


def acks_per_segment(sequence: Sequence[tuple[int, int, bool]], after: int) -> list[int]:
    """ACKs from one growth of the window to the next, as the times at which segments left show them: an ACK that grows
    the window releases two segments. Only what left once, in (time, segment, retransmitted), after segment `after`."""
    times = [t for t, segment, again in sequence if segment > after and not again]
    acks = [len(list(g)) for _, g in groupby(times)]
    grows = [i for i, n in enumerate(acks) if n == 2]
    return [b - a for a, b in pairwise(grows)]


# -- statistical cases ------------------------------------------------------------------------------------------------

REPETITIONS = 12
SPREAD_US = 2_000_000
"""Flows start within this time."""


@dataclass(frozen=True)
class Study:
    """A statistical comparison: one configuration, many start times and seeds."""

    name: str
    question: str
    flows: int
    base: Case = field(repr=False)

    def cases(self, repetitions: int = REPETITIONS) -> list[Case]:
        """One case per repetition; both simulators get the same start times."""
        return [
            replace(
                self.base,
                name=f"{self.name}-{rep}",
                question=self.question,
                seed=101 + rep,
                starts_us=_starts(self.flows, rep),
            )
            for rep in range(repetitions)
        ]


def _starts(flows: int, rep: int) -> tuple[int, ...]:
    """Start times in microseconds: a golden-ratio sequence, shifted from repetition to repetition."""
    golden = 0.6180339887498949
    return tuple(int(SPREAD_US * ((0.37 * rep + golden * (k + 1)) % 1.0)) for k in range(flows))


def studies() -> list[Study]:
    """RED with one and ten flows, dropping and marking."""
    drops = Case(
        name="red",
        family="RED",
        question="",
        segments=0,
        window=100,
        rate_bps=5_000_000,
        delay_us=20_000,
        access_rate_bps=100_000_000,
        limit_packets=60,
        duration_s=60,
        red=Red(),
    )
    marks = replace(drops, ecn=True)
    found = replace(drops, limit_packets=100, red=Red(min_packets=0, max_packets=0, weight=-1, mean_packet_bytes=500))
    return [
        Study("red-1", "one flow, RED drops", 1, drops),
        Study("red-1-ecn", "one flow, RED marks", 1, marks),
        Study("red-10", "ten flows, RED drops", 10, drops),
        Study("red-10-ecn", "ten flows, RED marks", 10, marks),
        Study("red-10-reno", "ten Reno flows, RED drops", 10, replace(drops, sender="Reno")),
        Study("red-10-tahoe", "ten Tahoe flows, RED drops", 10, replace(drops, sender="Tahoe")),
        Study("red-10-tahoe-ecn", "ten Tahoe flows, RED marks", 10, replace(marks, sender="Tahoe")),
        Study("red-10-newreno", "ten NewReno flows, RED drops", 10, replace(drops, sender="Newreno")),
        Study("red-10-defaults", "ten flows, RED with everything left to ns-2's defaults", 10, found),
    ]


# -- translations -----------------------------------------------------------------------------------------------------


def ns2_arguments(case: Case, trace: str = "") -> list[str]:
    """`key=value` arguments for dumbbell.tcl."""
    red = case.red or Red()
    values: dict[str, Any] = {
        "agent": ENDS[case.sender].agent,
        "sack": int(ENDS[case.sender].sack),
        "increase": ENDS[case.sender].increase,
        "kept": ENDS[case.sender].kept,
        "linux_law": ENDS[case.sender].linux_law,
        "delayed_ack": int(case.delayed_ack),
        "window": case.window,
        "packet_size": case.packet_bytes,
        "ecn": int(case.ecn),
        "queue": "RED" if case.red else "DropTail",
        "limit": case.limit_packets,
        "rate_bps": case.rate_bps,
        "delay_s": case.delay_us / 1e6,
        "access_rate_bps": case.access_rate_bps,
        "access_delay_s": case.access_delay_us / 1e6,
        "segments": case.segments,
        "drops": " ".join(map(str, case.drops)),
        "starts": " ".join(f"{us / 1e6:.6f}" for us in case.starts_us),
        "duration_s": case.duration_s,
        "seed": case.seed,
        "trace": trace,
        "delayed_ack_ms": DELAYED_ACK_MS,
        "red_min": red.min_packets,
        "red_max": red.max_packets,
        "red_weight": red.weight,
        "red_mean_packet": red.mean_packet_bytes,
        "red_linterm": 1 / red.max_p,
    }
    return [f"{k}={v}" for k, v in values.items()]


def crosswind_scenario(case: Case) -> dict[str, Any]:
    """The same run as a scenario of Crosswind."""
    wide = {"type": "droptail", "limit": "1000000 packets"}
    bottleneck: dict[str, Any] = {
        "from": "router",
        "to": "far",
        "rate": f"{case.rate_bps} bit/s",
        "delay": f"{case.delay_us} us",
        "queue": _queue(case),
        "reverse": {"queue": wide},
    }
    if case.drops:
        bottleneck["loss"] = {"type": "list", "packets": list(case.drops), "counts": "data", "at": "entry"}
        bottleneck["reverse"]["loss"] = {"type": "none"}
    links: dict[str, Any] = {"bottleneck": bottleneck}
    flows: dict[str, Any] = {}
    for k, start in enumerate(case.starts_us):
        links[f"access-{k}"] = {
            "from": f"sender-{k}",
            "to": "router",
            "rate": f"{case.access_rate_bps} bit/s",
            "delay": f"{case.access_delay_us} us",
            "queue": wide,
        }
        flows[f"flow-{k}"] = {
            "from": f"sender-{k}",
            "to": "far",
            "start": f"{start} us",
            "workload": _workload(case),
            "tcp": _tcp(case),
        }
    return {
        "name": case.key.replace("/", "-"),
        "title": case.question,
        "seed": case.seed,
        "duration": f"{case.duration_s} s",
        "link": links,
        "flow": flows,
        "record": {"events": "all"} if case.segments else {},
    }


def _queue(case: Case) -> dict[str, Any]:
    if case.red is None:
        return {"type": "droptail", "limit": f"{case.limit_packets - 1} packets"}
    red, size = case.red, case.red.mean_packet_bytes
    queue: dict[str, Any] = {
        "type": "red-ns2",
        "max_p": red.max_p,
        "limit": f"{case.limit_packets * size} B",
        "mean_packet": f"{size} B",
        "ecn": "mark" if case.ecn else "drop",
    }
    if red.min_packets > 0:
        queue |= {"min_th": f"{red.min_packets * size:.0f} B", "max_th": f"{red.max_packets * size:.0f} B"}
    if red.weight > 0:
        queue["w_q"] = red.weight
    return queue


def _workload(case: Case) -> dict[str, Any]:
    if case.segments == 0:
        return {"type": "bulk", "close": "never"}
    return {"type": "bulk", "size": f"{case.segments * case.packet_bytes} B", "close": "never"}


def _tcp(case: Case) -> dict[str, Any]:
    ends = ENDS[case.sender]
    return {
        "preset": ends.preset,
        **ends.law,
        "mss": f"{case.packet_bytes} B",
        "window_limit_segments": case.window,
        "initial_ssthresh": f"{case.window * case.packet_bytes} B",
        "ecn": "on" if case.ecn else "off",
        "delayed_ack": f"{DELAYED_ACK_MS} ms" if case.delayed_ack else "0 ms",
    }
