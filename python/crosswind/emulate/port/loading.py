"""A ported law in the kernel for as long as something needs it, and out again however that ends.

A congestion control belongs to the whole machine and not to a namespace. It is chosen socket by socket
(TCP_CONGESTION), which needs CAP_NET_ADMIN in the namespace of the socket: nobody else comes upon it.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from crosswind.emulate.kernel import AVAILABLE
from crosswind.emulate.needs import NET_ADMIN_BIT, SYS_ADMIN_BIT, MissingError, has_capability
from crosswind.emulate.port.constants import Portable
from crosswind.emulate.port.objects import program
from crosswind.errors import BlockedError

BPF_BIT = 39
GONE_s = 5.0
#: The verifier names the line of the C before the instruction that it refuses.
_LINE = re.compile(r"^; (.*) @ (\S+:\d+)$", re.M)


def bpftool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [program("bpftool", "loading a law into the kernel"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def obstacles() -> list[str]:
    """What stands in the way of loading a law here, in words; empty where it can be tried."""
    out = []
    try:
        program("bpftool", "loading a law into the kernel")
    except MissingError as e:
        out.append(str(e))
    can_load = has_capability(BPF_BIT) or has_capability(SYS_ADMIN_BIT)
    if not (can_load and has_capability(NET_ADMIN_BIT)):
        out.append("loading a law into the kernel needs CAP_BPF and CAP_NET_ADMIN: run it with sudo")
    return out


def is_loaded(law: Portable) -> bool:
    """Whether sockets can have the law."""
    return law.kernel_name in AVAILABLE.read_text(encoding="ascii").split()


def numbers(law: Portable) -> list[int]:
    """What bpftool counts under the name of a law: also what was taken out and has a socket that is still closing."""
    done = bpftool("-j", "struct_ops", "list")
    rows = json.loads(done.stdout or "[]") if done.returncode == 0 else []
    return [int(row["id"]) for row in rows if row.get("name") == law.kernel_name]


def register(target: Path) -> None:
    """Puts an object into the kernel. Raises BlockedError with the line of the C that the verifier refuses."""
    done = bpftool("struct_ops", "register", str(target))
    if done.returncode == 0:
        return
    said = done.stderr.strip()
    lines = _LINE.findall(said)
    where = f" at {lines[-1][1]}, `{lines[-1][0].strip()}`" if lines and "failed to load" in said else ""
    raise BlockedError(f"the kernel refuses {target.name}{where}: " + " / ".join(said.splitlines()[-6:]))


def remove(law: Portable) -> bool:
    """Takes a law out of the kernel, and waits until it is gone; returns whether it was there. Raises BlockedError.

    Sockets that have it keep it until they are closed.
    """
    if not is_loaded(law):
        return False
    said = [bpftool("struct_ops", "unregister", "id", str(number)).stderr.strip() for number in numbers(law)]
    until = time.monotonic() + GONE_s
    while is_loaded(law):
        if time.monotonic() > until:
            why = " / ".join(filter(None, said))
            raise BlockedError(f"{law.kernel_name} could not be taken out of the kernel: {why}")
        time.sleep(0.02)
    return True


class Ended(BaseException):
    """A signal asked for the end."""


@contextlib.contextmanager
def loaded(law: Portable, target: Path) -> Iterator[str]:
    """The law is in the kernel while the block runs; gives the name that TCP_CONGESTION takes.

    It is taken out when the block ends, by an error, by Ctrl-C or by a signal as well. After SIGKILL it stays, for
    `remove`. Raises MissingError and BlockedError.
    """
    if found := obstacles():
        raise MissingError("; ".join(found))

    def end(number: int, _frame: FrameType | None) -> None:
        raise Ended(number)

    if is_loaded(law):
        raise BlockedError(
            f"{law.kernel_name} is in this kernel already: another command uses it, or one was killed; "
            f"`crosswind port {law.name} --remove` takes it out"
        )
    try:
        with handled(end, signal.SIGTERM, signal.SIGHUP):
            register(target)
            yield law.kernel_name
    except Ended as e:
        raise BlockedError(f"ended by signal {e.args[0]}; {law.kernel_name} was taken out of the kernel") from None
    finally:
        with handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            remove(law)


@contextlib.contextmanager
def handled(how: Any, *numbers: int) -> Iterator[None]:
    """Signals have this handler while the block runs; in a thread, where there are no handlers, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.signal(n, how) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
