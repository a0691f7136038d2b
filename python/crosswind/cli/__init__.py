"""The command line. One file per command; this one only puts them together and turns errors into messages."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from crosswind.cli import (
    bench,
    catalogue,
    compare,
    doctor,
    early_discard,
    emulate,
    explain,
    export,
    laws,
    new,
    report,
    reproduce,
    run,
    scoreboard,
    show,
    sweep,
    validate,
)
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_INTERRUPTED, CrosswindError

app = typer.Typer(
    name="crosswind",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="A packet-level laboratory for congestion control, queue management and wireless links.",
    epilog="Example: crosswind run scenarios/gprs.toml --out out/gprs",
)


def _version(wanted: bool) -> None:
    if wanted:
        from crosswind.core import version

        typer.echo(f"crosswind {version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A packet-level laboratory for congestion control, queue management and wireless links."""


for command in (
    *(run, sweep, compare, reproduce, explain, catalogue, show, validate, report, scoreboard),
    *(emulate, export, doctor, bench, laws, early_discard, new),
):
    command.register(app)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns its exit code (0 done, 1 failed claims or run, 2 bad input, 130 interrupted)."""
    if "_CROSSWIND_COMPLETE" in os.environ:  # a shell asks what could come next
        from typer.completion import completion_init

        completion_init()
    try:
        result = app(args=arguments, prog_name="crosswind", standalone_mode=False)
    except typer.TyperException as e:
        _show_usage_error(e)
        return EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        result = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except CrosswindError as e:
        print(f"crosswind: {e}", file=sys.stderr)
        return e.exit_code
    if result == EXIT_INTERRUPTED:
        print("crosswind: interrupted", file=sys.stderr)
    return result if isinstance(result, int) else EXIT_DONE


def _show_usage_error(e: typer.TyperException) -> None:
    """One line: what is wrong with the command as it was typed, and where the help is."""
    context = getattr(e, "ctx", None)
    command = context.command_path if context is not None else "crosswind"
    message = e.format_message() if hasattr(e, "format_message") else str(e)
    print(f"crosswind: {' '.join(str(message).split())} (see `{command} --help`)", file=sys.stderr)


def entry() -> None:
    """Console entry point."""
    sys.exit(main())
