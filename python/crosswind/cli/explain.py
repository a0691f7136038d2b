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
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A lesson or a phenomenon, or all; without one, lists them.")
    ] = "",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the page and its figures.")] = Path(
        "out/phenomena"
    ),
) -> None:
    """Explains a phenomenon: runs a small scenario that shows it and writes a page with figures and what was measured.

    Lessons are those of `crosswind studio`.
    """
    from crosswind.lessons import registry as lessons
    from crosswind.lessons.page import write
    from crosswind.reproduce import explain as explaining  # loads matplotlib

    if not name:
        rows = [[one.name, one.title] for one in lessons().values()]
        rows += [[one.name, one.title] for one in explaining.registry().values()]
        print_table(Table("", ["name", "what it shows"], rows))
        return
    made = [write(one, out) for key, one in lessons().items() if name in (key, "all")]
    if name not in lessons():
        made += [explaining.explain(one, out) for one in explaining.find(name)]
    for text, page in made:
        if len(made) == 1:
            print(text)
        print(page)
