"""Runs an experiment, checks its claims, and writes tables, figures and report."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from crosswind import figures, report
from crosswind.core import schema
from crosswind.errors import CrosswindError, InputError, InterruptedRunError, MissingExtraError, did_you_mean
from crosswind.figures import Format, Picture
from crosswind.reproduce import catalogue
from crosswind.reproduce.claims import BrokenClaimError, Checked, MissingDataError
from crosswind.reproduce.experiment import Experiment, Results
from crosswind.reproduce.gathered import FEWER
from crosswind.reproduce.readings import MAIN, Reading, reading
from crosswind.reproduce.report import reproduction_report
from crosswind.results import Runs
from crosswind.results.folder import prepare_out, results_in
from crosswind.run import Ties
from crosswind.run.kept import Ask, Shared, forget, keep, run_kept
from crosswind.run.progress import Listener
from crosswind.scenario import Scenario, parse_assignment

#: What to do after an interruption.
GO_ON = "the same command makes what is missing"
#: Below an experiment's folder, until it is finished: runs of others that it compares itself with.
COMPANIONS = "companions"
#: What is said of an experiment some values of which were changed.
CHANGED = "changed"
#: Beside written scenarios, for editors.
SCHEMA_FILE = "scenario.schema.json"


@dataclass(frozen=True)
class Plan:
    """How an experiment is to be run; None means its own value.

    `size="quick"` takes a tenth of its repetitions, and scales it down where it says how.
    `variant` names another reading of its source; with
    `readings="all"` every one is run beside the suggested one. `figures`: in the report and as files (of the
    `formats` named), in the report only, or not at all. `fresh` names experiments whose results lie beside this one's
    and may be read. `shared`: runs that others ask for too. `again`: make also the runs that lie in the folder
    already (the same scenarios and seeds, by this build of the engine). `changes`: `path=value`, applied to every
    configuration: then it is another experiment than the published one, and says so.
    """

    reps: int | None = None
    size: Literal["full", "quick"] = "full"
    seed: int | None = None
    workers: int | None = None
    variant: str = ""
    ties: Ties = "fixed"
    readings: Literal["one", "all"] = "one"
    figures: Literal["files", "report", "none"] = "files"
    formats: Sequence[Format] = ()
    fresh: frozenset[str] = frozenset()
    shared: Shared | None = None
    again: bool = False
    changes: tuple[str, ...] = ()

    def variants(self, experiment: Experiment) -> list[str]:
        """The readings that are run, the main one as ""."""
        return ["", *experiment.variants] if self.readings == "all" else [self.variant]

    def ask(self, experiment: Experiment) -> Ask:
        """Which runs of each configuration are wanted."""
        reps = self.reps or (experiment.quick_reps if self.size == "quick" else experiment.reps)
        return Ask(
            self.seed if self.seed is not None else experiment.seed, reps, self.ties, self.workers, experiment.block
        )

    def configurations(self, experiment: Experiment, variant: str) -> dict[str, Scenario]:
        """What is run of an experiment, by label. Raises InputError where a change does not fit."""
        return changed(experiment.configurations(**experiment.settings(variant, self.size)), self.changes)


def changed(configurations: Mapping[str, Scenario], changes: Sequence[str]) -> dict[str, Scenario]:
    """The configurations with every `path=value` applied."""
    values = dict(parse_assignment(c) for c in changes)
    return {label: s.with_(values) if values else s for label, s in configurations.items()}


@dataclass(frozen=True)
class Outcome:
    """A finished experiment. `rows` are the rows of the claim table; `readings` begins with the one they belong to."""

    experiment: Experiment
    results: Results
    checked: Sequence[Checked]
    rows: list[dict[str, Any]]
    folder: Path
    readings: Sequence[Reading] = ()

    @property
    def name(self) -> str:
        return str(self.rows[0]["experiment"]) if self.rows else self.experiment.id


def reproduce(
    experiment: Experiment, out: Path, plan: Plan, *, command: str = "", progress: Listener | None = None
) -> Outcome:
    """Runs all configurations and writes everything under `out`; of an earlier try only what is missing.

    Raises InputError for an unknown variant or an unwritable folder; after saving, InterruptedRunError on Ctrl-C and
    RunFailedError when a run broke down.
    """
    _check_variant(experiment, plan)
    if plan.changes:
        plan.configurations(experiment, plan.variant)  # what does not fit is refused before anything is written
    with results_in(out):
        return _reproduce(experiment, out, plan, command, progress)


def _check_variant(experiment: Experiment, plan: Plan) -> None:
    if plan.variant and plan.variant not in experiment.variants:
        raise InputError(
            "--variant",
            found=f"`{plan.variant}`",
            expected=f"one of {', '.join(experiment.variants) or '(none for this experiment)'}",
            hint=did_you_mean(plan.variant, experiment.variants),
        )


def _reproduce(experiment: Experiment, out: Path, plan: Plan, command: str, progress: Listener | None) -> Outcome:
    wanted = plan.variants(experiment)
    first = _run(experiment, out, plan, wanted[0], _stretch(progress, 0, len(wanted)))
    others = []
    for i, variant in enumerate(wanted[1:], start=1):
        runs = _run(experiment, out / "variants" / variant, plan, variant, _stretch(progress, i, len(wanted)))
        others.append(_conclude_briefly(experiment, runs, out / "variants" / variant, plan))
    first.manifest["readings"] = [o.as_dict() for o in others]
    return conclude(experiment, first, out, command, plan)


def _stretch(progress: Listener | None, number: int, of: int) -> Listener | None:
    """Makes the progress of one of several readings part of the whole."""
    return progress and (lambda done, total: progress(number * total + done, of * total))


def _run(experiment: Experiment, out: Path, plan: Plan, variant: str, progress: Listener | None) -> Runs:
    ask = plan.ask(experiment)
    configurations = plan.configurations(experiment, variant)
    runs = run_kept(configurations, ask, folder=out, shared=plan.shared, progress=progress, again=plan.again)
    runs.manifest["experiment"] = experiment.id
    runs.manifest["variant"] = variant or MAIN
    runs.manifest["block"] = experiment.block
    runs.manifest["size"] = plan.size
    if plan.changes:
        runs.manifest["changes"] = list(plan.changes)
        runs.manifest["warnings"].append(f"{CHANGED}: {', '.join(plan.changes)}; its claims were made without that")
    if experiment.quick and plan.size == "quick":
        runs.manifest["warnings"].append(f"scaled down: {experiment.quick.title}")
    if ask.reps < experiment.reps:
        runs.manifest["warnings"].append(f"{ask.reps} {FEWER} {experiment.reps}")
    if runs.interrupted:
        if plan.shared is None:
            keep(runs, out)
        else:  # what is shared goes with the command
            _save(runs, out)
        raise InterruptedRunError(f"interrupted: {runs.manifest['runs']} finished runs are kept in {out}; {GO_ON}")
    if runs.failed:
        # Claims about what is left would be claims about another experiment.
        _save(runs, out)
        runs.raise_failed(out)
    return runs


def _check(
    experiment: Experiment, runs: Runs, out: Path, plan: Plan
) -> tuple[Results, list[Checked], list[dict[str, Any]]]:
    results = _derive(experiment, runs, out, plan)
    checked = [claim.check(results) for claim in experiment.claims]
    variant = runs.manifest.get("variant", MAIN)
    marks = [*([] if variant == MAIN else [variant]), *([CHANGED] if runs.manifest.get("changes") else [])]
    name = f"{experiment.id} ({', '.join(marks)})" if marks else experiment.id
    rows = [c.row(name, float(runs.manifest.get("wall_s", 0.0))) for c in checked]
    if CHANGED in marks:
        rows = [{**r, "changed": ", ".join(runs.manifest["changes"])} for r in rows]
    flat = [{k: (json.dumps(v) if k == "parts" else v) for k, v in r.items()} for r in rows]
    runs.extra = {**results.tables, "claim": pl.DataFrame(flat)}
    return results, checked, rows


def _derive(experiment: Experiment, runs: Runs, out: Path, plan: Plan) -> Results:
    """The tables of finished runs. Raises InputError, with the runs kept, where a change is nothing for them."""
    results = _tables(experiment, runs)
    if isinstance(results.trouble, BrokenClaimError) and runs.manifest.get("changes"):
        _save(runs, out)
        raise InputError(
            "--set",
            found=f"values that the tables of {experiment.id} are not made for ({results.trouble})",
            expected="others",
            hint=f"the runs are kept in {out}; --write-scenarios writes them as files for `crosswind run` and `sweep`",
        ) from results.trouble
    results.others = _companions(experiment, runs, out, plan)
    return results


def _tables(experiment: Experiment, runs: Runs) -> Results:
    """Runs with their tables. Where these cannot be made, no run is lost, and whoever asks for a table is told why."""
    try:
        return Results(runs, experiment.tables(runs))
    except CrosswindError:
        raise
    except (MissingDataError, BrokenClaimError) as trouble:
        return Results(runs, {}, trouble=trouble)
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        return Results(runs, {}, trouble=BrokenClaimError(f"no tables: {type(e).__name__}: {e} ({where})"))


def _companions(experiment: Experiment, runs: Runs, out: Path, plan: Plan) -> dict[str, Results]:
    """The results of the experiments that this one compares itself with, made in the same way as `runs`."""
    variant = str(runs.manifest.get("variant", MAIN))
    reps = int(runs.manifest["reps"])
    most = reps if reps < experiment.reps else None
    found = {}
    for id in sorted(experiment.companions()):
        name = id.split("/")[1]
        beside = _beside(name, out, plan, variant)
        if id in plan.fresh and (beside / "manifest.json").is_file():
            saved = Runs.load(beside)
            found[name] = Results(Runs({}, saved.scenarios, saved.manifest), saved.extra)
        else:
            found[name] = _companion(catalogue.of_study(id)[id], runs.manifest, most, out, beside, plan)
    return found


def _beside(name: str, out: Path, plan: Plan, variant: str) -> Path:
    """Where a campaign puts another experiment of the study in the same reading; `out` is where it puts this one's."""
    if plan.readings == "all" and variant != MAIN:
        return out.parents[2] / name / "variants" / variant
    return out.parent / name


