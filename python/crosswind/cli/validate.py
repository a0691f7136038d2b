"""`crosswind validate`: is this scenario file right?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from crosswind.cli.shared import JsonOption, SetOption, changed, print_json
from crosswind.errors import InputError
from crosswind.run.wanted import seed_of

EPILOG = "Example: crosswind validate scenarios/gprs.toml"


def register(app: typer.Typer) -> None:
    app.command("validate", epilog=EPILOG)(validate)


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="SCENARIO.toml...", help="Scenario files.")],
    assign: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Checks scenario files and their [sweep] tables; with --json prints them with every default filled in."""
    from crosswind.sweep.design import from_table

    normal: dict[str, dict[str, Any]] = {}
    wrong: list[InputError] = []
    for f in files:
        try:
            scenario = changed(f, assign)
            normal[str(f)] = scenario.validate()
            seed_of(scenario)
            from_table(scenario.sweep, str(f))
        except InputError as e:
            wrong.append(e)
    for earlier in wrong[:-1]:
        print(f"crosswind: {earlier}", file=sys.stderr)
    if wrong:
        raise wrong[-1]
    if json:
        print_json(next(iter(normal.values())) if len(normal) == 1 else normal)
        return
    for name, data in normal.items():
        flows = sum(int(f.get("count", 1)) for f in data.get("flow", {}).values())
        print(f"{name}: ok ({flows} flow{'s' if flows != 1 else ''}, duration {data.get('duration', '-')})")
