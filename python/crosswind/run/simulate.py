"""Runs scenarios: many seeds on all cores, results as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crosswind.core import core
from crosswind.errors import InputError
from crosswind.results import Runs
from crosswind.results.folder import results_in
from crosswind.run.kept import Ask, keep, run_kept
from crosswind.run.laws import Laws, checked_laws, identities
from crosswind.run.progress import Listener
from crosswind.run.wanted import SEEDS, Ties, check_reps, is_seed, seed_of
from crosswind.run.work import Local
from crosswind.scenario import Scenario

Runnable = Scenario | str | Path | Sequence[Scenario] | Mapping[str, Scenario]


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
    again: bool = False,
) -> Runs:
    """Runs one scenario, or several with labels, and returns their tables (columns are named with their unit).

    `scenario`: a Scenario, the path of a TOML file, a list of scenarios, or a dict label -> scenario.
    `seed`: base seed (default: the scenario's own, else 1). Configurations that share a seed share random numbers.
    `reps`: how many repetitions, or which ones (`reps_total` then says of how many: it fixes the strata).
    `workers`: threads (default: all cores). `ties`: "shuffled" permutes ties. `progress`: told (done, total) runs.
    `laws`: window laws of your own that remember something, name -> class (see `crosswind.run.laws.RememberingLaw`),
    for flows with `tcp = { law = "own", own_law = "name" }`. Slow: Python is asked on every ACK; the manifest says so.
    `out`: a folder to save the tables into, as `Runs.save` does. Runs that are there already (same scenario, engine and
    seed) are read, unless `again`; finished ones are kept as they come, so a call that was killed goes on where it was,
    and the memory holds only some of them. Large tables are read from the folder when they are asked for.
    `folder`: where the files go that a scenario names (`record.pcap`, `record.event_file`, `record.qlog`; default:
    `out`, or here).

    Raises InputError when a scenario is wrong, and whatever a law of your own raises. Ctrl-C returns what is finished,
    with `runs.interrupted` set. A run that breaks down is left out and named in `runs.failed`; the others are kept.
    """
    how: dict[str, Any] = {"reps_total": reps_total, "workers": workers, "ties": ties, "laws": laws}
    files = folder or out or ""
    if out is None:
        return run_into(None, scenario, seed=seed, reps=reps, progress=progress, folder=files, **how)
    with results_in(out) as kept:
        runs = run_into(kept, scenario, seed=seed, reps=reps, progress=progress, folder=files, again=again, **how)
        keep(runs, kept)
    return runs


def run_into(
    kept: Path | None,
    scenario: Runnable,
    *,
    seed: int | None = None,
    reps: int | Sequence[int] = 1,
    reps_total: int | None = None,
    workers: int | None = None,
    ties: Ties = "fixed",
    progress: Listener | None = None,
    laws: Laws | None = None,
    folder: str | Path = "",
    again: bool = False,
) -> Runs:
    """As `run`, where the caller has `kept`, the folder of results, to himself and saves the tables there."""
    labelled = _labelled(scenario)
    first = next(iter(labelled.values()))
    base = seed if seed is not None else seed_of(first)
    only = None if isinstance(reps, int) else tuple(int(r) for r in reps)
    asked = range(reps) if isinstance(reps, int) else only or ()
    check_reps(len(asked))
    total = reps_total if reps_total is not None else max(asked, default=-1) + 1
    _check(base, asked, total, workers)
    own = checked_laws(laws or {})
    some = only if only is not None or total == len(asked) else tuple(asked)
    ask = Ask(base, total, ties, workers, only=some, laws=identities(own))
    _check_files(labelled)
    local = Local(laws or {}, str(folder))
    try:
        runs = run_kept(labelled, ask, folder=kept, progress=progress, again=again, local=local)
    except core().ScenarioError as e:
        raise first.explain(e) from None
    if own:
        runs.manifest["own_laws"] = own
    return runs


def _check_files(labelled: Mapping[str, Scenario]) -> None:
    """Two scenarios that write into one file would leave the packets or events of neither."""
    for key in ("pcap", "event_file", "qlog"):
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


def _check(seed: int, reps: Sequence[int], total: int, workers: int | None) -> None:
    if not is_seed(seed):
        raise InputError("--seed", found=str(seed), expected=SEEDS)
    if not reps or min(reps) < 0 or max(reps) >= total:
        raise InputError("--reps", found=f"{list(reps[:3]) or 'none'} of {total}", expected="at least one repetition")
    if workers is not None and workers < 1:
        raise InputError("--workers", found=str(workers), expected="at least one")
