"""`crosswind explain`: one effect, run before your eyes, with a figure and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        for known in explaining.registry().values():
            print(f"{known.name:28} {known.title}")
        return
    chosen = explaining.find(name)
    for one in chosen:
        text, page = explaining.explain(one, out)
        if len(chosen) == 1:
            print(text)
        print(page)
