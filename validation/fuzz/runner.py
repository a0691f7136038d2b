"""A process that examines scenarios, replaced when it hangs or dies."""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing as mp
import os
import resource
import time
from typing import Any

from validation.fuzz import checks, making

#: Between being asked to stop and being given up: seconds of the processor, or so many times as many by the clock.
DEAF_s = 60.0
BY_THE_CLOCK = 30
#: More memory no scenario of this size needs.
MEMORY_B = 6 << 30


class Verdict(dict):  # type: ignore[type-arg]
    """What came out: `scenario`, `refused` (a path), `check` and `seen` when one failed, `runs`, `slow`."""


def _serve(pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_B, MEMORY_B))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # a panic is told as an exception too
    schema = json.loads(checks.door.core().schema())
    while True:
        job = pipe.recv()
        answer: dict[str, Any] = {}
        try:
            if "scenario" in job:
                scenario = job["scenario"]
                answer["refused"] = checks.refusal(scenario)
            else:
                maker = making.Maker(schema, job["seed"])
                scenario = maker.scenario()
                pipe.send({"scenario": scenario})
                scenario, answer["refused"] = maker.mended(scenario, checks.refusal)
                pipe.send({"scenario": scenario})
            if answer["refused"] is None:
                answer.update(checks.examine(scenario))
        except checks.Failure as e:
            answer.update(check=e.check, seen=e.seen)
        except Exception as e:
            answer.update(check="harness", seen=f"{type(e).__name__}: {e}")
        pipe.send({"done": True, **answer})


class Runner:
    """Examines one scenario after the other."""

    def __init__(self, deaf_s: float = DEAF_s) -> None:
        self.deaf_s = deaf_s
        self._process: Any = None
        self._pipe: Any = None

    def _start(self) -> None:
        context = mp.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def examine(self, job: dict[str, Any]) -> Verdict:
        """`job` holds a `seed` to make a scenario from, or the `scenario`."""
        if self._process is None or not self._process.is_alive():
            self._start()
        verdict = Verdict()
        try:
            self._pipe.send(job)
            while "done" not in verdict:
                if not self._answers(2 * checks.PATIENCE_s + self.deaf_s):
                    self.close()
                    verdict.update(done=True, check="hangs", seen=f"deaf to a request to stop for {self.deaf_s:.0f} s")
                    break
                verdict.update(self._pipe.recv())
        except (EOFError, BrokenPipeError, ConnectionResetError):
            with contextlib.suppress(Exception):
                self._process.join(5)
            verdict.update(done=True, check="dies", seen=f"the process ended with code {self._process.exitcode}")
            self._process = None
        return verdict

    def _answers(self, limit_s: float) -> bool:
        """Waits for a message. False: none came in so much time of the process's own, nor in far more by the clock."""
        used_s = functools.partial(time.clock_gettime, ~self._process.pid << 3 | 2)  # clock_getcpuclockid(3)
        with contextlib.suppress(OSError):  # it has ended: what it said last is to be read
            began_s, until = used_s(), time.monotonic() + BY_THE_CLOCK * limit_s
            while not self._pipe.poll(1.0):
                if used_s() - began_s > limit_s or time.monotonic() > until:
                    return False
        return True
