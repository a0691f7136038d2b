"""Runs a scenario for the page and puts together what it shows."""

from __future__ import annotations

import itertools
import shlex
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError, InputError
from crosswind.results import Runs
from crosswind.results.delays import workload_of
from crosswind.results.summary import tables_of
from crosswind.run import run
from crosswind.scenario import Scenario
from crosswind.scenario.toml_text import value_text
from crosswind.studio import differences, limits, network, series
from crosswind.studio.controls import controls
from crosswind.studio.edit import changed

#: Answers whose tables are kept for exports.
KEPT = 6
#: Points of time series for a scenario that does not say how many.
POINTS = 400
#: Flows that may be chosen for the time-sequence graph.
FLOWS_LISTED = 100


@dataclass(frozen=True)
class Asked:
    """What the page asks for: a text, changes to it, a seed, and the flow to look at closely."""

    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    flow: str = ""

    @staticmethod
    def of(told: Any) -> Asked:
        """Out of JSON. Raises InputError for what is not of the right type."""
        if not isinstance(told, Mapping) or not isinstance(told.get("text"), str):
            raise InputError("studio", found="a question without the text of a scenario", expected="`text`")
        changes, seed, flow = told.get("changes") or {}, told.get("seed"), told.get("flow") or ""
        if not isinstance(changes, Mapping) or not all(isinstance(k, str) for k in changes):
            raise InputError("studio", path="changes", found="something else", expected="paths and values")
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
            raise InputError("studio", path="seed", found=str(seed)[:40], expected="a whole number from 0 on")
        return Asked(told["text"], changes, seed, str(flow))


class Studio:
    """What the server remembers: the scenario it was started with, and the tables of the last answers."""

    def __init__(self, file: str | None = None, emulation: int | None = None) -> None:
        self.file, self.emulation = file, emulation
        self.kept: OrderedDict[str, Runs] = OrderedDict()
        self._numbers = itertools.count(1)
        self._clocks: dict[str, limits.Clock] = {}
        self._lock = threading.Lock()

    def answer(self, asked: Asked) -> dict[str, Any]:
        """What the page shows. Raises InputError with the reason when it cannot be run."""
        began = time.perf_counter()
        scenario = self.scenario(asked)
        normal = scenario.validate()
        flow = _looked_at(scenario, asked.flow)
        gauges, totals = self._runs(_recorded(scenario, normal, flow), asked.seed)
        key = self._keep(gauges)
        flows = gauges.flows()["name"].to_list() if not gauges.flows().is_empty() else []
        seen = flow if flow in flows else next((n for n in flows if n.startswith(f"{flow}-")), "")
        return {
            "key": key,
            "text": scenario.text,
            "name": scenario.name,
            "title": scenario.title,
            "seed": gauges.manifest["seed"],
            "duration": network.seconds(normal.get("duration")),
            "charts": series.charts(gauges, totals),
            "sequence": series.sequence(gauges, seen),
            "flows": flows[:FLOWS_LISTED],
            "network": network.drawing(scenario, normal, gauges),
            "tables": [{"title": t.title, "heads": t.heads, "rows": t.rows, "note": t.note} for t in tables_of(gauges)],
            "controls": controls(scenario, normal),
            "warnings": [*gauges.manifest["warnings"], *_left_out(asked.text)],
            "command": (command := self.command(scenario, asked.seed)),
            "file": Path(shlex.split(command)[2]).name,
            "packets": int(gauges.runs()["packets"].sum()),
            "ms": round((time.perf_counter() - began) * 1e3),
        }

    def scenario(self, asked: Asked) -> Scenario:
        """The scenario that is meant, within the limits of the studio, with its text."""
        scenario = limits.checked(asked.text, self.file)
        if asked.changes:
            whole = changed(Scenario.from_toml(asked.text, file=self.file or "scenario"), asked.changes)
            scenario = limits.checked(whole.text, self.file)
        return scenario

    def _runs(self, scenario: Scenario, seed: int | None) -> tuple[Runs, Runs]:
        """One run with momentary values, and the same with what was counted. A newer question ends an older one."""
        clock = self._started("run", limits.Clock())
        counted = scenario.with_({"record.series": "totals", "record.events": [], "record.hist": []})
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(run, s, seed=seed, workers=1, progress=clock) for s in (scenario, counted)]
            try:
                both = [a.result() for a in asked]
            except limits.Overdue:
                if clock.wanted:
                    raise clock.refusal(scenario) from None
                raise SupersededError("a newer question has come") from None
        for runs in both:
            if runs.failed:
                raise CrosswindError("; ".join(str(f["message"]) for f in runs.failed))
        return both[0], both[1]

    def differs(self, asked: Asked, before: str) -> dict[str, Any]:
        """What a change did, in words (`differences.told`). Raises SupersededError when a newer question has come."""
        new, old = (limits.checked(t, self.file) for t in (asked.text, before))
        try:
            return differences.told(
                new, old, asked.seed, self._started("differs", limits.Clock(differences.SECONDS_MAX))
            )
        except limits.Overdue:
            raise SupersededError("a newer question has come") from None

    def _started(self, what: str, clock: limits.Clock) -> limits.Clock:
        """The clock of a question that begins now: whatever ran before is no longer wanted."""
        with self._lock:
            for name in ("differs", what):
                if name in self._clocks:
                    self._clocks[name].wanted = False
            self._clocks[what] = clock
        return clock

    def stop(self) -> None:
        """Ends what is running: nobody waits for it any more."""
        with self._lock:
            for clock in self._clocks.values():
                clock.wanted = False

    def _keep(self, runs: Runs) -> str:
        key = str(next(self._numbers))
        with self._lock:
            self.kept[key] = runs
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return key

    def runs(self, key: str) -> Runs:
        """The tables of an answer. Raises InputError when it was too long ago."""
        with self._lock:
            found = self.kept.get(key)
        if found is None:
            raise InputError("studio", found=f"answer `{key[:20]}`", expected=f"one of the last {KEPT}: run it again")
        return found

    def command(self, scenario: Scenario, seed: int | None) -> str:
        """The command line that runs the same: with `--set` where that is all that differs from the file."""
        file = self.file or f"{scenario.name}.toml"
        words = ["crosswind", "run", file]
        base = Scenario.load(self.file).data if self.file and Path(self.file).is_file() else None
        for path, value in _differences(base, scenario.data) if base is not None else ():
            if value is None:  # nothing can be taken away on the command line
                words = ["crosswind", "run", f"{scenario.name}-changed.toml"]
                break
            words += ["--set", f"{path}={value}"]
        return shlex.join([*words, *(["--seed", str(seed)] if seed is not None else [])])


