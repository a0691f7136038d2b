"""The way to the machine's own network, and how the machine becomes again what it was.

Only with `--uplink`, and only as root. The host of the scenario that stands for the outside world gets one more device,
the end of a virtual cable whose other end is on the machine. It masquerades what comes out of the emulated links as
itself, and the machine masquerades that as its own. On the machine this takes one device, one nftables table for each
version of IP, and forwarding. IPv6 takes part when the machine has a way to somewhere over it.

What is about to be changed is written down first. It is taken back at the end; after `kill -9`, by the next start.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crosswind.emulate import needs
from crosswind.emulate.control import folder
from crosswind.emulate.hosts import Host, SetupError, call

INSIDE = "cwup"
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
SIX = Path("/proc/sys/net/ipv6/conf")
# Of every device, `all` and `default`: forwarding, and whether routers that announce themselves are listened to.
SIX_SETTINGS = ("forwarding", "accept_ra")
# Cables: the last /24 of the addresses that are set aside for tests (RFC 2544), four addresses each.
CABLES = "198.19.255"
CABLES6 = "fd63:7773:0:ff00:"
CABLES_MAX = 64
APPEARS_s = 10.0


@dataclass(frozen=True)
class Note:
    """What one run changes on the machine, as it is written down."""

    process: int
    started: str
    space: int
    cable: int
    forward_before: str
    six_before: dict[str, str] = field(default_factory=dict)
    """Settings of IPv6 by `device/name`; empty when IPv6 takes no part."""

    @property
    def device(self) -> str:
        return f"{INSIDE}{self.process}"

    @property
    def table(self) -> str:
        return f"crosswind_{self.process}"

    @property
    def here(self) -> str:
        """The machine's end of the cable."""
        return f"{CABLES}.{4 * self.cable + 1}"

    @property
    def there(self) -> str:
        return f"{CABLES}.{4 * self.cable + 2}"

    @property
    def here6(self) -> str:
        return f"{CABLES6}:{4 * self.cable + 1:x}"

    @property
    def there6(self) -> str:
        return f"{CABLES6}:{4 * self.cable + 2:x}"

    @property
    def file(self) -> Path:
        return folder() / f"{self.process}.uplink"


def started(process: int) -> str:
    """When a process began, so that a number that is used again is not taken for it; empty when there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""


def space() -> int:
    """The network namespace that stands for the machine here."""
    return Path("/proc/self/ns/net").stat().st_ino


def notes() -> list[Note]:
    """What runs in this network namespace have changed and not taken back yet."""
    found = []
    for file in sorted(folder().glob("*.uplink")):
        with suppress(OSError, ValueError, TypeError):
            found.append(Note(**json.loads(file.read_text(encoding="ascii"))))
    return [n for n in found if n.space == space()]


def is_alive(note: Note) -> bool:
    return started(note.process) == note.started


def missing(privileges: needs.Privileges) -> list[str]:
    """What stands in the way of an uplink, in words."""
    found = []
    if privileges.as_user or not needs.has_capability(needs.NET_ADMIN_BIT):
        found.append("root: it changes the machine's firewall while it runs (run it with sudo)")
    if shutil.which("nft") is None:
        found.append("the program `nft`; on Debian: apt-get install nftables")
    return found


def tidy() -> list[str]:
    """Takes back what runs that were killed have left; their tables, by name."""
    dead = [n for n in notes() if not is_alive(n)]
    for note in dead:
        take_back(note)
    return [n.table for n in dead]


def take_back(note: Note) -> None:
    """Makes the machine what it was before a run. Says nothing where there is nothing to take back."""
    tables = [["nft", "delete", "table", family, note.table] for family in ("ip", "ip6")]
    for command in (*tables, ["ip", "link", "delete", note.device]):
        subprocess.run(command, capture_output=True, check=False)
    note.file.unlink(missing_ok=True)
    # Another uplink still needs forwarding; the last one restores it.
    others = [n for n in notes() if is_alive(n)]
    if not others:
        with suppress(OSError):
            FORWARD.write_text(note.forward_before, encoding="ascii")
    if not any(n.six_before for n in others):
        restore_six(note.six_before)


def has_six() -> bool:
    """The machine has a way to somewhere over IPv6, and can masquerade it; where it only has a way, that is said."""
    if not SIX.exists() or not has_route_of_six():
        return False
    try:
        call(["nft", "--check", "-f", "-"], masquerade("ip6", "crosswind_test", 'oifname "lo"'))
    except SetupError as e:
        print(f"crosswind: --uplink: IPv4 only: {e}", file=sys.stderr)
        return False
    return True


def has_route_of_six() -> bool:
    """A route that leads beyond a device's own link."""
    said = subprocess.run(["ip", "-6", "route", "show"], capture_output=True, text=True, check=False).stdout
    routes = [line.split() for line in said.splitlines()]
    return any(not r[0].startswith(("fe80:", "ff")) and "lo" not in r for r in routes if r and "unreachable" not in r)


def settings_of_six() -> dict[str, str]:
    """What forwarding IPv6 changes, as it is now."""
    found = {}
    for file in (device / name for device in sorted(SIX.iterdir()) for name in SIX_SETTINGS):
        with suppress(OSError):
            found[f"{file.parent.name}/{file.name}"] = file.read_text(encoding="ascii").strip()
    return found


