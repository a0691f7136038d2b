"""The data packets of one flow on their way, for slow motion: when each left, how and when it ended, and the path."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

import polars as pl

from crosswind.errors import InputError
from crosswind.results import Runs
from crosswind.scenario import Scenario, topology
from crosswind.scenario.quantity import parse

#: Packets of one answer; the page asks for what comes after them.
PACKETS_MAX = 3_000
#: Bits of a packet, for the time that a line takes for one.
PACKET_BITS = 12_000.0
SENT, ENDED = ("send", "retransmit"), ("receive", "drop", "lost")


def told(runs: Runs, flow: str, at_s: float) -> dict[str, Any]:
    """The packets of a flow that are under way at a time or leave after it.

    Each is [left, ended, how it ended, whether it was retransmitted], in seconds; `path` has for each link its name,
    whether it is crossed from its far end, and how long a packet takes without a wait; `waits` says at which of them a
    packet is taken to wait: at the slowest. Raises InputError where nothing is known of the flow's packets.
    """
    found = journeys(runs, flow).filter(pl.col("ended") >= at_s)
    if found.is_empty():
        raise InputError(
            "studio",
            path="flow",
            found=f"no packet of `{flow}` after {at_s:g} s",
            expected="one of a flow over TCP, earlier",
        )
    path = _path(next(iter(runs.scenarios.values())), flow)
    rates = [rate for _, _, _, rate in path]
    shown = found.head(PACKETS_MAX)
    return {
        "flow": flow,
        "path": [[name, back, seconds] for name, back, seconds, _ in path],
        "waits": rates.index(min(rates)),
        "packets": [[round(a, 7), round(b, 7), how, again] for a, b, how, again in shown.iter_rows()],
        "more": found.height > shown.height,
    }


def journeys(runs: Runs, flow: str) -> pl.DataFrame:
    """`left`, `ended` (seconds), `how` (receive, drop, lost) and `again` of the data packets of a flow, as they left.

    Packets that carry the same bytes are told apart by their order; what was under way at the end is left out.
    """
    events = runs.events()
    empty = {"left": pl.Float64, "ended": pl.Float64, "how": pl.String, "again": pl.Boolean}
    if events.is_empty():
        return pl.DataFrame(schema=empty)
    data = events.filter((pl.col("name") == flow) & (pl.col("len") > 0))
    which = pl.int_range(pl.len()).over("seq").alias("which")
    of_sender = pl.col("end") == "sender"
    left = data.filter(pl.col("kind").cast(pl.String).is_in(SENT) & of_sender).select(
        "seq", which, left=pl.col("time_ns") / 1e9, again=pl.col("kind").cast(pl.String) == "retransmit"
    )
    arrived = (pl.col("kind").cast(pl.String) == "receive") & (pl.col("end") == "receiver")
    ended = data.filter(arrived | (pl.col("kind").cast(pl.String).is_in(ENDED[1:]) & of_sender)).select(
        "seq", which, ended=pl.col("time_ns") / 1e9, how=pl.col("kind").cast(pl.String)
    )
    return left.join(ended, on=["seq", "which"], how="inner", maintain_order="left").select(*empty)


def _path(scenario: Scenario, flow: str) -> list[tuple[str, bool, float, float]]:
    """The links from a flow's one end to its other: name, whether crossed from its far end, seconds, rate."""
    known = topology.edges(scenario)
    nodes = {n for e in known for n in (e.from_, e.to)}
    ends = scenario.get("flow", {}).get(flow) or scenario.get("flow", {}).get(_plain(flow)) or {}
    start, goal = (
        next((n for n in (str(ends.get(k)), _plain(str(ends.get(k)))) if n in nodes), "") for k in ("from", "to")
    )
    came: dict[str, tuple[topology.Edge, bool, str]] = {}
    todo, seen = deque([start]), {start}
    while todo:
        here = todo.popleft()
        for e in known:
            for a, b, back in ((e.from_, e.to, False), (e.to, e.from_, True)):
                if a == here and b not in seen:
                    seen.add(b)
                    came[b] = (e, back, a)
                    todo.append(b)
    if not start or goal not in came:
        raise InputError(
            "studio", path="flow", found=f"no way of `{flow}` in the drawing", expected="one between two of its nodes"
        )
    out = []
    while goal != start:
        e, back, goal = came[goal]
        delay, rate = parse(e.delay), parse(e.rate)
        bps = rate.value if rate and rate.value > 0 else 1e15
        out.append((e.name, back, round((delay.value / 1e9 if delay else 0.0) + PACKET_BITS / bps, 9), bps))
    return out[::-1]


def _plain(name: str) -> str:
    return re.sub(r"-\d+$", "", name)
