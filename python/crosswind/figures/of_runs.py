"""The figures of a run's report: one panel for each configuration, one colour for each flow or link in all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from crosswind.figures import pictures as figures
from crosswind.figures.pictures import Picture
from crosswind.results import Runs, outcomes
from crosswind.results.summary import of_each_group
from crosswind.results.tables import CLASS
from crosswind.scenario.quantity import fitting

LINES_SHOWN = 6
PANELS_SHOWN = 6
BINS = 60
# Workloads of single packets, each with a number of its own, whose delays matter more than their numbers.
MESSAGES = ("ping", "cbr", "on-off")
# A line that never reaches this share of the highest one is left out: it would lie on the axis.
NOTICEABLE = 0.02
SERIES: tuple[tuple[str, str, str, str], ...] = (
    ("goodput_bps", "goodput", "Goodput of the flows", "goodput"),
    ("cwnd_bytes", "cwnd", "Congestion window of the senders", "congestion window"),
    ("queue_bytes", "queue", "Backlog of the queues", "queue backlog"),
)
DISTRIBUTIONS: tuple[tuple[str, str, str], ...] = (
    ("queue_delay_ns", "queue-delay-cdf", "queueing delay"),
    ("delay_ns", "delay-cdf", "one-way delay"),
    ("rtt_ns", "rtt-cdf", "round-trip time"),
)


def run_pictures(runs: Runs) -> list[Picture]:
    """The pictures that the tables of a run allow. Each says which configurations and repetitions it shows."""
    out: list[Picture] = []
    colours = _colours(runs)
    out += [p for s in SERIES if (p := _over_time(runs, s, colours))]
    out += [p for d in DISTRIBUTIONS if (p := _distribution(runs, d, colours))]
    out += _sequence_pictures(runs)
    if int(runs.manifest.get("reps", 1)) > 1 and not runs.repetitions_are_identical():
        out += _spread_pictures(runs, colours)
    return out


def _colours(runs: Runs) -> dict[str, int]:
    """Name of a flow, group or link direction -> its number in the palette, the same in every figure.

    Flows and links are counted apart: no figure shows both.
    """
    places: dict[str, int] = {}
    flows, links = runs.generators(), runs.links()
    if not flows.is_empty():
        few = flows["name"].n_unique() <= LINES_SHOWN
        order = [flows[c].unique(maintain_order=True) for c in (("name", "group") if few else ("group", "name"))]
        for name in (*order[0], *order[1], *runs.flows()["name"].unique(maintain_order=True)):
            places.setdefault(str(name), len(places))
    if not links.is_empty():
        busiest = links.group_by("link", "direction", maintain_order=True).agg(pl.col("queue_mean_bytes").max())
        busiest = busiest.sort("queue_mean_bytes", descending=True, maintain_order=True, nulls_last=True)
        for i, (link, direction) in enumerate(busiest.select("link", "direction").iter_rows()):
            places.setdefault(f"{link}/{direction}", i)
    return places


def _shown(runs: Runs) -> list[str]:
    return list(runs.scenarios)[:PANELS_SHOWN]


def _scope(runs: Runs, repetition: str) -> str:
    """What a caption says of configurations and repetitions."""
    reps, all_of = int(runs.manifest.get("reps", 1)), len(runs.scenarios)
    said = []
    if all_of > PANELS_SHOWN:
        said.append(f"the first {PANELS_SHOWN} of {all_of} configurations")
    if reps > 1:
        said.append(repetition.format(reps=reps))
    return f" ({'; '.join(said)})" if said else ""


def _over_time(runs: Runs, what: tuple[str, str, str, str], colours: Mapping[str, int]) -> Picture | None:
    metric, name, caption, axis = what
    shown = _shown(runs)
    one = runs.first_sample(metric).filter(pl.col("configuration").is_in(shown) & ~pl.col("entity").str.contains(CLASS))
    if one.is_empty():
        return None
    peaks = one.group_by("entity").agg(pl.col("value").max())
    peaks = peaks.filter(pl.col("value") > NOTICEABLE * pl.col("value").max()).sort("value", descending=True)
    groups = _groups(runs)
    busiest = sorted(of_each_group(peaks["entity"].to_list(), groups, LINES_SHOWN), key=_natural)
    if not busiest:
        return None
    series = {label: {e: _smoothed(_part(one, label, e).sort("time_ns"), metric) for e in busiest} for label in shown}
    highest = max(float(e["value"].max() or 0.0) for inner in series.values() for e in inner.values())  # type: ignore[arg-type]
    unit, factor = fitting(metric, highest)
    panels = {
        label: {
            n: ((e["time_ns"] / 1e9).to_numpy(), (e["value"] * factor).to_numpy()) for n, e in inner.items() if e.height
        }
        for label, inner in series.items()
    }
    caption += _scope(runs, "the first of {reps} repetitions")
    caption += _which(busiest, peaks["entity"].to_list(), groups)
    shape: Any = "lines" if metric == "goodput_bps" else "steps"
    drawn = panels if len(runs.scenarios) > 1 else {"": panels[shown[0]]}
    return figures.panels_over_time(name, f"{caption}.", drawn, f"{axis} ({unit})", shape, colours)


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts bulk-10 after bulk-9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _groups(runs: Runs) -> dict[str, str]:
    """Flow -> its group."""
    flows = runs.flows()
    return {} if flows.is_empty() else dict(flows.select("name", "group").unique().iter_rows())


def _which(shown: Sequence[str], every: Sequence[str], groups: Mapping[str, str]) -> str:
    """What a caption says of the lines that are shown. A picture with one line has no legend: the caption names it."""
    if len(shown) == len(every):
        return f": {shown[0]}" if len(shown) == 1 else ""
    several = len({groups.get(name, name) for name in every}) > 1
    largest = "largest in each group" if several and groups.keys() & {*every} else "largest"
    return f": the {len(shown)} {largest} of {len(every)}"


def _smoothed(series: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Rates are shown as means over a part of the run: a slow link delivers a packet in some samples only."""
    if metric != "goodput_bps" or series.height < 2 * BINS:
        return series
    width = int(series["time_ns"].max()) // BINS + 1  # type: ignore[arg-type]
    bins = series.group_by((pl.col("time_ns") // width).alias("bin"), maintain_order=True)
    return bins.agg(pl.col("time_ns").mean(), pl.col("value").mean())


def _distribution(runs: Runs, what: tuple[str, str, str], colours: Mapping[str, int]) -> Picture | None:
    """Cumulative distributions of a delay: a panel for each configuration, all repetitions of it together."""
    metric, name, axis = what
    shown = _shown(runs)
    h = runs.hist(metric)
    if h.is_empty():
        return None
    h = h.filter(pl.col("configuration").is_in(shown))
    weights = h.group_by("entity", maintain_order=True).agg((pl.col("count") * pl.col("high")).sum().alias("weight"))
    weights = weights.filter(pl.col("weight") > 0)
    if metric == "queue_delay_ns":  # idle links say nothing about delay
        weights = weights.filter(pl.col("weight") * 100 >= pl.col("weight").max())
    entities = weights.sort("weight", descending=True)["entity"].to_list()
    if not entities:
        return None
    groups = _groups(runs)
    names = sorted(of_each_group(entities, groups, LINES_SHOWN), key=_natural)
    high = float(h.filter(pl.col("entity").is_in(names))["high"].max())  # type: ignore[arg-type]
    unit, factor = fitting(metric, high)
    panels = {label: {n: e for n in names if (e := _part(h, label, n)).height} for label in shown}
    caption = f"Distribution of the {axis} over all packets{_scope(runs, 'all {reps} repetitions together')}"
    caption += _which(names, entities, groups)
    drawn = panels if len(runs.scenarios) > 1 else {"": panels[shown[0]]}
    return figures.panels_cumulative(name, f"{caption}.", drawn, f"{axis} ({unit})", factor, colours)


def _part(h: pl.DataFrame, configuration: str, entity: str) -> pl.DataFrame:
    return h.filter((pl.col("configuration") == configuration) & (pl.col("entity") == entity))


def _sequence_pictures(runs: Runs) -> list[Picture]:
    """One flow packet by packet, in each configuration that logged it: delays of pings and calls, else numbers."""
    events = runs.events()
    if events.is_empty():
        return []
    out = []
    for number, label in enumerate(_shown(runs)):
        part = events.filter(pl.col("configuration") == label)
        if part.is_empty():
            continue
        rep = int(part["rep"].min())  # type: ignore[arg-type]
        part = part.filter(pl.col("rep") == rep)
        logged = part.filter(pl.col("kind") == "send")["name"].unique(maintain_order=True).to_list()
        if not logged:
            continue
        wanted = runs.scenarios[label].get("record.events", [])
        chosen = next((n for n in wanted if n in logged), logged[0]) if isinstance(wanted, list) else logged[0]
        of = [f"configuration {label}"] if len(runs.scenarios) > 1 else []
        of += [f"repetition {rep}"] if int(runs.manifest.get("reps", 1)) > 1 else []
        scope = f" ({', '.join(of)})" if of else ""
        part, again = part.filter(pl.col("name") == chosen), f"-{number + 1}" if number else ""
        kind = runs.scenarios[label].get(f"flow.{_groups(runs).get(chosen, chosen)}.workload.type")
        if kind in MESSAGES and "ack" not in part["kind"].to_list():
            caption = f"Flow {chosen}, packet by packet, over the time each was sent{scope}."
            out.append(figures.packet_delays(f"packet-delays{again}", caption, part, answered=kind == "ping"))
        else:
            caption = f"Flow {chosen}, segment by segment{scope}."
            out.append(figures.time_sequence(f"time-sequence{again}", caption, part))
    return out


def _spread_pictures(runs: Runs, colours: Mapping[str, int]) -> list[Picture]:
    """Goodput and elapsed time over the repetitions, configuration by configuration."""
    flows = runs.generators()
    if flows.is_empty():  # interrupted before the first run was finished
        return []
    key = "name" if flows["name"].n_unique() <= LINES_SHOWN else "group"
    out = []
    for column, name, what in (
        ("goodput_bps", "goodput-spread", "goodput"),
        ("elapsed_ns", "elapsed-spread", "elapsed time"),
    ):
        part = flows.filter(pl.col(column) >= 0)
        if part.is_empty():
            continue
        unit, factor = fitting(column, float(part[column].max()))  # type: ignore[arg-type]
        groups = {
            str(c): {
                str(n): part.filter((pl.col("configuration") == c) & (pl.col(key) == n))[column] * factor
                for n in part[key].unique(maintain_order=True)
            }
            for c in runs.scenarios
        }
        reps = int(runs.manifest.get("reps", 1))
        caption = f"{what.capitalize()} over {reps} repetitions: median, quartiles, range."
        if column == "elapsed_ns":
            caption = f"{caption} {outcomes.note(flows)}".rstrip()
        out.append(figures.quartile_bars(name, caption, groups, f"{what} ({unit})", colours=colours))
    return out
