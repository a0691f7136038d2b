"""`crosswind reproduce`: a published experiment, its claims checked one by one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from crosswind.claims import VERDICTS, count
from crosswind.cli.shared import (
    VERDICT_STYLE,
    JsonOption,
    OutOption,
    RepsOption,
    SeedOption,
    ShuffleOption,
    WorkersOption,
    command_line,
    console,
    print_json,
    print_table,
)
from crosswind.core import version
from crosswind.errors import EXIT_DONE, EXIT_FAILED, InputError
from crosswind.progress import Bar

if TYPE_CHECKING:
    from crosswind.experiments.base import Experiment
    from crosswind.reproduce import Outcome

EPILOG = "Example: crosswind reproduce jarvinen-2006/w2-e0 --out out/w2   (all experiments: crosswind reproduce all)"
MARKDOWN = Path("REPRODUCTION.md")


def register(app: typer.Typer) -> None:
    app.command("reproduce", epilog=EPILOG)(reproduce)


def reproduce(
    name: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="An id, a source such as jarvinen-2006, or all.")],
    reps: RepsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the repetitions: a first look.")] = False,
    seed: SeedOption = None,
    variant: Annotated[str, typer.Option("--variant", help="Another reading of what the source leaves open.")] = "",
    variants: Annotated[
        bool, typer.Option("--variants", help="Run every other reading too, and compare the verdicts.")
    ] = False,
    out: OutOption = None,
    workers: WorkersOption = None,
    shuffle_ties: ShuffleOption = False,
    json: JsonOption = False,
) -> int:
    """Runs published experiments; prints published | measured | verdict; writes figures, report.html, claim tables.

    With `all`, also writes REPRODUCTION.md here.
    Exit code 1 when a claim fails.
    """
    from crosswind import experiments, report  # loads matplotlib
    from crosswind.reproduce import Plan
    from crosswind.reproduce import reproduce as run_experiment

    chosen = experiments.find(name)
    if quick and reps:
        raise InputError("--quick", found=f"--quick with --reps {reps}", expected="one of the two")
    if variant and variants:
        raise InputError("--variants", found=f"--variants with --variant {variant}", expected="one of the two")
    began = time.monotonic()
    rows: list[dict[str, Any]] = []
    readings: dict[str, Any] = {}
    for experiment in chosen:
        folder = out / experiment.id if out and len(chosen) > 1 else out or Path("out") / experiment.id
        plan = Plan(
            reps=experiment.quick_reps if quick else reps,
            seed=seed,
            workers=workers,
            variant=variant,
            ties="shuffled" if shuffle_ties else "fixed",
            readings="all" if variants else "one",
        )
        with Bar(experiment.id) as bar:
            outcome = run_experiment(experiment, folder, plan, command=command_line(), progress=bar)
        rows += outcome.rows
        readings[outcome.name] = outcome.readings
        if not json:
            _print(experiment, outcome)
    if name.strip() == "all":
        text = report.markdown_reproduction(rows, readings, time.monotonic() - began, version())
        MARKDOWN.write_text(text, encoding="utf-8")
    if json:
        print_json(rows)
    elif len(chosen) > 1:
        console().print(Text(_counts(rows), style="bold"))
    return EXIT_FAILED if count(rows)["fail"] else EXIT_DONE


def _counts(rows: list[dict[str, Any]]) -> str:
    n = count(rows)
    return f"{len(rows)} claims: " + ", ".join(f"{n[v]} {v}" for v in VERDICTS if n[v])


def _print(experiment: Experiment, outcome: Outcome) -> None:
    from crosswind.readings import comparison

    screen = console()
    screen.print(Text(f"{outcome.name}: {experiment.title}", style="bold"))
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=False)
    for head, ratio in (("claim", 1), ("statement", 5), ("published", 4), ("measured", 6), ("verdict", 2)):
        table.add_column(head, ratio=ratio, overflow="fold", no_wrap=head == "claim")
    for checked in outcome.checked:
        measured = Text()
        for i, m in enumerate(checked.parts):
            style = VERDICT_STYLE[m.verdict] if m.verdict != "pass" and checked.verdict != "withheld" else ""
            band = "" if m.verdict == "pass" else f" (accepted {m.part.show_band()})"
            measured.append(("\n" if i else "") + m.text() + band, style=style)
        if not checked.parts:
            measured.append(checked.measured(), style="dim")
        table.add_row(
            checked.claim.id,
            Text(checked.claim.statement),
            Text(checked.claim.published),
            measured,
            Text(checked.verdict, style=VERDICT_STYLE[checked.verdict]),
        )
    screen.print(table)
    if compared := comparison(outcome.readings):
        print_table(compared)
    manifest = outcome.results.runs.manifest
    for warning in manifest["warnings"]:
        screen.print(Text(f"warning: {warning}", style="yellow"))
    screen.print(
        Text(
            f"{_counts(outcome.rows)}; {manifest['runs']} runs in {manifest['wall_s']:.1f} s; "
            f"report: {outcome.folder / 'report.html'}"
        )
    )
