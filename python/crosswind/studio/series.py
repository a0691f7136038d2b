"""What the charts show: sampled series on one axis of time, and the time-sequence graph of a flow.

Values are in seconds, bytes, packets and bits per second; the page chooses the unit that it writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind.results import Runs
from crosswind.results.summary import of_each_group
from crosswind.results.tables import CLASS

#: Most lines in a chart, and most points of a line.
LINES_MAX, POINTS_MAX = 12, 600
#: Most marks of one kind in the time-sequence graph.
MARKS_MAX = 20_000
#: Share of the highest line that a queue must reach to be drawn.
NOTICEABLE = 0.005


@dataclass(frozen=True)
class Panel:
    """A chart over time: of which metric, in which unit once multiplied by `factor`, how points are joined to one.

    Of flows, of directions of links, of the classes of their queues, or of classes and of queues without any.
    """

    key: str
    title: str
    metric: str
    unit: Literal["bit/s", "B", "s", "packets", "packets/s"]
    factor: float
    of: Literal["flow", "link", "class", "leaf"]
    joined: Literal["mean", "max"] = "max"


PANELS = (
    Panel("goodput", "Goodput", "goodput_bps", "bit/s", 1.0, "flow", "mean"),
    Panel("cwnd", "Congestion window", "cwnd_bytes", "B", 1.0, "flow"),
    Panel("rtt", "Round-trip time, smoothed by the sender", "srtt_ns", "s", 1e-9, "flow"),
    Panel("queue-delay", "Queueing delay", "queue_delay_ns", "s", 1e-9, "link"),
    Panel("queue", "Queue", "queue_packets", "packets", 1.0, "link"),
    Panel("class-delay", "Queueing delay by class of the queue", "queue_delay_ns", "s", 1e-9, "class"),
    Panel("class-queue", "Queue by class", "queue_packets", "packets", 1.0, "class"),
)
#: What is counted, shown per second.
COUNTED = (
    Panel("drops", "Drops", "drops_packets", "packets/s", 1.0, "leaf", "mean"),
    Panel("marks", "Marks", "marks_packets", "packets/s", 1.0, "leaf", "mean"),
)
#: Stretches of time over which rates are averaged: a single sample sees a packet or none.
RATE_POINTS = 100
#: Kinds of events in the time-sequence graph: kind, words, whether it carries data.
MARKS = (
    ("send", "sent", True),
    ("retransmit", "retransmitted", True),
    ("drop", "dropped by a queue", True),
    ("lost", "lost on a link", True),
    ("mark", "marked", True),
    ("timeout", "timeout", False),
)


def charts(gauges: Runs, totals: Runs) -> list[dict[str, Any]]:
    """One dict for each panel that has something to show: key, title, unit, x, series (name, y), hidden."""
    end_s = float(gauges.runs()["end_ns"].max() or 0) / 1e9  # type: ignore[arg-type]
    rows = gauges.sample()
    groups = dict(gauges.flows().select("name", "group").iter_rows()) if gauges.flows().width else {}
    found = [_panel(p, _rows(rows, p), end_s, groups) for p in PANELS]
    counts = totals.sample()
    found += [_panel(p, _rates(_rows(counts, p)), end_s, groups) for p in COUNTED]
    return [p for p in found if p]


def _rows(rows: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """Time in seconds, entity and value of what a panel shows."""
    if rows.is_empty():
        return pl.DataFrame(schema={"t": pl.Float64, "entity": pl.String, "y": pl.Float64})
    named = pl.col("entity").cast(pl.String)
    found = rows.filter(pl.col("metric") == panel.metric).select(
        t=pl.col("time_ns") / 1e9, entity=named, y=pl.col("value").cast(pl.Float64) * panel.factor
    )
    if panel.of == "flow":
        return found
    every = found["entity"].unique().to_list()
    divided = {e[:at] for e in every for at, c in enumerate(e) if c == "/"}
    wanted = {
        "link": lambda e: not re.search(CLASS, e),
        "class": lambda e: bool(re.search(CLASS, e)),
        "leaf": lambda e: e not in divided,
    }[panel.of]
    return found.filter(pl.col("entity").is_in([e for e in every if wanted(e)]) & pl.col("y").is_finite())


def _rates(counted: pl.DataFrame) -> pl.DataFrame:
    """Per second, out of what was counted since the start."""
    more = pl.col("y").diff().over("entity") / pl.col("t").diff().over("entity")
    return counted.sort("entity", "t").with_columns(y=more.fill_null(0.0)).filter(pl.col("y").is_finite())


def _panel(panel: Panel, rows: pl.DataFrame, end_s: float, groups: dict[str, str]) -> dict[str, Any] | None:
    """Lines with the largest values of each group, thinned to common stretches of time; None without any."""
    if panel.key == "rtt":
        rows = rows.filter(pl.col("y") > 0)
    peaks = rows.group_by("entity").agg(pl.col("y").max().alias("peak"), pl.col("y").mean().alias("mean"))
    peaks = peaks.filter(pl.col("peak") > 0)
    if panel.of != "flow":
        peaks = peaks.filter(pl.col("peak") > NOTICEABLE * pl.col("peak").max())
    largest = peaks.sort("mean", "entity", descending=[True, False])["entity"].to_list()
    order = {name: i for i, name in enumerate(groups)}
    shown = sorted(of_each_group(largest, groups, LINES_MAX), key=lambda n: (order.get(n, len(order)), n))
    if not shown:
        return None
    rows = rows.filter(pl.col("entity").is_in(shown))
    times = rows["t"].unique().sort()
    most = RATE_POINTS if panel.joined == "mean" else POINTS_MAX
    step = (end_s or float(times[-1])) / most
    if times.len() > most and step > 0:
        y = pl.col("y").mean() if panel.joined == "mean" else pl.col("y").max()
        rows = rows.group_by("entity", ((pl.col("t") / step).floor() * step).alias("t")).agg(y)
    wide = rows.pivot(on="entity", index="t", values="y", aggregate_function="max").sort("t")
    return {
        "key": panel.key,
        "title": panel.title,
        "unit": panel.unit,
        "of": panel.of,
        "x": _told(wide["t"]),
        "series": [{"name": n, "y": _told(wide[n])} for n in shown],
        "hidden": len(largest) - len(shown),
    }


def _told(values: pl.Series) -> list[float | None]:
    rounded = values.cast(pl.Float64).fill_nan(None).round_sig_figs(6)
    return rounded.to_list()


def sequence(runs: Runs, flow: str) -> dict[str, Any] | None:
    """The time-sequence graph of one flow: x in seconds, y in bytes, the line of ACKs and marks by kind."""
    events = runs.events()
    if events.is_empty():
        return None
    events = events.filter((pl.col("name") == flow) & (pl.col("end") == "sender"))
    if events.is_empty():
        return None
    acks = events.filter(pl.col("kind") == "ack")
    kept = _thinned(acks)
    series: list[dict[str, Any]] = [
        {"name": "acknowledged", "kind": "line", "x": _seconds(kept), "y": kept["seq"].to_list()}
    ]
    for kind, words, carries_data in MARKS:
        some = events.filter((pl.col("kind") == kind) & ((pl.col("len") > 0) if carries_data else (pl.col("seq") > 0)))
        if not some.is_empty():
            part = _thinned(some)
            series.append(
                {
                    "name": words,
                    "kind": kind,
                    "count": some.height,
                    "x": _seconds(part),
                    "y": part["seq"].to_list(),
                }
            )
    shown = [s for s in series if s["x"]]
    return {"flow": flow, "series": shown} if shown else None


def _thinned(events: pl.DataFrame) -> pl.DataFrame:
    """Every so-maniest event, so that a browser can draw them."""
    return events.gather_every(-(-events.height // MARKS_MAX)) if events.height > MARKS_MAX else events


def _seconds(events: pl.DataFrame) -> list[float]:
    return np.round(events["time_ns"].to_numpy() / 1e9, 7).tolist()  # type: ignore[no-any-return]
