"""The report page of a sweep: what was varied, small multiples with intervals, heat maps, and which factor matters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from crosswind import report, stats
from crosswind.figures import Picture
from crosswind.figures import sweeps as figures_sweep
from crosswind.figures.charts import Format
from crosswind.figures.sweeps import Scale
from crosswind.results import outcomes
from crosswind.results.summary import per_repetition
from crosswind.stats import Estimate, effects
from crosswind.sweep.summary import table_of
from crosswind.sweep.sweeps import Sweep
from crosswind.table import Table

SHOWN: tuple[tuple[str, str, float], ...] = (
    ("goodput_bps", "goodput (kbit/s)", 1e-3),
    ("elapsed_ns", "elapsed time (s)", 1e-9),
    ("delay_p50_ns", "median delay (ms)", 1e-6),
    ("delay_p99_ns", "99th percentile of the delay (ms)", 1e-6),
    ("queue_delay_p99_ns", "99th percentile of the time in queues (ms)", 1e-6),
    ("mos", "mean opinion score", 1.0),
)
PANELS_MAX, SERIES_MAX, GROUPS_MAX = 9, 6, 4
UNITS = {"ns": ("ms", 1e-6), "bps": ("kbit/s", 1e-3), "bytes": ("kB", 1e-3), "packets": ("packets", 1.0), "": ("", 1.0)}


def write(done: Sweep, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html and the figures; returns the path of the report."""
    pictures = pictures_of(done)
    first = done.runs.scenarios[next(iter(done.runs.scenarios))]
    html = report.sweep_page(
        done.runs,
        title=f"Sweep of {first.title}",
        varied=[(path, ", ".join(_values(done, column))) for path, column in done.columns.items()],
        tables=[t for t in (effect_table(done), table_of(done)) if t and t.rows],
        pictures=pictures,
        command=command,
        formats=formats,
    )
    return report.write(folder, html, pictures, command, formats)


def _values(done: Sweep, column: str) -> list[str]:
    values = [str(v) for v in done.parameters[column].unique(maintain_order=True)]
    return values if len(values) <= 12 else [*values[:6], f"... ({len(values)} values)"]


def _numbers(done: Sweep, column: str) -> tuple[str, str, float] | None:
    """Column of numbers, label with unit, factor, of a varied path; None when its values are names."""
    for c in done.parameters.columns:
        unit = c.removeprefix(f"{column}_")
        if c == column and done.parameters[c].dtype.is_numeric():
            return c, column.replace("_", " "), 1.0
        if c.startswith(f"{column}_") and unit in UNITS and done.parameters[c].dtype.is_numeric():
            return c, f"{column.replace('_', ' ')} ({UNITS[unit][0]})", UNITS[unit][1]
    return None


def pictures_of(done: Sweep) -> list[Picture]:
    """The pictures that the design allows."""
    flows = done.runs.generators()
    columns = [c for c, _, _ in SHOWN if c in flows.columns]
    if flows.is_empty() or not done.axes:
        return []
    numeric = [c for c in done.parameters.columns if c not in done.axes and c != "configuration"]
    means = per_repetition(flows, columns, [*done.axes, *numeric])
    out: list[Picture] = []
    for metric, label, factor in SHOWN:
        if metric not in means.columns or means[metric].drop_nulls().is_empty():
            continue
        one = means.with_columns((pl.col(metric) * factor).alias("y")).filter(pl.col("y").is_finite())
        if _is_grid(done):
            for (group,), part in list(one.group_by(["group"], maintain_order=True))[:GROUPS_MAX]:
                out.append(_multiples(done, part, metric, label, str(group)))
            out += _heat_maps(done, one, metric, label)
        else:
            out += _drawn(done, one, metric, label)
    return out


def _is_grid(done: Sweep) -> bool:
    full = 1
    for a in done.axes:
        full *= done.parameters[a].n_unique()
    return full <= 4 * done.parameters.height


def _roles(done: Sweep) -> tuple[str, str | None, str | None]:
    """Which axis is x, which is the colour, which the panels: the longest one of numbers is x."""
    sizes = {a: done.parameters[a].n_unique() for a in done.axes}
    ranked = sorted(done.axes, key=lambda a: (_numbers(done, a) is None, -sizes[a]))
    x, rest = ranked[0], [a for a in ranked[1:] if sizes[a] > 1]
    colour = next((a for a in sorted(rest, key=lambda a: sizes[a]) if sizes[a] <= SERIES_MAX), None)
    panel = next((a for a in rest if a != colour), None)
    return x, colour, panel


def _scale(values: Sequence[float]) -> Scale:
    positive = min(values) > 0
    return "log" if positive and max(values) / min(values) >= 20 else "linear"


