"""`crosswind validate`: is this scenario file right?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, SetOption, changed, print_json

EPILOG = "Example: crosswind validate scenarios/gprs.toml"


def register(app: typer.Typer) -> None:
    app.command("validate", epilog=EPILOG)(validate)


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="SCENARIO.toml...", help="Scenario files.")],
    assign: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Checks scenario files; with --json prints them with every default filled in."""
    normal = {str(f): changed(f, assign).validate() for f in files}
    if json:
        print_json(next(iter(normal.values())) if len(normal) == 1 else normal)
        return
    for name, data in normal.items():
        flows = sum(int(f.get("count", 1)) for f in data.get("flow", {}).values())
        print(f"{name}: ok ({flows} flow{'s' if flows != 1 else ''}, duration {data.get('duration', '-')})")