class SupersededError(CrosswindError):
    """Nobody waits for the answer any more."""


def _looked_at(scenario: Scenario, wanted: str) -> str:
    """The flow or group whose segments are recorded: the wanted one, or the first."""
    groups = scenario.get("flow")
    names = [n for n, f in groups.items() if isinstance(f, Mapping)] if isinstance(groups, Mapping) else []
    known = wanted in names or any(wanted.startswith(f"{n}-") and wanted[len(n) + 1 :].isdigit() for n in names)
    if known:
        return wanted
    first = names[0] if names else ""
    many = isinstance(first, str) and first and int(groups[first].get("count", 1)) > 1 if names else False
    return f"{first}-1" if many else first


def _recorded(scenario: Scenario, normal: Mapping[str, Any], flow: str) -> Scenario:
    """Samples enough for the charts, and the segments of one flow beside those that the file names."""
    record: dict[str, Any] = {"record.series": None}
    if scenario.get("record.sample") is None:
        duration = network.seconds(normal.get("duration")) or 1.0
        points = min(POINTS, limits.most_samples(scenario))
        record["record.sample"] = f"{max(1000, round(duration / points * 1e9))} ns"
    group = flow.rpartition("-")[0] if flow.rpartition("-")[2].isdigit() else flow
    normal_flow = normal.get("flow", {})
    events = normal.get("record", {}).get("events", [])
    pings = [name for name, f in normal_flow.items() if workload_of(f) == "ping"]  # for the delay under load
    if isinstance(events, list):
        record["record.events"] = events = list(dict.fromkeys([*events, *pings]))
    if flow and (group in normal_flow or flow in normal_flow) and isinstance(events, list):
        record["record.events"] = list(dict.fromkeys([*events, flow]))
    return scenario.with_(record)


def _left_out(text: str) -> list[str]:
    scenario = Scenario.from_toml(text)
    named = [path for path in limits.WRITES if scenario.get(path) is not None]
    swept = ["[sweep] is left out here: `crosswind sweep` varies what it names"] if scenario.sweep else []
    return [*swept, *(f"{path} is left out here: `crosswind run` writes that file" for path in named)]


def _differences(old: Any, new: Any, at: str = "") -> list[tuple[str, str | None]]:
    """(path, value as on the command line), None for what is gone."""
    if old == new:
        return []
    if isinstance(old, Mapping) and isinstance(new, Mapping) and not _another_kind(old, new):
        out: list[tuple[str, str | None]] = []
        for key in dict.fromkeys([*old, *new]):
            path = f"{at}.{key}" if at else str(key)
            out += [(path, None)] if key not in new else _differences(old.get(key), new[key], path)
        return out
    return [(at, new if isinstance(new, str) else value_text(new))]


def _another_kind(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a table is another thing, such as a queue of another type: it is set as a whole."""
    return old.get("type") != new.get("type") and "from" not in old
