"""The C of a ported law: what all share, the law with its constants, the hooks of the kernel."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from crosswind.core import schema, version
from crosswind.emulate.port.constants import Constants, Portable
from crosswind.errors import InputError
from crosswind.scenario import Scenario

DATA = resources.files("crosswind.emulate.port") / "data"
FLOW = "bulk"
_PLACE = re.compile(r"@(\w+)@")


def part(name: str) -> str:
    """A file of `data/`."""
    return (DATA / name).read_text(encoding="utf-8")


def scenario(law: Portable, tcp: dict[str, Any] | None = None, seconds: float = 60.0) -> Scenario:
    """What a ported law is compared in: one transfer over 20 Mbit/s and 60 ms, a queue of 100 packets."""
    return Scenario.from_dict(
        {
            "name": f"port-{law.name}",
            "title": f"{law.name} over 20 Mbit/s and 60 ms, simulated and in a kernel",
            "duration": f"{seconds:g} s",
            "link": {
                "path": {
                    "from": "server",
                    "to": "client",
                    "rate": "20 Mbit/s",
                    "delay": "30 ms",
                    "queue": {"type": "droptail", "limit": "100 packets"},
                    "reverse": {"queue": {"limit": "1000 packets"}},
                }
            },
            "flow": {
                FLOW: {
                    "from": "server",
                    "to": "client",
                    "workload": {"type": "bulk"},
                    "tcp": {"preset": "linux-6", "law": law.name, **(tcp or {})},
                }
            },
            "record": {"sample": "20 ms"},
        }
    )


def parameters(law: Portable, what: Scenario) -> dict[str, Any]:
    """The parameters of the law in a scenario, with all defaults. Raises InputError where another law is in it."""
    tcp = what.validate()["flow"][FLOW]["tcp"]
    if tcp["law"] != law.name:
        raise InputError(what.file or "scenario", f"flow.{FLOW}.tcp.law", f"`{tcp['law']}`", f"`{law.name}`")
    # A table that says nothing new is left out of the normal form; the schema has what holds then.
    properties = schema()["$defs"][f"{law.name.capitalize()}Params"]["properties"]
    usual = {key: row.get("default") for key, row in properties.items()}
    return {**usual, **tcp.get(law.name, {})}


def filled(text: str, constants: Constants) -> str:
    """A part with its constants in place."""
    return _PLACE.sub(lambda m: constants[m[1]], text)


def bpf(law: Portable, params: dict[str, Any]) -> str:
    """The whole file, ready for a compiler."""
    constants = {**law.constants(params), "NAME": law.kernel_name}
    shown = ", ".join(f"{k} = {v}" for k, v in sorted(params.items()) if v is not None)
    head = (
        "// SPDX-License-Identifier: MIT OR GPL-2.0-only\n"
        f"// {law.name} as a congestion control of the Linux kernel, written by Crosswind {version()}.\n"
        f"// {shown}\n"
    )
    return head + "".join(filled(part(name), constants) for name in ("common.c", f"{law.name}.c", "hooks.c"))
