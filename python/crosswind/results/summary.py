"""Summaries of runs for people: what each flow got and what each link did, with units."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import polars as pl

from crosswind.results import delays, outcomes
from crosswind.results.tables import CLASS
from crosswind.table import Table, table_html

if TYPE_CHECKING:
    from crosswind.results.runs import Runs

FLOWS_SHOWN = 24
ROWS_SHOWN = 300
NAMES_SHOWN = 8
# A link direction that is used less, and at which nothing is dropped, lost or marked, is only named.
IDLE_BELOW = 0.02
SPARKS = "▁▂▃▄▅▆▇█"


def show_rate(bps: float) -> str:
    """A rate with a fitting unit."""
    for limit, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if abs(bps) >= limit:
            return f"{bps / limit:.3g} {unit}"
    return f"{bps:.3g} bit/s"


def show_time(ns: float) -> str:
    """A duration with a fitting unit; a dash for what did not happen."""
    if ns < 0:
        return "-"
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= limit:
            return f"{ns / limit:.4g} {unit}" if ns / limit >= 100 else f"{ns / limit:.3g} {unit}"
    return f"{ns:.3g} ns"


def show_bytes(count: float) -> str:
    """A size with a fitting unit."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e4, "kB")):
        if abs(count) >= limit:
            return f"{count / limit if limit > 1e4 else count / 1e3:.3g} {unit}"
    return f"{count:.0f} B"


def show_count(count: float) -> str:
    """A number; with one digit behind the point where it is no whole one."""
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.1f}"


def show_share(ratio: float) -> str:
    return f"{ratio * 100:.1f} %"


def show_loss(ratio: float) -> str:
    """A share that may be small."""
    return f"{ratio * 100:.2g} %"


def show_score(mos: float) -> str:
    return f"{mos:.2f}"


Column = tuple[str, Sequence[str], Callable[[float], str]]
FLOW_COLUMNS: tuple[Column, ...] = (
    ("goodput", ("goodput_bps",), show_rate),
    ("elapsed", ("elapsed_ns",), show_time),
    ("sent packets", ("sent_packets",), show_count),
    ("retransmitted", ("retransmitted_packets",), show_count),
    ("timeouts", ("timeouts",), show_count),
    ("drops", ("drops_packets",), show_count),
    ("lost", ("lost_packets",), show_count),
    ("marks", ("marks_packets",), show_count),
)
DELAY_COLUMNS: tuple[Column, ...] = (
    ("delay p50", ("delay_p50_ns",), show_time),
    ("delay p95", ("delay_p95_ns",), show_time),
    ("delay p99", ("delay_p99_ns",), show_time),
    ("jitter", ("jitter_mean_ns",), show_time),
    ("loss", ("loss_ratio",), show_loss),
    ("MOS", ("mos",), show_score),
    ("rtt p50", ("rtt_p50_ns",), show_time),
    ("rtt p95", ("rtt_p95_ns",), show_time),
    ("rtt p99", ("rtt_p99_ns",), show_time),
    ("in queues p50", ("queue_delay_p50_ns",), show_time),
    ("in queues p95", ("queue_delay_p95_ns",), show_time),
    ("in queues p99", ("queue_delay_p99_ns",), show_time),
)
LINK_COLUMNS: tuple[Column, ...] = (
    ("utilisation", ("utilisation_ratio",), show_share),
    ("sent packets", ("sent_packets",), show_count),
    ("marks", ("marks_packets",), show_count),
)
QUEUE_COLUMNS: tuple[Column, ...] = (
    ("delay p50", ("queue_delay_p50_ns",), show_time),
    ("delay p95", ("queue_delay_p95_ns",), show_time),
    ("delay p99", ("queue_delay_p99_ns",), show_time),
    ("backlog mean", ("queue_mean_bytes",), show_bytes),
    ("backlog max", ("queue_max_bytes",), show_bytes),
)

LOAD_COLUMNS: tuple[Column, ...] = (
    ("idle", ("idle_p50_ns",), show_time),
    ("loaded", ("loaded_p50_ns",), show_time),
    ("p50", ("added_p50_ns",), show_time),
    ("p95", ("added_p95_ns",), show_time),
    ("p99", ("added_p99_ns",), show_time),
    ("round trips/min", ("responsiveness_rpm",), show_count),
)
CLASS_COLUMNS: tuple[Column, ...] = (
    ("arrived packets", ("arrived_packets",), show_count),
    ("sent", ("sent_bytes",), show_bytes),
    ("marks", ("marks_packets",), show_count),
    ("queue delay p50", ("queue_delay_p50_ns",), show_time),
    ("queue delay p95", ("queue_delay_p95_ns",), show_time),
    ("queue delay p99", ("queue_delay_p99_ns",), show_time),
)


