"""What a queue costs and what it asks of an operator: sections 11 and 12 of RFC 7928, which no scenario answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from crosswind.core import registry
from crosswind.errors import InterruptedRunError
from crosswind.run.simulate import run
from crosswind.scenario import Scenario
from crosswind.suites.case import Case, Setting, Table
from crosswind.suites.network import bulk, dumbbell

COST = Case(
    "cost",
    "11",
    "What a packet costs",
    "How much processor time does a packet take behind it?",
    lambda s, q: {},
)
PLAIN: Table = {"type": "droptail", "limit": "1000 packets"}
RATE_bps, SECONDS, FLOWS, TRIES = 100_000_000, 20.0, 10, 3


def parameters(kind: str) -> dict[str, Any]:
    """The parameters of a queue by name, with what the schema says of each; empty for one that does not exist."""
    # `tc` writes underscores.
    meant = ("queue", kind.replace("_", "-"))
    return next((dict(r["params"]["properties"]) for r in registry() if (r["kind"], r["name"]) == meant), {})


def costs(subjects: Mapping[str, Table], s: Setting) -> dict[str, float]:
    """Processor time of a packet of ten greedy flows over 100 Mbit/s, in all that happens to it, ns; least of three.

    Drop-tail is measured beside the subjects, in turns with them, as `""`. Raises InterruptedRunError after Ctrl-C.
    """
    fast = replace(s, rate_bps=RATE_bps, seconds=SECONDS, reps=1)
    scenarios = {
        name: Scenario.from_dict({"name": "cost", **dumbbell(fast, queue, {"bulk": bulk(fast, count=FLOWS)})})
        for name, queue in {"": PLAIN, **subjects}.items()
    }
    least: dict[str, float] = {}
    for _ in range(TRIES):
        for name, scenario in scenarios.items():
            began = time.process_time()
            made = run(scenario, reps=1, workers=1)
            spent = time.process_time() - began
            if made.interrupted:
                raise InterruptedRunError("interrupted while the cost of a packet was measured; its case begins anew")
            links = made.links().filter(pl.col("link") == "bottleneck", pl.col("direction") == "forward")
            each = 1e9 * spent / int(links["sent_packets"].sum())
            least[name] = min(each, least.get(name, each))
    return least
