"""From the TCP parameters of a scenario to the settings of a kernel that come nearest to them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from crosswind.emulate.hosts import DEVICE, Host, SetupError, call, settings
from crosswind.emulate.port.constants import LAWS as PORTED
from crosswind.errors import InputError
from crosswind.scenario.quantity import parse

LAWS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr"}
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
# A receive buffer that a scenario sets on purpose; larger ones mean "no limit" and are left to the kernel.
OWN_BUFFER_MAX_bytes = 16_000_000
TIMESTAMPS_bytes = 12
DEFAULTS = {
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 131072 67108864",
}
ECN, ACCURATE = "net.ipv4.tcp_ecn", "3"
SWITCHES = (
    ("sack", "net.ipv4.tcp_sack", {"on": "1", "off": "0"}),
    ("timestamps", "net.ipv4.tcp_timestamps", {"on": "1", "off": "0"}),
    ("window_scaling", "net.ipv4.tcp_window_scaling", {"on": "1", "off": "0"}),
    ("ecn", ECN, {"classic": "1", "on": "1", "accurate": ACCURATE, "off": "0"}),
)


def congestion(flow: dict[str, Any]) -> str:
    """The kernel's name of a flow's window law, a ported one that is loaded too. Raises InputError when it has none."""
    law = flow["tcp"].get("law", "reno")
    name = law if isinstance(law, str) else law.get("type", "reno")
    known = AVAILABLE.read_text(encoding="ascii").split() if AVAILABLE.exists() else list(LAWS.values())
    names = LAWS | {law: ported.kernel_name for law, ported in PORTED.items()}
    if names.get(name) not in known:
        way = f"`crosswind port {name} -- COMMAND` brings it into the kernel for a command" if name in PORTED else ""
        raise InputError(
            f"flow.{flow['group']}.tcp.law",
            found=f"`{name}`",
            expected=f"a law of this kernel: {', '.join(sorted(k for k, v in names.items() if v in known))}",
            hint=way,
        )
    return names[name]


def size(flow: dict[str, Any], key: str) -> int | None:
    """A size of the flow's TCP parameters in bytes."""
    found = parse(flow["tcp"].get(key))
    return int(found.value) if found is not None and found.unit == "bytes" else None


def segment(flow: dict[str, Any]) -> int | None:
    """What the kernel is told of the segment's size: its own counts the room that timestamps take."""
    mss = size(flow, "mss")
    return mss and mss + (TIMESTAMPS_bytes if flow["tcp"].get("timestamps") == "on" else 0)


def receive_buffer(flow: dict[str, Any]) -> int | None:
    """The socket's receive buffer, where the scenario limits the window."""
    limit = size(flow, "receive_buffer")
    return limit if limit is not None and limit < OWN_BUFFER_MAX_bytes else None


def _has_accurate_ecn(host: Host) -> bool:
    """Whether the kernel takes RFC 9768: it says so of no file, only when asked to use it."""
    try:
        settings(host, {ECN: ACCURATE})
    except SetupError:
        return False
    return True


def prepare(host: Host, flows: Iterable[dict[str, Any]], own: dict[str, Any]) -> list[str]:
    """Settings of one host for the TCP flows that begin or end there; what they disagree about comes back as text."""
    values: dict[str, str] = dict(DEFAULTS)
    disagreements: list[str] = []

    def want(name: str, value: str, who: str) -> None:
        if values.setdefault(name, value) != value:
            disagreements.append(f"host {host.name} has one {name}: {values[name]}; flow {who} wants {value}")

    windows = set()
    for f in flows:
        tcp = f["tcp"]
        for key, name, words in SWITCHES:
            if tcp.get(key) in words:
                want(name, words[tcp[key]], f["name"])
        want("net.ipv4.tcp_frto", "0" if tcp.get("frto", "off") == "off" else "2", f["name"])
        if not str(tcp.get("recovery", "")).startswith("rack"):
            # Hosts of the scenario know neither RACK nor tail loss probes.
            want("net.ipv4.tcp_recovery", "0", f["name"])
            want("net.ipv4.tcp_early_retrans", "0", f["name"])
        windows.add(int(tcp.get("initial_window_segments", 10)))
        if values.get(ECN) == ACCURATE and not _has_accurate_ecn(host):
            raise InputError(
                f"flow.{f['group']}.tcp.ecn",
                found="`accurate`",
                expected=f"`classic` or `off`: this kernel does not take {ECN} = {ACCURATE}",
            )
    settings(host, {**values, **own})
    if len(windows) > 1:
        disagreements.append(f"host {host.name} has one initial window: {max(windows)} segments of {sorted(windows)}")
    if windows:
        call(["ip", "-n", host.name, "route", "change", "default", "dev", DEVICE, "initcwnd", str(max(windows))])
        # Everybody is in one network: that route counts too.
        for line in call(["ip", "-n", host.name, "route", "show", "proto", "kernel"]).splitlines():
            route = line.split()
            call(["ip", "-n", host.name, "route", "change", *route, "initcwnd", str(max(windows))])
    return disagreements
