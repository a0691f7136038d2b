"""Runs that need not be made: others of one command have made them, or an earlier try of the same command has.

Two runs are the same when everything that goes into them is: the scenario but for its name, seed, repetitions, order of
ties, and (across commands) the build of the engine. Whoever comes first makes them; the tables of the others are put
together as the engine would have made them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.core import build
from crosswind.errors import InputError
from crosswind.results import Runs, sealed
from crosswind.results.sealed import DamagedError
from crosswind.run.progress import Listener
from crosswind.run.simulate import Ties, manifest_of, run
from crosswind.scenario import Scenario

SUMS = "sums.json"


@dataclass(frozen=True)
class Shared:
    """Where runs are kept that more than one experiment asks for, and which these are."""

    folder: Path
    wanted: frozenset[str]


@dataclass(frozen=True)
class Ask:
    """What is to be run of each configuration.

    `block`: hosts that remember do so through so many repetitions, then they begin anew (0: through all).
    """

    seed: int
    reps: int
    ties: Ties = "fixed"
    workers: int | None = None
    block: int = 0

    def identity(self, scenario: Scenario) -> str:
        """Names the runs of one configuration by all that goes into them."""
        text = f"{scenario.content()}:{self.seed}:{self.reps}:{self.ties}" + (f":{self.block}" if self.block else "")
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


Parts = Mapping[str, Mapping[str, pl.DataFrame]]


@dataclass(frozen=True)
class Before:
    """What an earlier try has left: tables by configuration; `damaged` says why there are none, where it is that."""

    parts: Parts
    damaged: str = ""


def made_before(folder: Path, configurations: Mapping[str, Scenario], ask: Ask) -> Before:
    """The tables that lie in `folder` and would come out again: those of this build, if complete and undamaged."""
    try:
        saved = Runs.load(folder)
    except DamagedError as e:
        return Before({}, e.found)
    except InputError:
        return Before({})
    m = saved.manifest
    if m.get("build") != build():
        return Before({})
    there = Ask(m["seed"], m["reps_total"], m["ties"], block=int(m.get("block", 0)))
    runs = saved.runs().filter(pl.col("outcome") != "out of memory") if saved.runs().height else pl.DataFrame()
    finished = Counter(runs["configuration"].to_list() if runs.height else [])
    return Before(
        {
            label: saved.only(label).tables
            for label, s in configurations.items()
            if finished[label] == ask.reps and there.identity(saved.scenarios[label]) == ask.identity(s)
        }
    )


def run_shared(
    configurations: Mapping[str, Scenario],
    ask: Ask,
    shared: Shared | None,
    progress: Listener | None = None,
    before: Parts | None = None,
) -> Runs:
    """As `run`, but what is shared and has been run, or was `before`, is read.

    `manifest["packets"]` counts what was run here, `manifest["runs_before"]` what was not.
    """
    labelled = dict(configurations)
    before = before or {}
    names = {label: ask.identity(s) for label, s in labelled.items()} if shared is not None else {}
    common = [n for n, name in names.items() if shared is not None and name in shared.wanted and n not in before]
    if not common and not before:
        return _run(labelled, ask, progress)
    began = time.monotonic()
    alone = {label: s for label, s in labelled.items() if label not in common and label not in before}
    made = [_run(alone, ask, progress)] if alone else []
    parts = {**before, **{label: made[0].only(label).tables for label in alone}}
    for label in common:
        assert shared is not None
        kept = shared.folder / names[label]
        if not kept.is_dir():
            # By itself, so that its tables have the columns that it needs and no others.
            one = _run({label: labelled[label]}, ask, None)
            made.append(one)
            if one.interrupted:
                break
            if one.failed:
                parts[label] = one.only(label).tables
                continue
            _keep(one.tables, kept)
        parts[label] = _kept(kept, label)
    out = _together(labelled, ask, made, [parts[label] for label in labelled if label in parts], began)
    out.manifest["runs_before"] = len(before) * ask.reps
    return out


def _together(
    labelled: dict[str, Scenario],
    ask: Ask,
    made: Sequence[Runs],
    tables: Sequence[Mapping[str, pl.DataFrame]],
    began: float,
) -> Runs:
    """The runs that were `made`, and others whose tables are there, as one."""
    manifest = manifest_of(labelled, ask.seed, list(range(ask.reps)), ask.reps, ask.ties)
    manifest["wall_s"] = round(time.monotonic() - began, 3)
    manifest["workers"] = ask.workers or os.cpu_count() or 1
    manifest["interrupted"] = any(m.interrupted for m in made)
    manifest["failed"] = [f for m in made for f in m.failed]
    out = Runs(joined(tables), labelled, manifest)
    manifest["runs"] = out.runs().height
    manifest["warnings"] = out.warnings()
    manifest["trusted"] = out.may_be_trusted()
    manifest["packets"] = sum(int(m.manifest["packets"]) for m in made)
    return out


def _run(configurations: Mapping[str, Scenario], ask: Ask, progress: Listener | None) -> Runs:
    if not ask.block or not configurations:
        return run(configurations, seed=ask.seed, reps=ask.reps, workers=ask.workers, ties=ask.ties, progress=progress)
    began, made = time.monotonic(), []
    for first in range(0, ask.reps, ask.block):
        some = range(first, min(first + ask.block, ask.reps))
        one = run(configurations, seed=ask.seed, reps=some, reps_total=ask.reps, workers=ask.workers, ties=ask.ties)
        made.append(one)
        if one.interrupted:
            break
        if progress is not None:
            progress(some.stop, ask.reps)
    return _together(dict(configurations), ask, made, [m.tables for m in made], began)


def _keep(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Writes the tables of one configuration; the folder is there when all of them are."""
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    part.mkdir(parents=True)
    bare = {name: frame.drop("configuration") for name, frame in tables.items() if frame.width}
    sealed.write_all(part, bare, {}, lambda sums: {SUMS: json.dumps(sums)})
    try:
        part.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(part)


def _kept(folder: Path, label: str) -> dict[str, pl.DataFrame]:
    """Reads them under the label that they have here."""
    sums = json.loads((folder / SUMS).read_text(encoding="utf-8"))
    tables = {Path(name).stem: sealed.read_table(folder / name, sums[name]) for name in sorted(sums)}
    named = pl.lit(label, dtype=pl.String).alias("configuration")
    return {name: t.select(named, pl.all()) for name, t in tables.items()}


def joined(parts: Sequence[Mapping[str, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """Tables of several sets of runs, one behind the other.

    What one of them does not have is missing as in the engine's: -1, NaN or the empty text.
    """
    out = {}
    for name in dict.fromkeys(n for p in parts for n in p):
        frames = [p[name] for p in parts if name in p and p[name].width]
        frame = pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()
        out[name] = frame.with_columns(_filled(frame, c) for c in frame.columns if _lacks(frames, c))
    return out


def _lacks(frames: Sequence[pl.DataFrame], column: str) -> bool:
    return any(column not in f.columns for f in frames)


def _filled(frame: pl.DataFrame, column: str) -> pl.Expr:
    kind = frame.schema[column]
    missing: Any = "" if kind == pl.String else float("nan") if kind.is_float() else -1
    return pl.col(column).fill_null(missing)
