"""`crosswind evaluate`: what RFC 9743 asks of a congestion control, beside others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import (
    FormatsOption,
    JsonOption,
    RepsOption,
    WorkersOption,
    command_line,
    formats_of,
    print_json,
    print_table,
    suite_folder,
)
from crosswind.errors import EXIT_DONE, InterruptedRunError

EPILOG = "Example: crosswind evaluate bbr --against cubic --quick --out out/bbr"


def register(app: typer.Typer) -> None:
    app.command("evaluate", epilog=EPILOG)(evaluate)


def evaluate(
    law: Annotated[
        str,
        typer.Argument(
            metavar="LAW", help="A law, a preset, a table such as '{ law = \"htcp\" }', or a .toml or .py file."
        ),
    ],
    against: Annotated[str, typer.Option("--against", metavar="A,B", help="Others beside it.")] = "",
    case: Annotated[list[str] | None, typer.Option("--case", help="Only this case, e.g. fairness. Repeatable.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="30 s and six repetitions instead of 90 s and ten.")] = False,
    reps: RepsOption = None,
    workers: WorkersOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for tables, figures and report.")] = None,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> int:
    """Puts the questions of RFC 9743 to a congestion control and to others beside it: a matrix and one report.

    After an interruption the same command makes only the runs that are missing.
    """
    from crosswind.run.progress import Bar
    from crosswind.suites import evaluate_page, outcomes
    from crosswind.suites.evaluate import AGAINST
    from crosswind.suites.evaluate import evaluate as put_to_it

    files = formats_of(formats)
    others = [a.strip() for a in against.split(",") if a.strip()] or AGAINST
    folder = out or suite_folder("evaluate", law)
    with Bar("evaluate") as bar:
        found = put_to_it(
            law, against=others, cases=case or (), quick=quick, reps=reps, workers=workers, out=folder, progress=bar
        )
    if found.runs.interrupted:
        made = f"{found.runs.manifest['runs']} runs are finished and kept in {folder}"
        raise InterruptedRunError(f"interrupted: {made}; the same command goes on from there")
    written = evaluate_page.write(found, folder, command_line(), files)
    if json:
        print_json(outcomes.as_json(found.rows, found.verdicts))
    else:
        print_table(evaluate_page.matrix(found))
        print(f"report: {written}")
    found.runs.raise_failed(folder)
    return EXIT_DONE
