"""One cell of the benchmark: what is run, and running it in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crosswind.errors import CrosswindError, InputError

Spec = dict[str, Any]

FLOWS = (1, 10, 100, 1000)
RATES_bps = {"100 Mbit/s": 100_000_000, "1 Gbit/s": 1_000_000_000}
QUEUES = ("droptail", "red")
# Run when asked for; ns-2 has none of them, ns-3 those of `peers.NS3_QUEUES`.
MODERN = (
    "adaptive-red",
    *("codel", "cobalt", "fq-codel", "fq-pie", "fq", "drr", "pie", "pi2", "dualpi2", "cake", "blue", "sfb", "sfq"),
    # Shapers and links that are no plain line, drop-tail in front of them.
    *("htb", "trace"),
)
# Simulated seconds: about a million packets each.
SECONDS = {100_000_000: 80.0, 1_000_000_000: 10.0}


@dataclass(frozen=True)
class Cell:
    """A dumbbell of the table."""

    flows: int
    rate_bps: int
    queue: str

    @property
    def seconds(self) -> float:
        """Simulated time of a run."""
        return SECONDS.get(self.rate_bps, max(1.0, 1e10 / self.rate_bps))

    @property
    def rate(self) -> str:
        return next((name for name, bps in RATES_bps.items() if bps == self.rate_bps), f"{self.rate_bps} bit/s")

    def spec(self) -> Spec:
        """The cell as the engine wants it told."""
        return spec(self.flows, self.rate_bps, self.seconds, queue=self.queue)


def spec(flows: int, rate_bps: int, seconds: float, **more: Any) -> Spec:
    """What the engine's benchmark runs; `more`: queue, sender, acks, traffic, routers_apart, rtt."""
    return {"flows": flows, "rate": f"{rate_bps} bit/s", "duration": f"{seconds} s", **more}


def all_cells(flows: Iterable[int] = (), rates: Iterable[str] = (), queues: Iterable[str] = ()) -> list[Cell]:
    """The cells of the table, or those of the given flows, rates and queues."""
    chosen = [_known(q, (*QUEUES, *MODERN), "--queue") for q in queues] or list(QUEUES)
    speeds = [RATES_bps[_known(r, RATES_bps, "--rate")] for r in rates] or list(RATES_bps.values())
    counts = list(flows) or list(FLOWS)
    if bad := [n for n in counts if not 1 <= n <= 1_000_000]:
        raise InputError("--flows", found=str(bad[0]), expected="from 1 to 1000000")
    return [Cell(n, rate, queue) for rate in speeds for queue in chosen for n in counts]


def _known(name: str, names: Iterable[str], option: str) -> str:
    if name not in names:
        raise InputError(option, found=f"`{name}`", expected=f"one of {', '.join(names)}")
    return name


def fresh(what: Spec) -> dict[str, Any]:
    """Runs one benchmark in a fresh process and returns its row."""
    command = [sys.executable, "-m", "crosswind.bench", json.dumps(what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CrosswindError(f"the benchmark {json.dumps(what)} has failed: {last}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row
