"""What came out of a sweep, for people and scripts: medians over the repetitions with their intervals and n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosswind import stats
from crosswind.results import delays, outcomes
from crosswind.results.summary import per_repetition, show_count, show_loss, show_rate, show_score, show_time
from crosswind.stats import Estimate
from crosswind.table import Table

if TYPE_CHECKING:
    from crosswind.sweep.sweeps import Sweep

ROWS_SHOWN = 60
DELAYS = (
    "delay_p50_ns",
    "delay_p95_ns",
    "delay_p99_ns",
    "rtt_p50_ns",
    "rtt_p99_ns",
    "jitter_mean_ns",
    "loss_ratio",
    "mos",
    "queue_delay_p50_ns",
    "queue_delay_p95_ns",
    "queue_delay_p99_ns",
    "added_p50_ns",
    "responsiveness_rpm",
)
METRICS = ("goodput_bps", "elapsed_ns", *DELAYS, "drops_packets", "retransmitted_packets", "timeouts")


def rows_of(done: Sweep) -> list[dict[str, Any]]:
    """One row per configuration and flow group: varied values, n, and for each metric its median and interval."""
    flows = delays.with_loads(done.runs.generators(), done.runs)
    if flows.is_empty():
        return []
    axes = done.axes
    columns = [c for c in METRICS if c in flows.columns]
    means = per_repetition(flows, columns, axes)
    keys = ["configuration", "group"]
    gone = {k: part.height for k, part in outcomes.left_out(flows).group_by(keys)}
    rows: list[dict[str, Any]] = []
    for key, one in means.group_by(["configuration", *axes, "group"], maintain_order=True):
        row: dict[str, Any] = dict(zip(["configuration", *axes, "group"], key, strict=True))
        row["n"] = one.height
        row["left_out"] = gone.get((row["configuration"], row["group"]), 0)
        for c in columns:
            e = stats.median(one[c].drop_nulls())
            row |= {c: _finite(e.value), f"{c}_low": _finite(e.low), f"{c}_high": _finite(e.high)}
        rows.append(row)
    return rows


def _finite(x: float) -> float | None:
    return x if x == x else None


def table_of(done: Sweep) -> Table:
    """The same for the terminal."""
    rows = rows_of(done)
    axes = done.axes
    shown = [
        (c, head, show)
        for c, head, show in (
            ("goodput_bps", "goodput (95 %)", show_rate),
            ("elapsed_ns", "elapsed (95 %)", show_time),
            ("delay_p50_ns", "delay p50", show_time),
            ("delay_p95_ns", "p95", show_time),
            ("delay_p99_ns", "p99", show_time),
            ("queue_delay_p95_ns", "in queues p95", show_time),
            ("jitter_mean_ns", "jitter", show_time),
            ("loss_ratio", "loss", show_loss),
            ("mos", "MOS", show_score),
            ("responsiveness_rpm", "round trips/min", show_count),
            ("drops_packets", "drops", show_count),
            ("timeouts", "timeouts", show_count),
        )
        if any(row.get(c) is not None for row in rows)
    ]
    missing = ["left out"] if any(row["left_out"] for row in rows) else []
    heads = [*axes, "flow", "n", *missing, *(head for _, head, _ in shown)]
    body = []
    for row in rows[:ROWS_SHOWN]:
        cells = [with_interval(row, c, show) if "95 %" in head else _plain(row[c], show) for c, head, show in shown]
        body.append(
            [
                *(str(row[a]) for a in axes),
                row["group"],
                str(row["n"]),
                *(str(row["left_out"]) for _ in missing),
                *cells,
            ]
        )
    hidden = len(rows) - len(body)
    note = "Medians over the repetitions (means over the members of a group) with 95 % bootstrap intervals."
    if missing:
        note += f" {outcomes.note(done.runs.generators())}"
    if hidden > 0:
        note += f" {hidden} more rows: --json, or `crosswind query {done.folder} SQL`."
    return Table(f"{done.parameters.height} configurations", heads, body, note)


def _plain(value: float | None, show: Any) -> str:
    return "-" if value is None else show(value)


def with_interval(row: dict[str, Any], column: str, show: Any) -> str:
    """ "47.1 kbit/s (46 to 48.2)": the unit once, where it is that of all three."""
    value, low, high = row[column], row[f"{column}_low"], row[f"{column}_high"]
    if value is None:
        return "-"
    if low == high:
        return str(show(value))
    said = [str(show(x)) for x in (value, low, high)]
    if len({text.partition(" ")[2] for text in said}) == 1:
        said[1:] = [text.partition(" ")[0] for text in said[1:]]
    return f"{said[0]} ({said[1]} to {said[2]})"


def estimate_of(row: dict[str, Any], column: str) -> Estimate:
    """The numbers of a row as an Estimate."""
    value = row[column]
    if value is None:
        return stats.NOTHING
    return Estimate(value, row[f"{column}_low"], row[f"{column}_high"], row["n"])
