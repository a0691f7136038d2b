"""Values of options as people name them: in `--help` (N, PATH, TEXT), and in messages about a wrong one.

Typer names types in one way up to 0.28 and in another from 0.29 on, which needs Pydantic; both will do.
"""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperOption

from crosswind.errors import InputError, did_you_mean

WORDS = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "path": "PATH", "str": "TEXT"}
EXPECTED = {"int_parsing": "a whole number", "float_parsing": "a number", "int": "a whole number", "float": "a number"}


def worded(command: Any) -> Any:
    """The command and those below it, with words for people in the place of names of types."""
    context = typer.Context(command)
    for param in command.get_params(context):
        kind = _kind(param, context)
        if not isinstance(param, TyperOption):
            # An argument is named after what it is: only what may be chosen is to be said.
            said = kind if "|" in kind else ""
            param.display_type_rich = lambda ctx, said=said: said
            if hasattr(param, "type"):
                param.type.get_metavar = lambda param, ctx, said=said: said
        elif param.is_flag:
            param.metavar = ""
        elif param.metavar is None:
            param.metavar = WORDS.get(kind, kind)
    for below in getattr(command, "commands", {}).values():
        worded(below)
    return command


def _kind(param: Any, context: typer.Context) -> str:
    """The name of its type, or what may be chosen with bars between."""
    if not hasattr(param, "type"):
        return str(param.display_type(context).strip("<>").removeprefix("list[").removesuffix("]").lower())
    return "|".join(_choices(param)) or str(param.type.name)


def _choices(param: Any) -> list[str]:
    return [str(getattr(c, "value", c)) for c in getattr(param.type, "choices", None) or ()]


def usage_error(e: typer.TyperException) -> str:
    """What is wrong with the command as it was typed, and where the help is; nothing where the help was shown."""
    context, param = getattr(e, "ctx", None), getattr(e, "param", None)
    command = context.command_path if context is not None else "crosswind"
    text = " ".join(str(e.format_message() if hasattr(e, "format_message") else e).split()).rstrip(".")
    found = re.match(r"'?(.*?)'? is not (a valid|in the range|one of)", str(getattr(e, "message", "")))
    if param is not None and e.__cause__ is not None and hasattr(e.__cause__, "errors"):
        text = _wrong_value(param, *_by_pydantic(e.__cause__.errors()[0]))
    elif param is not None and found:
        text = _wrong_value(param, found[1], *_by_type(param, found[2]))
    return f"{text} (see `{command} --help`)" if text else ""


def _by_pydantic(wrong: dict[str, Any]) -> tuple[str, list[str], str]:
    """What was given, what may be chosen, what is expected."""
    choices = re.findall(r"'([^']*)'", wrong["msg"].partition(" is not one of ")[2])
    limits = wrong.get("ctx", {})
    bounds = _bounds(limits.get("ge"), limits.get("le"))
    return str(wrong["input"]), choices, bounds or (wrong["type"] if wrong["type"] in EXPECTED else wrong["msg"])


def _by_type(param: Any, why: str) -> tuple[list[str], str]:
    kind = param.type
    bounds = _bounds(kind.min, kind.max) if why == "in the range" else ""
    return _choices(param), bounds or str(kind.name).removesuffix(" range")


def _bounds(least: Any, most: Any) -> str:
    return " and ".join(f"{word} {end}" for word, end in (("at least", least), ("at most", most)) if end is not None)


def _wrong_value(param: Any, given: str, choices: list[str], expected: str) -> str:
    name = param.opts[0] if isinstance(param, TyperOption) else _named(param)
    said = f"one of {', '.join(choices)}" if choices else EXPECTED.get(expected, expected)
    return str(InputError(name, found=f"`{given}`", expected=said, hint=did_you_mean(given, choices)))


def _named(argument: Any) -> str:
    return str(getattr(argument, "display_name_raw", None) or argument.human_readable_name)
