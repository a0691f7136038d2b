"""What several commands share: options, tables on the terminal, JSON on stdout."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from crosswind.errors import InputError, did_you_mean
from crosswind.figures.charts import FORMATS, Format
from crosswind.scenario import Scenario, parse_assignment
from crosswind.table import Table

if TYPE_CHECKING:
    from crosswind.results import Runs

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

AgainOption = Annotated[
    bool, typer.Option("--again", help="Make also the runs that an earlier try of this build has left in --out.")
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
    """Prints a value as JSON, which has no number for what does not exist: NaN becomes null."""
    print(json.dumps(_numbers(value), indent=1, ensure_ascii=False, default=str, allow_nan=False))


def _numbers(value: Any) -> Any:
    """The value with null in the place of NaN and of infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {k: _numbers(v) for k, v in value.items()}
    return [_numbers(v) for v in value] if isinstance(value, list | tuple) else value


def print_table(table: Table) -> None:
    """A summary table: heads, rows, note. One that is too wide is printed in blocks, each with the first columns."""
    screen = console()
    widths = [_least_width(head, [row[i] for row in table.rows]) for i, head in enumerate(table.heads)]
    words = [not i or any(row[i][:1].isalpha() for row in table.rows) for i in range(len(table.heads))]
    whole = [max(map(len, [head, *(row[i] for row in table.rows)])) for i, head in enumerate(table.heads)]
    for number, columns in enumerate(_blocks(widths, words, screen.width)):
        wide = _filled(columns, widths, whole, screen.width)
        title = "" if number else table.title
        rich = RichTable(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        for i in columns:
            # Numbers begin with a digit, a sign or a dash for "none"; what begins otherwise is read as words.
            side: Literal["left", "right"] = "left" if words[i] else "right"
            rich.add_column(table.heads[i], justify=side, overflow="fold", width=wide[i])
        for row in table.rows:
            rich.add_row(*(Text(row[i]) for i in columns))
        screen.print(rich)
    if table.note:
        screen.print(Text(table.note, style="dim"))


#: Characters between two columns, and outside of the first and the last.
BETWEEN, EDGES = 3, 2
#: Cells up to this long stay on one line: a number with its unit.
UNBROKEN = 14


def _least_width(head: str, cells: Sequence[str]) -> int:
    """What a column needs so that no word and no number with its unit is broken."""
    whole = [c for c in cells if len(c) <= UNBROKEN]
    parts = [w for text in (head, *(c for c in cells if len(c) > UNBROKEN)) for w in text.split()]
    return max(map(len, [*whole, *parts]), default=1)


def _blocks(widths: Sequence[int], words: Sequence[bool], width: int) -> list[list[int]]:
    """The columns of each block: those of the first, and behind the leading columns of words as many as fit."""
    lead = next((i for i, word in enumerate(words) if not word), len(words))
    keys = list(range(min(lead, 3, len(widths) - 1)))
    room = width - EDGES - sum(widths[i] + BETWEEN for i in keys)
    blocks: list[list[int]] = []
    left = 0
    for i in range(len(keys), len(widths)):
        if not blocks or widths[i] > left:
            blocks.append([*keys])
            left = room
        blocks[-1].append(i)
        left -= widths[i] + BETWEEN
    return blocks or [keys]


def _filled(columns: Sequence[int], least: Sequence[int], whole: Sequence[int], width: int) -> dict[int, int]:
    """The width of each column: what it needs, and a share of what is left where it would like more."""
    out = {i: min(least[i], width - EDGES) for i in columns}
    left = width - EDGES - sum(out.values()) - BETWEEN * (len(columns) - 1)
    for number, i in enumerate(wanting := sorted(columns, key=lambda i: whole[i] - least[i])):
        more = min(whole[i] - out[i], max(0, left) // (len(wanting) - number))
        out[i] += max(0, more)
        left -= max(0, more)
    return out


def there_already(runs: int) -> str:
    """What is said of runs that were not made now."""
    said, them = ("1 run was", "it") if runs == 1 else (f"{runs} runs were", "them")
    return f"{said} there already; --again makes {them} anew"


def changed(path: Path, assignments: list[str] | None) -> Scenario:
    """A scenario file with the `--set` options applied."""
    scenario = Scenario.load(path)
    return scenario.with_(dict(parse_assignment(a) for a in assignments)) if assignments else scenario


def results_of(folder: Path) -> Runs:
    """The results in a folder. What an interrupted or killed command has left single is joined into tables first."""
    from crosswind.results import Runs
    from crosswind.results.folder import MANIFEST, SWEEP, UNJOINED, lock, prepare_out

    is_sweep = (folder / SWEEP).is_file()
    if (folder / UNJOINED).is_file() or (is_sweep and not (folder / MANIFEST).is_file()):
        with lock(prepare_out(folder)):
            if is_sweep:
                from crosswind.sweep.sweeps import load

                load(folder)
            else:
                from crosswind.run.kept import settle

                settle(folder)
    return Runs.load(folder)


def suite_folder(suite: str, subject: str) -> Path:
    """Where the results of a suite go that was not told: named after its subject, whatever is written in that."""
    plain = Path(subject).stem if subject.endswith((".toml", ".py")) else subject
    name = "-".join("".join(c if c.isalnum() or c == "." else " " for c in plain).split())
    return Path("out") / f"{suite}-{name}"


def command_line() -> str:
    """The command as it was typed, for the report."""
    return shlex.join(["crosswind", *sys.argv[1:]]) if Path(sys.argv[0]).name == "crosswind" else ""
