"""What the charts show: sampled series on one axis of time, and the time-sequence graph of a flow.

Values are in seconds, bytes, packets and bits per second; the page chooses the unit that it writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind.results import Runs

#: Most lines in a chart, and most points of a line.
LINES_MAX, POINTS_MAX = 12, 600
#: Most marks of one kind in the time-sequence graph.
MARKS_MAX = 20_000
#: Share of the highest line that a queue must reach to be drawn.
NOTICEABLE = 0.005


@dataclass(frozen=True)
class Panel:
    """A chart over time: of which metric, in which unit once multiplied by `factor`, how points are joined to one."""

    key: str
    title: str
    metric: str
    unit: Literal["bit/s", "B", "s", "packets", "packets/s"]
    factor: float
    of: Literal["flow", "link"]
    joined: Literal["mean", "max"] = "max"


PANELS = (
    Panel("goodput", "Goodput", "goodput_bps", "bit/s", 1.0, "flow", "mean"),
    Panel("cwnd", "Congestion window", "cwnd_bytes", "B", 1.0, "flow"),
    Panel("rtt", "Round-trip time, smoothed by the sender", "srtt_ns", "s", 1e-9, "flow"),
    Panel("queue-delay", "Queueing delay", "queue_delay_ns", "s", 1e-9, "link"),
    Panel("queue", "Queue", "queue_packets", "packets", 1.0, "link"),
)
DROPS = Panel("drops", "Drops and marks", "drops_packets", "packets/s", 1.0, "link", "mean")
#: Stretches of time over which rates are averaged: a single sample sees a packet or none.
RATE_POINTS = 100
#: Kinds of events in the time-sequence graph: kind, words, whether it carries data.
MARKS = (
    ("send", "sent", True),
    ("resend", "sent again", True),
    ("drop", "dropped by a queue", True),
    ("lost", "lost on a link", True),
    ("mark", "marked", True),
    ("timeout", "timeout", False),
)


def charts(gauges: Runs, totals: Runs, flow: str) -> list[dict[str, Any]]:
    """One dict for each panel that has something to show: key, title, unit, x, series (name, y), hidden.

    Drops are those of each direction of a link; marks are those of `flow`, whose segments are recorded.
    """
    end_s = float(gauges.runs()["end_ns"].max() or 0) / 1e9  # type: ignore[arg-type]
    rows = gauges.sample()
    order = [*gauges.flows()["name"].to_list()] if gauges.flows().width else []
    found = [_panel(p, _rows(rows, p.metric, p.factor), end_s, order) for p in PANELS]
    drops = _rates(_rows(totals.sample(), DROPS.metric, 1.0))
    found.append(_panel(DROPS, pl.concat([drops, _marks(gauges, flow, end_s)]), end_s, order))
    return [p for p in found if p]


def _marks(runs: Runs, flow: str, end_s: float) -> pl.DataFrame:
    """Marks of a flow per second, over stretches of the run."""
    events = runs.events()
    none = pl.DataFrame(schema={"t": pl.Float64, "entity": pl.String, "y": pl.Float64})
    if events.is_empty() or end_s <= 0:
        return none
    at = events.filter((pl.col("name") == flow) & (pl.col("kind") == "mark") & (pl.col("end") == "sender"))["time_ns"]
    if at.is_empty():
        return none
    counts, edges = np.histogram(at.to_numpy() / 1e9, bins=RATE_POINTS, range=(0.0, end_s))
    rate = counts * RATE_POINTS / end_s
    return pl.DataFrame({"t": edges[:-1], "entity": [f"marks of {flow}"] * RATE_POINTS, "y": rate})


def _rows(rows: pl.DataFrame, metric: str, factor: float) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame(schema={"t": pl.Float64, "entity": pl.String, "y": pl.Float64})
    return rows.filter(pl.col("metric") == metric).select(
        t=pl.col("time_ns") / 1e9, entity=pl.col("entity"), y=pl.col("value").cast(pl.Float64) * factor
    )


def _rates(counted: pl.DataFrame) -> pl.DataFrame:
    """Per second, out of what was counted since the start."""
    more = pl.col("y").diff().over("entity") / pl.col("t").diff().over("entity")
    return counted.sort("entity", "t").with_columns(y=more.fill_null(0.0)).filter(pl.col("y").is_finite())


def _panel(panel: Panel, rows: pl.DataFrame, end_s: float, order: list[str]) -> dict[str, Any] | None:
    """Lines with the largest values, thinned to common stretches of time; None without any."""
    if panel.key == "rtt":
        rows = rows.filter(pl.col("y") > 0)
    peaks = rows.group_by("entity").agg(pl.col("y").max().alias("peak"), pl.col("y").mean().alias("mean"))
    peaks = peaks.filter(pl.col("peak") > 0)
    if panel.of == "link":
        peaks = peaks.filter(pl.col("peak") > NOTICEABLE * pl.col("peak").max())
    largest = peaks.sort("mean", "entity", descending=[True, False])["entity"].to_list()
    shown = sorted(largest[:LINES_MAX], key=lambda n: (order.index(n) if n in order else len(order), n))
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
