"""`crosswind bench`: how fast is the engine here, and how fast are others?"""

from __future__ import annotations

from typing import Annotated

import typer

from crosswind import bench as benchmark
from crosswind.cli.shared import JsonOption, print_json, print_table
from crosswind.core import has_hook
from crosswind.errors import CrosswindError
from crosswind.progress import Bar
from crosswind.summary import Table

EPILOG = "Example: crosswind bench --reps 3 --json"
COLUMNS: dict[str, str] = {
    "flows": "flows",
    "rate": "rate",
    "queue": "queue",
    "packets_per_cpu_s": "packets per CPU second",
    "events_per_s": "events per second",
    "bytes_per_flow": "bytes per flow",
    "ratio_ns2": "times ns-2",
    "ratio_ns3": "times ns-3",
}


def register(app: typer.Typer) -> None:
    app.command("bench", epilog=EPILOG)(bench)


def bench(
    reps: Annotated[int, typer.Option(min=1, help="Runs of each cell; medians are printed.")] = 3,
    json: JsonOption = False,
) -> None:
    """Runs the dumbbell at 1 to 1000 flows; prints data packets through the bottleneck per CPU second.

    Ratios compare with ns-2 in the same session, run by run; they stay empty where it is not installed.
    """
    if not has_hook("bench"):
        raise CrosswindError("this build of the engine has no benchmark (crosswind._core.bench)")
    with Bar("benchmark") as step:
        rows = list(benchmark.cases(reps, step))
    if json:
        print_json(rows)
        return
    cells = [[_cell(r.get(name)) for name in COLUMNS] for r in rows]
    print_table(Table("Dumbbell, 60 ms round trip", list(COLUMNS.values()), cells))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if value < 100 else f"{float(f'{value:.3g}'):,.0f}"