def _companion(
    experiment: Experiment, m: Mapping[str, Any], most: int | None, out: Path, beside: Path, plan: Plan
) -> Results:
    """Tables of an experiment without its runs, made as those that `m` tells of, with `most` repetitions.

    Runs that lie `beside` are read. A reading that it does not have changes nothing in it.
    """
    name, size = experiment.id, str(m.get("size", "full"))
    reps = min(most or experiment.reps, experiment.reps)
    ask = Ask(int(m["seed"]), reps, m.get("ties", "fixed"), plan.workers, experiment.block)
    settings = experiment.settings(str(m.get("variant", MAIN)), size)
    configurations = changed(experiment.configurations(**settings), m.get("changes", ()))
    place = out / COMPANIONS / name.split("/")[1]
    runs = run_kept(configurations, ask, folder=place, also=beside, shared=plan.shared, again=plan.again)
    runs.manifest["size"] = size
    if runs.interrupted:
        raise InterruptedRunError(f"interrupted while running {name}: finished runs are kept in {out}; {GO_ON}")
    runs.raise_failed(f"no folder: they were made for another experiment than {name}")
    results = _tables(experiment, runs)
    results.runs = Runs({}, runs.scenarios, runs.manifest)
    return results


def _save(runs: Runs, out: Path, rows: list[dict[str, Any]] | None = None) -> None:
    """Writes tables and claims; the single runs that they hold or are compared with need not be kept any longer."""
    runs.save(out, {"claims.json": json.dumps(rows, indent=1, ensure_ascii=False) + "\n"} if rows is not None else {})
    forget(out)
    if rows is not None and (out / COMPANIONS).is_dir():
        for companion in (out / COMPANIONS).iterdir():
            forget(companion)
            _remove_empty(companion)
        _remove_empty(out / COMPANIONS)


