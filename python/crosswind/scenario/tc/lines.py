"""Statements of `tc`, one per line: what they add, to which device, below what."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from crosswind.errors import InputError, did_you_mean

WHAT = ("qdisc", "class", "filter")
VERBS = ("add", "replace", "change", "del", "delete", "show", "list", "ls")
# What stands in scripts around a command and changes nothing.
_AROUND = re.compile(r"\s*(?:\d?>{1,2}\s*&?\S+|\|\|\s*(?:true|:)|;)\s*$")
_ID = re.compile(r"([0-9a-fA-F]{1,4}):([0-9a-fA-F]{0,4})")
LINES_MAX = 10_000

Id = tuple[int, int]


@dataclass(frozen=True)
class Statement:
    """`tc WHAT add dev DEV ..`: `parent` is None at the root; `own` is the handle or the class id."""

    where: str
    what: str
    device: str
    kind: str
    words: list[str]
    parent: Id | None = None
    own: Id | None = None
    preference: int = 0
    mark: str = ""
    order: int = field(default=0, compare=False)


def statements(text: str, file: str = "tc") -> list[Statement]:
    """All statements of a script. Raises InputError with the line and the word that Crosswind cannot take."""
    out: list[Statement] = []
    for number, line in _joined(text):
        where = f"{file}:{number}"
        found = _statement(where, _words(where, line), len(out))
        if found is not None:
            out.append(found)
    if not out:
        raise InputError(file, found="no command of tc", expected="lines such as `tc qdisc add dev eth0 root fq_codel`")
    return out


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number, those that end in a backslash together, without comments."""
    lines = text.splitlines()
    if len(lines) > LINES_MAX:
        raise InputError("tc", found=f"{len(lines)} lines", expected=f"at most {LINES_MAX}")
    pending, first = "", 0
    for number, line in enumerate([*lines, ""], start=1):
        first = first or number
        if line.endswith("\\") and number <= len(lines):
            pending += f"{line[:-1]} "
            continue
        whole, at, pending, first = f"{pending}{line}".strip(), first, "", 0
        if whole and not whole.startswith("#"):
            yield at, whole


def _words(where: str, line: str) -> list[str]:
    while True:
        shorter = _AROUND.sub("", line)
        if shorter == line:
            break
        line = shorter
    try:
        words = shlex.split(line, comments=True)
    except ValueError as e:
        raise InputError(where, found=f"`{line}` ({str(e).lower()})", expected="one command of tc") from None
    if words[:1] == ["sudo"]:
        words = words[1:]
    for word in words:
        if word.startswith("$") or "$(" in word or "`" in word:
            expected = "its value: nothing is filled in here"
            raise InputError(where, found=f"the variable `{word}`", expected=expected)
    return words


def _statement(where: str, words: list[str], order: int) -> Statement | None:
    if not words or words[0].rpartition("/")[2] != "tc":
        found = f"`{words[0]}`" if words else "nothing"
        raise InputError(where, found=found, expected="a command of tc, such as `tc qdisc add ..`")
    what, verb = [*words[1:3], "", ""][:2]
    if what not in WHAT:
        hint = did_you_mean(what, WHAT)
        raise InputError(where, found=f"`{what}`", expected="one of qdisc, class, filter", hint=hint)
    if verb not in VERBS:
        raise InputError(where, path=what, found=f"`{verb}`", expected="add or replace", hint=did_you_mean(verb, VERBS))
    if verb not in ("add", "replace", "change"):
        return None  # what was there before does not matter, and what is shown changes nothing
    return _placed(where, what, words[3:], order)


def _placed(where: str, what: str, rest: list[str], order: int) -> Statement:
    """Reads what stands in front of the kind: where it belongs and what it is called."""
    rest = list(rest)
    at: dict[str, str] = {}
    places = {"dev", "parent", "handle", "classid", "protocol", "prio", "pref", "preference"}
    if what != "filter":
        places -= {"protocol", "prio", "pref", "preference"}
    while rest:
        word = rest.pop(0)
        if word in ("ingress", "clsact"):
            why = "root or parent: what comes in has left its link already; import the device that it leaves by"
            raise InputError(where, path=what, found=f"`{word}`", expected=why)
        if word == "root":
            at["root"] = word
        elif word in places:
            if not rest:
                raise InputError(where, path=f"{what} {word}", found="nothing behind it", expected="a value")
            at["pref" if word in ("prio", "preference") else word] = rest.pop(0)
        else:
            return _made(where, what, at, word, rest, order)
    expected = {"qdisc": "a kind of qdisc, such as htb", "class": "a kind of class: htb", "filter": "a kind of filter"}
    raise InputError(where, path=what, found="nothing behind it", expected=expected[what])


def _made(where: str, what: str, at: dict[str, str], kind: str, words: list[str], order: int) -> Statement:
    if "dev" not in at:
        raise InputError(where, path=what, found=f"`{kind}`", expected="`dev` and a device before it")
    if ("root" in at) == ("parent" in at) and what != "filter":
        found = "`root` and `parent`" if "root" in at else "neither `root` nor `parent`"
        raise InputError(where, path=what, found=found, expected="one of the two")
    if at.get("protocol", "ip") not in ("ip", "all", "ipv4"):
        raise InputError(where, path="protocol", found=f"`{at['protocol']}`", expected="ip or all")
    parent = identifier(where, "parent", at["parent"]) if "parent" in at else None
    own = None
    if what == "class" and "classid" not in at:
        raise InputError(where, path=what, found="no classid", expected="`classid` and a number such as 1:10")
    if "classid" in at and what == "class":
        own = identifier(where, "classid", at["classid"])
    elif "handle" in at and what == "qdisc":
        own = identifier(where, "handle", at["handle"])
    preference = at.get("pref", "0")
    if not preference.isdecimal() or len(preference) > 5 or int(preference) > 0xFFFF:
        raise InputError(where, path="prio", found=f"`{preference}`", expected="a whole number below 65536")
    mark = at.get("handle", "") if what == "filter" else ""
    return Statement(where, what, at["dev"], kind, words, parent, own, int(preference), mark, order)


def identifier(where: str, path: str, text: str) -> Id:
    """A handle or class id: two hexadecimal numbers and a colon between them. Raises InputError."""
    m = _ID.fullmatch(text)
    if m is None:
        raise InputError(where, path=path, found=f"`{text}`", expected="a number such as 1: or 1:10")
    return int(m[1], 16), int(m[2] or "0", 16)


def shown(of: Id) -> str:
    """As `tc` writes it."""
    return f"{of[0]:x}:{of[1]:x}" if of[1] else f"{of[0]:x}:"
