"""`crosswind explain`: one effect, run before your eyes, with a figure and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import print_table
from crosswind.table import Table

EPILOG = "Example: crosswind explain slow-start-overshoot   (all: crosswind explain all --out docs/phenomena)"


def register(app: typer.Typer) -> None:
    app.command("explain", epilog=EPILOG)(explain)


def explain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A phenomenon, or all; without one, lists them.")] = "",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the page and its figures.")] = Path(
        "out/phenomena"
    ),
) -> None:
    """Explains a phenomenon: runs a small scenario that shows it and writes a page with time-sequence figures."""
    from crosswind.reproduce import explain as explaining  # loads matplotlib

    if not name:
        print_table(Table("", ["name", "what it shows"], [[k.name, k.title] for k in explaining.registry().values()]))
        return
    chosen = explaining.find(name)
    for one in chosen:
        text, page = explaining.explain(one, out)
        if len(chosen) == 1:
            print(text)
        print(page)