def forward_six(before: dict[str, str]) -> None:
    """Switches forwarding on. A router forgets ways that were announced to it unless it is told to go on listening."""
    for place, value in before.items():
        if place.endswith("/accept_ra") and value == "1":
            (SIX / place).write_text("2", encoding="ascii")
    (SIX / "all" / "forwarding").write_text("1", encoding="ascii")


def restore_six(before: dict[str, str]) -> None:
    """Forwarding first of `all`, which changes every device, then of each device, then the rest."""
    order = sorted(before, key=lambda place: (place.endswith("/accept_ra"), not place.startswith("all/"), place))
    for place in order:
        with suppress(OSError):
            (SIX / place).write_text(before[place], encoding="ascii")


class Uplink:
    """One run's way out, seen from the machine."""

    def __init__(self, privileges: needs.Privileges) -> None:
        if found := missing(privileges):
            raise needs.MissingError("--uplink needs " + "; and ".join(found))
        tidy()
        others = notes()
        free = set(range(CABLES_MAX)) - {n.cable for n in others}
        if not free:
            raise SetupError(f"--uplink: {CABLES_MAX} emulations have one already")
        # What others have switched on was off before them.
        before = others[0].forward_before if others else FORWARD.read_text(encoding="ascii").strip()
        six = next((n.six_before for n in others if n.six_before), settings_of_six()) if has_six() else {}
        process = os.getpid()
        self.note = Note(process, started(process), space(), min(free), before, six)

    @property
    def job(self) -> dict[str, Any]:
        """What the sandbox has to know."""
        ends = {"here": self.note.here, "there": self.note.there}
        return ends | ({"here6": self.note.here6, "there6": self.note.there6} if self.note.six_before else {})

    def open(self, inner: int) -> None:
        """Lays the cable into the sandbox whose first process is `inner`."""
        note = self.note
        note.file.write_text(json.dumps(asdict(note)), encoding="ascii")
        cable = ["ip", "link", "add", note.device, "type", "veth", "peer", "name", INSIDE, "netns", str(inner)]
        call(cable)
        call(["ip", "addr", "add", f"{note.here}/30", "dev", note.device])
        call(["ip", "link", "set", note.device, "up"])
        FORWARD.write_text("1", encoding="ascii")
        call(["nft", "-f", "-"], masquerade("ip", note.table, f'ip saddr {note.there} oifname != "{note.device}"'))
        if note.six_before:
            call(["ip", "-6", "addr", "add", f"{note.here6}/126", "dev", note.device, "nodad"])
            rules = masquerade("ip6", note.table, f'ip6 saddr {note.there6} oifname != "{note.device}"')
            call(["nft", "-f", "-"], rules)
            forward_six(note.six_before)

    def close(self) -> None:
        """Takes everything back."""
        take_back(self.note)


@contextmanager
def asked_for(privileges: needs.Privileges, *, wanted: bool) -> Iterator[Uplink | None]:
    """An uplink where one is wanted; whatever killed runs have left is taken back in any case."""
    if not wanted:
        if not privileges.as_user and shutil.which("nft"):
            tidy()
        yield None
        return
    uplink = Uplink(privileges)
    try:
        yield uplink
    finally:
        uplink.close()


def masquerade(family: str, table: str, which: str) -> str:
    """A table that hides the packets that `which` selects behind the address they leave from."""
    chain = "type nat hook postrouting priority srcnat; policy accept;"
    return f"table {family} {table} {{\n  chain way-out {{\n    {chain}\n    {which} masquerade\n  }}\n}}\n"


# ---- inside the sandbox --------------------------------------------------------------------------------------------


def connect(gateway: Host, ends: dict[str, str]) -> None:
    """Gives the host that stands for the outside world its end of the cable, and makes it a router."""
    until = time.monotonic() + APPEARS_s
    while subprocess.run(["ip", "link", "show", INSIDE], capture_output=True, check=False).returncode != 0:
        if time.monotonic() > until:
            raise SetupError("--uplink: the cable to the machine did not appear")
        time.sleep(0.02)
    call(["ip", "link", "set", INSIDE, "netns", gateway.name])
    lines = [
        f"addr add {ends['there']}/30 dev {INSIDE}",
        f"link set {INSIDE} up",
        f"route replace default via {ends['here']}",
    ]
    call(["ip", "-n", gateway.name, "-batch", "-"], "\n".join(lines) + "\n")
    gateway.shell("echo 1 > /proc/sys/net/ipv4/ip_forward")
    families = ["ip"]
    if "there6" in ends:
        six = [f"addr add {ends['there6']}/126 dev {INSIDE} nodad", f"route replace default via {ends['here6']}"]
        call(["ip", "-6", "-n", gateway.name, "-batch", "-"], "\n".join(six) + "\n")
        gateway.shell("echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
        families.append("ip6")
    for family in families:
        call(gateway.inside(["nft", "-f", "-"]), masquerade(family, "crosswind", f'oifname "{INSIDE}"'))
