"""The network of a scenario with what its queues did, for the drawing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from crosswind.results import Runs
from crosswind.scenario import Scenario, topology
from crosswind.scenario.quantity import parse


def drawing(scenario: Scenario, normal: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """Nodes (name, title, x, y in pixels) and links with rate, delay, queue and, for each direction, what it did."""
    found = topology.edges(scenario)
    at = topology.places(found, scenario)
    return {
        "width": max(x for x, _ in at.values()) + topology.BOX_W + 20,
        "height": max(y for _, y in at.values()) + topology.BOX_H + 40,
        "box": [topology.BOX_W, topology.BOX_H],
        "nodes": [{"name": n, "x": x, "y": y} for n, (x, y) in at.items()],
        "links": [{**_link(e, runs.links()), "back": _back(normal.get("link", {}).get(e.name))} for e in found],
        "flows": [
            {"name": n, "from": f.get("from"), "to": f.get("to"), "count": f.get("count", 1)}
            for n, f in (scenario.get("flow") or {}).items()
        ],
    }


def _link(edge: topology.Edge, links: pl.DataFrame) -> dict[str, Any]:
    """An edge and its directions; of equal links drawn as one, that with the longest queue."""
    told: dict[str, Any] = {
        "name": edge.name,
        "from": edge.from_,
        "to": edge.to,
        "count": edge.count,
        "rate": edge.rate,
        "delay": edge.delay,
        "queue": edge.queue,
        "kind": edge.kind,
    }
    prefix = pl.col("link").str.replace(r"-\d+$", "") == edge.name if edge.count > 1 else pl.col("link") == edge.name
    for direction in ("forward", "reverse"):
        rows = links.filter(prefix & (pl.col("direction") == direction)).sort("queue_mean_bytes", descending=True)
        if not rows.is_empty():
            told[direction] = _did(rows.row(0, named=True))
    return told


def _back(spec: Any) -> str:
    """What the reverse direction is like where it differs; empty where it does not."""
    back = spec.get("reverse") if isinstance(spec, Mapping) else None
    if not isinstance(back, Mapping):
        return ""

    def said(way: Mapping[str, Any]) -> tuple[str, ...]:
        queue = way.get("queue") or {}
        return (*(str(way.get(k, "")) for k in ("rate", "delay")), *(str(queue.get(k, "")) for k in ("type", "limit")))

    rate, delay, kind, limit = said(back)
    limit = "" if limit == "none" else limit
    return ", ".join(p for p in (rate, delay, f"{kind} {limit}".strip()) if p) if said(back) != said(spec) else ""


def _did(row: dict[str, Any]) -> dict[str, Any]:
    drops = sum(int(v or 0) for k, v in row.items() if k.startswith("drops_"))
    return {
        "entity": f"{row['link']}/{row['direction']}",
        "used": _finite(row["utilisation_ratio"]),
        "mean_bytes": _finite(row["queue_mean_bytes"]),
        "max_bytes": _finite(row["queue_max_bytes"]),
        "delay_p95_s": _finite(row["queue_delay_p95_ns"], 1e-9),
        "drops": drops,
        "marks": int(row.get("marks_packets") or 0),
    }


def _finite(value: Any, factor: float = 1.0) -> float | None:
    number = float(value) * factor if value is not None else math.nan
    return float(f"{number:.5g}") if math.isfinite(number) else None


def seconds(duration: Any) -> float:
    """A duration of a scenario in seconds; zero for what is none."""
    found = parse(duration)
    return found.value / 1e9 if found and found.unit == "ns" else 0.0
