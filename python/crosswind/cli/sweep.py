"""`crosswind sweep`: a grid of changes to one scenario, resumable."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from crosswind.cli.shared import (
    JsonOption,
    OutOption,
    RepsOption,
    SeedOption,
    SetOption,
    WorkersOption,
    changed,
    print_json,
    print_table,
)
from crosswind.errors import EXIT_DONE, InputError, InterruptedRunError
from crosswind.progress import Bar
from crosswind.run import run as run_scenario
from crosswind.runs import Runs, prepare_out
from crosswind.scenario import Scenario, parse_value
from crosswind.summary import Table, flow_table

EPILOG = (
    "Example: crosswind sweep scenarios/gprs.toml --vary link.last-hop.queue.limit='10 packets,20 packets' "
    "--reps 20 --out out/limits"
)


def register(app: typer.Typer) -> None:
    app.command("sweep", epilog=EPILOG)(sweep)


def sweep(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="PATH=A,B,C", help="Values of one path. Repeatable: every combination is run."),
    ],
    assign: SetOption = None,
    reps: RepsOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> int:
    """Runs every combination of values. Combinations already finished in the folder are not run again."""
    base = changed(scenario, assign)
    folder = prepare_out(out or Path("out") / f"{base.name}-sweep")
    points = [(p, base.with_(dict(p))) for p in grid(vary)]
    for _, s in points:
        s.validate()
    rows: list[dict[str, Any]] = []
    params: list[dict[str, str]] = []
    finished = 0
    try:
        for i, (point, s) in enumerate(points, start=1):
            runs = _one(s, folder, i, len(points), {"seed": seed, "reps": reps or 1, "workers": workers})
            if runs.interrupted:
                raise KeyboardInterrupt
            params += [{"run_id": runs.run_id, "path": path, "value": str(value)} for path, value in point]
            rows += _summary(point, runs)
            finished = i
    except KeyboardInterrupt:
        done = f"{finished} of {len(points)} combinations are finished and kept in {folder}"
        raise InterruptedRunError(f"interrupted: {done}; the same command goes on from there") from None
    pl.DataFrame(params).write_parquet(folder / "param.parquet")
    if json:
        print_json(rows)
    else:
        heads = list(rows[0])
        print_table(
            Table(
                f"{len(points)} combinations, results in {folder}",
                heads,
                [[str(r.get(h, "-")) for h in heads] for r in rows],
            )
        )
    return EXIT_DONE


def grid(vary: list[str]) -> list[tuple[tuple[str, Any], ...]]:
    """Every combination of the `--vary` options. Raises InputError when one is not path=a,b,c."""
    axes: list[list[tuple[str, Any]]] = []
    for option in vary:
        path, eq, values = option.partition("=")
        items = [v for v in values.split(",") if v.strip()]
        if not eq or not path.strip() or not items:
            raise InputError("--vary", found=f"`{option}`", expected="path=a,b,c, e.g. flow.bulk.count=1,2,4")
        axes.append([(path.strip(), parse_value(v)) for v in items])
    return list(itertools.product(*axes))


def _one(s: Scenario, folder: Path, number: int, total: int, options: dict[str, Any]) -> Runs:
    place = (
        folder / f"{s.digest()}-s{options['seed'] if options['seed'] is not None else s.get('seed', 1)}"
        f"-r{options['reps']}"
    )
    if (place / "manifest.json").exists():
        old = Runs.load(place)
        if not old.interrupted:
            return old
    with Bar(f"{s.name} {number}/{total}") as bar:
        runs = run_scenario(s, progress=bar, **options)
    runs.save(place)
    return runs


def _summary(point: tuple[tuple[str, Any], ...], runs: Runs) -> list[dict[str, Any]]:
    table = flow_table(runs)
    if table is None:
        return []
    return [{**dict(point), **dict(zip(table.heads, row, strict=True))} for row in table.rows]
