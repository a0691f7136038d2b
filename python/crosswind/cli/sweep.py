"""`crosswind sweep`: many combinations of values, resumable; `crosswind query`: SQL on the results."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from crosswind.cli.shared import (
    FormatsOption,
    JsonOption,
    RepsOption,
    SeedOption,
    SetOption,
    ShuffleOption,
    WorkersOption,
    changed,
    command_line,
    console,
    formats_of,
    print_json,
    print_table,
    results_of,
)
from crosswind.errors import EXIT_DONE, EXIT_FAULT, InputError
from crosswind.figures.charts import Format
from crosswind.run.progress import Bar
from crosswind.scenario import Scenario
from crosswind.sweep import Sweep
from crosswind.sweep import design as designs
from crosswind.sweep import sweep as run_sweep
from crosswind.sweep.design import Axis, Design, Range
from crosswind.sweep.summary import rows_of, table_of

EPILOG = (
    "Example: crosswind sweep scenarios/gprs.toml --vary link.last-hop.queue.limit='10 packets,20 packets' "
    "--reps 20 --out out/limits"
)
QUERY_EPILOG = (
    "Example: crosswind query out/limits 'select queue_limit, median(goodput_bps) from flow group by queue_limit'"
)
Paths = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="PATH=A,B,C", help="Values of one path. Repeatable: every combination is run."),
]
Zips = Annotated[
    list[str] | None,
    typer.Option("--zip", metavar="PATH=A,B,C", help="Like --vary, but all --zip paths step together."),
]
Draws = Annotated[
    list[str] | None,
    typer.Option("--draw", metavar="PATH=A..B", help="A range (`1 ms..300 ms log`) or choices to draw --points from."),
]


class Kind(Enum):
    """How points are drawn."""

    random = "random"
    latin_hypercube = "latin-hypercube"


def register(app: typer.Typer) -> None:
    app.command("sweep", epilog=EPILOG)(sweep)
    app.command("query", epilog=QUERY_EPILOG)(query)


def sweep(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    vary: Paths = None,
    zipped: Zips = None,
    draw: Draws = None,
    points: Annotated[int | None, typer.Option("--points", min=1, help="How many points to draw.")] = None,
    kind: Annotated[Kind, typer.Option("--design", help="How --draw draws.")] = Kind.latin_hypercube,
    assign: SetOption = None,
    reps: RepsOption = None,
    precision: Annotated[
        list[str] | None,
        typer.Option("--precision", metavar="METRIC=SHARE", help="Repeat until every mean is that sure: goodput=1%."),
    ] = None,
    reps_max: Annotated[int, typer.Option("--reps-max", min=1, help="Most repetitions for --precision.")] = 1000,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="tcp://HOST:8786", help="A Dask scheduler that runs the work.")
    ] = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out combinations that are no valid scenario.")
    ] = False,
    shuffle_ties: ShuffleOption = False,
    out: Annotated[str | None, typer.Option("--out", help="Folder, or address such as s3://bucket/sweep.")] = None,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> int:
    """Runs every combination of values; what the folder holds already is not run again.

    Without --vary, --zip and --draw, the [sweep] table of the file says what is varied.
    """
    files = formats_of(formats)
    base = changed(scenario, assign)
    chosen = _design(base, vary or [], zipped or [], draw or [], points, kind)
    with Bar(base.name) as bar:
        done = run_sweep(
            base,
            chosen,
            reps=reps,
            seed=seed,
            out=out,
            workers=workers,
            cluster=cluster,
            ties="shuffled" if shuffle_ties else "fixed",
            precision=precision or (),
            reps_max=reps_max,
            invalid="skip" if skip_invalid else None,
            progress=bar,
        )
    page = _report(done, files)
    if json:
        print_json(rows_of(done))
    else:
        _print(done, page)
    return EXIT_FAULT if done.failed else EXIT_DONE


def _design(
    base: Scenario, vary: list[str], zipped: list[str], draw: list[str], points: int | None, kind: Kind
) -> Design | None:
    """The design of the options; None when there are none, so that the file's own is used."""
    if draw and points is None:
        raise InputError("--draw", found="no --points", expected="how many points to draw, e.g. --points 50")
    if points is not None and not draw:
        raise InputError(
            "--points", found="no --draw", expected="ranges to draw from, e.g. --draw link.x.delay='1 ms..1 s'"
        )
    if not (vary or zipped or draw):
        if not base.sweep:
            raise InputError(
                base.file or base.name, found="no [sweep] table and no --vary", expected="what to vary",
                hint="--vary path=a,b,c",
            )  # fmt: skip
        return None
    out = designs.grid(_axes(vary, "--vary")) * designs.zipped(_axes(zipped, "--zip"))
    if draw:
        make = designs.random if kind is Kind.random else designs.latin_hypercube
        out = out * make(_axes(draw, "--draw"), points=points or 1)
    return out


def _axes(options: list[str], option: str) -> dict[str, Any]:
    axes: dict[str, Axis] = {}
    for text in options:
        path, axis = designs.parse_axis(text, option)
        if path in axes:
            raise InputError(option, path=path, found="two lists of values", expected="one")
        if isinstance(axis, Range) and option != "--draw":
            raise InputError(option, path=path, found="a range", expected="values a,b,c (--draw takes ranges)")
        axes[path] = axis
    return axes


def _report(done: Sweep, formats: Sequence[Format]) -> str:
    from crosswind.results.place import Folder, carry, place
    from crosswind.sweep.report import write  # loads matplotlib

    where = place(done.folder)
    if isinstance(where, Folder):
        return str(write(done, where.path, command_line(), formats))
    with tempfile.TemporaryDirectory() as beside:
        write(done, Path(beside), command_line(), formats)
        carry(Path(beside), where)
    return f"{str(where).rstrip('/')}/report.html"


def _print(done: Sweep, page: str) -> None:
    screen = console()
    print_table(table_of(done))
    for warning in done.runs.manifest["warnings"]:
        screen.print(Text(f"warning: {warning}", style="yellow"))
    if done.impossible:
        screen.print(Text(f"left out: {len(done.impossible)} impossible combinations, e.g. {done.impossible[0]}"))
    m = done.runs.manifest
    kept = f" ({done.kept} of them were there already)" if done.kept else ""
    screen.print(Text(f"{m['runs']} runs{kept}, {m['wall_s']:.1f} s; results in {done.folder}; report: {page}"))


def query(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query over run, flow, link, sample, param, ...")],
    json: JsonOption = False,
) -> None:
    """Asks saved results in SQL; the tables of a sweep have a column for each varied path."""
    from crosswind.sweep.sweeps import query_tables
    from crosswind.table import Table

    runs = results_of(folder)
    answer = query_tables(runs.sources(), sql)
    if json:
        print_json(answer.to_dicts())
        return
    rows = [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row] for row in answer.iter_rows()]
    print_table(Table("", answer.columns, rows))
