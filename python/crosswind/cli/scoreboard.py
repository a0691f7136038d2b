"""`crosswind scoreboard`: all reproduced claims on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, print_json
from crosswind.results.folder import prepare_out

EPILOG = "Example: crosswind scoreboard out --pages docs/reproduction   (after: crosswind reproduce all)"


def register(app: typer.Typer) -> None:
    app.command("scoreboard", epilog=EPILOG)(make)


def make(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR..", help="Folders with reproductions below them. Default: out.")
    ] = None,
    pages: Annotated[
        Path | None, typer.Option("--pages", help="Write a page for each study to this folder too, and their index.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Writes scoreboard.html: every claim with published, measured, interval, verdict and the command to repeat it.

    Studies may have been run at separate times and into separate folders; nothing is run here. The scoreboard goes into
    the first folder.
    """
    from crosswind.reproduce import pages as reproduction
    from crosswind.reproduce import scoreboard
    from crosswind.reproduce.gathered import gather

    places = folders or [Path("out")]
    found = gather(places)
    if pages is not None:
        for page in reproduction.refresh(places, pages):
            print(page)
    if json:
        print_json(found.rows)
        return
    print(scoreboard.write(found.rows, prepare_out(places[0])))
