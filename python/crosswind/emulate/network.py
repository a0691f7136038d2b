"""The emulated network of a scenario, from its namespaces to its tables. Runs inside the sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from crosswind.core import core, registry
from crosswind.emulate import hosts as machine
from crosswind.emulate import processors
from crosswind.emulate.hosts import Host
from crosswind.errors import InputError
from crosswind.scenario import Scenario
from crosswind.scenario.topology import spec_of

#: A change that was made, as the driver notes it; one that was refused says why behind it.
_NOTE = re.compile(r"[\d.]+ s: ([\w-]+)(?:/(forward|reverse))? (\{.*\})")


def refuse_rates(scenario: Scenario) -> None:
    """Raises InputError where a flow has a transport that sends at a rate: no program here speaks one."""
    others = {row["name"] for row in registry("transport")} - {"udp"}
    for name, flow in (scenario.get("flow") or {}).items():
        written = flow.get("transport")
        chosen = written.get("type") if isinstance(written, dict) else written
        key = "transport" if chosen in others else next((k for k in flow if k in others), None)
        if key:
            raise InputError(
                scenario.file or "scenario",
                path=f"flow.{name}.{key}",
                found=f"`{chosen if key == 'transport' else key}`",
                expected="nothing: hosts of an emulation have TCP, UDP and real stacks only",
            )


@dataclass
class Network:
    """Hosts and a driver between them."""

    scenario: Scenario
    plan: dict[str, Any]
    engine: Any
    hosts: list[Host]
    has_priority: bool = False
    awake: IO[bytes] | None = None
    start_ns: int = 0
    stolen_before_s: float = 0.0
    drops_before: dict[str, int] = field(default_factory=dict)
    normal: dict[str, Any] | None = None

    @staticmethod
    def build(scenario: Scenario, *, seed: int, rep: int = 0, reps: int = 1) -> Network:
        """Makes namespaces, devices and addresses. Raises InputError or SetupError."""
        refuse_rates(scenario)
        c = core()
        text = scenario.to_json()
        try:
            plan = json.loads(c.emulate_plan(text, seed, rep, reps))
            engine = c.Emulation(text, seed, rep, reps)
        except c.ScenarioError as e:
            raise scenario.explain(e) from None
        hosts = [Host(h["name"], h["v4"], h["v6"]) for h in plan["hosts"]]
        machine.make(hosts)
        return Network(scenario, plan, engine, hosts)

    @property
    def client(self) -> Host:
        return self.hosts[self.plan["client"]]

    @property
    def uplink(self) -> Host:
        return self.hosts[self.plan["uplink"]]

    def host(self, name: str) -> Host:
        return next(h for h in self.hosts if h.name == name)

    def open(self, *, gateway: Host | None = None) -> None:
        """Makes the devices and addresses, with the scenario's kernel settings."""
        self.engine.open([h.namespace for h in self.hosts], self.hosts.index(gateway) if gateway else None)
        for host, planned in zip(self.hosts, self.plan["hosts"], strict=True):
            machine.connect(host, planned["mtu"])
            machine.settings(host, self.plan["sysctl"])

    def start(
        self,
        *,
        start_ns: int = 0,
        stop_ns: int | None = None,
        sample_ns: int | None = None,
        tape: str | None = None,
        is_alone: bool = True,
    ) -> int:
        """Starts the driver; returns the monotonic time that is zero for it.

        `is_alone`: no other emulation runs beside this one, so that the driver may have a processor for itself;
        programs that are started afterwards keep off it.
        """
        options: dict[str, Any] = {
            "namespaces": [h.namespace for h in self.hosts],
            "start_ns": start_ns,
            "mtu_bytes": self.plan["mtu"],
            "sample_ns": sample_ns,
            "tape": tape,
            "timeline": self.plan["timeline"],
        }
        if stop_ns is not None:
            options["stop_ns"] = stop_ns
        self.stolen_before_s = processors.stolen_s()
        self.awake = processors.keep_awake()
        thread, self.start_ns = self.engine.start(json.dumps(options))
        self.has_priority = processors.settle(thread, processors.clear() if is_alone else None)
        return self.start_ns

    def view(self) -> dict[str, Any]:
        """The network at the last look, ten times a second or at the scenario's sample interval."""
        seen: dict[str, Any] = json.loads(self.engine.view()) or {}
        if seen:
            seen["timeline"] = self.position(seen["time_ns"])
            changes = [json.loads(m[3]) | {"of": (m[1], m[2])} for m in map(_NOTE.fullmatch, seen["notes"]) if m]
            for v in seen["links"]:
                v["delay"] = self._delay(v["link"], v["direction"], changes)
        return seen

    def _delay(self, link: str, direction: str, changes: list[dict[str, Any]]) -> str:
        """What a direction of a link delays packets by, as it is written; empty where no single time is."""
        for change in reversed(changes):
            if "delay" in change and change["of"] in ((link, None), (link, direction)):
                return str(change["delay"])
        if self.normal is None:
            self.normal = self.scenario.validate()
        spec = spec_of(self.normal, link)
        back = spec.get("reverse")
        way = back if direction == "reverse" and isinstance(back, dict) else spec
        return str(way.get("delay", ""))

    def position(self, now_ns: int) -> dict[str, Any]:
        """Where on the timeline the run is: changes that are over, all changes, and the next one.

        A change of both directions of a link is one.
        """
        both: dict[tuple[Any, ...], dict[str, Any]] = {}
        for t in self.plan["timeline"]:
            key = (t["at_ns"], t["change"]["link"], json.dumps(t["change"]["set"], sort_keys=True))
            both[key] = {**t, "change": {**t["change"], "direction": None}} if key in both else t
        coming = [t for t in both.values() if t["at_ns"] > now_ns]
        soonest = min(coming, key=lambda t: t["at_ns"], default=None)
        return {"done": len(both) - len(coming), "all": len(both), "next": soonest}

    def change(self, link: str, direction: str | None, values: dict[str, Any]) -> None:
        """Changes a link from now on. Raises ValueError when there is no such link."""
        self.engine.change(json.dumps({"link": link, "direction": direction, "set": values}))

    def stop(self, during: Callable[[], None] | None = None) -> dict[str, Any]:
        """Ends the run: raw tables, the last view, what the machine did to it, and whether to trust it."""
        drops = {h.name: machine.device_drops(h) for h in self.hosts}
        if during:
            during()
        raw = self.engine.stop()
        seen = json.loads(raw["machine"])
        seen["has_priority"] = self.has_priority
        seen["is_kept_awake"] = self.awake is not None
        if self.awake:
            self.awake.close()
        seen["stolen_s"] = round(processors.stolen_s() - self.stolen_before_s, 3)
        seen["device_drops"] = {name: n for name, n in drops.items() if n}
        warnings = self.warnings(seen)
        return {"tables": raw["tables"], "view": json.loads(raw["view"]), "machine": seen, "warnings": warnings}

    def warnings(self, seen: dict[str, Any]) -> list[str]:
        """Everything that makes the numbers of this run doubtful."""
        found = []
        budget, late = self.plan["lateness_ns"], seen["lateness"]["p99_ns"]
        if late > budget:
            found.append(
                f"not to be trusted: one packet in a hundred left {late / 1e6:.3f} ms late or more; "
                f"the budget (emulate.lateness) is {budget / 1e6:.3f} ms"
                + (f"; the host of this virtual machine took {seen['stolen_s']} s away" if seen["stolen_s"] else "")
            )
        if seen["device_drops"]:
            which = ", ".join(f"{n} at {name}" for name, n in seen["device_drops"].items())
            found.append(f"not to be trusted: devices dropped packets that no queue of the scenario saw ({which})")
        if seen["unwritten_packets"]:
            found.append(f"not to be trusted: {seen['unwritten_packets']} packets were not taken by their device")
        if seen.get("stuck"):
            found.append(f"not to be trusted: {seen['stuck']}")
        if seen.get("tape_error"):
            found.append(f"the tape is not complete: {seen['tape_error']}")
        return found
