"""The figures of a suite: ellipses of delay and utilisation, distributions, delay over congestion, fairness, steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from crosswind.figures import Picture, panels_cumulative, panels_over_time, quartile_bars
from crosswind.figures.charts import Chart, Series, Vector, vector
from crosswind.figures.sweeps import small_multiples
from crosswind.results import Runs, delays
from crosswind.stats.comparing import median
from crosswind.suites.case import Answers
from crosswind.suites.characterise import SENSITIVITY, Characterised

FORWARD = "bottleneck/forward"
# Cases whose runs are steady enough for an ellipse of all of their time, and for a distribution.
STEADY = ("friendly/reno", "aggressive/cubic", "steady/mild", "steady/heavy", "mix/mix", "rrul/four and four")
OVER_TIME = ("varying/rising", "capacity/every 6 s")
WARM_UP_S = 10.0
CHANGES = "The queue while flows come and go, and while the capacity changes between five and half; repetition 0."


def pictures(found: Characterised) -> list[Picture]:
    """All figures that the cases which were run allow."""
    places = {name: i for i, name in enumerate(found.subjects)}
    made = [
        ellipses(found, places, STEADY),
        _distributions(found, places),
        _pings(found, places),
        _levels(found),
        _round_trips(found),
        over_time(found, places, OVER_TIME, CHANGES),
        _times(found, places),
        _sensitivity(found),
    ]
    return [p for p in made if p is not None]


def labels(found: Answers, wanted: Sequence[str]) -> dict[str, dict[str, str]]:
    """Panel -> subject -> configuration, for those of the wanted panels that were run."""
    out: dict[str, dict[str, str]] = {}
    for label, (case, variant, subject) in found.keys.items():
        if f"{case}/{variant}" in wanted:
            out.setdefault(f"{case}: {variant}", {})[subject] = label
    return out


def ellipses(found: Answers, places: dict[str, int], wanted: Sequence[str]) -> Picture | None:
    """One ellipse a queue: where delay and rate were in nine tenths of the 100 ms after the warm-up."""
    panels = labels(found, wanted)
    gauges = _gauges(found.runs)
    shown = []
    for title, subjects in panels.items():
        series = []
        for subject, label in subjects.items():
            part = gauges.filter(pl.col("configuration") == label, pl.col("s") > WARM_UP_S)
            x, y = part["queue_delay_ns"].to_numpy() / 1e6, part["throughput_bps"].to_numpy() / 1e6
            if x.size > 2:
                series += _ellipse(subject, places[subject], x, y)
        shown.append(Chart("queueing delay (ms)", "rate (Mbit/s)", series, title=title, floor=False))
    if not panels:
        return None
    caption = (
        "Delay and rate at the bottleneck, every 100 ms after the first 10 s, all repetitions. The dot is the mean, "
        "the ellipse lies one standard deviation round it. Up and left is better."
    )
    return Picture("delay-rate", caption, caption, shown=shown)


def _ellipse(label: str, place: int, x: Vector, y: Vector) -> list[Series]:
    """The centre, and the ellipse as a band: for each x its lower and its upper edge."""
    covariance = np.cov(x, y)
    middle = vector([x.mean()]), vector([y.mean()])
    sx2, sxy, sy2 = covariance[0, 0], covariance[0, 1], covariance[1, 1]
    dots = Series(label, *middle, "points", place, size=6)
    if sx2 <= 0:
        return [dots]
    across = np.sqrt(sx2) * np.sin(np.linspace(-math.pi / 2, math.pi / 2, 41))
    line = y.mean() + sxy / sx2 * across
    half = np.sqrt(np.clip((sy2 - sxy**2 / sx2) * (1 - across**2 / sx2), 0, None))
    band = Series(f"{label}, one deviation", x.mean() + across, line, "line", place, low=line - half, high=line + half)
    return [dots, band]


def _gauges(runs: Runs) -> pl.DataFrame:
    rows = runs.scan("sample").filter(
        pl.col("entity") == FORWARD, pl.col("metric").is_in(["queue_delay_ns", "throughput_bps"])
    )
    wide = rows.collect().pivot("metric", index=["configuration", "rep", "time_ns"], values="value")
    return wide.with_columns(s=pl.col("time_ns") / 1e9).drop_nulls()


def _distributions(found: Characterised, places: dict[str, int]) -> Picture | None:
    panels = labels(found, STEADY)
    if not panels:
        return None
    hists = found.runs.hist("queue_delay_ns", FORWARD)
    shown = {
        title: {s: hists.filter(pl.col("configuration") == c).select("low", "high", "count") for s, c in lines.items()}
        for title, lines in panels.items()
    }
    caption = "Time that packets spent in the queue, whole runs, all repetitions."
    return panels_cumulative("delay-cdf", caption, shown, "queueing delay (ms)", 1e-6, places)


def _pings(found: Characterised, places: dict[str, int]) -> Picture | None:
    panels = labels(found, ("rrul/four and four",))
    if not panels:
        return None
    lines = next(iter(panels.values()))
    runs = found.runs
    trips = delays.round_trips(runs, "ping")
    groups: dict[str, dict[str, pl.Series]] = {}
    for subject, label in lines.items():
        mine = trips.filter(pl.col("configuration") == label)
        ms = mine.with_columns(ms=pl.col("rtt_ns") / 1e6)
        idle, loaded = ms.filter(pl.col("time_ns") < 5e9), ms.filter(pl.col("time_ns") > 8e9)
        groups[subject] = {"before the load": idle["ms"], "under load": loaded["ms"]}
    caption = "Round trips of a ping before and beside four transfers each way (RRUL), all repetitions."
    return quartile_bars("rrul", caption, groups, "round trip (ms)")


def _levels(found: Characterised) -> Picture | None:
    rows = found.rows.filter(pl.col("case") == "steady")
    return lines(
        rows,
        "steady",
        "delay_p95_ms",
        "congestion",
        "95th percentile of the delay (ms)",
        "Delay and congestion: mild, medium and heavy load of greedy flows.",
    )


def _round_trips(found: Characterised) -> Picture | None:
    rows = found.rows.filter(pl.col("case") == "rtt-fairness")
    caption = "What a flow gets beside one of 100 ms, by its own round trip; one is equal shares."
    return lines(rows, "rtt-fairness", "ratio", "round trip", "goodput over that of 100 ms", caption)


def lines(rows: pl.DataFrame, name: str, column: str, xlabel: str, ylabel: str, caption: str) -> Picture | None:
    if rows.is_empty():
        return None
    by_subject = {
        str(subject): [
            (variant, median(p[column])) for (variant,), p in part.group_by(["variant"], maintain_order=True)
        ]
        for (subject,), part in rows.group_by(["subject"], maintain_order=True)
    }
    said = f"{caption} Medians over the repetitions with 95 % intervals."
    return small_multiples(name, said, {"": by_subject}, xlabel, ylabel, "names")


def over_time(found: Answers, places: dict[str, int], wanted: Sequence[str], caption: str) -> Picture | None:
    """The delay of the queue over time in repetition 0, a panel for each case."""
    panels = labels(found, wanted)
    if not panels:
        return None
    gauges = _gauges(found.runs).filter(pl.col("rep") == 0)
    lines = {}
    for title, subjects in panels.items():
        parts = {s: gauges.filter(pl.col("configuration") == c) for s, c in subjects.items()}
        lines[title] = {s: (p["s"], p["queue_delay_ns"] / 1e6) for s, p in parts.items()}
    return panels_over_time("over-time", caption, lines, "queueing delay (ms)", "lines", places)


def _times(found: Characterised, places: dict[str, int]) -> Picture | None:
    """How long pages and short transfers took."""
    runs, groups = found.runs, {}
    pages = runs.table("page")
    flows = runs.flows().filter(pl.col("group") == "short", pl.col("outcome") == "complete")
    for title, wanted in {"pages in the mix": ("mix/mix",), "transfers of 140 kB": ("windows/iw10",)}.items():
        for lines in labels(found, wanted).values():
            table, column = (pages, "response_ns") if wanted[0] == "mix/mix" else (flows, "elapsed_ns")
            groups[title] = {
                s: table.filter(pl.col("configuration") == c, pl.col(column) > 0)[column] / 1e6
                for s, c in lines.items()
            }
    if not groups:
        return None
    caption = (
        "Pages of 120 kB beside five transfers, calls and video; transfers of 100 segments beside one greedy flow."
    )
    return quartile_bars("completion", caption, groups, "time (ms)", colours=places)


def _sensitivity(found: Characterised) -> Picture | None:
    rows = found.rows.filter(pl.col("case") == SENSITIVITY.id)
    first = next(iter(found.subjects))
    caption = f"{first} under medium congestion with one parameter changed."
    return lines(rows, "sensitivity", "delay_p95_ms", "parameter", "95th percentile of the delay (ms)", caption)