def _medians(frame: pl.DataFrame, keys: list[str], columns: Sequence[str]) -> pl.DataFrame:
    """Medians over repetitions; what did not happen is left out."""
    return frame.group_by(keys, maintain_order=True).agg([happened(c).median() for c in columns])


def happened(column: str) -> pl.Expr:
    """The values of a column; null for what did not happen, or does not exist for a stream over UDP (-1 or NaN)."""
    value = pl.col(column).cast(pl.Float64).fill_nan(None)
    return pl.when(value != -1).then(value).alias(column)


def _cell(value: object, show: Callable[[float], str]) -> str:
    return show(value) if isinstance(value, int | float) and not math.isnan(value) else "-"


def _table(title: str, frame: pl.DataFrame, keys: list[str], columns: Sequence[Column], note: str) -> Table:
    present = [
        (head, next(n for n in names if n in frame.columns), show)
        for head, names, show in columns
        if any(n in frame.columns for n in names)
    ]
    middle = _medians(frame, keys, [n for _, n, _ in present])
    # A column in which nothing ever happened says nothing.
    present = [
        (h, n, s) for h, n, s in present if h not in ("lost", "marks") or float(middle[n].fill_null(0).sum()) > 0
    ]
    rows = [
        [*(str(row[k]) for k in keys), *(_cell(row[n], show) for _, n, show in present)]
        for row in middle.iter_rows(named=True)
    ]
    if len(rows) > ROWS_SHOWN:
        note = f"The first {ROWS_SHOWN} of {len(rows)} rows; all are in the Parquet tables. {note}".strip()
    return Table(title, [*keys, *(h for h, _, _ in present)], rows[:ROWS_SHOWN], note)


def _note(runs: Runs) -> str:
    reps = int(runs.manifest.get("reps", 1))
    if runs.repetitions_are_identical():
        return f"All {reps} repetitions are identical: nothing in this scenario is random."
    return f"Medians over {reps} repetitions." if reps > 1 else ""


def _with_outcomes(table: Table, flows: pl.DataFrame, keys: list[str]) -> Table:
    """Adds what became of the flows, where some did not do what they were to do."""
    if "outcome" not in flows.columns or flows["outcome"].is_in(outcomes.AS_WANTED).all():
        return table
    each = [outcomes.outcome_of(part["outcome"]) for _, part in flows.group_by(keys, maintain_order=True)]
    n = len(keys)
    heads = [*table.heads[:n], "outcome", *table.heads[n:]]
    rows = [[*row[:n], outcome, *row[n:]] for row, outcome in zip(table.rows, each, strict=True)]
    return Table(table.title, heads, rows, f"{table.note} {outcomes.note(flows)}".strip())


def flow_table(runs: Runs) -> Table | None:
    """What each flow got, a page as one; groups instead of members when there are many."""
    flows = runs.generators()
    if flows.is_empty():
        return None
    key = "name" if flows["name"].n_unique() <= FLOWS_SHOWN else "group"
    keys = [*_labels(runs), "flow"]
    notes = [_note(runs)]
    if key == "group":
        notes.append("Medians over the members of each group.")
    if not runs.table("page").is_empty():
        notes.append("The elapsed time of a page is its response; its connections are rows of the flow table.")
    renamed = _named(flows, key)
    table = _table("Flows", renamed, keys, FLOW_COLUMNS, " ".join(n for n in notes if n))
    return _with_outcomes(table, renamed, keys)


def _labels(runs: Runs) -> list[str]:
    return ["configuration"] if len(runs.scenarios) > 1 else []


def _named(flows: pl.DataFrame, key: str) -> pl.DataFrame:
    """The rows of flows with their name, or that of their group, in `flow`."""
    return flows.drop("flow", strict=False).rename({key: "flow"})


