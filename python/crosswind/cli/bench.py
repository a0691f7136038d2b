"""`crosswind bench`: how fast is the engine here, and how fast are others?"""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from crosswind import bench as benchmarks
from crosswind.bench import all_cells, dumbbell
from crosswind.cli.shared import JsonOption, console, print_json, print_table
from crosswind.core import has_hook
from crosswind.errors import CrosswindError, InputError, did_you_mean
from crosswind.run.progress import Bar
from crosswind.table import Table

EPILOG = "Example: crosswind bench --flows 10 --rate '1 Gbit/s' --queue red"
PARTS = ("dumbbell", *benchmarks.PARTS)
# Of each measurement in real time.
SECONDS_LIVE = 3.0
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
RANGES = ("packets_per_cpu_s", "ratio_ns2")


def register(app: typer.Typer) -> None:
    app.command("bench", epilog=EPILOG)(bench)


class What(Enum):
    """What is measured."""

    simulate = "simulate"
    emulate = "emulate"


def bench(
    what: Annotated[
        What, typer.Argument(metavar="WHAT", help="The simulator, or emulation in real time.")
    ] = What.simulate,
    reps: Annotated[int, typer.Option(min=1, help="Runs of each cell; medians are printed.")] = 3,
    flows: Annotated[list[int] | None, typer.Option(help="Only this number of flows. Repeatable.")] = None,
    rate: Annotated[list[str] | None, typer.Option(help="Only this rate: '100 Mbit/s', '1 Gbit/s'.")] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this queue: droptail, red; adaptive-red, codel, cobalt, fq-codel, fq-pie, fq, drr, pie, pi2,"
            " dualpi2, cake, blue, sfb, sfq, htb, trace."
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help=f"Parts to run: {', '.join(PARTS)}. Repeatable.")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Leave ns-2 and ns-3 out.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs: a look, not a result.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Run all parts, or those of --only, and write performance.md with data and figures."),
    ] = None,
    reference: Annotated[
        bool, typer.Option("--store-instructions", help="Store the instruction counts as the new reference.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Runs the dumbbell at 1 to 1000 flows; prints data packets through the bottleneck per CPU second.

    Ratios compare with ns-2 and ns-3 in the same session, run by run; they stay empty where those are not installed.
    With `emulate`: real packets through emulated links; how late they are, how many a second, how exact the rate is.
    """
    from crosswind.bench import page  # loads matplotlib

    if what is What.emulate:
        _emulate(json)
        return
    if not has_hook("bench"):
        raise CrosswindError("this build of the engine has no benchmark (crosswind._core.bench)")
    cells = all_cells(flows or (), rate or (), queue or ())
    wanted = _parts(only, whole=report is not None)
    settings = page.Settings(
        reps=reps,
        pace="quick" if quick else "full",
        peers="none" if alone else "installed",
        instructions="store" if reference else "compare",
    )
    results: dict[str, Any] = {}
    for part in wanted:
        if part == "dumbbell":
            with Bar("benchmark") as step:
                results[part] = list(dumbbell.cases(reps, cells, step, "ours" if alone else ""))
        else:
            results[part] = page.measure(part, settings, _say)
        if not json:
            _show(part, results[part])
        if report is not None:
            written = page.write({part: results[part]}, settings, report)
    if json:
        print_json(results["dumbbell"] if wanted == ["dumbbell"] else results)
    if report is not None:
        console().print(f"written: {written}")


def _emulate(json: bool) -> None:
    from crosswind.emulate import bench as live

    rows = live.run(SECONDS_LIVE, None if json else lambda row: console().print(Text(live.line(row))))
    if json:
        print_json(rows)


def _parts(only: list[str] | None, whole: bool) -> list[str]:
    for name in only or ():
        if name not in PARTS:
            raise InputError(
                "--only", found=f"`{name}`", expected=f"one of {', '.join(PARTS)}", hint=did_you_mean(name, PARTS)
            )
    if only:
        return [p for p in PARTS if p in only]
    return list(PARTS) if whole else ["dumbbell"]


def _say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


def _show(part: str, result: Any) -> None:
    from crosswind.bench import page  # loads matplotlib

    if part == "dumbbell":
        cells = [[_with_range(r, name) for name in COLUMNS] for r in result]
        notes = sorted({f"{who}: {r[f'{key}_note']}" for r in result for who, key in PEERS if r[f"{key}_note"]})
        print_table(Table("Dumbbell, 60 ms round trip", list(COLUMNS.values()), cells, "; ".join(notes)))
        return
    for table in page.tables(part, result):
        print_table(table)


PEERS = (("ns-2", "ns2"), ("ns-3", "ns3"))


def _with_range(row: dict[str, Any], name: str) -> str:
    from crosswind.bench import page  # loads matplotlib

    text = page.number(row.get(name))
    low, high = row.get(f"{name}_min"), row.get(f"{name}_max")
    if name in RANGES and low is not None and low != high:
        return f"{text} ({page.number(low)}-{page.number(high)})"
    return text
