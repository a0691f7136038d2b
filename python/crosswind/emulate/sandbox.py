"""The outer process: makes the sandbox, waits for it, passes signals on. It never touches the machine itself.

The sandbox has process, mount and network namespaces of its own. Its first process is `crosswind.emulate.inside`; when
that ends, the kernel ends everything in it. It ends too when this process is killed, by whatever signal.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from crosswind.emulate.needs import Privileges
from crosswind.errors import CrosswindError

PR_SET_PDEATHSIG = 1
JOB_VARIABLE = "CROSSWIND_JOB"


def _dies_with_parent() -> Callable[[], None]:
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def set_signal() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return set_signal


def first_process(unshare: int) -> int | None:
    """The first process of the sandbox, as seen from here."""
    try:
        children = Path(f"/proc/{unshare}/task/{unshare}/children").read_text(encoding="ascii").split()
    except OSError:
        return None
    return int(children[0]) if children else None


def wait_for_first(process: subprocess.Popen[bytes], seconds: float = 10.0) -> int:
    """The first process of a sandbox that is being made. Raises CrosswindError when there is none in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        if (inner := first_process(process.pid)) is not None:
            return inner
        time.sleep(0.01)
    raise CrosswindError("the sandbox did not start")


def run(job: dict[str, Any], privileges: Privileges, joined: Callable[[int], None] | None = None) -> int:
    """Runs a job (see `inside`) in a sandbox and returns its exit code; signals are passed on to it.

    `joined` is called with the number of its first process as soon as there is one.
    """
    process = start(job, privileges)

    def forward(number: int, _frame: FrameType | None) -> None:
        # Ctrl-C on a terminal reaches the command by itself; everything else is ours to pass on.
        if number == signal.SIGINT and os.isatty(0):
            return
        inner = first_process(process.pid)
        if inner is not None:
            os.kill(inner, number)

    before = {n: signal.signal(n, forward) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        if joined:
            try:
                joined(wait_for_first(process))
            except BaseException:
                process.kill()
                raise
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def listen(job: dict[str, Any], privileges: Privileges, told: Callable[[str], None]) -> int:
    """Runs a job and hands on every line that it prints; returns its exit code, 130 after Ctrl-C.

    However it ends, nothing of the sandbox is left: it is killed with this process, too.
    """
    process = start(job, privileges, subprocess.PIPE)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            told(line.decode().rstrip("\n"))
        code = process.wait()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    finally:
        process.kill()
        process.wait()
    return 128 - code if code < 0 else code


def start(job: dict[str, Any], privileges: Privileges, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Starts a job in a sandbox. The thread that starts it must outlive it: the sandbox ends with its parent."""
    reader = os.memfd_create("crosswind-job")
    os.write(reader, json.dumps(job).encode())
    os.lseek(reader, 0, os.SEEK_SET)
    command = [*privileges.unshare, sys.executable, "-m", "crosswind.emulate.inside"]
    environment = {**os.environ, JOB_VARIABLE: str(reader)}
    paths = [p for p in sys.path if p and Path(p).is_dir()]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    process = subprocess.Popen(
        command, env=environment, pass_fds=[reader], stdout=stdout, preexec_fn=_dies_with_parent()
    )
    os.close(reader)
    return process