def _remove_empty(folder: Path) -> None:
    """Removes a folder unless somebody has put something into it."""
    with suppress(OSError):
        folder.rmdir()


def _conclude_briefly(experiment: Experiment, runs: Runs, out: Path, plan: Plan) -> Reading:
    """Tables and claims without figures and report."""
    results, checked, rows = _check(experiment, runs, out, plan)
    found = reading(experiment, str(runs.manifest["variant"]), results, checked)
    runs.manifest["reading"] = found.as_dict()
    _save(runs, out, rows)
    return found


def _pictures(experiment: Experiment, results: Results) -> list[Picture]:
    """The figures of an experiment; with a warning for what is left out, as a package or what they show is missing."""
    warnings = results.runs.manifest["warnings"]
    try:
        return [p for p in experiment.figures(results) if _can_be_drawn(p, warnings)]
    except (MissingExtraError, MissingDataError, BrokenClaimError) as e:
        warnings.append(f"the figures are left out: {e}")
        return []


def _can_be_drawn(picture: Picture, warnings: list[str]) -> bool:
    """Draws what the report cannot show as a chart: a plain installation has nothing for that."""
    try:
        if not (picture.charts or picture.matrix):
            picture.svg()
    except MissingExtraError as e:
        warnings.append(f"figure {picture.name} is left out: {e}")
        return False
    return True


