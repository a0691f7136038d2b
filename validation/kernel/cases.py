"""What is offered to the kernel's `htb` and `tbf` and to Crosswind's, once for both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ETHERNET_BYTES = 14
"""The kernel charges the Ethernet header on a veth; `overhead` makes Crosswind do the same."""


@dataclass(frozen=True)
class Class:
    """One class of a tree; rates in kbit/s. A class without `offered` sends nothing."""

    name: str
    rate: int
    ceil: int | None = None
    parent: str | None = None
    prio: int = 0
    quantum_bytes: int = 3000
    offered: int = 0
    packet_bytes: int = 1000


@dataclass(frozen=True)
class Case:
    """A shaper under load."""

    key: str
    about: str
    classes: tuple[Class, ...]
    burst_bytes: int = 6000
    is_tbf: bool = False
    peak: int | None = None
    expected: dict[str, int] = field(default_factory=dict)
    """Rates that the definition gives, in kbit/s, link-layer header included."""

    def leaves(self) -> list[Class]:
        """Classes with packets of their own."""
        parents = {c.parent for c in self.classes}
        return [c for c in self.classes if c.name not in parents]


def cases() -> list[Case]:
    """Rates, ceilings, borrowing, priorities and rounds, one thing at a time."""
    return [*_rates(), *_sharing(), *_order()]


TOP = Class("top", 2000)


def _rates() -> list[Case]:
    return [
        Case(
            "tbf",
            "a token bucket filter at 1 Mbit/s, offered twice that",
            (Class("all", 1000, offered=2000),),
            is_tbf=True,
            expected={"all": 1000},
        ),
        Case(
            "ceil",
            "one class alone: it borrows up to its ceiling",
            (TOP, Class("a", 500, 1500, "top", offered=3000), Class("b", 500, 2000, "top")),
            expected={"a": 1500},
        ),
        Case(
            "no-parent",
            "a class at the top has nobody to borrow from: its rate, whatever its ceiling",
            (Class("a", 1000, 2000, offered=3000),),
            expected={"a": 1000},
        ),
    ]


def _sharing() -> list[Case]:
    return [
        Case(
            "equal",
            "two equal classes, both backlogged",
            (TOP, Class("a", 1000, 2000, "top", offered=2500), Class("b", 1000, 2000, "top", offered=2500)),
            expected={"a": 1000, "b": 1000},
        ),
        Case(
            "guarantee",
            "unequal rates that fill the parent: each gets its own",
            (TOP, Class("a", 400, 2000, "top", offered=2500), Class("b", 1600, 2000, "top", offered=2500)),
            expected={"a": 400, "b": 1600},
        ),
        Case(
            "quantum",
            "what is left is lent in rounds: quanta 1 to 3",
            (
                TOP,
                Class("a", 200, 2000, "top", offered=2500, quantum_bytes=2000),
                Class("b", 200, 2000, "top", offered=2500, quantum_bytes=6000),
            ),
            expected={"a": 600, "b": 1400},
        ),
    ]


def _order() -> list[Case]:
    return [
        Case(
            "prio",
            "what is left goes to the lower number first",
            (
                TOP,
                Class("a", 300, 2000, "top", prio=0, offered=2500),
                Class("b", 300, 2000, "top", prio=1, offered=2500),
            ),
            expected={"a": 1700, "b": 300},
        ),
        Case(
            "prio-ceil",
            "the first is stopped by its ceiling, the second takes the rest",
            (
                TOP,
                Class("a", 300, 900, "top", prio=0, offered=2500),
                Class("b", 300, 2000, "top", prio=1, offered=2500),
            ),
            expected={"a": 900, "b": 1100},
        ),
        Case(
            "light",
            "a class that needs less than its rate gets all it needs; the other borrows the rest",
            (TOP, Class("a", 1000, 2000, "top", offered=400), Class("b", 1000, 2000, "top", offered=2500)),
            expected={"a": 400, "b": 1600},
        ),
        Case(
            "sizes",
            "packets of 1400 and 300 bytes, equal quanta: equal bytes, not packets",
            (
                TOP,
                Class("a", 200, 2000, "top", offered=2500, packet_bytes=1400),
                Class("b", 200, 2000, "top", offered=2500, packet_bytes=300),
            ),
            expected={"a": 1000, "b": 1000},
        ),
        Case(
            "tree",
            "three levels: an idle class lends to its sister before its aunt",
            (
                Class("top", 2000),
                Class("left", 1000, 2000, "top"),
                Class("right", 1000, 2000, "top"),
                Class("a", 500, 2000, "left", offered=2500),
                Class("b", 500, 2000, "left"),
                Class("c", 1000, 2000, "right", offered=2500),
            ),
            expected={"a": 1000, "c": 1000},
        ),
    ]


def crosswind_scenario(case: Case, seconds: int) -> dict[str, Any]:
    """The case as a scenario: a link that is never the bottleneck, a flow of datagrams for each class that sends."""
    queue = _tbf(case) if case.is_tbf else _htb(case)
    link = {"from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "1 ms", "queue": queue}
    flows = {c.name: _flow(c) for c in case.leaves() if c.offered}
    return {"name": f"kernel-{case.key}", "duration": f"{seconds} s", "link": {"l": link}, "flow": flows}


def _flow(c: Class) -> dict[str, Any]:
    interval_ns = round((c.packet_bytes + ETHERNET_BYTES) * 8e6 / c.offered)
    workload = {"type": "cbr", "payload": f"{c.packet_bytes - 28} B", "interval": f"{interval_ns} ns"}
    return {"from": "a", "to": "b", "workload": workload}


def _tbf(case: Case) -> dict[str, Any]:
    rate, burst = f"{case.classes[0].rate} kbit/s", f"{case.burst_bytes} B"
    overhead = f"{ETHERNET_BYTES} B"
    return {"type": "tbf", "rate": rate, "burst": burst, "overhead": overhead, "queue": {"limit": "20 packets"}}


def _htb(case: Case) -> dict[str, Any]:
    leaves = case.leaves()
    classes: dict[str, Any] = {}
    for c in case.classes:
        keys: dict[str, Any] = {"rate": f"{c.rate} kbit/s", "ceil": f"{c.ceil or c.rate} kbit/s", "prio": c.prio}
        keys |= {"burst": f"{case.burst_bytes} B", "cburst": f"{case.burst_bytes} B"}
        keys |= {"parent": c.parent} if c.parent else {}
        if c in leaves:
            keys |= {"quantum": f"{c.quantum_bytes} B", "queue": {"limit": "20 packets"}}
        classes[c.name] = keys
    # A class that sends nothing still needs a filter that could reach it.
    filters = [{"class": c.name, "flow": c.name} if c.offered else {"class": c.name, "dscp": "CS7"} for c in leaves]
    overhead = f"{ETHERNET_BYTES} B"
    return {"type": "htb", "overhead": overhead, "default": leaves[0].name, "filter": filters, "class": classes}
