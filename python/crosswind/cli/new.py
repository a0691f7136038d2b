"""`crosswind new`: the beginnings of something new, as files to be filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from crosswind.cli.shared import console
from crosswind.errors import EXIT_DONE

EPILOG = "Example: crosswind new experiment smith-2024/f3"


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Writes the beginnings of an experiment.", epilog=EPILOG)
    group.command("experiment", epilog=EPILOG)(experiment)
    app.add_typer(group, name="new")


def experiment(
    id: Annotated[str, typer.Argument(metavar="STUDY/NAME", help="The study and the experiment: smith-2024/f3.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="The folder of all studies (default: that of Crosswind).")
    ] = None,
) -> int:
    """Writes an experiment of about 80 lines with its data file of claims; it runs as it is."""
    from crosswind.reproduce import new

    screen = console()
    for path in new.experiment(id, folder or Path(__file__).parent.parent / "experiments"):
        screen.print(Text(f"wrote {path}"))
    screen.print(Text(f"crosswind reproduce {id} runs it; fill in what says FILL IN"))
    return EXIT_DONE
