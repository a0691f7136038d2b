"""`crosswind tc`: what is written for the kernel's traffic control, as a scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, print_json
from crosswind.errors import BlockedError, InputError
from crosswind.results.folder import why_not_written
from crosswind.scenario.tc import Options, imported

HELP = "Lines of tc, the kernel's traffic control, as a scenario."
EPILOG = "Example: crosswind tc import shaper.sh --rate '50 Mbit/s' --delay '10 ms' --out mine.toml"
DEFAULT = Options()


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help=HELP, epilog=EPILOG)
    group.callback()(_together)
    group.command("import", epilog=EPILOG)(import_)
    app.add_typer(group, name="tc")


def _together() -> None:
    """Lines of tc, the kernel's traffic control, as a scenario."""


def import_(
    script: Annotated[str, typer.Argument(metavar="FILE", help="A script with tc commands; - is the standard input.")],
    forward: Annotated[str, typer.Option("--forward", metavar="DEV", help="The device of the forward direction.")] = "",
    reverse: Annotated[str, typer.Option("--reverse", metavar="DEV", help="The device of the other direction.")] = "",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the line where netem gives none.")] = DEFAULT.rate,
    delay: Annotated[str, typer.Option("--delay", help="One-way delay where netem gives none.")] = DEFAULT.delay,
    header: Annotated[
        int, typer.Option("--header", min=0, max=64, help="Bytes in front of each IP packet that the kernel counts.")
    ] = DEFAULT.header,
    out: Annotated[Path | None, typer.Option("--out", help="The scenario file to write; else it is printed.")] = None,
    json: JsonOption = False,
) -> None:
    """Reads tc qdisc, class and filter lines into a scenario; nothing is run.

    What a scenario cannot say is refused, with the line and the word. Filters for ports and addresses become flows.
    """
    text, file = _text(script)
    name = out.stem if out else "from-tc" if script == "-" else Path(script).stem
    options = Options(_name(name), forward, reverse, rate, delay, header)
    found = imported(text, file, options)
    if json:
        print_json({"scenario": found.data, "notes": found.notes})
        return
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    if out is None:
        print(found.toml(), end="")
        return
    try:
        out.write_text(found.toml(), encoding="utf-8")
    except OSError as e:
        raise BlockedError(f"{out}: {why_not_written(e)}") from None
    print(f"written: {out}")


def _name(text: str) -> str:
    return "".join(c if c.isalnum() and c.isascii() else "-" for c in text.lower()).strip("-") or "from-tc"


def _text(script: str) -> tuple[str, str]:
    try:
        if script == "-":
            return sys.stdin.read(), "tc"
        return Path(script).read_text(encoding="utf-8-sig"), script
    except (OSError, UnicodeDecodeError) as e:
        found = "bytes that are not UTF-8" if isinstance(e, UnicodeDecodeError) else e.strerror or str(e)
        raise InputError(script, found=found, expected="a script with tc commands") from None
