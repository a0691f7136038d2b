"""`crosswind report`: makes the report of saved results again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import FormatsOption, formats_of, results_of
from crosswind.results.folder import lock, prepare_out

EPILOG = "Example: crosswind report out/demo"


def register(app: typer.Typer) -> None:
    app.command("report", epilog=EPILOG)(make)


def make(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    formats: FormatsOption = "",
) -> None:
    """Writes report.html and the figures of saved results again; for an experiment, checks its claims again."""
    from crosswind import report
    from crosswind.reproduce.one import Plan, catalogue, conclude

    files = formats_of(formats)

    runs = results_of(folder)
    with lock(prepare_out(folder)):
        if runs.manifest.get("kind") == "sweep":
            from crosswind.sweep import report as sweep_report
            from crosswind.sweep.sweeps import load

            sweep_report.write(load(folder), folder, formats=files)
            print(folder / "report.html")
            return
        known = catalogue.registry().get(str(runs.manifest.get("experiment", "")))
        # Claims about what is left of an experiment would be claims about another one.
        if known is not None and not (runs.interrupted or runs.failed):
            conclude(known, runs, folder, plan=Plan(formats=files))
        else:
            html, pictures = report.run_report(runs, formats=files)
            report.write(folder, html, pictures, formats=files)
    print(folder / "report.html")
