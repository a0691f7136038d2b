"""Runs that are made once: what is kept is read, what is missing is made and kept as it comes.

Kept are finished runs in the tables that an earlier command left in its folder, runs that it had made when it was
stopped (`runs/` in that folder, gone when the tables are written), and those that several experiments share. Each is
read where it lies: no table of all runs is held in memory, unless it is small.
"""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from crosswind.core import build, version
from crosswind.errors import InputError, InterruptedRunError
from crosswind.results import Runs
from crosswind.results.folder import UNJOINED
from crosswind.results.place import place
from crosswind.results.runs import SCHEMA_VERSION, TABLES, scenarios_of
from crosswind.results.sealed import AGAIN, LEFT, DamagedError
from crosswind.run.laws import identities
from crosswind.run.progress import Listener
from crosswind.run.store import RUNS, Store
from crosswind.run.wanted import Ties, Wanted
from crosswind.run.work import Failed, Local, Progressed, Threads, work
from crosswind.scenario import Scenario


@dataclass(frozen=True)
class Shared:
    """Where runs are kept that more than one experiment asks for, and the keys of these."""

    folder: Path
    wanted: frozenset[str]


@dataclass(frozen=True)
class Ask:
    """What is to be run of each configuration; `block` and `only` as in `Wanted`, `laws` as in `Point`."""

    seed: int
    reps: int
    ties: Ties = "fixed"
    workers: int | None = None
    block: int = 0
    only: tuple[int, ...] | None = None
    laws: Mapping[str, str] = field(default_factory=dict)

    def of(self, configurations: Mapping[str, Scenario]) -> Wanted:
        """The runs themselves. Raises InputError for a wrong scenario."""
        return Wanted.of(configurations, self.seed, self.reps, self.ties, self.block, self.only, self.laws)


def run_kept(
    configurations: Mapping[str, Scenario],
    ask: Ask,
    *,
    folder: Path | None = None,
    shared: Shared | None = None,
    progress: Listener | None = None,
    again: bool = False,
    local: Local | None = None,
    also: Path | None = None,
) -> Runs:
    """Makes runs, but for those that an earlier try has left in `folder` (not `again`), or are shared: they are read.

    Runs that write files are always made. `local`: what this process gives them. `also`: where another command may have
    left tables of some of the runs; nothing is written there.

    `manifest["packets"]` counts what was run here, `manifest["runs_before"]` the runs that were in the folder. When the
    tables are saved there, `forget(folder)`; `keep` does both. Raises InputError for a wrong scenario, NoRoomError when
    the disk is full.
    """
    labelled = dict(configurations)
    wanted = ask.of(labelled)
    again = again or any(p.files() for p in wanted.points)
    store = Store.open(place(folder)) if folder is not None else Store()
    if again:
        store.clear()
    damaged = _take_over(store, folder, wanted) if folder is not None and not again else ""
    if also is not None and not again:
        _take_over(store, also, wanted)
    before = wanted.all_keys() & store.keys()
    began = time.monotonic()
    workers = ask.workers or os.cpu_count() or 1
    others = Progressed()
    if shared is not None and (common := wanted.all_keys() & shared.wanted - before):
        others, read = _make_common(wanted, common, store, shared, workers)
    else:
        read = set()
    made = Progressed() if others.interrupted else _make(wanted, store.keys(), store, workers, progress, local, "held")
    manifest = manifest_of(labelled, ask)
    manifest["wall_s"] = round(time.monotonic() - began, 3)
    manifest["workers"] = workers
    manifest["interrupted"] = others.interrupted or made.interrupted
    manifest["failed"] = failures(wanted, [*others.failed, *made.failed])
    index = wanted.index()
    there = store.tables()
    # Whoever pressed Ctrl-C waits for no table that nobody asks for.
    hold = not (manifest["interrupted"] and store.is_large)
    out = Runs({t: store.gathered(t, index, hold=hold) for t in TABLES if t in there}, labelled, manifest)
    manifest["runs"] = out.runs().height
    manifest["warnings"] = out.warnings()
    manifest["trusted"] = out.may_be_trusted()
    manifest["packets"] = store.packets((wanted.all_keys() & store.keys()) - before - read)
    if before:
        manifest["runs_before"] = index.filter(pl.col("key").is_in(list(before))).height
    if damaged:
        manifest["warnings"].append(f"{folder} held {damaged}: its runs were made again")
    return out


def manifest_of(labelled: Mapping[str, Scenario], ask: Ask) -> dict[str, Any]:
    """What made the tables, as far as it is known before they are made."""
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": version(),
        "build": build(),
        "mode": "simulate",
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": ask.seed,
        "reps": ask.reps if ask.only is None else len(ask.only),
        "reps_total": ask.reps,
        **({"only": list(ask.only)} if ask.only is not None else {}),
        "ties": ask.ties,
        "scenarios": [
            {
                "configuration": label,
                "digest": s.digest(),
                "file": Path(s.file).name if s.file else None,
                "scenario": s.complete(),
            }
            for label, s in labelled.items()
        ],
    }


