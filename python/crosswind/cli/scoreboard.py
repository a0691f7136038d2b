"""`crosswind scoreboard`: all reproduced claims on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, print_json
from crosswind.results.folder import prepare_out

EPILOG = "Example: crosswind scoreboard out   (after: crosswind reproduce jarvinen-2006 --quick)"


def register(app: typer.Typer) -> None:
    app.command("scoreboard", epilog=EPILOG)(make)


def make(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with reproductions below it.")] = Path("out"),
    json: JsonOption = False,
) -> None:
    """Writes scoreboard.html: every claim with published, measured, interval, verdict and the command to repeat it."""
    from crosswind.reproduce import scoreboard

    rows = scoreboard.collect(folder)
    if json:
        print_json(rows)
        return
    print(scoreboard.write(rows, prepare_out(folder)))
