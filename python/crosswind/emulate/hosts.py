"""Hosts: one network namespace each, its device, its addresses and its kernel settings. Runs inside the sandbox."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError

DEVICE = "cw0"
RUN = Path("/run")
NAMESPACES = RUN / "netns"
OWN = RUN / "crosswind"
V4_PREFIX = 15
V6_PREFIX = 64
# The device's own queue must never overflow: drops belong to the scenario's queues.
DEVICE_QUEUE_packets = 20_000
IPV6_MTU_MIN = 1280
LISTENING = " 0A "
# Runs must not depend on what a run before them has learnt about the path; nobody announces routers here.
SETTINGS = {
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.ip_local_port_range": "32768 60999",
    "net.ipv4.ping_group_range": "0 2147483647",
    "net.ipv6.conf.all.accept_ra": "0",
    "net.ipv6.conf.default.accept_ra": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv6.conf.default.addr_gen_mode": "1",
}
# Settings that a kernel may lack, or that a user namespace may not change: nothing is wrong without them.
OPTIONAL = frozenset(SETTINGS)


class SetupError(CrosswindError):
    """A namespace could not be made as it should be."""


@dataclass(frozen=True)
class Host:
    """A host of the scenario."""

    name: str
    v4: str
    v6: str

    @property
    def namespace(self) -> str:
        return str(NAMESPACES / self.name)

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` in the place of this host."""
        return ["ip", "netns", "exec", self.name, *command]

    def shell(self, script: str) -> str:
        """Runs a script in the place of this host; returns what it printed."""
        return call(self.inside(["sh", "-c", script]))


def call(command: Sequence[str], text: str | None = None) -> str:
    """Runs a program of the set-up. Raises SetupError with its own words when it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise SetupError(f"`{shlex.join(command)}` failed: {said or f'exit code {done.returncode}'}")
    return done.stdout


def prepare() -> None:
    """Gives the sandbox a /run of its own with the entries of the real one, so that namespaces can have names in it."""
    real = os.open(RUN, os.O_PATH | os.O_DIRECTORY)
    entries = [(e.name, e.is_dir(follow_symlinks=False), e.is_symlink()) for e in os.scandir(RUN)]
    links = {name: (RUN / name).readlink() for name, _, is_link in entries if is_link}
    call(["mount", "-t", "tmpfs", "-o", "mode=755", "crosswind", str(RUN)])
    for name, is_folder, is_link in entries:
        here = RUN / name
        if name in (NAMESPACES.name, OWN.name):  # of a sandbox in which this one is made
            continue
        if is_link:
            here.symlink_to(links[name])
            continue
        here.mkdir(exist_ok=True) if is_folder else here.touch()
        there = f"/proc/{os.getpid()}/fd/{real}/{name}"
        # What cannot be seen through (another user's folder, say) stays an empty place.
        subprocess.run(["mount", "-c", "--rbind", there, str(here)], stderr=subprocess.DEVNULL, check=False)
    os.close(real)
    NAMESPACES.mkdir()
    OWN.mkdir()


def names(hosts: Sequence[Host], *, is_alone: bool = True) -> None:
    """Lets every host be reached by its name: a hosts file over the real one, seen in the sandbox only.

    `is_alone`: there is no way to the machine's network, so that its name servers are out of reach.
    """
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address} {h.name}" for h in hosts for address in (h.v4, h.v6)]
    # Without a name server in reach, names that nobody knows are refused at once and not after ten seconds.
    files = [("hosts", "\n".join(lines))]
    if is_alone:
        files.append(("resolv.conf", "options timeout:1 attempts:1"))
    for name, text in files:
        file, real = OWN / name, Path("/etc") / name
        file.write_text(text + "\n", encoding="ascii")
        if real.exists():
            call(["mount", "--bind", str(file), str(real.resolve())])


def make(hosts: Sequence[Host]) -> None:
    """Makes the namespaces; devices and addresses come later."""
    for host in hosts:
        call(["ip", "netns", "add", host.name])
        settings(host, SETTINGS)


def settings(host: Host, values: Mapping[str, Any]) -> None:
    """Changes kernel settings of one host."""
    script = []
    for name, value in values.items():
        file = shlex.quote("/proc/sys/" + name.replace(".", "/"))
        write = f"echo {shlex.quote(str(value))} > {file}"
        script.append(f"({write}) 2>/dev/null || true" if name in OPTIONAL else write)
    if not script:
        return
    try:
        host.shell("set -e\n" + "\n".join(script))
    except SetupError as e:
        raise SetupError(f"kernel settings of host {host.name}: {e}") from None


def connect(host: Host, mtu: int) -> None:
    """Gives the device of a host its addresses and makes it the way to everything."""
    lines = [
        "link set lo up",
        f"link set {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE_packets} up",
        f"addr add {host.v4}/{V4_PREFIX} dev {DEVICE}",
        f"route add default dev {DEVICE}",
    ]
    call(["ip", "-n", host.name, "-batch", "-"], "\n".join(lines) + "\n")
    if mtu >= IPV6_MTU_MIN and Path("/proc/net/if_inet6").exists():
        six = [f"addr add {host.v6}/{V6_PREFIX} dev {DEVICE} nodad", f"route add default dev {DEVICE}"]
        call(["ip", "-6", "-n", host.name, "-batch", "-"], "\n".join(six) + "\n")


def device_drops(host: Host) -> int:
    """Packets that the device of a host dropped by itself, outside the scenario."""
    try:
        return int(host.shell(f"cat /sys/class/net/{DEVICE}/statistics/tx_dropped").strip())
    except (SetupError, ValueError):
        return 0


def wait_for_server(host: Host, process: subprocess.Popen[bytes], seconds: float = 30.0) -> bool:
    """Waits until something listens on the host, or its program has ended, or the time is up."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        said = host.shell("cat /proc/net/tcp /proc/net/tcp6 2>/dev/null; grep -c : /proc/net/udp || true")
        listening = any(LISTENING in line for line in said.splitlines())
        if listening or said.rstrip().rsplit("\n", 1)[-1] not in ("0", "1"):
            return True
        time.sleep(0.05)
    return process.poll() is None
