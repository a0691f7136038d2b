"""Runs an experiment, checks its claims, and writes tables, figures and report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from crosswind import report
from crosswind.claims import Checked
from crosswind.errors import CrosswindError, InputError, did_you_mean
from crosswind.experiments.base import Experiment, Results
from crosswind.progress import Listener
from crosswind.run import Ties, run
from crosswind.runs import Runs, prepare_out


class InterruptedRunError(CrosswindError):
    """Ctrl-C; what was finished has been saved."""

    exit_code = 130


@dataclass(frozen=True)
class Plan:
    """How an experiment is to be run; None means its own value. `variant` names another reading of its source."""

    reps: int | None = None
    seed: int | None = None
    workers: int | None = None
    variant: str = ""
    ties: Ties = "fixed"


@dataclass(frozen=True)
class Outcome:
    """A finished experiment. `rows` are the rows of the claim table."""

    experiment: Experiment
    results: Results
    checked: Sequence[Checked]
    rows: list[dict[str, Any]]
    folder: Path

    @property
    def name(self) -> str:
        return str(self.rows[0]["experiment"]) if self.rows else self.experiment.id


def reproduce(
    experiment: Experiment, out: Path, plan: Plan, *, command: str = "", progress: Listener | None = None
) -> Outcome:
    """Runs all configurations and writes everything under `out`.

    Raises InputError for an unknown variant or an unwritable folder, InterruptedRunError (after saving) on Ctrl-C.
    """
    if plan.variant and plan.variant not in experiment.variants:
        raise InputError(
            "--variant",
            found=f"`{plan.variant}`",
            expected=f"one of {', '.join(experiment.variants) or '(none for this experiment)'}",
            hint=did_you_mean(plan.variant, experiment.variants),
        )
    prepare_out(out)
    scenarios = experiment.configurations(**experiment.variants.get(plan.variant, {}))
    reps = plan.reps or experiment.reps
    runs = run(
        scenarios,
        seed=plan.seed if plan.seed is not None else experiment.seed,
        reps=reps,
        workers=plan.workers,
        ties=plan.ties,
        progress=progress,
    )
    runs.manifest["experiment"] = experiment.id
    runs.manifest["variant"] = plan.variant or "main"
    if reps < experiment.reps:
        runs.manifest["warnings"].append(f"{reps} repetitions instead of the {experiment.reps} of the source")
    if runs.interrupted:
        runs.save(out)
        raise InterruptedRunError(f"interrupted: {runs.manifest['runs']} finished runs are kept in {out}")
    return conclude(experiment, runs, out, command)


def conclude(experiment: Experiment, runs: Runs, out: Path, command: str = "") -> Outcome:
    """Checks the claims on finished runs and writes tables, figures and report."""
    results = Results(runs, experiment.tables(runs))
    checked = [claim.check(results) for claim in experiment.claims]
    variant = runs.manifest.get("variant", "main")
    name = experiment.id if variant == "main" else f"{experiment.id} ({variant})"
    seconds = float(runs.manifest.get("wall_s", 0.0))
    rows = [c.row(name, seconds) for c in checked]
    flat = [{k: (json.dumps(v) if k == "parts" else v) for k, v in r.items()} for r in rows]
    runs.extra = {**results.tables, "claim": pl.DataFrame(flat)}
    runs.save(out)
    (out / "claims.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    pictures = experiment.figures(results)
    report.write(out, report.reproduction_report(experiment, runs, checked, pictures, command), pictures)
    return Outcome(experiment, results, checked, rows, out)
