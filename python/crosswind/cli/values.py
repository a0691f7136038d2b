"""Values of options as people name them: in `--help` (N, PATH, TEXT), and in messages about a wrong one."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperOption

from crosswind.errors import InputError, did_you_mean

WORDS = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "path": "PATH", "str": "TEXT"}
EXPECTED = {"int_parsing": "a whole number", "float_parsing": "a number"}


def worded(command: Any) -> Any:
    """The command and those below it, with words for people in the place of names of types."""
    context = typer.Context(command)
    for param in command.get_params(context):
        kind = param.display_type(context).strip("<>").removeprefix("list[").removesuffix("]").lower()
        if not isinstance(param, TyperOption):
            # An argument is named after what it is: only what may be chosen is to be said.
            said = kind if "|" in kind else ""
            param.display_type_rich = lambda ctx, said=said: said
        elif param.is_flag:
            param.metavar = ""
        elif param.metavar is None:
            param.metavar = WORDS.get(kind, kind)
    for below in getattr(command, "commands", {}).values():
        worded(below)
    return command


def usage_error(e: typer.TyperException) -> str:
    """What is wrong with the command as it was typed, and where the help is; nothing where the help was shown."""
    context, param = getattr(e, "ctx", None), getattr(e, "param", None)
    command = context.command_path if context is not None else "crosswind"
    text = " ".join(str(e.format_message() if hasattr(e, "format_message") else e).split()).rstrip(".")
    if param is not None and e.__cause__ is not None and hasattr(e.__cause__, "errors"):
        text = _wrong_value(param, e.__cause__.errors()[0])
    return f"{text} (see `{command} --help`)" if text else ""


def _wrong_value(param: Any, wrong: dict[str, Any]) -> str:
    name = param.opts[0] if isinstance(param, TyperOption) else param.display_name_raw
    given, limits = str(wrong["input"]), wrong.get("ctx", {})
    choices = re.findall(r"'([^']*)'", wrong["msg"].partition(" is not one of ")[2])
    bounds = [f"{word} {limits[key]}" for key, word in (("ge", "at least"), ("le", "at most")) if key in limits]
    expected = EXPECTED.get(wrong["type"], " and ".join(bounds) or wrong["msg"])
    if choices:
        expected = f"one of {', '.join(choices)}"
    return str(InputError(name, found=f"`{given}`", expected=expected, hint=did_you_mean(given, choices)))
