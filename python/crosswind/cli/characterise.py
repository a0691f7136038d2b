"""`crosswind characterise`: what RFC 7928 asks of a queue, beside other queues."""

from __future__ import annotations

from dataclasses import replace
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

EPILOG = "Example: crosswind characterise codel --against droptail,fq-codel --quick --out out/codel"


def register(app: typer.Typer) -> None:
    app.command("characterise", epilog=EPILOG)(characterise)


def characterise(
    queue: Annotated[
        str,
        typer.Argument(
            metavar="QUEUE", help='A name, a table such as \'{ type = "codel", target = "2 ms" }\', or a file.'
        ),
    ],
    against: Annotated[
        str, typer.Option("--against", metavar="A,B", help="Queues beside it: names or files.")
    ] = "droptail,fq-codel",
    case: Annotated[list[str] | None, typer.Option("--case", help="Only this case, e.g. rrul. Repeatable.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="40 s and six repetitions instead of 120 s and ten.")] = False,
    ecn: Annotated[bool, typer.Option("--ecn", help="All senders ask for ECN.")] = False,
    reps: RepsOption = None,
    workers: WorkersOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for tables, figures and report.")] = None,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> int:
    """Runs the scenarios of RFC 7928 with a queue and with others beside it; one report of delay, use and fairness.

    After an interruption the same command makes only the runs that are missing.
    """
    from crosswind.run.progress import Bar
    from crosswind.suites import QUICK, WHOLE, measured, page
    from crosswind.suites.characterise import characterise as put_to_it

    files = formats_of(formats)
    setting = replace(QUICK if quick else WHOLE, ecn="on" if ecn else "off")
    others = [a.strip() for a in against.split(",") if a.strip()]
    folder = out or suite_folder("characterise", queue)
    with Bar("characterise") as bar:
        found = put_to_it(
            queue, against=others, cases=case or (), setting=setting, reps=reps, workers=workers, out=folder,
            progress=bar,
        )  # fmt: skip
    if found.runs.interrupted:
        made = f"{found.runs.manifest['runs']} runs are finished and kept in {folder}"
        raise InterruptedRunError(f"interrupted: {made}; the same command goes on from there")
    written = page.write(found, folder, command_line(), files)
    if json:
        print_json(measured.as_json(found.rows, found.verdicts))
    else:
        print_table(page.matrix(found))
        print(f"report: {written}")
    found.runs.raise_failed(folder)
    return EXIT_DONE
