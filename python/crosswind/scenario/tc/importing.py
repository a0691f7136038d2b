"""Lines of `tc` as a scenario: one link, the queue behind each device, and flows for what filters name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crosswind.errors import InputError, did_you_mean
from crosswind.scenario.scenario import Scenario
from crosswind.scenario.tc.filters import Match, match_of
from crosswind.scenario.tc.lines import Statement, statements
from crosswind.scenario.tc.queues import Behind, Device
from crosswind.scenario.toml_text import written

ETHERNET = 14
ENDS = ("near", "far")


@dataclass(frozen=True)
class Options:
    """What the lines do not say. `forward`, `reverse`: devices of the two directions of the link."""

    name: str = "from-tc"
    forward: str = ""
    reverse: str = ""
    rate: str = "1 Gbit/s"
    delay: str = "10 ms"
    header: int = ETHERNET


@dataclass(frozen=True)
class Imported:
    """The scenario, and what a reader should know about it."""

    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def toml(self) -> str:
        """The scenario as a file, its notes on top."""
        said = "Made from lines of tc. Flows are examples: one for each filter, and one for the rest"
        head = "#:schema scenario.schema.json\n" + "".join(f"# {n}.\n" for n in (said, *self.notes))
        return f"{head}\n{written(self.data)}"


def imported(text: str, file: str = "tc", options: Options | None = None) -> Imported:
    """Reads a script of `tc` commands; nothing is run.

    Raises InputError with line and word, what was expected and the nearest name, where a scenario cannot say the same.
    """
    options = options or Options()
    found = statements(text, file)
    forward, reverse = _devices(found, file, options)
    flows = _Flows()
    names = ((forward, ENDS), (reverse, ENDS[::-1]))
    matches: dict[str, list[tuple[Statement, Match]]] = {}
    for device, ends in names:
        matches[device] = [(s, match_of(s)) for s in found if s.what == "filter" and s.device == device and device]
        for _, m in matches[device]:
            flows.add(m, ends)
    sides: list[Behind] = []
    for device, ends in names:
        of = [s for s in found if s.device == device and s.what != "filter"]
        made = Device(of, matches[device], options.header, lambda m, ends=ends: flows.named(m, ends))  # type: ignore[misc]
        sides.append(made.behind())
    data = _scenario(options, sides, flows, {ends for device, ends in names if device})
    notes = [n for side in sides for n in side.notes]
    Scenario.from_dict(data).validate()
    return Imported(data, list(dict.fromkeys(notes)))


def _devices(found: Sequence[Statement], file: str, options: Options) -> tuple[str, str]:
    """The devices of both directions; empty where there is none."""
    there = list(dict.fromkeys(s.device for s in found))
    for option, name in (("--forward", options.forward), ("--reverse", options.reverse)):
        if name and name not in there:
            raise InputError(
                option, found=f"`{name}`", expected=f"one of {', '.join(there)}", hint=did_you_mean(name, there)
            )
    reverse = options.reverse
    rest = [d for d in there if d not in (options.forward, reverse)]
    forward = options.forward or (rest.pop(0) if len(rest) == 1 else "")
    if rest or (not forward and not reverse):
        known = ", ".join(f"`{d}`" for d in there)
        raise InputError(file, found=f"the devices {known}", expected="--forward and --reverse to say which is which")
    return forward, reverse


class _Flows:
    """A flow for each thing that a filter looks for, so that each class has traffic."""

    def __init__(self) -> None:
        self.all: dict[str, dict[str, Any]] = {}
        self.who: dict[str, tuple[frozenset[str], tuple[str, ...]]] = {}

    def add(self, m: Match, ends: tuple[str, ...]) -> None:
        parts = [*sorted(m.who), *([m.proto] if m.proto and m.proto not in m.who else [])]
        if m.dscp is not None:
            parts.append(f"dscp-{m.dscp[0]}")
        if not m.who and (m.size_max is not None or m.payload or not parts):
            return  # small packets belong to flows that are there
        name = "-".join(parts) if ends == ENDS else f"back-{'-'.join(parts)}"
        if name in self.all:
            return
        flow: dict[str, Any] = {"from": ends[0], "to": ends[1], **_traffic(m)}
        if m.dscp is not None:
            flow["dscp"] = m.dscp[0]
        self.all[name] = flow
        self.who[name] = (frozenset(m.who), ends)

    def named(self, m: Match, ends: tuple[str, ...]) -> list[str]:
        """The flows with the ports and addresses that a filter names; none when it names none."""
        if not m.who:
            return []
        return [name for name, (who, way) in self.who.items() if way == ends and m.who <= who]


def _traffic(m: Match) -> dict[str, Any]:
    if m.proto == "icmp":
        return {"workload": {"type": "ping", "interval": "100 ms"}}
    if m.proto == "udp":
        return {"workload": {"type": "cbr", "payload": "1000 B", "rate": "500 kbit/s"}}
    return {"workload": {"type": "bulk"}, "tcp": {"preset": "linux-6-cubic"}}


def _scenario(o: Options, sides: Sequence[Behind], flows: _Flows, ways: set[tuple[str, ...]]) -> dict[str, Any]:
    forward, reverse = ({"rate": o.rate, "delay": o.delay, "loss": "none", **s.link, "queue": s.queue} for s in sides)
    rest = {("rest" if way == ENDS else "back-rest"): way for way in (ENDS, ENDS[::-1]) if way in ways}
    made = {
        n: {"from": w[0], "to": w[1], "workload": {"type": "bulk"}, "tcp": {"preset": "linux-6-cubic"}}
        for n, w in rest.items()
    }
    return {
        "name": o.name,
        "title": "What tc does to a device, as a scenario",
        "duration": "30 s",
        "link": {"path": {"from": ENDS[0], "to": ENDS[1], **forward, "reverse": reverse}},
        "flow": {**flows.all, **made},
    }
