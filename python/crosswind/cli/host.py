"""`crosswind host`: our own TCP opposite the kernel's, byte for byte."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from crosswind.cli.shared import JsonOption, print_json, print_table
from crosswind.errors import EXIT_DONE, EXIT_FAILED, InputError
from crosswind.scenario.quantity import parse
from crosswind.table import Table

EPILOG = "Example: crosswind host --size '100 MB' --rate '100 Mbit/s' --delay '5 ms' --loss 0.001"
WAYS = {"to": (True,), "from": (False,), "both": (True, False)}
PACKET_bytes = 1500
LEAST_packets = 100


def register(app: typer.Typer) -> None:
    app.command("host", epilog=EPILOG)(host)


def host(
    way: Annotated[
        Literal["to", "from", "both"],
        typer.Option("--way", help="Data goes to the kernel, from it, or one after the other."),
    ] = "both",
    size: Annotated[str, typer.Option("--size", help="Payload of each transfer.")] = "20 MB",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the link.")] = "100 Mbit/s",
    delay: Annotated[str, typer.Option("--delay", help="Its delay in one direction.")] = "10 ms",
    queue: Annotated[
        str,
        typer.Option(
            "--queue",
            metavar="TABLE",
            help="A queue of a scenario; default: drop-tail of a bandwidth-delay product, CoDel with ECN.",
        ),
    ] = "",
    loss: Annotated[float, typer.Option("--loss", min=0.0, max=1.0, help="Probability that a packet is lost.")] = 0.0,
    ecn: Annotated[bool, typer.Option("--ecn", help="Both ends ask for ECN (RFC 3168).")] = False,
    accecn: Annotated[
        bool, typer.Option("--accecn", help="Both ends ask for accurate ECN (RFC 9768), if the kernel has it.")
    ] = False,
    sack: Annotated[bool, typer.Option("--sack/--no-sack", help="Selective acknowledgements.")] = True,
    tcp: Annotated[str, typer.Option("--tcp", metavar="TABLE", help="Keys of our own end, '{ law = \"reno\" }'.")] = "",
    kernel: Annotated[str, typer.Option("--kernel", help="Congestion control of the kernel where it sends.")] = "cubic",
    twin: Annotated[
        bool, typer.Option("--twin", help="The same in virtual time, too: our own TCP at both ends.")
    ] = False,
    pcap: Annotated[
        Path | None,
        typer.Option(
            "--pcap", help="Packets at our own end, as pcapng; `-to` and `-from` are added where both ways go."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Base seed of all random streams.")] = 1,
    limit: Annotated[float, typer.Option("--limit", min=1.0, help="Break off after so many seconds.")] = 600.0,
    json: JsonOption = False,
) -> int:
    """Transfers between Crosswind's own TCP and this machine's kernel over an emulated link, every byte compared.

    Exit code 1: bytes are missing or wrong. Needs a build with stacks (`make stacks`), and namespaces.
    """
    from crosswind.emulate.transfer import Transfer, transfer

    asked: Literal["off", "classic", "accurate"] = "accurate" if accecn else "classic" if ecn else "off"
    what = Transfer(
        round(_number("--size", size, "bytes")), rate, delay, _queue(queue, rate, delay, ecn=ecn or accecn), loss,
        asked, sack,
        _table("--tcp", tcp) if tcp else None, kernel, seed, limit,
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for to_kernel in WAYS[way]:
        name = "to" if to_kernel else "from"
        file = pcap.with_stem(f"{pcap.stem}-{name}") if pcap and way == "both" else pcap
        rows.append({"way": name, "clock": "real", **transfer(what.request(to_kernel=to_kernel, pcap=file))})
        if twin:
            virtual = what.request(to_kernel=to_kernel, is_virtual=True)
            rows.append({"way": name, "clock": "virtual", **transfer(virtual)})
    if json:
        print_json({"transfers": rows})
    else:
        print_table(_shown(rows))
    return EXIT_DONE if all(r["is_exact"] for r in rows) else EXIT_FAILED


def _number(option: str, text: str, unit: str) -> float:
    found = parse(text)
    if found is None or found.unit != unit:
        raise InputError(option, found=f"`{text}`", expected=f"a quantity in {unit}, such as '20 MB'")
    return found.value


def _table(option: str, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError as e:
        raise InputError(option, found=str(e), expected="a table in TOML") from None
    return found


def _queue(text: str, rate: str, delay: str, *, ecn: bool) -> dict[str, Any]:
    if text:
        return _table("--queue", text)
    bps, one_way = parse(rate), parse(delay)
    if bps is None or one_way is None:
        raise InputError("--rate, --delay", found=f"`{rate}`, `{delay}`", expected="quantities, '100 Mbit/s', '10 ms'")
    packets = max(LEAST_packets, round(bps.value * 2 * one_way.value / 1e9 / 8 / PACKET_bytes))
    if ecn:
        return {"type": "codel", "limit": f"{10 * packets} packets"}
    return {"type": "droptail", "limit": f"{packets} packets"}


def _shown(rows: list[dict[str, Any]]) -> Table:
    def line(r: dict[str, Any]) -> list[str]:
        arrived = "all, each right" if r["is_exact"] else f"{r['right_bytes']} of {r['size_bytes']}: {r['failure']}"
        return [
            f"{r['way']} the kernel", r["clock"], arrived, f"{r['seconds']:.2f} s", f"{r['goodput_bps'] / 1e6:.2f}",
            str(r["dropped_packets"]), str(r["lost_packets"]), str(r["marked_packets"]),
            str(r["retransmitted_packets"]), str(r["timeouts"]), f"{r['late_p99_ns'] / 1e6:.2f}",
        ]  # fmt: skip

    head = [
        "",
        "clock",
        "bytes",
        "time",
        "Mbit/s",
        "dropped",
        "lost",
        "marked",
        "retransmitted",
        "timeouts",
        "late ms (p99)",
    ]
    return Table("Crosswind's TCP opposite the kernel's", head, [line(r) for r in rows], "")
