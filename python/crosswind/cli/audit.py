"""`crosswind audit`: a congestion control before the clauses of the standards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import (
    FormatsOption,
    JsonOption,
    WorkersOption,
    command_line,
    formats_of,
    print_json,
    print_table,
    suite_folder,
)
from crosswind.errors import EXIT_DONE, EXIT_FAILED

EPILOG = "Example: crosswind audit cubic --case cubic --out out/cubic"


def register(app: typer.Typer) -> None:
    app.command("audit", epilog=EPILOG)(audit)


def audit(
    body: Annotated[
        str,
        typer.Argument(
            metavar="BODY",
            help="A law, a preset, a table such as '{ law = \"htcp\" }', a file, or a stack (quinn, noq, smoltcp), "
            "or this machine's kernel (kernel, kernel:cubic).",
        ),
    ],
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this case, or all of a document (cubic). Repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Base seed of all random streams.")] = 1,
    workers: WorkersOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for figures and report.")] = None,
    qlog: Annotated[
        bool, typer.Option("--qlog", help="Keep what quinn or noq logs of the first run of a case: OUT/qlog/CASE/.")
    ] = False,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> int:
    """Does it what the standards say? Cases with a clause each: CUBIC, Reno, slow start, recovery, timers, ECN, pacing.

    Exit code 1: a broken must, or a broken number that a clause leaves no choice of.
    """
    from crosswind.run.progress import Bar
    from crosswind.suites.clauses import page
    from crosswind.suites.clauses.examine import audit as examine

    files = formats_of(formats)
    folder = out or suite_folder("audit", body)
    with Bar("audit") as bar:
        found = examine(body, cases=case or (), seed=seed, workers=workers, progress=bar, logs=folder if qlog else None)
    written = page.write(found, folder, command_line(), files)
    if json:
        print_json({"body": found.body, "seed": found.seed, "cases": found.rows()})
    else:
        print_table(page.table(found))
        print(f"report: {written}")
    return EXIT_FAILED if found.failed else EXIT_DONE
