"""What the page may ask for. A scenario can come from a link that somebody sent: it must not be able to do harm.

What the engine itself refuses (sources that send more than can be computed, runs that do not fit into the memory) it
refuses here too. Added are limits that make sense for something that answers at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crosswind.errors import InputError
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

#: Bytes of a scenario's text.
TEXT_MAX = 200_000
#: Members of all groups of flows together.
FLOWS_MAX = 2_000
#: Links, as far as they stand in the file or a template counts them.
LINKS_MAX = 500
#: Samples of one flow or link, and of all of them together: they have to fit into the memory, and through the page.
SAMPLES_MAX, SAMPLES_ALL_MAX = 20_000, 2_000_000
#: Seconds of computing after which a run is given up.
SECONDS_MAX = 20.0
#: What only `crosswind run` does: these name files to be written.
WRITES = ("record.pcap", "record.event_file", "record.qlog")
#: Keys of templates that are numbers of something.
_COUNTS = ("pairs", "hops", "clients")


class Overdue(Exception):  # noqa: N818
    """Tells the engine to stop: nobody waits for the run any more, or it takes too long."""


def checked(text: str, file: str | None = None) -> Scenario:
    """The scenario of a text, with the files that it would write left out. Raises InputError with the reason."""
    if len(text.encode("utf-8", "replace")) > TEXT_MAX:
        raise InputError(file or "scenario", found=f"{len(text):,} characters", expected=f"at most {TEXT_MAX:,}")
    scenario = Scenario.from_toml(text, file=file or "scenario")
    for problem in _too_much(scenario):
        raise problem
    _files_beside(scenario, file)
    written = {path: None for path in WRITES if scenario.get(path) is not None}
    return scenario.with_(written) if written else scenario


def _too_much(scenario: Scenario) -> Iterator[InputError]:
    flows, links, topology = (scenario.get(k) for k in ("flow", "link", "topology"))
    if isinstance(flows, Mapping):
        members = sum(_count(f) for f in flows.values())
        if members > FLOWS_MAX:
            largest = max(flows, key=lambda name: _count(flows[name]))
            yield _refused(scenario, f"flow.{largest}.count", f"{members:,} flows", f"at most {FLOWS_MAX:,}")
    if isinstance(links, Mapping) and len(links) > LINKS_MAX:
        yield _refused(scenario, "link", f"{len(links):,} links", f"at most {LINKS_MAX:,}")
    for key in _COUNTS:
        number = topology.get(key) if isinstance(topology, Mapping) else None
        if isinstance(number, int) and number > LINKS_MAX:
            yield _refused(scenario, f"topology.{key}", f"{number:,}", f"at most {LINKS_MAX:,}")
    sample, duration = (parse(scenario.get(k)) for k in ("record.sample", "duration"))
    if sample and duration and sample.unit == duration.unit == "ns" and sample.value > 0:
        points = duration.value / sample.value
        most = most_samples(scenario)
        if points > most:
            found = f"{points:,.0f} samples of each flow and link"
            yield _refused(scenario, "record.sample", found, f"at most {most:,}: a longer interval")


def most_samples(scenario: Scenario) -> int:
    """Samples that one flow or link may have: fewer where there are many of them."""
    flows, links, topology = (scenario.get(k) for k in ("flow", "link", "topology"))
    members = sum(_count(f) for f in flows.values()) if isinstance(flows, Mapping) else 0
    ways = 2 * len(links) if isinstance(links, Mapping) else 0
    counts = [topology.get(k) for k in _COUNTS] if isinstance(topology, Mapping) else []
    ways += 4 * sum(n for n in counts if isinstance(n, int) and n > 0)
    return max(1, min(SAMPLES_MAX, SAMPLES_ALL_MAX // max(1, members + ways)))


def _refused(scenario: Scenario, path: str, found: str, expected: str) -> InputError:
    hint = "`crosswind run` has no such limit"
    return InputError(scenario.place(path), path=path, found=found, expected=f"{expected} in the studio", hint=hint)


def _count(flow: Any) -> int:
    count = flow.get("count", 1) if isinstance(flow, Mapping) else 1
    return count if isinstance(count, int) and not isinstance(count, bool) else 1


def _files_beside(scenario: Scenario, file: str | None) -> None:
    """Only traces that lie beside the scenario's own file are read, and none without a file."""
    for path, name in _named_files(scenario.data, ""):
        inside = isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")
        beside = Path(file).resolve().parent / str(name) if file else None
        if not inside or beside is None or beside.is_symlink():
            expected = "a file beside the scenario that the studio was started with"
            raise InputError(scenario.place(path), path=path, found=f"the file `{name}`", expected=expected)


def _named_files(node: Any, at: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        path = f"{at}.{key}" if at else str(key)
        if key == "trace" and isinstance(value, str):
            yield path, value
        yield from _named_files(value, path)


class Clock:
    """Listens to the progress of a run and ends it when it is overdue or no longer wanted.

    Overdue is what has computed for so long, and not what waited for a machine with other work.
    """

    def __init__(self, seconds: float = SECONDS_MAX) -> None:
        self.seconds, self.wanted = seconds, True
        self.began, self.computed = time.monotonic(), time.process_time()

    def __call__(self, done: int, total: int) -> None:
        if not self.wanted or self.late:
            raise Overdue

    @property
    def late(self) -> bool:
        """Whether the time is up: by the clock on the wall and by that of the processor."""
        computed = time.process_time() - self.computed
        return computed > self.seconds and time.monotonic() - self.began > self.seconds

    def refusal(self, scenario: Scenario) -> InputError:
        """What is said of a run that was given up."""
        found = f"a run of more than {self.seconds:.0f} s of computing"
        expected = "one that answers sooner: a shorter duration, a lower rate, fewer flows"
        hint = "`crosswind run` waits as long as it takes"
        return InputError(scenario.file or "scenario", path="duration", found=found, expected=expected, hint=hint)
