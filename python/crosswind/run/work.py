"""Makes runs that are missing, in threads or wherever an executor takes them, and keeps them as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

import polars as pl

from crosswind.core import core
from crosswind.results.interrupt import held
from crosswind.results.tables import PART_ROWS, Columns
from crosswind.run.laws import Laws
from crosswind.run.progress import Listener
from crosswind.run.store import Store
from crosswind.run.wanted import Job, Jobs

# A shard is written about this often by each worker; so much work is lost at most when the process is killed.
SHARD_S = 1.0
SHARD_RUNS_MAX = 256
# Each worker holds about so many rows of its largest table (or those of one run, where it has more).
SHARD_ROWS = 1 << 20


@dataclass(frozen=True)
class Failed:
    """A run that broke down: its key and what the engine said."""

    key: str
    message: str


@dataclass
class Made:
    """Finished runs of a job as tables with a column `key`; `cut` when it was stopped before the end."""

    tables: dict[str, Columns]
    failed: list[Failed] = field(default_factory=list)
    cut: bool = False
    seconds: float = 0.0


class StoppedError(Exception):
    """Raised inside the engine's progress callback to make it stop."""


@dataclass(frozen=True)
class Local:
    """What only this process can give a job: window laws of one's own, and the folder of the files that it writes."""

    laws: Laws = field(default_factory=dict)
    folder: str = ""


def make(job: Job, stopped: Callable[[], bool] = lambda: False, local: Local | None = None) -> Made:
    """Runs a job in this thread. A run that breaks down does not take the others of its job with it."""
    began = time.monotonic()
    local = local or Local()

    def listen(_done: int, _total: int) -> None:
        if stopped():
            raise StoppedError

    engine = core()
    try:
        raw = engine.run_many(
            list(job.scenarios),
            job.seed,
            list(job.reps),
            job.reps_total,
            1,
            job.ties == "shuffled",
            listen,
            dict(local.laws),
            folder=local.folder,
            block=job.block,
        )
    except StoppedError:
        # Told to stop before the first of its runs was complete.
        return Made({}, cut=True, seconds=time.monotonic() - began)
    places = {rep: j for j, rep in enumerate(job.reps)}
    failed = [Failed(job.keys[scenario][places[rep]], message) for scenario, rep, message in raw["failed"]]
    return Made(_keyed(raw["tables"], job), failed, bool(raw["interrupted"]), time.monotonic() - began)


def _keyed(raw: dict[str, dict[str, Any]], job: Job) -> dict[str, Columns]:
    """Tables of the engine with the run's key in the place of the number of its scenario."""
    keys = pl.DataFrame(
        {
            "scenario": pl.Series([i for i in range(len(job.scenarios)) for _ in job.reps], dtype=pl.Int64),
            "rep": pl.Series([rep for _ in job.scenarios for rep in job.reps], dtype=pl.Int64),
            "key": [k for row in job.keys for k in row],
        }
    )
    return {name: Columns(columns, partial(_with_key, keys)) for name, columns in raw.items() if columns}


def _with_key(keys: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    part = part.with_columns(pl.col("scenario", "rep").cast(pl.Int64))
    part = part.join(keys, on=["scenario", "rep"], how="left", maintain_order="left")
    return part.select("key", pl.exclude("key", "scenario", "rep"))


class Executor(Protocol):
    """Takes jobs and gives back what became of them, in any order."""

    slots: int

    def submit(self, job: Job) -> None: ...
    def results(self) -> list[Made]: ...
    def stop(self) -> list[Made]: ...
    def close(self) -> None: ...


class Threads:
    """The default: threads of this process; the engine needs no lock while it runs."""

    def __init__(self, workers: int, local: Local | None = None) -> None:
        self.slots = workers
        self._local = local or Local()
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="crosswind")
        self._open: set[Future[Made]] = set()

    def submit(self, job: Job) -> None:
        self._open.add(self._pool.submit(make, job, self._stop.is_set, self._local))

    def results(self) -> list[Made]:
        """Waits for at least one job."""
        done, self._open = wait(self._open, return_when=FIRST_COMPLETED, timeout=0.5)
        return [f.result() for f in done]

    def stop(self) -> list[Made]:
        """Stops soon and returns what was finished."""
        self._stop.set()
        done, self._open = wait(self._open)
        return [f.result() for f in done if not f.cancelled()]

    def close(self) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass
