"""`crosswind doctor`: what works on this machine."""

from __future__ import annotations

import typer
from rich.text import Text

from crosswind.cli.shared import JsonOption, console, print_json
from crosswind.errors import EXIT_DONE, EXIT_ENVIRONMENT

EPILOG = "Example: crosswind doctor"


def register(app: typer.Typer) -> None:
    app.command("doctor", epilog=EPILOG)(look)


def look(json: JsonOption = False) -> int:
    """Says what works on this machine and how to get what does not. Exit code 3 when something needed is missing."""
    from crosswind.cli.findings import findings

    found = list(findings())
    if json:
        print_json([{**vars(f), "works": f.works} for f in found])
    else:
        screen = console()
        for f in found:
            style = "green" if f.works else "bold red" if f.need == "needed" else "yellow"
            line = Text(f"{f.word:<8}", style=style) + Text(f"{f.what:<32} {f.found}")
            if not f.works and f.help:
                line += Text(f"; {f.help}", style="dim")
            screen.print(line, soft_wrap=True)
    return EXIT_ENVIRONMENT if any(not f.works and f.need == "needed" for f in found) else EXIT_DONE
