"""`crosswind study`: quantities that one study or another looks at, for scenarios and results of your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from crosswind.cli.shared import JsonOption, command_line, print_json, print_table, results_of
from crosswind.errors import InputError
from crosswind.results.summary import show_count
from crosswind.table import Table
from crosswind.theory.early_discard import By, eplr, node_limit, written_time

HELP = "Quantities that one study or another looks at, for scenarios and results of your own."
EPILOG = "Example: crosswind study node-limit '50 ms' --nodes 3"
EPLR_EPILOG = "Example: crosswind study eplr out/discard --limit '10 ms'   (before: run scenarios/early-discard.toml)"
LIMIT_EPILOG = "Example: crosswind study node-limit '50 ms' --nodes 3 --fixed '30 ms'"
LAWS_EPILOG = "Example: crosswind study laws --out out/laws"
RED_EPILOG = (
    "Example: crosswind study tc-red limit 20000 min 5000 max 18000 avpkt 1000 burst 12 probability 0.1 "
    "bandwidth 140kbit"
)
HEADS = {
    "sent_packets": "sent",
    "drops_local_delay_packets": "dropped: MTQ",
    "drops_delay_budget_packets": "dropped: QTL",
    "drops_other_packets": "dropped: other",
    "lost_packets": "lost",
    "late_packets": "late",
}
SHARES = {"loss_ratio": "dropped or lost", "eplr_ratio": "EPLR"}


class Who(Enum):
    """Whom a row of the table stands for."""

    group = "group"
    flow = "flow"


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help=HELP, epilog=EPILOG)
    group.command("eplr", epilog=EPLR_EPILOG)(effective_loss)
    group.command("node-limit", epilog=LIMIT_EPILOG)(limit_of_node)
    group.command("laws", epilog=LAWS_EPILOG)(laws)
    group.command("tc-red", epilog=RED_EPILOG)(red_of_tc)
    app.add_typer(group, name="study")


def effective_loss(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="TIME", help="One of the flows' queue_delay_limits; else all.")
    ] = None,
    by: Annotated[Who, typer.Option("--by", help="Whom a row stands for.")] = Who.group,
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="NAME=A,B", help="Groups that are judged as one. Repeatable."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Prints the effective packet loss rate: the share of packets dropped, lost or late, by cause.

    For flows over UDP with queue_delay_limits. With --json one row per repetition; else medians over them.
    """
    if classes and by is not Who.group:
        raise InputError("--by", found=f"`{by.value}` with --class", expected="one of them")
    who: By | Mapping[str, Sequence[str]] = _classes(classes) if classes else ("flow" if by is Who.flow else "group")
    rows = eplr(results_of(folder), limit, by=who)
    if json:
        print_json(rows.to_dicts())
        return
    name = "class" if classes else "name" if by is Who.flow else "group"
    print_table(_table(rows, name))


def _classes(options: Sequence[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for text in options:
        name, eq, members = text.partition("=")
        if not eq or not name.strip() or name.strip() in out:
            raise InputError("--class", found=f"`{text}`", expected="a new name and groups: long=voice-1,voice-2")
        out[name.strip()] = [m.strip() for m in members.split(",") if m.strip()]
    return out


def _table(rows: pl.DataFrame, name: str) -> Table:
    keys = [*(["configuration"] if rows["configuration"].n_unique() > 1 else []), name]
    middle = rows.group_by("configuration", name, "limit_ns", maintain_order=True).agg(
        pl.col(c).median() for c in (*HEADS, *SHARES)
    )
    body = [
        [
            *(row[k] for k in keys),
            written_time(row["limit_ns"]),
            *(show_count(row[c]) for c in HEADS),
            *("-" if row[c] is None else f"{100 * row[c]:.2f} %" for c in SHARES),
        ]
        for row in middle.iter_rows(named=True)
    ]
    reps = rows["rep"].n_unique()
    heads = [*keys, "limit", *HEADS.values(), *SHARES.values()]
    return Table("Effective packet loss", heads, body, f"Medians over {reps} repetitions." if reps > 1 else "")


def limit_of_node(
    delay: Annotated[str, typer.Argument(metavar="DELAY", help="What the application allows from end to end.")],
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", help="Congested queues on the way; 2 if not known.")],
    fixed: Annotated[
        str, typer.Option("--fixed", metavar="TIME", help="Propagation and transmission over the whole way.")
    ] = "0 ms",
    json: JsonOption = False,
) -> None:
    """Prints the limits of waits for a contract by the D/N rule: mtq for one queue, qtl for all of them."""
    found = node_limit(delay, nodes, fixed)
    if json:
        print_json({"nodes": nodes, "mtq_ns": found.mtq_ns, "qtl_ns": found.qtl_ns, "contract": found.settings})
        return
    for key, value in found.settings.items():
        print(f'{key} = "{value}"')


def laws(
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures and the table.")] = Path("out/laws"),
    events: Annotated[
        int, typer.Option("--events", min=20, help="Random losses per point of the response functions.")
    ] = 400,
) -> None:
    """Measures the response function of every window law (p from 1e-7 to 0.1) and draws its window over time."""
    from crosswind.theory import windows as responses

    out.mkdir(parents=True, exist_ok=True)
    table = responses.measured(events)
    table.write_csv(out / "responses.csv")
    windows = responses.windows_over_time()
    pages = [responses.page(law, *line) for law, line in windows.items()]
    for picture in (responses.overview(table), responses.shapes(windows), *pages):
        picture.figure.savefig(out / f"{picture.name}.svg")
        picture.close()
    print(f"{table.height} points; figures and responses.csv in {out}")


def red_of_tc(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What stands behind `red` in the tc command.")],
    kbit: Annotated[int, typer.Option("--kbit", help="Bits in a kbit: 1000, or 1024 in early versions of tc.")] = 1000,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figure and its data.")] = Path("out/tc-red"),
    json: JsonOption = False,
) -> None:
    """Shows what the kernel makes of RED as tc configures it: its parameters, and the curve they give."""
    if kbit not in (1000, 1024):
        raise InputError("--kbit", found=f"{kbit}", expected="1000 or 1024")
    from crosswind.theory import tc_red

    found = tc_red.effective(tc_red.parse(words, kbit))
    if json:
        print_json(asdict(found) | {"curve": tc_red.curve(found).to_dicts()})
        return
    for table in tc_red.tables(found):
        print_table(table)
    tc_red.picture(found).save(out, command_line())
    print(f"figure: {out / 'red-tc.svg'} (and .pdf, .png, .csv)")