class Progressed:
    """How far the work came."""

    made: int = 0
    failed: list[Failed] = field(default_factory=list)
    interrupted: bool = False


class _Size:
    """How many runs to put into a job: enough for a second or so and few rows, growing carefully from one."""

    def __init__(self) -> None:
        self.run_s = 0.0
        self._run_rows = 1.0
        self._limit = 1

    def __call__(self) -> int:
        fitting = SHARD_S / self.run_s if self.run_s > 0 else 1
        return int(max(1, min(fitting, SHARD_ROWS / self._run_rows, self._limit, SHARD_RUNS_MAX)))

    def learn(self, runs: int, rows: int, seconds: float) -> None:
        each = seconds / max(1, runs)
        self.run_s = each if self.run_s == 0 else 0.7 * self.run_s + 0.3 * each
        self._run_rows = max(self._run_rows, rows / max(1, runs))
        self._limit = min(SHARD_RUNS_MAX, max(self._limit, 2 * runs))


class _Keeping:
    """Puts finished runs into the store. Brief jobs whose tables have the same columns share a shard.

    `single`: a single short run may be held in memory, where the caller is about to write its tables.
    """

    def __init__(self, store: Store, *, single: bool) -> None:
        self.size = _Size()
        self._store, self._single = store, single
        self._frames: dict[Any, list[dict[str, pl.DataFrame]]] = {}
        self._rows = 0
        self._since = 0.0

    def keep(self, made: Made) -> int:
        """Keeps the runs of a job, at once or within a second or so; returns how many there are."""
        if not made.tables or not (runs := made.tables["run"].rows):
            return 0
        rows = max(t.rows for t in made.tables.values())
        if made.seconds >= SHARD_S or rows > PART_ROWS:
            self._store.put(made.tables)
        elif self._single:
            self._store.hold(made.tables)
        else:
            self._collect(made.tables, rows)
        self.size.learn(runs, rows, made.seconds)
        return runs

    def _collect(self, tables: dict[str, Columns], rows: int) -> None:
        if self._rows + rows > SHARD_ROWS:
            self.finish()
        if not self._frames:
            self._since = time.monotonic()
        frames = {name: t.slice(0, t.rows) for name, t in tables.items()}
        alike = tuple((name, tuple(f.schema.items())) for name, f in sorted(frames.items()))
        self._frames.setdefault(alike, []).append(frames)
        self._rows += rows
        if time.monotonic() - self._since >= SHARD_S:
            self.finish()

    def finish(self) -> None:
        """Writes what was collected. The caller holds Ctrl-C back, for one that is heard here would lose a job."""
        taken, self._frames, self._rows = self._frames, {}, 0
        for alike in taken.values():
            self._store.put({name: pl.concat([frames[name] for frames in alike]) for name in alike[0]})


def work(
    count: int,
    jobs: Jobs,
    executor: Executor,
    store: Store,
    progress: Listener | None,
    single: Literal["kept", "held"] = "kept",
) -> Progressed:
    """Makes all jobs and keeps their runs in the store as they come. Ctrl-C stops and keeps what is finished.

    `single`: a single short run may be held in memory, where the caller is about to write its tables.
    """
    state = Progressed()
    keeping = _Keeping(store, single=count == 1 and single == "held")
    queue = jobs(keeping.size)
    waiting = 0
    ended: list[Made] = []

    def keep() -> None:
        """Keeps the first of what has ended. Ctrl-C inside leaves the others where they are."""
        with held():
            made = ended.pop(0)
            state.made += keeping.keep(made)
            state.failed += made.failed
        if progress is not None:
            progress(state.made + len(state.failed), count)

    if progress is not None:
        progress(0, count)
    try:
        more = True
        while more or waiting:
            while more and waiting < executor.slots:
                job = next(queue, None)
                more = job is not None
                if job is not None:
                    executor.submit(job)
                    waiting += 1
            ended += executor.results() if waiting else []
            waiting -= len(ended)
            if waiting and not ended and progress is not None:  # who listens may have had enough
                progress(state.made + len(state.failed), count)
            is_cut = any(made.cut for made in ended)
            while ended:
                keep()
            if is_cut:
                raise KeyboardInterrupt  # the engine heard of it first
        with held():
            keeping.finish()
    except KeyboardInterrupt:
        state.interrupted = True
        ended += executor.stop()
        while ended:
            keep()
        with held():
            keeping.finish()
    finally:
        executor.close()
    return state
