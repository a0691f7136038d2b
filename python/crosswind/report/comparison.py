"""Compares two results: flow by flow and metric by metric, repetition by repetition where they share random numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl

from crosswind import stats
from crosswind.errors import InputError, did_you_mean
from crosswind.figures import Picture
from crosswind.figures.charts import Format
from crosswind.figures.sweeps import forest
from crosswind.report import page
from crosswind.results import Runs, delays, outcomes
from crosswind.results.summary import per_repetition, show_bytes, show_count, show_rate, show_share, show_time
from crosswind.stats.comparing import Comparison, Pairing, compare
from crosswind.stats.precision import metric_column
from crosswind.table import Table

ROWS_DRAWN = 24
UNITS = ("bps", "ns", "bytes", "packets", "ratio", "Bps", "rpm")
DEFAULT = (
    "goodput_bps",
    "elapsed_ns",
    "delay_p50_ns",
    "delay_p99_ns",
    "queue_delay_p99_ns",
    "loss_ratio",
    "mos",
    "added_p50_ns",
    "responsiveness_rpm",
    "drops_packets",
    "retransmitted_packets",
    "timeouts",
)


@dataclass(frozen=True)
class Row:
    """One comparison: where, of which flow group, of which metric."""

    where: str
    group: str
    metric: str
    comparison: Comparison
    #: Flows that have no value of it (new, old), because they gave up, were cut off, or nothing of them arrived.
    left_out: tuple[int, int] = (0, 0)

    def as_dict(self) -> dict[str, Any]:
        c = self.comparison
        numbers = {
            f"{name}{end}": getattr(e, key)
            for name, e in (("new", c.new), ("old", c.old), ("difference", c.difference), ("change", c.change))
            for end, key in (("", "value"), ("_low", "low"), ("_high", "high"))
        }
        numbers = {k: (v if v == v else None) for k, v in numbers.items()}
        return {
            "where": self.where, "flow": self.group, "metric": self.metric, "n": c.n, "pairing": c.pairing, **numbers,
            "effect": c.size, "cliff_delta": _finite(c.cliff_delta.value), "cohen_d": _finite(c.cohen_d),
            "p": _finite(c.p_value), "test": c.test, "clear": c.clear,
            "new_left_out": self.left_out[0], "old_left_out": self.left_out[1],
        }  # fmt: skip


def _finite(x: float) -> float | None:
    return x if x == x else None


def results(new: Runs, old: Runs, metrics: Sequence[str] = ()) -> list[Row]:
    """Compares two sets of runs. Configurations of the same name are compared; so are two single ones.

    Paired when both have the same seed, repetitions and treatment of ties. Raises InputError when nothing fits.
    """
    same = [c for c in new.scenarios if c in old.scenarios]
    pairs = [(c, c) for c in same]
    if not pairs and len(new.scenarios) == len(old.scenarios) == 1:
        pairs = [(next(iter(new.scenarios)), next(iter(old.scenarios)))]
    if not pairs:
        a, b = (", ".join(list(r.scenarios)[:4]) for r in (new, old))
        raise InputError("compare", found=f"configurations {a} and {b}", expected="configurations of the same name")
    alike = all(new.manifest.get(k) == old.manifest.get(k) for k in ("seed", "ties"))
    rows: list[Row] = []
    for a, b in pairs:
        x, y = (
            delays.with_loads(r.generators(), r).filter(pl.col("configuration") == name)
            for r, name in ((new, a), (old, b))
        )
        rows += _rows(a if a == b else "", x, y, metrics, "paired" if alike else "independent")
    return rows


def along(runs: Runs, axis: str, base: str | None = None, metrics: Sequence[str] = ()) -> tuple[str, list[Row]]:
    """Compares the values of one axis of a sweep with its first (or `base`), everything else being equal, in pairs.

    Returns a title and the rows.
    """
    axes = list(dict.fromkeys(runs.manifest.get("columns", {}).values()))
    if axis not in axes:
        raise InputError(
            "--by",
            found=f"`{axis}`",
            expected=f"one of {', '.join(axes) or '(not a sweep)'}",
            hint=did_you_mean(axis, axes),
        )
    flows = delays.with_loads(runs.generators(), runs)
    values = flows[axis].unique(maintain_order=True).to_list()
    names = [str(v) for v in values]
    if base is not None and base not in names:
        raise InputError(
            "--base", found=f"`{base}`", expected=f"one of {', '.join(names)}", hint=did_you_mean(base, names)
        )
    reference = values[names.index(base)] if base is not None else values[0]
    rest = [a for a in axes if a != axis and flows[a].n_unique() > 1]
    rows: list[Row] = []
    for key, part in flows.group_by(rest, maintain_order=True) if rest else [((), flows)]:
        old = part.filter(pl.col(axis) == reference)
        at = ", ".join(f"{a}={v}" for a, v in zip(rest, key, strict=True))
        for value in values:
            if value != reference:
                new = part.filter(pl.col(axis) == value)
                shown = f"{axis}={value}" if len(values) > 2 or not at else ""
                where = ", ".join(part for part in (shown, at) if part)
                rows += _rows(where, new, old, metrics, "paired")
    others = ", ".join(str(v) for v in values if v != reference)
    return f"{axis.replace('_', ' ')}: {others} against {reference}", rows


def _rows(where: str, new: pl.DataFrame, old: pl.DataFrame, metrics: Sequence[str], wanted: Pairing) -> Iterator[Row]:
    columns = [metric_column(old, metric_column(new, m, "the new results"), "the old results") for m in metrics]
    columns = columns or [c for c in DEFAULT if c in new.columns and c in old.columns]
    a, b = (per_repetition(f.with_columns(pl.lit("x").alias("configuration")), columns) for f in (new, old))
    both = a.join(b, on=["group", "rep"], how="inner", suffix="_old", maintain_order="left")
    pairing = wanted if both.height == a.height == b.height else "independent"
    for group in a["group"].unique(maintain_order=True):
        for column in columns:
            if pairing == "paired":
                one = both.filter(pl.col("group") == group).drop_nulls([column, f"{column}_old"])
                x, y = one[column], one[f"{column}_old"]
            else:
                x, y = (f.filter(pl.col("group") == group)[column].drop_nulls() for f in (a, b))
            if x.len() and y.len() and (float(x.abs().sum()) > 0 or float(y.abs().sum()) > 0):
                gone = _gone(new, group, column), _gone(old, group, column)
                yield Row(where, str(group), column, compare(x.to_numpy(), y.to_numpy(), pairing), gone)


def _gone(flows: pl.DataFrame, group: Any, column: str) -> int:
    """How many members of a group have no value of a metric, over all repetitions."""
    members = flows.filter(pl.col("group") == group)
    if column == "elapsed_ns":  # what has no end has no time either, and is not missed
        return outcomes.left_out(members, column).height
    return members[column].cast(pl.Float64).fill_nan(None).null_count()


def show_of(metric: str) -> Any:
    """How values of a metric are written."""
    for ending, show in (("_bps", show_rate), ("_ns", show_time), ("_bytes", show_bytes), ("_ratio", show_share)):
        if metric.endswith(ending):
            return show
    return show_count


def table(rows: Sequence[Row], title: str = "New against old") -> Table:
    """The comparisons for people; p-values are adjusted for their number (Holm)."""
    adjusted = stats.holm([r.comparison.p_value if r.comparison.p_value == r.comparison.p_value else 1.0 for r in rows])
    body = []
    for r, p in zip(rows, adjusted, strict=True):
        c, show = r.comparison, show_of(r.metric)
        sure = f" ({c.change.low:+.1%} to {c.change.high:+.1%})" if c.n > 1 else ""
        change = f"{c.change.value:+.1%}{sure}" if c.change.n else "-"
        each = f"{c.n} each" if c.new.n == c.old.n else f"{c.new.n}, {c.old.n}"
        body.append(
            [
                *([r.where] if r.where else ["-"]), r.group, what_is(r.metric),
                show(c.old.value), show(c.new.value), change, c.size if c.clear else "not clear",
                f"{p:.3f}" if p >= 0.001 else "< 0.001", str(c.n) if c.pairing == "paired" else each,
            ]
        )  # fmt: skip
    kinds = sorted({r.comparison.pairing for r in rows})
    return Table(
        title,
        ["where", "flow", "metric", "old", "new", "change of the mean (95 %)", "effect", "p", "n"],
        body,
        f"Medians; repetitions {' and '.join(kinds)}; BCa bootstrap intervals; effect by Cliff's delta; p of a rank "
        "test (Wilcoxon when paired, else Mann-Whitney), adjusted for the number of rows (Holm)." + _without(rows),
    )


def _without(rows: Sequence[Row]) -> str:
    """A sentence about the flows that have no value of a metric; an empty text when all have one."""
    told = []
    for metric in dict.fromkeys(r.metric for r in rows):
        new, old = (sum(r.left_out[side] for r in rows if r.metric == metric) for side in (0, 1))
        if new or old:
            told.append(f"{what_is(metric)} {new} new, {old} old")
    return f" Rows leave out flows without a value: {'; '.join(told)}." if told else ""


def what_is(metric: str) -> str:
    """A metric's name in words, without its unit."""
    name, _, unit = metric.rpartition("_")
    return (name if name and unit in UNITS else metric).replace("_", " ")


