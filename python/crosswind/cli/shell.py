"""`crosswind shell`: a shell, or a command, behind one emulated link that is described in one line."""

from __future__ import annotations

import json as json_text
import shlex
import sys
from typing import Annotated, Any

import typer

from crosswind.cli.emulate import session
from crosswind.cli.shared import JsonOption, SeedOption
from crosswind.emulate import traffic
from crosswind.errors import InputError
from crosswind.scenario import Scenario

EPILOG = "Example: crosswind shell --delay 20ms --rate 50Mbit/s --queue fq_codel -- ping -c 5 server"
NEAR, FAR = "client", "server"


def register(app: typer.Typer) -> None:
    app.command("shell", epilog=EPILOG)(shell)


def shell(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND", help="What to run; left out: a shell.")
    ] = None,
    delay: Annotated[str, typer.Option("--delay", help="One-way delay of the link.")] = "10 ms",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the link, towards the shell.")] = "100 Mbit/s",
    up: Annotated[
        str, typer.Option("--up", metavar="RATE", help="Rate of the other direction (default: --rate).")
    ] = "",
    queue: Annotated[
        str, typer.Option("--queue", metavar="NAME|{..}", help="Queue of both directions: a name, or a table of keys.")
    ] = "droptail",
    limit: Annotated[str, typer.Option("--limit", help="Limit of the queue, in packets or bytes.")] = "",
    loss: Annotated[float, typer.Option("--loss", min=0, max=1, help="Share of packets lost, each way.")] = 0.0,
    serve: Annotated[
        str, typer.Option("--serve", metavar="COMMAND", help="A program on `server`, the host behind the link.")
    ] = "",
    uplink: Annotated[
        bool, typer.Option("--uplink", help="Let `server` lead to this machine's network (masqueraded; root).")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--for", min=0.1, help="End the command after so many seconds.")
    ] = None,
    seed: SeedOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No summary at the end.")] = False,
    json: JsonOption = False,
) -> int:
    """Runs a shell, or a command, in a network namespace behind one emulated link; nothing is left behind.

    The other end of the link is the host `server`. Its kernel answers pings, and `crosswind load server` finds a sink
    there; `--serve` runs another program on it, and with `--uplink` it is the way to this machine's network. More than
    one link is a scenario: `crosswind emulate`.
    """
    if serve and uplink:
        raise InputError("--serve", found="--uplink with it", expected="one of the two: `server` is the way out")
    program = serve or ("" if uplink else f"{shlex.quote(sys.executable)} -I {shlex.quote(traffic.__file__)}")
    what = scenario_of(delay=delay, rate=rate, up=up or rate, queue=_queue(queue, limit), loss=loss, serve=program)
    return session(what, command, seed=seed, seconds=seconds, uplink=uplink, quiet=quiet, json=json)


def _queue(queue: str, limit: str) -> dict[str, Any]:
    """The table of a queue, from its name or written out."""
    if not queue.lstrip().startswith("{"):
        out: dict[str, Any] = {"type": queue.replace("_", "-")}
    else:
        try:
            out = json_text.loads(queue)
        except ValueError as e:
            raise InputError(
                "--queue", found=f"`{queue}` ({e})", expected='a table as JSON: {"type": "red-linux"}'
            ) from None
    return out | ({"limit": limit} if limit else {})


def scenario_of(*, delay: str, rate: str, up: str, queue: dict[str, Any], loss: float, serve: str) -> Scenario:
    """One link between `server` and `client`, the shell's host. Raises InputError for values that no link has."""
    lossy: Any = {"type": "uniform", "probability": loss} if loss else "none"
    link = {
        "from": FAR, "to": NEAR, "rate": rate, "delay": delay, "queue": queue, "loss": lossy,
        "reverse": {"rate": up, "delay": delay, "queue": queue, "loss": lossy},
    }  # fmt: skip
    data: dict[str, Any] = {
        "name": "shell",
        "duration": "24 h",
        "link": {"path": link},
        # What a simulation would run; it says which host is which.
        "flow": {"download": {"from": FAR, "to": NEAR, "workload": {"type": "bulk"}}},
        "emulate": {"client": NEAR},
    }
    if serve:
        data["emulate"]["serve"] = {"program": {"node": FAR, "command": f"exec {serve}"}}
    out = Scenario.from_dict(data)
    out.validate()
    return out
