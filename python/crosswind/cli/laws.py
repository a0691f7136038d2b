"""`crosswind laws`: average windows and shapes of all window laws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command(epilog="Example: crosswind laws --out out/laws")
    def laws(
        out: Annotated[Path, typer.Option(help="Folder for the figures and the table.")] = Path("out/laws"),
        events: Annotated[int, typer.Option(min=20, help="Random losses per point of the response functions.")] = 400,
    ) -> None:
        """Measure the response function of every window law (p from 1e-7 to 0.1) and draw its window over time."""
        from crosswind import responses

        out.mkdir(parents=True, exist_ok=True)
        table = responses.measured(events)
        table.write_csv(out / "responses.csv")
        windows = responses.windows_over_time()
        pages = [responses.page(law, *line) for law, line in windows.items()]
        for picture in (responses.overview(table), responses.shapes(windows), *pages):
            picture.figure.savefig(out / f"{picture.name}.svg")
            picture.close()
        typer.echo(f"{table.height} points; figures and responses.csv in {out}")
