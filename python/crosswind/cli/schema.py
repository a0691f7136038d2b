"""`crosswind schema`: what a scenario file may hold, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from crosswind.core import schema
from crosswind.results.folder import prepare_out

EPILOG = "Example: crosswind schema --out scenario.schema.json   (and in the file: #:schema scenario.schema.json)"


def register(app: typer.Typer) -> None:
    app.command("schema", epilog=EPILOG)(make)


def make(
    out: Annotated[Path | None, typer.Option("--out", help="A file to write it to, instead of stdout.")] = None,
) -> None:
    """Prints the JSON Schema of scenario files. Editors that know TOML complete keys and mark mistakes with it."""
    text = json.dumps(schema(), indent=1, ensure_ascii=False)
    if out is None:
        print(text)
        return
    prepare_out(out.parent)
    out.write_text(f"{text}\n", encoding="utf-8")
    print(out)