def keep(runs: Runs, folder: Path) -> None:
    """Saves the tables of runs, in which the single ones in the folder stand then.

    Large tables of an interrupted command are left to `settle`: whoever pressed Ctrl-C does not wait for them. Raises
    InterruptedRunError where it is pressed while they are written.
    """
    left = runs.tables.are_large and (folder / RUNS).is_dir()
    if not (left and runs.interrupted):
        try:
            runs.save(folder)
            forget(folder)
            return
        except KeyboardInterrupt:
            if not left:
                raise
    place(folder).write(UNJOINED, json.dumps(runs.manifest, ensure_ascii=False).encode())
    if not runs.interrupted:
        kept = f"{runs.manifest['runs']} finished runs are kept in {folder}"
        raise InterruptedRunError(f"interrupted: {kept}; the same command goes on from there")


def settle(folder: Path) -> None:
    """Joins what `keep` has left into tables.

    Raises DamagedError, and leaves all as it is, where it is not what was written or some of the runs are not there.
    """
    try:
        manifest = json.loads((folder / UNJOINED).read_text(encoding="utf-8"))
        scenarios = scenarios_of(manifest)
        wanted = _asked(manifest).of(scenarios)
        wanted.build, finished = manifest["build"], int(manifest["runs"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        found = f"{UNJOINED}, which cannot be read ({type(e).__name__})"
        raise DamagedError(str(folder), found=found, expected=LEFT, hint=AGAIN) from None
    store = Store.open(place(folder))
    damaged = _take_over(store, folder, wanted)
    index = wanted.index()
    there = index.filter(pl.col("key").is_in(list(store.keys()))).height
    if there < finished:
        found = damaged or f"{there} of the {finished} finished runs that {UNJOINED} tells of"
        raise DamagedError(str(folder), found=found, expected=LEFT, hint=AGAIN)
    Runs({t: store.gathered(t, index) for t in TABLES if t in store.tables()}, scenarios, manifest).save(folder)
    forget(folder)


def forget(folder: Path) -> None:
    """Removes the single runs in a folder: all of them stand in its tables."""
    (folder / UNJOINED).unlink(missing_ok=True)
    if (folder / RUNS).is_dir():
        Store.open(place(folder)).clear()
        if not any((folder / RUNS).iterdir()):
            (folder / RUNS).rmdir()


def _make(
    wanted: Wanted,
    have: Iterable[str],
    store: Store,
    workers: int,
    progress: Listener | None = None,
    local: Local | None = None,
    single: Literal["kept", "held"] = "kept",
) -> Progressed:
    count, jobs = wanted.missing(set(have))
    return work(count, jobs, Threads(workers, local), store, progress, single) if count else Progressed()


def _make_common(
    wanted: Wanted, common: set[str], store: Store, shared: Shared, workers: int
) -> tuple[Progressed, set[str]]:
    """Makes what others ask for too where they find it, and takes it from there; also says what was there already."""
    theirs = Store.open(place(shared.folder), users="several")
    read = common & theirs.keys()
    made = _make(wanted, (wanted.all_keys() - common) | theirs.keys(), theirs, workers)
    store.adopt(theirs, common)
    return made, read


def _take_over(store: Store, folder: Path, wanted: Wanted) -> str:
    """Adds the wanted runs of the tables in a folder, if this build has simulated them; says what is damaged there."""
    try:
        saved = Runs.saved(folder)
    except DamagedError as e:
        return e.found
    except InputError:
        return ""
    m = saved.manifest
    if m.get("mode") != "simulate" or m.get("build") != wanted.build or "seed" not in m or not saved.runs().width:
        return ""
    there = _asked(m).of(saved.scenarios)
    whole = saved.runs().filter(pl.col("outcome") != "out of memory")
    index = there.index().unique("key", keep="first", maintain_order=True)
    index = index.join(whole.select("configuration", "rep"), on=["configuration", "rep"], how="semi")
    found = set(index["key"])
    chains = (([there.key(i, r) for r in c]) for i, p in enumerate(there.points) if p.chained for c in there.chains(i))
    cut = {k for keys in chains if not found.issuperset(keys) for k in keys}
    index = index.filter(pl.col("key").is_in(list((found & wanted.all_keys()) - cut)))
    if index.height:
        store.hold(saved.tables.sources(), index)
    return ""


def _asked(m: Mapping[str, Any]) -> Ask:
    """What was to be run, as a manifest says it."""
    only = tuple(m["only"]) if "only" in m else None
    laws = identities(m.get("own_laws", {}))
    return Ask(m["seed"], m["reps_total"], m["ties"], block=int(m.get("block", 0)), only=only, laws=laws)


def failures(wanted: Wanted, failed: Sequence[Failed]) -> list[dict[str, Any]]:
    """Which runs broke down, and why: configuration, rep, seed, message; under each label that they are wanted for."""
    if not failed:
        return []
    said = {f.key: f.message for f in failed}
    seeds = {p.label: p.seed for p in wanted.points}
    rows = wanted.index().filter(pl.col("key").is_in(list(said))).rows()
    return [{"configuration": c, "rep": rep, "seed": seeds[c], "message": said[key]} for key, c, rep in rows]
