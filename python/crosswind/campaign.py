"""Several experiments at once: each in a process of its own, as many at a time as there are cores.

An experiment that compares itself with others starts when they are done, and reads their tables instead of running them
again. Only results of the same campaign are read: older ones may stem from another engine.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from crosswind.errors import InterruptedRunError
from crosswind.experiments.base import Experiment
from crosswind.quantity import parse
from crosswind.readings import Reading
from crosswind.reproduce import Plan, reproduce
from crosswind.scenario import Scenario


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


def _one(name: str, folder: Path, plan: Plan, command: str) -> Finished:
    from crosswind import experiments

    experiment = experiments.of_study(name)[name]
    outcome = reproduce(experiment, folder, plan, command=command)
    manifest = outcome.results.runs.manifest
    packets = int(manifest["packets"])
    return Finished(name, experiment.title, outcome.rows, outcome.readings, folder, manifest["warnings"], packets)


def campaign(
    chosen: Sequence[Experiment],
    folder: Callable[[Experiment], Path],
    plan: Plan,
    *,
    command: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[Finished]:
    """Runs experiments side by side; the results are in the order of `chosen`.

    `folder` says where each one's results go. Raises what an experiment raises; Ctrl-C ends all of them.
    """
    processes = min(plan.workers or os.cpu_count() or 1, len(chosen))
    finished: dict[str, Finished] = {}
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for one in _in_turn(pool, chosen, folder, replace(plan, workers=1), command, processes):
                finished[one.id] = one
                if progress is not None:
                    progress(len(finished), len(chosen))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise InterruptedRunError(f"interrupted: {len(finished)} of {len(chosen)} experiments are done") from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [finished[e.id] for e in chosen]


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
    reps = plan.reps or (e.quick_reps if plan.size == "quick" else e.reps)
    return reps * sum(map(_bytes, e.configurations(**e.settings(plan.variant, plan.size)).values()))


def _bytes(scenario: Scenario) -> float:
    """What flows with sizes transfer; what the bottleneck carries where one has no end; a megabyte at the least."""
    flows = scenario.data.get("flow", {}).values()
    endless = any(f.get("workload", {}).get("type") == "bulk" and "size" not in f["workload"] for f in flows)
    sizes = [parse(f.get("workload", {}).get("size")) for f in flows for _ in range(int(f.get("count", 1)))]
    known = sum(q.value for q in sizes if q is not None and q.unit == "bytes")
    return max(1e6, _carried(scenario) if endless else known)


def _carried(scenario: Scenario) -> float:
    """Bytes that the line named `bottleneck`, or the slowest one, carries in the whole run."""
    lines = {**scenario.data.get("link", {}), **scenario.data.get("topology", {})}
    rates = {name: parse(line.get("rate")) for name, line in lines.items() if isinstance(line, Mapping)}
    known = {name: q.value for name, q in rates.items() if q is not None and q.unit == "bps"}
    duration = parse(scenario.data.get("duration"))
    ns = duration.value if duration is not None and duration.unit == "ns" else 0.0
    return known.get("bottleneck", min(known.values(), default=0.0)) / 8 * ns / 1e9


def _in_turn(
    pool: ProcessPoolExecutor,
    chosen: Sequence[Experiment],
    folder: Callable[[Experiment], Path],
    plan: Plan,
    command: str,
    processes: int,
) -> Iterator[Finished]:
    """Longest chains of experiments that use each other first; yields what is finished."""
    ahead = chains(chosen, plan)
    waiting = sorted(chosen, key=lambda e: -ahead[e.id])
    running: dict[Future[Finished], str] = {}
    done: set[str] = set()
    ids = {e.id for e in chosen}
    while waiting or running:
        for e in [e for e in waiting if not (e.companions() & ids) - done][: processes - len(running)]:
            fresh = frozenset(done & e.companions())
            running[pool.submit(_one, e.id, folder(e), replace(plan, fresh=fresh), command)] = e.id
            waiting.remove(e)
        ready, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ready:
            done.add(running.pop(future))
            yield future.result()