def _multiples(done: Sweep, means: pl.DataFrame, metric: str, label: str, group: str) -> Picture:
    x, colour, panel = _roles(done)
    numbers = _numbers(done, x)
    panels: dict[str, dict[str, list[tuple[Any, Estimate]]]] = {}
    column = numbers[0] if numbers else x
    keys = [*(a for a in (panel, colour) if a), column]
    if numbers:
        means = means.sort(column, maintain_order=True)
    for key, part in means.group_by(keys, maintain_order=True):
        named = dict(zip(keys, key, strict=True))
        facet = f"{panel.replace('_', ' ')} {named[panel]}" if panel else ""
        series = f"{colour.replace('_', ' ')} {named[colour]}" if colour else metric
        at = named[column] * numbers[2] if numbers else named[column]
        panels.setdefault(facet, {}).setdefault(series, []).append((at, stats.median(part["y"])))
    shown = dict(list(panels.items())[:PANELS_MAX])
    xs = [float(v) for p in panels.values() for line in p.values() for v, _ in line] if numbers else []
    caption = f"{label.split(' (')[0].capitalize()} of {group}: medians over the repetitions with 95 % intervals."
    if metric == "elapsed_ns":
        flows = done.runs.generators().filter(pl.col("group") == group)
        caption = f"{caption} {outcomes.note(flows)}".rstrip()
    hidden = [a for a in done.axes if a not in (x, colour, panel) and done.parameters[a].n_unique() > 1]
    if hidden:
        caption += f" Pooled over {', '.join(hidden)}."
    if len(panels) > len(shown):
        caption += f" The first {len(shown)} of {len(panels)} panels."
    name = f"{metric.rpartition('_')[0].replace('_', '-')}-{group}"
    return figures_sweep.small_multiples(
        name, caption, shown, numbers[1] if numbers else x.replace("_", " "), label, _scale(xs) if xs else "names"
    )


def _heat_maps(done: Sweep, means: pl.DataFrame, metric: str, label: str) -> list[Picture]:
    """One map for each flow group, over the two longest axes of at least three values."""
    sizes = {a: done.parameters[a].n_unique() for a in done.axes}
    long = sorted((a for a in done.axes if sizes[a] >= 3), key=lambda a: -sizes[a])[:2]
    if len(long) < 2:
        return []
    columns, rows = long[0], long[1]
    out = []
    for (group,), part in list(means.group_by(["group"], maintain_order=True))[:2]:
        middle = part.group_by([rows, columns]).agg(pl.col("y").median())
        if middle["y"].n_unique() < 2:  # a constant is no map
            continue
        found = {(r, c): y for r, c, y in middle.select(rows, columns, "y").iter_rows()}
        order = {a: _sorted(done, a) for a in (rows, columns)}
        values = [[found.get((r, c), float("nan")) for c in order[columns]] for r in order[rows]]
        out.append(
            figures_sweep.heat_map(
                f"{metric.rpartition('_')[0].replace('_', '-')}-map-{group}",
                f"{label.split(' (')[0].capitalize()} of {group}: median over everything else.",
                [str(v) for v in order[rows]],
                [str(v) for v in order[columns]],
                values,
                (rows.replace("_", " "), columns.replace("_", " "), label),
            )
        )
    return out


def _varies(part: pl.DataFrame, metric: str) -> bool:
    """Whether there is anything to explain: a constant, but for rounding, is not."""
    values = part[metric].cast(pl.Float64).drop_nulls().drop_nans()
    if values.is_empty():
        return False
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    return high - low > 1e-9 * max(abs(low), abs(high))


def _sorted(done: Sweep, axis: str) -> list[Any]:
    numbers = _numbers(done, axis)
    frame = done.parameters.unique(axis, maintain_order=True)
    return (frame.sort(numbers[0]) if numbers else frame)[axis].to_list()


def _drawn(done: Sweep, means: pl.DataFrame, metric: str, label: str) -> list[Picture]:
    out = []
    axes = [n for a in done.axes if (n := _numbers(done, a)) and done.parameters[a].n_unique() > 2]
    for (group,), part in list(means.group_by(["group"], maintain_order=True))[:2] if axes else []:
        middle = part.group_by("configuration", maintain_order=True).agg(
            pl.col("y").median(), *(pl.col(n[0]).first() for n in axes)
        )
        columns = {n[1]: (middle[n[0]] * n[2]).to_list() for n in axes}
        out.append(
            figures_sweep.drawn_points(
                f"{metric.rpartition('_')[0].replace('_', '-')}-drawn-{group}",
                f"{label.split(' (')[0].capitalize()} of {group}: each point is one configuration (median).",
                columns,
                middle["y"].to_list(),
                label,
                [k for k, v in columns.items() if _scale(v) == "log"],
            )
        )
    return out


def effect_table(done: Sweep) -> Table | None:
    """Shares of the variation of each metric that each factor and pair of factors explains."""
    flows = done.runs.generators()
    columns = [c for c, _, _ in SHOWN if c in flows.columns]
    axes = [a for a in done.axes if done.parameters[a].n_unique() > 1]
    if flows.is_empty() or not axes or not _is_grid(done):
        return None
    means = per_repetition(flows, columns, axes)
    found: list[tuple[str, str, dict[str, float]]] = []
    for (group,), part in means.group_by(["group"], maintain_order=True):
        for metric, label, _ in SHOWN:
            if metric in columns and _varies(part, metric) and (e := effects.shares(part, axes, metric)):
                found.append((str(group), label.split(" (")[0], {x.name: x.share for x in e}))
    if not found:
        return None
    names = sorted(
        {n for _, _, e in found for n in e if n != "rest"}, key=lambda n: -max(e.get(n, 0) for *_, e in found)
    )
    names = [*names[:8], "rest"]
    rows = [[g, m, *(f"{e.get(n, 0.0) * 100:.0f} %" for n in names)] for g, m, e in found]
    return Table(
        "What explains the variation",
        ["flow", "metric", *names],
        rows,
        "Shares of the sum of squares. a x b is their interaction: how far the effect of one depends on the other. "
        "The rest is what differs between repetitions, and interactions of three and more.",
    )
