"""Runs scenarios: many seeds on all cores, results as tables."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from crosswind.core import build, core, version
from crosswind.errors import InputError
from crosswind.results import Runs
from crosswind.results.folder import results_in
from crosswind.results.runs import SCHEMA_VERSION
from crosswind.run.laws import Laws, checked_laws
from crosswind.run.progress import Listener
from crosswind.scenario import Scenario

Runnable = Scenario | str | Path | Sequence[Scenario] | Mapping[str, Scenario]
Ties = Literal["fixed", "shuffled"]
MAX_SEED = 2**63 - 1
#: Most repetitions of one call: their numbers alone take memory.
MAX_REPS = 1_000_000


def run(
    scenario: Runnable,
    *,
    seed: int | None = None,
    reps: int | Sequence[int] = 1,
    reps_total: int | None = None,
    workers: int | None = None,
    ties: Ties = "fixed",
    progress: Listener | None = None,
    laws: Laws | None = None,
    out: str | Path | None = None,
    folder: str | Path | None = None,
) -> Runs:
    """Runs one scenario, or several with labels, and returns their tables (columns are named with their unit).

    `scenario`: a Scenario, the path of a TOML file, a list of scenarios, or a dict label -> scenario.
    `seed`: base seed (default: the scenario's own, else 1). Configurations that share a seed share random numbers.
    `reps`: how many repetitions, or which ones (`reps_total` then says of how many: it fixes the strata).
    `workers`: threads (default: all cores). `ties`: "shuffled" permutes ties. `progress`: told (done, total) runs.
    `laws`: window laws of your own that remember something, name -> class (see `crosswind.run.laws.RememberingLaw`),
    for flows with `tcp = { law = "own", own_law = "name" }`. Slow: Python is asked on every ACK; the manifest says so.
    `out`: a folder to save the tables into, as `Runs.save` does.
    `folder`: where the files go that a scenario names (`record.pcap`, `record.event_file`; default: `out`, or here).

    Raises InputError when a scenario is wrong, and whatever a law of your own raises. Ctrl-C returns what is finished,
    with `runs.interrupted` set. A run that breaks down is left out and named in `runs.failed`; the others are kept.
    """
    labelled = _labelled(scenario)
    first = next(iter(labelled.values()))
    base = seed if seed is not None else int(first.get("seed", 1))
    check_reps(reps if isinstance(reps, int) else len(reps))
    wanted = list(range(reps)) if isinstance(reps, int) else [int(r) for r in reps]
    total = reps_total if reps_total is not None else max(wanted, default=-1) + 1
    _check(base, wanted, total, workers)
    count = workers or os.cpu_count() or 1
    engine = core()
    own = checked_laws(laws or {})
    for one in labelled.values():
        one.validate()
    _check_files(labelled)
    documents, numbers = _apart(labelled)
    began = time.monotonic()
    try:
        result = engine.run_many(
            documents,
            base,
            wanted,
            total,
            count,
            ties == "shuffled",
            progress,
            dict(laws or {}),
            folder=str(folder or out or ""),
        )
    except engine.ScenarioError as e:
        raise first.explain(e) from None
    manifest = manifest_of(labelled, base, wanted, total, ties)
    manifest["wall_s"] = round(time.monotonic() - began, 3)
    manifest["workers"] = count
    if own:
        manifest["own_laws"] = own
    manifest["interrupted"] = bool(result["interrupted"])
    manifest["failed"] = _failed(result["failed"], labelled, numbers, base)
    manifest["packets"] = int(sum(result["tables"].get("run", {}).get("packets", ())))
    runs = Runs.from_engine(result["tables"], labelled, manifest, numbers)
    if out is not None:
        with results_in(out) as kept:
            runs.save(kept)
    return runs


def _apart(labelled: Mapping[str, Scenario]) -> tuple[list[str], list[int]]:
    """The scenarios to run, and for each label the number of its own: those of one content are one."""
    documents: dict[str, str] = {}
    number_of: dict[str, int] = {}
    numbers = []
    for scenario in labelled.values():
        key = scenario.content()
        documents.setdefault(key, scenario.to_json())
        numbers.append(number_of.setdefault(key, len(number_of)))
    return list(documents.values()), numbers


def _failed(
    told: Sequence[tuple[int, int, str]], labelled: Mapping[str, Scenario], numbers: Sequence[int], seed: int
) -> list[dict[str, Any]]:
    """The runs that broke down, under each label that they were wanted for."""
    return [
        {"configuration": label, "rep": rep, "seed": seed, "message": message}
        for label, own in zip(labelled, numbers, strict=True)
        for number, rep, message in told
        if number == own
    ]


def _check_files(labelled: Mapping[str, Scenario]) -> None:
    """Two scenarios that write into one file would leave the packets or events of neither."""
    for key in ("pcap", "event_file"):
        seen: dict[str, str] = {}
        for label, scenario in labelled.items():
            path = scenario.get(f"record.{key}")
            if path is not None and seen.setdefault(str(path), scenario.content()) != scenario.content():
                raise InputError(
                    scenario.file or label,
                    path=f"record.{key}",
                    found=f"`{path}` a second time",
                    expected="a file each",
                )


def check_reps(reps: int) -> None:
    """Refuses a number of repetitions that no machine can hold. Raises InputError."""
    if reps > MAX_REPS:
        raise InputError("--reps", found=str(reps), expected=f"at most {MAX_REPS} repetitions at a time")


def _labelled(scenario: Runnable) -> dict[str, Scenario]:
    if isinstance(scenario, str | Path):
        scenario = Scenario.load(scenario)
    if isinstance(scenario, Scenario):
        return {scenario.name: scenario}
    if isinstance(scenario, Mapping):
        out = dict(scenario)
    else:
        names = [s.name for s in scenario]
        unique = len(set(names)) == len(names)
        out = {n if unique else f"{n}-{i + 1}": s for i, (n, s) in enumerate(zip(names, scenario, strict=True))}
    if not out:
        raise InputError("run", found="no scenario", expected="at least one")
    return out


def _check(seed: int, reps: list[int], total: int, workers: int | None) -> None:
    if not 0 <= seed <= MAX_SEED:
        raise InputError("--seed", found=str(seed), expected=f"a whole number from 0 to {MAX_SEED}")
    if not reps or min(reps) < 0 or max(reps) >= total:
        raise InputError("--reps", found=f"{reps[:3] or 'none'} of {total}", expected="at least one repetition")
    if workers is not None and workers < 1:
        raise InputError("--workers", found=str(workers), expected="at least one")


def manifest_of(labelled: dict[str, Scenario], seed: int, reps: list[int], total: int, ties: Ties) -> dict[str, Any]:
    """What made the tables, as far as it is known before they are made."""
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": version(),
        "build": build(),
        "mode": "simulate",
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "reps": len(reps),
        "reps_total": total,
        "ties": ties,
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