def write_scenarios(experiment: Experiment, plan: Plan, folder: Path) -> list[Path]:
    """Writes what would be run: `folder/<study>/<experiment>/<configuration>.toml` for each configuration."""
    _check_variant(experiment, plan)
    into = prepare_out(folder / experiment.id)
    ask = plan.ask(experiment)
    (folder / SCHEMA_FILE).write_text(f"{json.dumps(schema(), indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    changes = f", {CHANGED}: {', '.join(plan.changes)}" if plan.changes else ""
    reading = f" ({plan.variant})" if plan.variant else ""
    files: dict[Path, str] = {}
    for label, scenario in plan.configurations(experiment, plan.variant).items():
        slug = re.sub(r"[^A-Za-z0-9.+-]+", "-", label).strip("-") or "configuration"
        same = sum(f.stem == slug or f.stem.startswith(f"{slug}--") for f in files)
        up = "../" * len(Path(experiment.id).parts)
        what = f"#:schema {up}{SCHEMA_FILE}\n# {experiment.id}{reading}: {label}{changes}."
        head = f"{what} As the experiment runs it: --reps {ask.reps} --seed {ask.seed}\n\n"
        files[into / f"{slug}{f'--{same + 1}' if same else ''}.toml"] = head + scenario.to_toml()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files)


def conclude(experiment: Experiment, runs: Runs, out: Path, command: str = "", plan: Plan = Plan()) -> Outcome:
    """Checks the claims on finished runs and writes tables, figures and report."""
    results, checked, rows = _check(experiment, runs, out, plan)
    own = reading(experiment, str(runs.manifest.get("variant", MAIN)), results, checked)
    runs.manifest["reading"] = own.as_dict()
    readings = [own, *(Reading(**r) for r in runs.manifest.get("readings", []))]
    for row in rows:
        row["grade"] = experiment.grades.get(row["claim"], "")
        row["readings"] = {r.name: r.verdicts[row["claim"]] for r in readings[1:] if row["claim"] in r.verdicts}
    _save(runs, out, rows)
    pictures = _pictures(experiment, results) if plan.figures != "none" else []
    html = reproduction_report(
        experiment, runs, checked, pictures, command=command, formats=plan.formats, readings=readings
    )
    report.write(out, html, pictures if plan.figures == "files" else [], command, plan.formats)
    figures.close_all(pictures)
    return Outcome(experiment, results, checked, rows, out, readings)
