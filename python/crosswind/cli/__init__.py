"""The command line. One file per command; this one only puts them together and turns errors into messages."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from crosswind import starting
from crosswind.cli import streams
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

#: Files of this folder and the commands that each adds, in the order of `--help`.
HOMES: dict[str, tuple[str, ...]] = {
    **{"run": ("run",), "sweep": ("sweep", "query"), "compare": ("compare",), "characterise": ("characterise",)},
    **{"evaluate": ("evaluate",), "audit": ("audit",)},
    **{"reproduce": ("reproduce",), "explain": ("explain",), "catalogue": ("list",), "show": ("show",)},
    **{"validate": ("validate",), "schema": ("schema",), "report": ("report",), "scoreboard": ("scoreboard",)},
    **{"emulate": ("emulate",), "host": ("host",), "shell": ("shell",), "load": ("load", "sink"), "port": ("port",)},
    **{"export": ("export", "topology", "completion"), "tc": ("tc",), "doctor": ("doctor",), "bench": ("bench",)},
    **{"study": ("study",), "studio": ("studio",), "new": ("new",)},
}


def _version(wanted: bool) -> None:
    if wanted:
        from crosswind.core import version

        typer.echo(f"crosswind {version()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A packet-level laboratory for congestion control, queue management and wireless links."""


def application(word: str = "") -> typer.Typer:
    """The commands: those of the file that has `word`, or all of them where none has. Loading a file takes time."""
    app = typer.Typer(
        name="crosswind",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        help="A packet-level laboratory for congestion control, queue management and wireless links.",
        epilog="Example: crosswind run scenarios/gprs.toml --out out/gprs",
    )
    app.callback()(_options)
    for home in [h for h, words in HOMES.items() if word in words] or HOMES:
        importlib.import_module(f"crosswind.cli.{home}").register(app)
    return app


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns its exit code (see `crosswind.errors`). What goes wrong is one line on stderr."""
    word = next(iter(sys.argv[1:] if arguments is None else arguments), "")
    if "_CROSSWIND_COMPLETE" in os.environ:  # a shell asks what could come next
        from typer.completion import completion_init

        completion_init()
        word = ""
    streams.make_usable()
    try:
        command = worded(get_command(application(word)))
        starting.loaded()
        result = command(args=arguments, prog_name="crosswind", standalone_mode=False)
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
