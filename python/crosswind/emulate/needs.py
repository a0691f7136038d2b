"""What an emulation needs of a machine, and exact words for what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from crosswind.core import has_hook
from crosswind.errors import CrosswindError

PROGRAMS = {"ip": "iproute2", "unshare": "util-linux", "mount": "mount"}
SYS_ADMIN_BIT = 21
SYS_NICE_BIT = 23
NET_ADMIN_BIT = 12
PROBE_TIMEOUT_s = 20


class MissingError(CrosswindError):
    """The machine lacks something; the message says what, and how to get it."""


@dataclass(frozen=True)
class Privileges:
    """How the sandbox can be made."""

    as_user: bool

    @property
    def unshare(self) -> list[str]:
        """The start of a command line that runs the rest of it in a sandbox of its own."""
        user = ["--user", "--map-root-user"] if self.as_user else []
        spaces = ["--net", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
        return ["unshare", *user, *spaces, "--"]


def capabilities() -> int:
    """The effective capabilities of this process, as bits."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)


def has_capability(bit: int) -> bool:
    return bool(capabilities() >> bit & 1)


def missing() -> list[str]:
    """What is not there, in words; empty when an emulation can be tried."""
    found = []
    if sys.platform != "linux":
        return [f"Linux (this is {sys.platform}): only its kernel has network namespaces"]
    if not has_hook("Emulation"):
        found.append("an engine with emulation; build it with `make setup` (feature `emu` of crates/py)")
    found += [
        f"the program `{name}`; on Debian: apt-get install {package}"
        for name, package in PROGRAMS.items()
        if shutil.which(name) is None
    ]
    tun = Path("/dev/net/tun")
    if not tun.exists():
        found.append("/dev/net/tun; load it with `modprobe tun` (in a container: --device /dev/net/tun)")
    elif not os.access(tun, os.R_OK | os.W_OK):
        found.append(f"read and write access to /dev/net/tun (its mode is {tun.stat().st_mode & 0o777:o})")
    return found


def check_captures() -> None:
    """Raises MissingError where nothing can write down the packets of real hosts."""
    if shutil.which("tcpdump") is None:
        raise MissingError("a capture at real hosts needs tcpdump (package tcpdump)")


def check() -> Privileges:
    """How the sandbox can be made here. Raises MissingError with everything that stands in the way."""
    found = missing()
    if found:
        raise MissingError("emulation needs " + "; and ".join(found))
    candidates = [Privileges(as_user=False)] if has_capability(SYS_ADMIN_BIT) else []
    said = []
    for privileges in [*candidates, Privileges(as_user=True)]:
        try:
            probe = [*privileges.unshare, "sh", "-c", "mount -t tmpfs none /run && ip link set lo up"]
            done = subprocess.run(probe, capture_output=True, text=True, timeout=PROBE_TIMEOUT_s, check=False)
        except subprocess.TimeoutExpired:
            said.append("it did not answer")
            continue
        if done.returncode == 0:
            return privileges
        said.append(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    raise MissingError(_no_privileges(said))


def _no_privileges(said: list[str]) -> str:
    hints = []
    for file, bad, hint in (
        ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ):
        path = Path(file)
        if path.exists() and path.read_text(encoding="ascii").strip() == bad:
            hints.append(f"`{hint}` (as root)")
    ways = " or ".join([*hints, "run it with sudo", "in a container: --cap-add SYS_ADMIN --cap-add NET_ADMIN"])
    return f"no namespaces of our own can be made here ({'; '.join(said)}): {ways}"
