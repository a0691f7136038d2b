"""Runs the cases in Crosswind and brings its tables into the form that the ns-2 driver gives."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

import crosswind as cw
from validation.ns2.driver import FlowTotals, Outcome, Sent
from validation.ns2.scenarios import Case, crosswind_scenario

BOTTLENECK = "bottleneck"


def run_all(cases: Sequence[Case]) -> list[Outcome]:
    """Runs every case once, results in the order of the cases."""
    scenarios = {c.key: cw.Scenario.from_dict(crosswind_scenario(c)) for c in cases}
    runs = cw.run(scenarios, reps=1)
    flows = {k: f for (k,), f in runs.flows().group_by("configuration")}
    links = {k: f for (k,), f in runs.links().group_by("configuration")}
    events = {k: f for (k,), f in _transmissions(runs).group_by("configuration")}
    return [_outcome(c, flows[c.key], links[c.key], events.get(c.key)) for c in cases]


def _transmissions(runs: cw.Runs) -> pl.DataFrame:
    """Data segments as they left their senders; a SYN or a FIN carries no data and is left out."""
    events = runs.table("event")
    if events.is_empty():
        return pl.DataFrame(schema={"configuration": pl.String})
    return events.filter(pl.col("kind").is_in(["send", "retransmit"]) & (pl.col("len") > 0))


def _outcome(case: Case, flows: pl.DataFrame, links: pl.DataFrame, events: pl.DataFrame | None) -> Outcome:
    link = links.filter((pl.col("link") == BOTTLENECK) & (pl.col("direction") == "forward")).row(0, named=True)
    drops = sum(int(v) for k, v in link.items() if k.startswith("drops_") and k.endswith("_packets"))
    sequence = (
        ()
        if events is None
        else tuple(
            Sent(round(time_ns / 1000), (seq - 1) // case.packet_bytes + 1, kind == "retransmit")
            for time_ns, seq, kind in events.select("time_ns", "seq", "kind").iter_rows()
        )
    )
    return Outcome(
        sequence=sequence,
        flows=tuple(_flow(case, row) for row in flows.sort("flow").iter_rows(named=True)),
        queue_mean_bytes=float(link["queue_mean_bytes"]),
        drops_packets=drops,
        bottleneck_packets=int(link["sent_packets"]),
    )


def _flow(case: Case, row: dict[str, int]) -> FlowTotals:
    return FlowTotals(
        start_s=row["open_ns"] / 1e9,
        done_s=row["close_ns"] / 1e9 if row["close_ns"] >= 0 else -1.0,
        acked_segments=row["size_bytes"] // case.packet_bytes,
        sent_packets=row["sent_packets"],
        retransmitted_packets=row["retransmitted_packets"],
        timeouts=row["timeouts"],
        ecn_reductions=row["ecn_reductions"],
    )
