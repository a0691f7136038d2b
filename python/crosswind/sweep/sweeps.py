"""Sweeps: one scenario, many combinations of values, many repetitions; finished runs are never made twice.

>>> import crosswind as cw                                                             # doctest: +SKIP
>>> s = cw.sweep("scenarios/gprs.toml", {"link.last-hop.queue.limit": ["10 packets", "40 packets"]}, reps=20)
>>> s.flows().group_by("limit", "group").agg(cw.pl.median("goodput_bps"))              # doctest: +SKIP
"""

from __future__ import annotations

import datetime
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from crosswind.core import version
from crosswind.errors import CrosswindError, InputError, InterruptedRunError, UnknownNameError
from crosswind.results import Runs
from crosswind.results.folder import UNJOINED, is_joined
from crosswind.results.place import Folder, Place, place
from crosswind.results.runs import SCHEMA_VERSION, TABLES
from crosswind.results.sealed import AGAIN
from crosswind.results.tables import Source
from crosswind.run import Ties
from crosswind.run.gather import Facts
from crosswind.run.kept import failures
from crosswind.run.laws import Laws, checked_laws, identities
from crosswind.run.progress import Listener
from crosswind.run.store import Store
from crosswind.run.wanted import SEEDS, check_reps, is_seed
from crosswind.run.work import Executor, Failed, Local, Threads, work
from crosswind.scenario import Scenario
from crosswind.stats.precision import Precision
from crosswind.sweep import design as designs
from crosswind.sweep import plan as sweep_plan
from crosswind.sweep.design import Axis, Design, Range
from crosswind.sweep.plan import Plan
from crosswind.table import table_html

PLAN_FILE = "sweep.json"
ROUNDS_MAX = 12
Vary = Design | Mapping[str, Axis]


@dataclass(repr=False)
class Sweep:
    """A finished (or interrupted) sweep. Its tables have a column for each varied path beside `configuration`, `rep`.

    `parameters` has one row per configuration; `made` and `kept` say how many runs were made now and before.
    """

    runs: Runs
    parameters: pl.DataFrame
    columns: dict[str, str]
    folder: str
    made: int = 0
    kept: int = 0
    failed: list[Failed] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)

    @property
    def axes(self) -> list[str]:
        """The columns of the varied paths."""
        return list(self.columns.values())

    def table(self, name: str) -> pl.DataFrame:
        return self.runs.table(name)

    def flows(self) -> pl.DataFrame:
        """One row per flow and run, with the varied values."""
        return self.runs.flows()

    def links(self) -> pl.DataFrame:
        """One row per link direction and run, with the varied values."""
        return self.runs.links()

    def sql(self, query: str) -> pl.DataFrame:
        """Asks the tables in SQL: `select law, median(goodput_bps) from flow group by law`."""
        return query_tables({**self.runs.tables.sources(), "param": self.parameters}, query)

    def _repr_html_(self) -> str:
        from crosswind.sweep.summary import table_of

        return table_html(table_of(self))

    def __repr__(self) -> str:
        return (
            f"Sweep({self.parameters.height} configurations over {', '.join(self.axes) or 'nothing'}; "
            f"{self.table('run').height} runs in {self.folder})"
        )


def query_tables(tables: Mapping[str, Source], query: str) -> pl.DataFrame:
    """SQL over tables by name, of which only what the answer needs is read. Raises InputError for a wrong query."""
    try:
        return pl.SQLContext(frames={n: t.lazy() for n, t in tables.items()}, eager=True).execute(query)
    except (pl.exceptions.PolarsError, ValueError) as e:
        said, *_ = str(e).split("\n\n")
        if column := re.match(r'unable to find column "([^"]*)"; valid columns: \[(.*)\]', said):
            raise UnknownNameError("query", column[1], "column", re.findall(r'"([^"]*)"', column[2])) from None
        if table := re.match(r"relation '([^']*)' was not found", said):
            raise UnknownNameError("query", table[1], "table", tables) from None
        raise InputError(
            "query", found=" ".join(said.split()), expected=f"SQL over the tables {', '.join(tables)}"
        ) from None


