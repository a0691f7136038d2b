"""What `audit` examines: TCP with its law, or a real stack."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crosswind.errors import InputError
from crosswind.suites.case import Table
from crosswind.suites.evaluate import Makers, Subject, read

#: Real stacks by the name of `transport.type`; a build without them says how to get one that has them.
STACKS = ("quinn", "noq", "smoltcp")
#: Of these, those that do not show their windows.
CLOSED = ("smoltcp",)
#: Those that log what they do (qlog).
LOGGING = ("quinn", "noq")
#: What a stack calls a law -> its name here.
LAWS = {"newreno": "reno"}


@dataclass(frozen=True)
class Body:
    """`transport`: the table of a flow under this name, with its `type`. `makers`: a law that the program brings."""

    name: str
    transport: Table
    makers: Makers = field(default_factory=dict)

    @property
    def is_stack(self) -> bool:
        return self.transport["type"] != "tcp"

    @property
    def shows_window(self) -> bool:
        return self.transport["type"] not in CLOSED

    @property
    def logs(self) -> bool:
        return self.transport["type"] in LOGGING

    def laid(self, keys: Mapping[str, Any]) -> Table:
        """The transport with what a case demands of TCP, which is stronger. A stack always asks for ECN."""
        if not self.is_stack:
            return {**self.transport, **keys}
        if more := [k for k in keys if k != "ecn"]:
            raise InputError("transport", found=f"{', '.join(more)} of TCP", expected="keys that a stack has")
        return self.transport


def body_of(one: Subject) -> Body:
    """A law, a preset, a `tcp` table .. as in `evaluate`; or a stack: `quinn`, `smoltcp-reno`, `{ type = "noq" }`.

    Raises InputError for what is none of them.
    """
    stack = _stack(one)
    if stack is not None:
        return stack
    name, tcp, law = read(one)
    return Body(name, {"type": "tcp", **tcp}, {str(tcp["own_law"]): law} if law is not None else {})


def _stack(one: Subject) -> Body | None:
    if isinstance(one, Mapping):
        return Body(_name(one), dict(one)) if one.get("type") in STACKS else None
    text = str(one).strip()
    if text.startswith("{") and "type" in text:
        try:
            return _stack(tomllib.loads(f"transport = {text}")["transport"])
        except tomllib.TOMLDecodeError as e:
            raise InputError(text, found=str(e), expected="a table in TOML") from None
    stack, _, law = text.partition("-")
    return Body(text, {"type": stack, **({"congestion": law} if law else {})}) if stack in STACKS else None


def _name(table: Mapping[str, Any]) -> str:
    return "-".join(str(table[k]) for k in ("type", "congestion") if k in table)
