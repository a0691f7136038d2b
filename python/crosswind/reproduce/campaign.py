"""Several experiments at once: each in a process of its own, as many at a time as there are cores.

An experiment that compares itself with others starts when they are done, and reads their tables instead of running them
again. Runs that several of them ask for are made once. Only results of the same campaign are read: older ones may stem
from another engine. When a process is killed, its experiment and those that compare themselves with it are missing; all
others are run.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError, InterruptedRunError, RunFailedError
from crosswind.reproduce import catalogue
from crosswind.reproduce.experiment import Experiment
from crosswind.reproduce.one import GO_ON, Plan, reproduce
from crosswind.reproduce.readings import Reading
from crosswind.run.kept import Ask, Shared
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

#: How long interrupted processes may take to keep what they have.
PATIENCE_S = 1.5


@dataclass(frozen=True)
class Finished:
    """What remains of an experiment that another process ran."""

    id: str
    title: str
    rows: list[dict[str, Any]]
    readings: Sequence[Reading]
    folder: Path
    warnings: Sequence[str]
    packets: int
    #: Runs that an earlier try had made.
    runs_before: int = 0


def _one(name: str, folder: Path, plan: Plan, command: str) -> Finished:
    experiment = catalogue.of_study(name)[name]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome = reproduce(experiment, folder, plan, command=command)
    finally:
        _deaf()
    manifest = outcome.results.runs.manifest
    packets, before = int(manifest["packets"]), int(manifest.get("runs_before", 0))
    return Finished(
        name, experiment.title, outcome.rows, outcome.readings, folder, manifest["warnings"], packets, before
    )


def campaign(
    chosen: Sequence[Experiment],
    folder: Callable[[Experiment], Path],
    plan: Plan,
    *,
    command: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[Finished]:
    """Runs experiments side by side; the results are in the order of `chosen`.

    `folder` says where each one's results go. Raises what an experiment raises, and CrosswindError when a process is
    killed or a run breaks down, after the others are done; Ctrl-C ends all of them.
    """
    processes = min(plan.workers or os.cpu_count() or 1, len(chosen))
    finished: dict[str, Finished] = {}
    with tempfile.TemporaryDirectory() as kept, Workers(processes) as workers:
        wanted = asked_twice(chosen, plan)
        shared = Shared(Path(kept), _union(wanted.values()))
        turns = Turns(chosen, replace(plan, workers=1, shared=shared), wanted)
        try:
            for one in turns.run(workers, folder, command):
                finished[one.id] = one
                if progress is not None:
                    progress(len(finished), len(chosen))
        except KeyboardInterrupt:
            raise InterruptedRunError(
                f"interrupted: {len(finished)} of {len(chosen)} experiments are done; {GO_ON}"
            ) from None
    if turns.broken:
        said = "; ".join(f"{name}: {why}" for name, why in turns.broken.items())
        raise RunFailedError(f"{said}. {len(finished)} of {len(chosen)} experiments are done, and {GO_ON}")
    if turns.lost:
        raise CrosswindError(_missing(turns.lost, len(chosen) - len(finished), len(chosen)))
    return [finished[e.id] for e in chosen]


def _missing(lost: Sequence[str], missing: int, of: int) -> str:
    waited = f", and {missing - len(lost)} that compare themselves with it were not run" if missing > len(lost) else ""
    return (
        f"a process was ended from outside, most probably for want of memory, while it ran {', '.join(lost)}{waited}; "
        f"the results of the other {of - missing} of {of} experiments are kept, and {GO_ON}. One at a time needs less: "
        "--workers 1"
    )


class Workers:
    """Processes that run one experiment after the other.

    Each is a pool of its own: they share no queue and no lock, so one that is killed cannot hold up the others.
    """

    def __init__(self, processes: int) -> None:
        self._idle = [_process() for _ in range(processes)]
        self._busy: dict[Future[Finished], ProcessPoolExecutor] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        pools = [*self._idle, *self._busy.values()]
        if kind is not None:
            self._stop([p for pool in pools for p in (pool._processes or {}).values()])
        for pool in pools:
            pool.shutdown(wait=kind is None, cancel_futures=True)

    def _stop(self, processes: Sequence[BaseProcess]) -> None:
        """Lets the processes keep the runs that they have finished; what is not ready soon is ended."""
        for p in processes:
            if p.is_alive() and p.pid is not None:
                os.kill(p.pid, signal.SIGINT)
        wait(self._busy, timeout=PATIENCE_S)
        for p in processes:
            p.terminate()

    @property
    def idle(self) -> bool:
        """Whether another experiment can be started."""
        return bool(self._idle)

    def start(self, name: str, folder: Path, plan: Plan, command: str) -> Future[Finished]:
        """Runs an experiment in a process that is idle."""
        pool = self._idle.pop()
        try:
            future = pool.submit(_one, name, folder, plan, command)
        except BrokenProcessPool:  # killed while it was idle
            pool = _process()
            future = pool.submit(_one, name, folder, plan, command)
        self._busy[future] = pool
        return future

    def ready(self) -> set[Future[Finished]]:
        """Waits until at least one has ended; a process that was killed is replaced."""
        ready = wait(self._busy, return_when=FIRST_COMPLETED).done
        for future in ready:
            pool = self._busy.pop(future)
            if isinstance(future.exception(), BrokenProcessPool):
                pool.shutdown(wait=False)
                pool = _process()
            self._idle.append(pool)
        return ready


def _process() -> ProcessPoolExecutor:
    """A process that starts with its first task. It hears Ctrl-C only while it works."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    _deaf()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """When the command is ended from outside, its processes keep what they have and end too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(PATIENCE_S)
        os._exit(1)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Turns:
    """Which experiment is next: longest chains of experiments that use each other first.

    An experiment that asks for runs which another one is about to make waits for it.
    """

    def __init__(self, chosen: Sequence[Experiment], plan: Plan, wanted: Mapping[str, frozenset[str]]) -> None:
        ahead = chains(chosen, plan)
        ids = {e.id for e in chosen}
        self._plan = plan
        self._wanted = wanted
        self._companions = {e.id: e.companions() & ids for e in chosen}
        self._waiting = sorted(chosen, key=lambda e: -ahead[e.id])
        self._done: set[str] = set()
        #: Experiments whose process was killed.
        self.lost: list[str] = []
        #: Experiments of which a run broke down, with the message.
        self.broken: dict[str, str] = {}

    def run(self, workers: Workers, folder: Callable[[Experiment], Path], command: str) -> Iterator[Finished]:
        """Yields what is finished until nothing is left that can be run."""
        running: dict[Future[Finished], str] = {}
        while True:
            while workers.idle and (e := self._next(running.values())) is not None:
                self._waiting.remove(e)
                plan = replace(self._plan, fresh=frozenset(self._done & e.companions()))
                running[workers.start(e.id, folder(e), plan, command)] = e.id
            if not running:
                return
            for future in workers.ready():
                name = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    self.lost.append(name)
                elif isinstance(error, RunFailedError):
                    self.broken[name] = str(error)
                else:
                    self._done.add(name)
                    yield future.result()

    def _next(self, running: Iterable[str]) -> Experiment | None:
        """The first whose companions are done, and whose runs nobody else is about to make."""
        made = _union(self._wanted[id] for id in running) - _union(self._wanted[id] for id in self._done)
        able = (e for e in self._waiting if self._companions[e.id] <= self._done and not self._wanted[e.id] & made)
        return next(able, None)


