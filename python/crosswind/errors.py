"""Errors that a person can act on, and the exit codes they end a command with (docs/how-to/exit-codes.md)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

EXIT_DONE = 0
#: A claim failed, or what was to be the same is not.
EXIT_FAILED = 1
#: A file, a name, a value, an option.
EXIT_BAD_INPUT = 2
#: Disk, memory, permission, another writer, something that is not installed.
EXIT_ENVIRONMENT = 3
#: A fault of Crosswind.
EXIT_FAULT = 70
#: Ctrl-C; what was finished is kept.
EXIT_INTERRUPTED = 130

NAMES_SHOWN = 8


class CrosswindError(Exception):
    """Something went wrong that is not a defect of the program; the message says what to do."""

    exit_code = EXIT_ENVIRONMENT


@dataclass
class InputError(CrosswindError):
    """Bad input: where it stands, what was found, what was expected, and the nearest valid name.

    `where` is a file (with a line when known) or a command-line option; `path` is the dotted path inside a scenario.
    """

    where: str
    path: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""
    exit_code: int = field(default=EXIT_BAD_INPUT, repr=False)

    def __str__(self) -> str:
        head = f"{self.where}: {self.path}" if self.path else self.where
        said = [
            part
            for part in (self.found and f"found {self.found}", self.expected and f"expected {self.expected}")
            if part
        ]
        text = f"{head}: {', '.join(said)}" if said else head
        return f"{text}; {self.hint}" if self.hint else text

    def __post_init__(self) -> None:
        super().__init__(str(self))


class UnknownNameError(InputError, KeyError):
    """A name that nothing has; the message has the nearest one."""

    def __init__(self, where: str, name: str, kind: str, valid: Iterable[str]) -> None:
        names = sorted(valid)
        shown = ", ".join(names[:NAMES_SHOWN]) + (", .." if len(names) > NAMES_SHOWN else "")
        expected = f"a known {kind}, such as {shown}" if names else f"a known {kind}"
        super().__init__(where, found=f"{kind} `{name}`", expected=expected, hint=did_you_mean(name, names))


class InterruptedRunError(CrosswindError):
    """Ctrl-C; what was finished has been saved, and the message says where."""

    exit_code = EXIT_INTERRUPTED


class MissingExtraError(CrosswindError):
    """Something needs a package that a plain installation does not have; the message says how to get it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}: pip install 'crosswind[{extra}]'")


class RunFailedError(CrosswindError):
    """Runs broke down; the others have been saved, and the message says where and which."""

    exit_code = EXIT_FAULT


class BlockedError(CrosswindError):
    """The machine stands in the way: a full disk, a missing permission, a process that was killed."""

    exit_code = EXIT_ENVIRONMENT


class EngineMissingError(BlockedError):
    """The compiled engine cannot be imported."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` was most likely meant to be, or None when nothing is close."""
    names = list(valid)
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    inside = [v for v in names if name and (name in v or v in name)]
    return inside[0] if inside else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """A hint such as "did you mean `w2-e0`?", or an empty text."""
    close = nearest(name, valid)
    return f"did you mean `{close}`?" if close else ""