def delay_table(runs: Runs) -> Table | None:
    """One-way delay, jitter, loss and round-trip time of each flow, voice quality of calls; None without any."""
    flows = runs.generators()
    seen = [n for _, (n,), _ in DELAY_COLUMNS if n in flows.columns]
    if not seen:
        return None
    there = [happened(c).is_not_null() for c in seen]
    flows = flows.filter(pl.any_horizontal(there))
    if flows.is_empty():
        return None
    key = "name" if flows["name"].n_unique() <= FLOWS_SHOWN else "group"
    columns = [c for c in DELAY_COLUMNS if c[1][0] in seen and flows.filter(there[seen.index(c[1][0])]).height]
    note = "One way, of data packets; rtt: round trips, as the sender measures them."
    if any(head.startswith("in queues") for head, _, _ in columns):
        note += " In queues: the part of it that packets waited at links."
    if any(head == "MOS" for head, _, _ in columns):
        note += " MOS: opinion of a call, 1 to 4.5 (E-model)."
    return _table("Delays", _named(flows, key), [*_labels(runs), "flow"], columns, note)


def link_table(runs: Runs) -> Table | None:
    """What each link direction did, with drops by reason; those at which hardly anything happened are only named."""
    links = runs.links()
    if links.is_empty():
        return None
    drops = _drops(links)
    reasons = [names[0] for _, names, _ in drops]
    busy, idle = _busy_links(links, reasons)
    note = " ".join(n for n in (_note(runs), _folded(idle)) if n)
    return _table("Links", busy, _link_keys(runs), LINK_COLUMNS[:2] + drops + LINK_COLUMNS[2:], note)


def _link_keys(runs: Runs) -> list[str]:
    return [*_labels(runs), "link", "direction"]


def queue_table(runs: Runs) -> Table | None:
    """How long packets waited in the queue of each link direction of the link table, and how many bytes with them."""
    links = runs.links()
    if links.is_empty():
        return None
    busy, _ = _busy_links(links, [names[0] for _, names, _ in _drops(links)])
    return _table("Queues", busy, _link_keys(runs), QUEUE_COLUMNS, "")


def load_rows(runs: Runs) -> pl.DataFrame:
    """What transfers add to the round-trip time of each ping whose events were recorded; empty where there is none."""
    return delays.loads(runs)


def load_table(runs: Runs) -> Table | None:
    """The same for people."""
    rows = load_rows(runs)
    if rows.is_empty():
        return None
    note = (
        "Median round-trip times of pings before the transfers, and while all of them last; p50 to p99: what they add."
    )
    return _table("Under load", rows, [*_labels(runs), "flow"], LOAD_COLUMNS, note)


def tables_of(runs: Runs) -> list[Table]:
    """All tables of a summary that have something to show."""
    made = (
        flow_table(runs),
        delay_table(runs),
        load_table(runs),
        link_table(runs),
        queue_table(runs),
        class_table(runs),
    )
    return [t for t in made if t]


def class_table(runs: Runs) -> Table | None:
    """What the classes of the queues of the link table did, with drops by reason, but for those without a packet."""
    classes = runs.classes()
    if classes.is_empty():
        return None
    place = ["link", "direction", "class"]
    links, _ = _busy_links(runs.links(), [names[0] for _, names, _ in _drops(runs.links())])
    classes = classes.join(links, on=place[:2], how="semi", maintain_order="left")
    used = classes.group_by(place, maintain_order=True).agg(pl.col("arrived_packets").sum() > 0)
    names = used.filter("arrived_packets")
    if names.is_empty():
        return None
    busy = classes.join(names, on=place, how="semi", maintain_order="left")
    return _table(
        "Classes", busy, [*_link_keys(runs), "class"], CLASS_COLUMNS[:2] + _drops(busy) + CLASS_COLUMNS[2:], _note(runs)
    )


def _drops(frame: pl.DataFrame) -> tuple[Column, ...]:
    """A column for each reason for which anything was dropped."""
    reasons = [c for c in frame.columns if c.startswith("drops_") and c != "drops_packets"]
    return tuple(
        (f"dropped: {c.removeprefix('drops_').removesuffix('_packets').replace('_', ' ')}", (c,), show_count)
        for c in reasons
        if float(frame[c].sum()) > 0
    )


def of_each_group(ranked: Sequence[str], groups: Mapping[str, str], most: int) -> list[str]:
    """At most so many of these names: the first of each group, then the second of each. Ten downloads hide no ping.

    `ranked`: names of flows or links, those that matter most first; `groups`: flow -> group; others are in none.

    >>> of_each_group(["a-1", "a-2", "a-3", "ping"], {"a-1": "a", "a-2": "a", "a-3": "a"}, 3)
    ['a-1', 'ping', 'a-2']
    """
    turns: Counter[str] = Counter()
    order = []
    for place, name in enumerate(ranked):
        group = groups.get(name, name)
        order.append((turns[group], place, name))
        turns[group] += 1
    return [name for _, _, name in sorted(order)[:most]]


