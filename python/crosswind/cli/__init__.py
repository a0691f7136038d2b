"""The command line. One file per command; this one only puts them together and turns errors into messages."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from crosswind import starting
from crosswind.cli import (
    bench,
    catalogue,
    characterise,
    compare,
    doctor,
    emulate,
    evaluate,
    explain,
    export,
    load,
    new,
    report,
    reproduce,
    run,
    schema,
    scoreboard,
    shell,
    show,
    streams,
    studio,
    study,
    sweep,
    tc,
    validate,
)
from crosswind.cli.values import usage_error, worded
from crosswind.errors import (
    EXIT_BAD_INPUT,
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    CrosswindError,
)
from crosswind.results.folder import why_not_written

app = typer.Typer(
    name="crosswind",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
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
    *(run, sweep, compare, characterise, evaluate, reproduce, explain, catalogue, show, validate, schema, report),
    *(scoreboard, emulate, shell, load, export, tc, doctor, bench, study, studio, new),
):
    command.register(app)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns its exit code (see `crosswind.errors`). What goes wrong is one line on stderr."""
    if "_CROSSWIND_COMPLETE" in os.environ:  # a shell asks what could come next
        from typer.completion import completion_init

        completion_init()
    streams.make_usable()
    try:
        starting.loaded()
        result = worded(get_command(app))(args=arguments, prog_name="crosswind", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as e:
        return _said(said, EXIT_BAD_INPUT) if (said := usage_error(e)) else EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        result = EXIT_INTERRUPTED
    except BrokenPipeError:
        streams.forget_stdout()
        return EXIT_DONE
    except CrosswindError as e:
        return _said(str(e), e.exit_code)
    except MemoryError:
        streams.forget_stdout()
        return _said("no memory left for this; fewer repetitions, or less of [record], need less", EXIT_ENVIRONMENT)
    except OSError as e:
        streams.forget_stdout()
        where = f"{e.filename}: " if e.filename else ""
        return _said(f"{where}{why_not_written(e)}", EXIT_ENVIRONMENT)
    except BaseException as e:
        if isinstance(e, SystemExit | GeneratorExit) or os.environ.get("CROSSWIND_TRACEBACK"):
            raise
        return _said(_fault(e), EXIT_FAULT)
    if result == EXIT_INTERRUPTED:
        print("crosswind: interrupted", file=sys.stderr)
    return result if isinstance(result, int) else EXIT_DONE


def _said(message: str, code: int) -> int:
    print(f"crosswind: {message}", file=sys.stderr)
    return code


def _fault(e: BaseException) -> str:
    """What broke, and where, for the report of a fault of ours."""
    frames = traceback.extract_tb(e.__traceback__)
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    said = " ".join(str(e).split())
    return (
        f"a fault of Crosswind: {type(e).__name__}: {said}{at}; please report it with the command "
        "(CROSSWIND_TRACEBACK=1 shows where it came from)"
    )


def entry() -> None:
    """Console entry point."""
    sys.exit(main())
