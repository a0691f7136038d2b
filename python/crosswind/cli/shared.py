"""What several commands share: options, tables on the terminal, JSON on stdout."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from crosswind.errors import InputError, did_you_mean
from crosswind.figures.charts import FORMATS, Format
from crosswind.scenario import Scenario, parse_assignment
from crosswind.table import Table

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Base seed of all random streams.")]
RepsOption = Annotated[int | None, typer.Option("--reps", min=1, help="Number of repetitions.")]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Threads (default: all cores).")]
OutOption = Annotated[Path | None, typer.Option("--out", help="Folder for tables, figures and report.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Change one value, e.g. link.last-hop.rate='384 kbit/s'. Repeatable."
    ),
]
ShuffleOption = Annotated[
    bool, typer.Option("--shuffle-ties", help="Permute simultaneous events, and say where that decides anything.")
]

FormatsOption = Annotated[
    str,
    typer.Option("--formats", metavar="LIST", help="Figures as files too: some of svg,pdf,png. Default: none."),
]
ReportOption = Annotated[
    bool | None, typer.Option("--report/--no-report", help="Write report.html. Default: yes, but not with --json.")
]

VERDICT_STYLE = {
    "pass": "green",
    "consistent": "cyan",
    "unclear": "yellow",
    "fail": "bold red",
    "withheld": "blue",
    "not yet": "dim",
    "reported": "dim",
    "error": "bold white on red",
}


class Screen(Console):
    """A console that leaves it to the command how it ends when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Stdout for people; wide when it is not a terminal, so that a pipe gets whole rows."""
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Screen(width=wide, highlight=False)


def formats_of(text: str) -> tuple[Format, ...]:
    """What `--formats` names. Raises InputError for another name."""
    words = [w.strip() for w in text.split(",")] if text not in ("", "none") else []
    for w in words:
        if w not in FORMATS:
            expected = f"some of {','.join(FORMATS)}, or none"
            raise InputError("--formats", found=f"`{w}`", expected=expected, hint=did_you_mean(w, FORMATS))
    return tuple(f for f in FORMATS if f in words)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def print_table(table: Table) -> None:
    """A summary table: heads, rows, note."""
    rich = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, head in enumerate(table.heads):
        # Numbers begin with a digit, a sign or a dash for "none"; what begins otherwise is read as words.
        words = any(row[i][:1].isalpha() for row in table.rows)
        rich.add_column(head, justify="left" if i == 0 or words else "right", overflow="fold")
    for row in table.rows:
        rich.add_row(*(Text(cell) for cell in row))
    console().print(rich)
    if table.note:
        console().print(Text(table.note, style="dim"))


def changed(path: Path, assignments: list[str] | None) -> Scenario:
    """A scenario file with the `--set` options applied."""
    scenario = Scenario.load(path)
    return scenario.with_(dict(parse_assignment(a) for a in assignments)) if assignments else scenario


def command_line() -> str:
    """The command as it was typed, for the report."""
    return shlex.join(["crosswind", *sys.argv[1:]]) if Path(sys.argv[0]).name == "crosswind" else ""