def sweep(
    scenario: Scenario | str | Path,
    vary: Vary | None = None,
    *,
    reps: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    ties: Ties = "fixed",
    precision: str | Sequence[str] = (),
    reps_max: int = 1000,
    invalid: Literal["refuse", "skip"] | None = None,
    progress: Listener | None = None,
    laws: Laws | None = None,
) -> Sweep:
    """Runs every point of a design with the same repetitions (common random numbers) and returns all tables.

    `scenario`: a Scenario, or the path of its file. `vary`: a dict path -> values (every combination), or a `Design`;
    without it the `[sweep]` table of the scenario.
    `out`: a folder or an fsspec address; runs that are there (same scenario, engine and seed) are not made again.
    `reps`, `seed`: repetitions of each point and their base seed (default: as [sweep] says, else 1 and the scenario's).
    `workers`: threads (default: all cores). `cluster`: address of a Dask scheduler. `ties`: "shuffled" permutes them.
    `precision`: such as "goodput=1%": repeats until the 95 % interval of every flow's mean is that narrow, at most
    `reps_max` times. `invalid="skip"` leaves out impossible combinations. `progress`: told (done, total) runs.
    `laws`: window laws of your own, as in `run`; a worker of a cluster is sent their classes.

    Raises InputError for bad input, InterruptedRunError after Ctrl-C (what is finished is kept).
    """
    base = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    table = base.sweep
    wanted = _design(base, vary)
    targets = [Precision.parse(p) for p in _texts(precision or table.get("precision", ()))]
    count = reps if reps is not None else table.get("reps", 8 if targets else 1)
    base_seed = seed if seed is not None else table.get("seed")
    _check(base_seed, count, reps_max, workers)
    skip = invalid or ("skip" if table.get("skip_invalid") else "refuse")
    own = checked_laws(laws or {})
    plan = sweep_plan.make(
        base, wanted, reps=max(count, 2 if targets else 1), seed=base_seed, ties=ties, invalid=skip,
        laws=identities(own),
    )  # fmt: skip
    where = place(out if out is not None else Path("out") / f"{base.name}-sweep")
    where.lock()
    try:
        return _Campaign(plan, where, workers, cluster, targets, reps_max, progress, Local(laws or {}), own).run()
    finally:
        where.unlock()


def _design(base: Scenario, vary: Vary | None) -> Design:
    where = base.file or "scenario"
    if vary is None:
        return designs.from_table(base.sweep, where)
    designs.check_settings(base.sweep, "sweep", where)
    if isinstance(vary, Design):
        return vary
    ranges = [p for p, a in vary.items() if isinstance(a, Range)]
    if ranges:
        raise InputError(
            "sweep", path=ranges[0], found="a range", expected="values", hint="design.random draws points from ranges"
        )
    return designs.grid(vary)  # type: ignore[arg-type]


