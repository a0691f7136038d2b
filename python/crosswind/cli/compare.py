"""`crosswind compare`: two results side by side, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import (
    FormatsOption,
    JsonOption,
    OutOption,
    command_line,
    formats_of,
    print_json,
    print_table,
    results_of,
)
from crosswind.errors import InputError
from crosswind.results.folder import prepare_out

EPILOG = "Example: crosswind compare out/new out/old --out out/compared   (in a sweep: compare out/limits --by preset)"


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=EPILOG)(compare)


def compare(
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A folder of results.")],
    old: Annotated[Path | None, typer.Argument(metavar="OLD", help="What to compare with.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Inside a sweep: compare the values of this column.")] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="With --by: the value to compare with (the first).")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="A metric, e.g. goodput. Repeatable.")] = None,
    out: OutOption = None,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> None:
    """Compares results: differences with intervals, effect sizes and n; paired where they share random numbers."""
    from crosswind.report import comparison as compare_runs

    if (old is None) == (by is None):
        found = "OLD and --by" if old is not None else "neither OLD nor --by"
        raise InputError("compare", found=found, expected="one of the two")
    runs = results_of(new)
    sides = [(str(new), runs)]
    title = "New against old"
    if by is not None:
        title, rows = compare_runs.along(runs, by, base, metric or ())
    else:
        other = results_of(old or new)
        sides.append((str(old), other))
        rows = compare_runs.results(runs, other, metric or ())
    if not rows:
        raise InputError("compare", found="no flow in both", expected="results with the same flow groups")
    if out is not None:
        page = compare_runs.write(rows, prepare_out(out), sides, title, command_line(), formats_of(formats))
    if json:
        print_json([r.as_dict() for r in rows])
        return
    print_table(compare_runs.table(rows, title))
    if out is not None:
        print(page)
