"""The first process of the sandbox: reads its job, does it, and takes the sandbox with it when it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
from types import FrameType
from typing import Any

from crosswind.emulate.sandbox import JOB_VARIABLE
from crosswind.errors import CrosswindError


class Stopped(BaseException):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _on_signal(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def _leave_to_command(number: int, frame: FrameType | None) -> None:
    """Ctrl-C on a terminal reaches the command of a session by itself, and is its own to answer."""
    if not os.isatty(0):
        _on_signal(number, frame)


def work(job: dict[str, Any]) -> int:
    """Does the job and returns the exit code."""
    if job["kind"] == "session":
        from crosswind.emulate.session import session

        return session(job)
    if job["kind"] == "testbed":
        from crosswind.emulate.testbed import inside

        return inside(job)
    if job["kind"] == "bench":
        from crosswind.emulate.bench import inside as bench

        return bench(job)
    if job["kind"] == "opposite":
        from crosswind.emulate.opposite import inside as opposite

        return opposite(job)
    if job["kind"] == "transfer":
        from crosswind.emulate.transfer import inside as transfer

        return transfer(job)
    raise ValueError(f"job of kind {job['kind']}")


def main() -> int:
    reader = int(os.environ.pop(JOB_VARIABLE))
    with os.fdopen(reader, "rb") as file:
        job = json.load(file)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    if job["kind"] == "session":
        signal.signal(signal.SIGINT, _leave_to_command)
    try:
        return work(job)
    except Stopped as stopped:
        return 128 + stopped.number
    except CrosswindError as e:
        print(f"crosswind: {e}", file=sys.stderr)
        return e.exit_code


if __name__ == "__main__":
    sys.exit(main())