def pictures(rows: Sequence[Row]) -> list[Picture]:
    """One forest of relative changes for each metric and flow group."""
    out = []
    for group, metric in dict.fromkeys((r.group, r.metric) for r in rows):
        some = [r for r in rows if (r.group, r.metric) == (group, metric) and r.comparison.change.n > 1]
        named = {"\n".join(wrap(r.where or group, 34)): r.comparison.change.scaled(100.0) for r in some[:ROWS_DRAWN]}
        if named:
            what = what_is(metric)
            caption = f"Change of the mean {what} of {group} with 95 % intervals; grey: no clear difference."
            if len(some) > ROWS_DRAWN:
                caption += f" The first {ROWS_DRAWN} of {len(some)} rows."
            name = f"change-{what.replace(' ', '-')}-{group}"
            out.append(forest(name, caption, named, f"change of {what} (%)"))
    return out


def write(
    rows: Sequence[Row],
    folder: Path,
    sides: Sequence[tuple[str, Runs]],
    title: str,
    command: str = "",
    formats: Sequence[Format] = (),
) -> Path:
    """Writes report.html, figures and comparison.csv."""
    made = pictures(rows)
    html = page.comparison_page(
        table=table(rows, title),
        pictures=made,
        sides=[(name, page.facts(runs)) for name, runs in sides],
        command=command,
        formats=formats,
    )
    # A column of which the first hundred rows have no value may have one later.
    pl.DataFrame([r.as_dict() for r in rows], infer_schema_length=None).write_csv(folder / "comparison.csv")
    return page.write(folder, html, made, command, formats)
