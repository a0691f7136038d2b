"""Inside the sandbox: scenarios in which this machine's kernel stands opposite our own TCP, many at a time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.core import core
from crosswind.emulate import processors
from crosswind.emulate.hosts import prepare

#: So many run at a time. They mostly wait; more than these hold each other up on two processors.
TOGETHER = 24
#: The columns of the event table that the engine gives as they are.
PLAIN = ("time_ns", "seq", "len", "aux")


def inside(job: dict[str, Any]) -> int:
    """Runs the requests of a job, the longest first, and leaves a table and facts for each in the folder of the job.

    It ends the process itself: the threads of the engine cannot be interrupted, and with the first process the kernel
    ends everything in the sandbox, namespaces and devices included.
    """
    prepare()
    folder = Path(job["folder"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # At a terminal Ctrl-C comes to this process, too.
        signal.signal(number, lambda n, _frame: os._exit(128 + n))
    order = sorted(job["requests"], key=lambda r: -r["until_ns"])
    with ThreadPoolExecutor(TOGETHER, initializer=punctual) as pool:
        running = {pool.submit(one, r, job["seed"], folder): r for r in order}
        for done in as_completed(running):
            try:
                done.result()
            except Exception as e:
                (folder / f"{running[done]['name']}.json").write_text(json.dumps({"failure": str(e)}), encoding="utf-8")
            print(running[done]["name"], flush=True)
    sys.stdout.flush()
    os._exit(0)


def punctual() -> None:
    """Packets are not to wait for other programs; where that is not allowed, cases say how late they were.

    A turn each, unlike for an emulation that has a processor to itself.
    """
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(processors.PRIORITY))


def one(request: dict[str, Any], seed: int, folder: Path) -> None:
    """One scenario: `NAME.parquet` with the events of its first flow, `NAME.json` with what else was seen."""
    request = dict(request)
    name, scenario = request.pop("name"), request.pop("scenario")
    seen = core().examine_kernel(json.dumps(scenario), seed, json.dumps(request))
    kinds = pl.Series(seen["kinds"], dtype=pl.String)
    table = pl.DataFrame(
        {
            **{c: seen[c] for c in PLAIN},
            "kind": kinds.gather(pl.Series(seen["kind"])),
            "end": pl.Series(["receiver", "sender"]).gather(pl.Series(seen["is_sender"])),
        }
    )
    table.write_parquet(folder / f"{name}.parquet")
    (folder / f"{name}.json").write_text(seen["facts"], encoding="utf-8")
