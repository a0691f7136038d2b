"""The way to the machine's own network, and how the machine becomes again what it was.

Only with `--uplink`, and only as root. The host of the scenario that stands for the outside world gets one more device,
the end of a virtual cable whose other end is on the machine. It masquerades what comes out of the emulated links as
itself, and the machine masquerades that as its own. On the machine this takes one device, one nftables table and
forwarding.

What is about to be changed is written down first. It is taken back at the end; after `kill -9`, by the next start.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crosswind.emulate import needs
from crosswind.emulate.control import folder
from crosswind.emulate.hosts import Host, SetupError, call

INSIDE = "cwup"
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
# Cables: the last /24 of the addresses that are set aside for tests (RFC 2544), four addresses each.
CABLES = "198.19.255"
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
    for command in (["nft", "delete", "table", "ip", note.table], ["ip", "link", "delete", note.device]):
        subprocess.run(command, capture_output=True, check=False)
    note.file.unlink(missing_ok=True)
    # Another uplink still needs it; the last one restores it.
    if not any(is_alive(n) for n in notes()):
        with suppress(OSError):
            FORWARD.write_text(note.forward_before, encoding="ascii")


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
        process = os.getpid()
        self.note = Note(process, started(process), space(), min(free), before)

    @property
    def job(self) -> dict[str, Any]:
        """What the sandbox has to know."""
        return {"here": self.note.here, "there": self.note.there}

    def open(self, inner: int) -> None:
        """Lays the cable into the sandbox whose first process is `inner`."""
        note = self.note
        note.file.write_text(json.dumps(asdict(note)), encoding="ascii")
        cable = ["ip", "link", "add", note.device, "type", "veth", "peer", "name", INSIDE, "netns", str(inner)]
        call(cable)
        call(["ip", "addr", "add", f"{note.here}/30", "dev", note.device])
        call(["ip", "link", "set", note.device, "up"])
        FORWARD.write_text("1", encoding="ascii")
        call(["nft", "-f", "-"], masquerade(note.table, f'ip saddr {note.there} oifname != "{note.device}"'))

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


def masquerade(table: str, which: str) -> str:
    """A table that hides the packets that `which` selects behind the address they leave from."""
    chain = "type nat hook postrouting priority srcnat; policy accept;"
    return f"table ip {table} {{\n  chain way-out {{\n    {chain}\n    {which} masquerade\n  }}\n}}\n"


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
    rules = masquerade("crosswind", f'oifname "{INSIDE}"')
    call(gateway.inside(["nft", "-f", "-"]), rules)