def _busy_links(links: pl.DataFrame, reasons: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """The link directions that did something in any run, and the names of the others; all when none did."""
    counted = [c for c in (*reasons, "marks_packets", "lost_packets") if c in links.columns]
    did = pl.sum_horizontal(pl.col(counted).fill_nan(0).fill_null(0)) > 0 if counted else pl.lit(value=False)
    did = did | (pl.col("utilisation_ratio").fill_nan(0) >= IDLE_BELOW)
    names = links.group_by("link", "direction", maintain_order=True).agg(did.any().alias("busy"))
    busy = links.join(names.filter("busy"), on=["link", "direction"], how="semi", maintain_order="left")
    if busy.is_empty():
        return links, []
    return busy, [f"{link} {way}" for link, way, _ in names.filter(~pl.col("busy")).iter_rows()]


def _folded(idle: Sequence[str]) -> str:
    if not idle:
        return ""
    named = ", ".join(idle[:NAMES_SHOWN]) + (f" and {len(idle) - NAMES_SHOWN} more" if len(idle) > NAMES_SHOWN else "")
    return f"Left out, used below {IDLE_BELOW * 100:.0f} % and without a drop, loss or mark: {named}."


def spark(values: Sequence[float], width: int = 60) -> str:
    """A line of block characters: the mean of each of `width` stretches, scaled to the largest."""
    if not values:
        return ""
    n = min(width, len(values))
    means = []
    for i in range(n):
        chunk = values[i * len(values) // n : (i + 1) * len(values) // n]
        means.append(sum(chunk) / len(chunk))
    top = max(means) or 1.0
    return "".join(SPARKS[min(len(SPARKS) - 1, int(max(0.0, m) / top * (len(SPARKS) - 1) + 0.5))] for m in means)


@dataclass(frozen=True)
class Spark:
    """A named sparkline with its largest value."""

    label: str
    line: str
    top: str


def sparks(runs: Runs, width: int = 0) -> list[Spark]:
    """Queue and congestion window of the first repetition as sparklines; empty when nothing was sampled.

    `width`: characters for label, line and largest value together (0: lines of 60).
    """
    if len(runs.scenarios) > 1:
        return []
    found: list[tuple[str, list[float], str]] = []
    for metric, what in (("queue_bytes", "queue"), ("cwnd_bytes", "cwnd")):
        one = runs.first_sample(metric).filter(~pl.col("entity").str.contains(CLASS)).sort("time_ns")
        names = one.group_by("entity", maintain_order=True).agg(pl.col("value").max()).filter(pl.col("value") > 0)
        for entity in names.sort("value", descending=True)["entity"].to_list()[:3]:
            values = one.filter(pl.col("entity") == entity)["value"].to_list()
            found.append((f"{what} {entity}", values, show_bytes(max(values))))
    beside = max((len(label) + len(f"    max {top}") for label, _, top in found), default=0)
    long = min(60, max(10, width - beside)) if width else 60
    return [Spark(label, spark(values, long), top) for label, values, top in found]


def runs_html(runs: Runs) -> str:
    """What each flow got and each link did, sparklines, warnings."""
    parts = [table_html(t) for t in tables_of(runs)]
    lines = "".join(f"{escape(s.label)} {s.line} max {escape(s.top)}\n" for s in sparks(runs))
    if lines:
        parts.append(f"<pre>{lines}</pre>")
    parts += [f"<p><strong>Check before trusting:</strong> {escape(w)}.</p>" for w in runs.manifest.get("warnings", [])]
    return "".join(parts)


def per_repetition(flows: pl.DataFrame, columns: Sequence[str], axes: Sequence[str] = ()) -> pl.DataFrame:
    """Means over the members of each flow group, one row per configuration, group and repetition.

    Members without a value, such as the delay of a flow of which nothing arrived, are left out (`happened`).
    """
    keys = ["configuration", *axes, "group", "rep"]
    values = [happened(c).mean() for c in columns if c in flows.columns]
    return flows.group_by(keys, maintain_order=True).agg(values)
