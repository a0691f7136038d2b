"""`crosswind load` and `crosswind sink`: real traffic without other programs, and what it does to round trips."""

from __future__ import annotations

from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, print_json, print_table
from crosswind.errors import EXIT_DONE, EXIT_ENVIRONMENT, BlockedError, InputError
from crosswind.table import Table

EPILOG = "Example: crosswind shell --rate 20Mbit/s --queue fq_codel -- crosswind load server --down 4 --for 10"
SINK_EPILOG = "Example: crosswind sink   (on the other machine: crosswind load THIS-HOST)"
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port, of TCP and UDP.")]


def register(app: typer.Typer) -> None:
    app.command("load", epilog=EPILOG)(load)
    app.command("sink", epilog=SINK_EPILOG)(sink)


def load(
    host: Annotated[str, typer.Argument(metavar="HOST", help="Where `crosswind sink` runs.")],
    down: Annotated[int, typer.Option("--down", min=0, max=1000, help="Greedy flows from HOST.")] = 4,
    up: Annotated[int, typer.Option("--up", min=0, max=1000, help="Greedy flows to HOST.")] = 0,
    seconds: Annotated[float, typer.Option("--for", min=0.1, help="Length of the load, in seconds.")] = 10.0,
    idle: Annotated[float, typer.Option("--idle", min=0.0, help="Seconds of echoes before it.")] = 2.0,
    law: Annotated[
        str,
        typer.Option(
            "--law", help="Congestion control: reno, cubic, bbr, .. as the kernel has them (default: its own)."
        ),
    ] = "",
    port: PortOption = 5001,
    json: JsonOption = False,
) -> int:
    """Sends greedy TCP flows to and from a sink, and says what they do to the round trips of an echo beside them."""
    from crosswind.emulate import traffic

    try:
        seen = traffic.load(traffic.Load(host, port, down, up, seconds, idle, law=law))
    except OSError as e:
        raise BlockedError(
            f"{host}, port {port}: {e.strerror or e}; `crosswind sink` has to run there (`crosswind shell`: on server)"
        ) from None
    except OverflowError:
        raise InputError("--for", found=f"{seconds:g}", expected="fewer seconds") from None
    found = seen.as_dict()
    if json:
        print_json(found)
    else:
        table, said = _table(found)
        print_table(table)
        print("\n".join([*said, *(f"a flow failed, {failed}" for failed in seen.failed)]))
    return EXIT_ENVIRONMENT if seen.failed else EXIT_DONE


def _table(found: dict[str, object]) -> tuple[Table, list[str]]:
    def ms(value: object) -> str:
        return f"{float(value) * 1e3:.1f}" if isinstance(value, float) else "-"

    rows = []
    for phase, name in (("idle", "before"), ("loaded", "under load")):
        one = found[phase]
        assert isinstance(one, dict)
        rows.append([name, str(one["echoes"]), *(ms(one[f"{q}_s"]) for q in ("mean", "p50", "p95", "p99"))])
    flows = found["flows"]
    assert isinstance(flows, list)
    said = []
    for way in ("down", "up"):
        rates = [f["goodput_bps"] for f in flows if f["direction"] == way and f["goodput_bps"]]
        if rates:
            said.append(f"{way} {sum(rates) / 1e6:.2f} Mbit/s in {len(rates)} flows")
    rpm = found["responsiveness_rpm"]
    if isinstance(rpm, float):
        said.append(f"{rpm:.0f} round trips a minute under load")
    lost = int(str(found["echoes_sent"])) - int(str(found["echoes_answered"]))
    said.append(f"{lost} of {found['echoes_sent']} echoes not answered")
    heads = ["echo", "answers", "mean ms", "p50 ms", "p95 ms", "p99 ms"]
    return Table(f"Round trips to {found['host']}", heads, rows), said


def sink(port: PortOption = 5001) -> None:
    """Takes and sends whatever `crosswind load` asks for, and echoes datagrams; Ctrl-C ends it."""
    from crosswind.emulate import traffic

    try:
        traffic.sink(port)
    except OSError as e:
        raise BlockedError(f"port {port}: {e.strerror or e}") from None