def asked_twice(chosen: Sequence[Experiment], plan: Plan) -> dict[str, frozenset[str]]:
    """Of each experiment the names of those of its runs that are asked for more than once."""
    asked = {e.id: _asked(e, chosen, plan) for e in chosen}
    times = Counter(name for names in asked.values() for name in names)
    return {id: frozenset(n for n in names if times[n] > 1) for id, names in asked.items()}


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _asked(e: Experiment, chosen: Sequence[Experiment], plan: Plan) -> list[str]:
    """The names of its runs, and of those of companions that are not run by themselves."""
    ids = {c.id for c in chosen}
    own = plan.ask(e)
    names: list[str] = []
    for variant in plan.variants(e):
        names += own.of(plan.configurations(e, variant)).all_keys()
        for id in sorted(e.companions() - ids):
            other = catalogue.of_study(id)[id]
            reps = min(own.reps, other.reps) if own.reps < e.reps else other.reps
            ask = Ask(own.seed, reps, own.ties, block=other.block)
            names += ask.of(plan.configurations(other, variant)).all_keys()
    return names


def chains(chosen: Sequence[Experiment], plan: Plan) -> dict[str, float]:
    """How much work lies from the start of each experiment to the end of the last one that waits for it."""
    work = {e.id: _work(e, plan) for e in chosen}
    users = {e.id: [d.id for d in chosen if e.id in d.companions()] for e in chosen}

    @cache
    def ahead(id: str) -> float:
        return work[id] + max(map(ahead, users[id]), default=0.0)

    return {id: ahead(id) for id in work}


def _work(e: Experiment, plan: Plan) -> float:
    """About as many bytes as an experiment transfers."""
    return plan.ask(e).reps * sum(map(_bytes, plan.configurations(e, plan.variant).values()))


def _bytes(scenario: Scenario) -> float:
    """What flows with sizes transfer; what the bottleneck carries where one has no end; a megabyte at the least."""
    flows = scenario.data.get("flow", {}).values()
    endless = any(f.get("workload", {}).get("type") == "bulk" and "size" not in f["workload"] for f in flows)
    sizes = [parse(f.get("workload", {}).get("size")) for f in flows for _ in range(int(f.get("count", 1)))]
    known = sum(q.value for q in sizes if q is not None and q.unit == "bytes")
    return max(1e6, _carried(scenario) if endless else known + sum(_streamed(f, scenario) for f in flows))


def _streamed(flow: Mapping[str, Any], scenario: Scenario) -> float:
    """Bytes that streams of datagrams without end send in the whole run, at their mean rate where it is written."""
    w = flow.get("workload", {})
    if w.get("type") not in ("cbr", "on-off") or "packets" in w or "bursts" in w:
        return 0.0
    payload, interval, rate = (_value(w.get(key)) for key in ("payload", "interval", "rate"))
    per_s = payload / interval * 1e9 if interval else rate / 8
    on, off = (_value(next(iter(x.values()), None) if isinstance(x, dict) else x) for x in (w.get("on"), w.get("off")))
    active = on / (on + off) if on else 1.0
    return per_s * active * int(flow.get("count", 1)) * _value(scenario.data.get("duration")) / 1e9


def _value(text: Any) -> float:
    """A number with or without unit; zero for anything else."""
    found = parse(text)
    return found.value if found is not None else 0.0


def _carried(scenario: Scenario) -> float:
    """Bytes that the line named `bottleneck`, or the slowest one, carries in the whole run."""
    lines = {**scenario.data.get("link", {}), **scenario.data.get("topology", {})}
    rates = {name: parse(line.get("rate")) for name, line in lines.items() if isinstance(line, Mapping)}
    known = {name: q.value for name, q in rates.items() if q is not None and q.unit == "bps"}
    duration = parse(scenario.data.get("duration"))
    ns = duration.value if duration is not None and duration.unit == "ns" else 0.0
    return known.get("bottleneck", min(known.values(), default=0.0)) / 8 * ns / 1e9