def _texts(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _check(seed: Any, reps: int, reps_max: int, workers: int | None) -> None:
    if seed is not None and not is_seed(seed):
        raise InputError("--seed", found=str(seed), expected=SEEDS)
    check_reps(max(reps, reps_max))
    if reps < 1 or reps_max < 1:
        raise InputError("--reps", found=str(min(reps, reps_max)), expected="at least one repetition")
    if workers is not None and workers < 1:
        raise InputError("--workers", found=str(workers), expected="at least one")


@dataclass
class _Campaign:
    """One sweep while it runs."""

    plan: Plan
    where: Place
    workers: int | None
    cluster: str | None
    targets: list[Precision]
    reps_max: int
    progress: Listener | None
    local: Local
    own_laws: dict[str, dict[str, Any]]
    made: int = 0
    failed: list[Failed] = field(default_factory=list)
    #: Of each target that is missed, how many configurations miss it.
    imprecise: dict[str, int] = field(default_factory=dict)

    def run(self) -> Sweep:
        began = time.monotonic()
        store = Store.open(self.where)
        kept = len(self.plan.all_keys() & store.keys())
        interrupted = False
        for _ in range(ROUNDS_MAX):
            _write_plan(self.where, self.plan, self.own_laws)
            count, jobs = self.plan.missing(store.keys())
            if count:
                executor = self._executor()
                # Whatever ends this process: from here on the tables in the folder lack runs that are kept.
                self.where.write(UNJOINED, b"{}\n")
                progressed = work(count, jobs, executor, store, self.progress)
                self.made += progressed.made
                self.failed = progressed.failed
                interrupted = progressed.interrupted
            if interrupted or self.failed or not self._ask_for_more(store):
                break
        if interrupted and store.is_large:
            raise self._interrupted(len(self.plan.all_keys() & store.keys()))
        store.merge()
        facts = {
            "wall_s": round(time.monotonic() - began, 3),
            "workers": self.workers or os.cpu_count() or 1,
            "interrupted": interrupted,
            "damaged": store.damaged,
            **({"own_laws": self.own_laws} if self.own_laws else {}),
            **({"imprecise": self.imprecise} if self.imprecise else {}),
        }
        done = _collected(self.plan, store, self.where, facts, self.failed)
        done.made, done.kept = self.made, kept
        if interrupted:
            raise self._interrupted(done.table("run").height)
        return done

    def _interrupted(self, finished: int) -> InterruptedRunError:
        return InterruptedRunError(
            f"interrupted: {finished} of {sum(self.plan.reps)} runs are finished and kept in {self.where}; "
            "the same command goes on from there"
        )

    def _executor(self) -> Executor:
        if self.cluster is not None:
            from crosswind.sweep.cluster import Cluster

            return Cluster(self.cluster, self.local)
        return Threads(self.workers or os.cpu_count() or 1, self.local)

    def _ask_for_more(self, store: Store) -> bool:
        """Raises the repetitions of configurations that are not precise enough; whether any may have more."""
        if not self.targets:
            return False
        index = self.plan.index()
        tables = {t: store.gathered(t, index).lazy().collect() for t in {p.table for p in self.targets}}
        missed: Counter[str] = Counter()
        more = False
        for i, point in enumerate(self.plan.points):
            have = self.plan.reps[i]
            of_point = pl.col("configuration") == point.label
            needs = {str(p): p.needed(tables[p.table].filter(of_point), have) for p in self.targets}
            missed.update(name for name, need in needs.items() if need > have)
            if max(needs.values()) > have and have < self.reps_max:
                self.plan.reps[i] = min(max(needs.values()), self.reps_max)
                more = True
        self.imprecise = dict(missed)
        return more


def _write_plan(where: Place, plan: Plan, own_laws: Mapping[str, Mapping[str, Any]]) -> None:
    """What is wanted, so that results can be read even when the process is killed before it ends."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "base": plan.base.complete(),
        "file": Path(plan.base.file).name if plan.base.file else None,
        "points": [p.changes for p in plan.points],
        "seeds": [p.seed for p in plan.points],
        "reps": plan.reps,
        "ties": plan.ties,
        "build": plan.build,
        "own_laws": own_laws,
    }
    where.write(PLAN_FILE, (json.dumps(content, ensure_ascii=False) + "\n").encode())


def load(folder: str | Path) -> Sweep:
    """Reads a sweep from its folder or address; what a command has left single is joined into tables first.

    Raises InputError when there is none, or none of its runs is there.
    """
    where = place(folder)
    try:
        content = json.loads(where.read(PLAN_FILE))
        base = Scenario(content["base"], content.get("file"))
        wanted = Design([dict(p) for p in content["points"]])
        own_laws = content.get("own_laws", {})
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise InputError(
            str(folder), found=f"no sweep ({type(e).__name__})", expected="a folder written by `crosswind sweep`"
        ) from None
    if isinstance(where, Folder) and is_joined(where.path):
        saved = Runs.load(where.path)
        return Sweep(saved, saved.extra["param"], saved.manifest["columns"], str(where))
    seeds = set(content["seeds"])
    seed = seeds.pop() if len(seeds) == 1 and "seed" not in wanted.paths else None
    plan = sweep_plan.make(
        base, wanted, reps=1, seed=seed, ties=content["ties"], invalid="skip",
        laws=identities(own_laws),
    )  # fmt: skip
    plan.reps, plan.build = list(content["reps"]), content["build"]
    store = Store.open(where)
    if not plan.all_keys() & store.keys():
        raise InputError(
            str(folder), found=f"none of the runs that {PLAN_FILE} asks for", expected="at least one finished run",
            hint=AGAIN,
        )  # fmt: skip
    facts = {"wall_s": 0.0, "workers": 1, "interrupted": False, "damaged": store.damaged}
    return _collected(plan, store, where, facts | ({"own_laws": own_laws} if own_laws else {}), [])


def _collected(plan: Plan, store: Store, where: Place, facts: dict[str, Any], failed: list[Failed]) -> Sweep:
    """Puts the wanted runs together, writes them as one file per table, and returns them."""
    parameters = plan.parameters
    index = plan.index().join(parameters, on="configuration", how="left", maintain_order="left")
    tables = {t: found for t in TABLES if t in store.tables() and Facts.of(found := store.gathered(t, index)).schema}
    finished = len(plan.all_keys() & store.keys())
    manifest = _manifest(plan, facts, finished, failed, store)
    runs = Runs(tables, {p.label: p.scenario for p in plan.points}, manifest, {"param": parameters})
    manifest["warnings"] = [*manifest["warnings"], *runs.warnings()]
    manifest["trusted"] = manifest["trusted"] and runs.may_be_trusted()
    if isinstance(where, Folder):
        runs.save(where.path)
    else:
        _save_remote(runs, where)
    where.remove(UNJOINED)
    return Sweep(
        runs,
        parameters,
        plan.columns,
        str(where),
        failed=failed,
        impossible=[f"{sweep_plan.say(i.changes)}: {i.why}" for i in plan.impossible],
    )


def _manifest(plan: Plan, facts: dict[str, Any], finished: int, failed: list[Failed], store: Store) -> dict[str, Any]:
    said = []
    if store.damaged:
        said.append(
            f"{len(store.damaged)} damaged files were set aside in {store.place}/damaged and their runs made again"
        )
    for target, missing in facts.get("imprecise", {}).items():
        of = f"{missing} of {len(plan.points)} configurations"
        said.append(f"the precision {target} is not reached in {of} with at most {max(plan.reps)} repetitions")
    asked = sum(plan.reps)
    if finished < asked and not facts["interrupted"] and not failed:
        said.append(f"{finished} runs finished of {asked} asked for")
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": version(),
        "build": plan.build,
        "mode": "simulate",
        "kind": "sweep",
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": plan.points[0].seed,
        "reps": max(plan.reps),
        "reps_total": max(plan.reps),
        "ties": plan.ties,
        **facts,
        "runs": finished,
        "asked": asked,
        "failed": failures(plan, failed),
        "columns": plan.columns,
        "base": plan.base.complete(),
        "scenarios": [{"configuration": p.label, "changes": p.changes} for p in plan.points],
        "trusted": finished == asked,
        "warnings": said,
    }


def _save_remote(runs: Runs, where: Place) -> None:
    names = {f"{name}.parquet": table for name, table in runs.sources().items()}
    sums = {name: where.write_table(name, table).checksum for name, table in names.items()}
    where.write("manifest.json", json.dumps(runs.complete_manifest(sums), indent=1, ensure_ascii=False).encode())


__all__ = ["CrosswindError", "Sweep", "load", "query_tables", "sweep"]
