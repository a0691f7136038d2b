"""The figures of `evaluate`: delay and rate, sharing with others, a late comer, short flows, changes of the path."""

from __future__ import annotations

import polars as pl

from crosswind.figures import Picture, panels_over_time, quartile_bars
from crosswind.suites.case import Answers
from crosswind.suites.pictures import ellipses, labels, lines, over_time

TRADE_OFF = (
    "tail-drop/1 BDP",
    "bufferbloat/8 BDP",
    "wireless/1 % lost",
    "aqm/codel",
    "aqm/fq-codel",
    "satellite/600 ms",
)
CHANGING = ("steps/to a quarter and back", "wireless/rate falls to a third", "burst/3 s of 80 %")
CHANGES = "The delay of the queue while the path changes or others pass; repetition 0."
SHORT = ("short/20 kB beside one", "short/200 kB beside one", "incast/32 of 64 kB")


def pictures(found: Answers) -> list[Picture]:
    """All figures that the cases which were run allow."""
    places = {name: i for i, name in enumerate(found.subjects)}
    made = [
        ellipses(found, places, TRADE_OFF),
        _beside(
            found, "ratio", "rate over that of CUBIC", "What a flow gets beside one of CUBIC; one is equal shares."
        ),
        _beside(found, "harm", "harm (%)", "The share of its rate that a flow of CUBIC loses to the other."),
        _late(found, places),
        _short(found, places),
        over_time(found, places, CHANGING, CHANGES),
    ]
    return [p for p in made if p is not None]


def _beside(found: Answers, column: str, ylabel: str, caption: str) -> Picture | None:
    if column not in found.rows.columns:
        return None
    rows = found.rows.filter(pl.col("case") == "beside", pl.col("variant").str.starts_with("CUBIC"))
    rows = rows.with_columns(pl.col("variant").str.strip_prefix("CUBIC, "))
    return lines(rows, f"beside-{column}", column, "buffer", ylabel, caption)


def _late(found: Answers, places: dict[str, int]) -> Picture | None:
    """Both flows of a late comer, a panel for each subject."""
    panels = labels(found, ("late-comer/one beside one",))
    if not panels:
        return None
    goodput = (
        found.runs.scan("sample")
        .filter(pl.col("metric") == "goodput_bps", pl.col("entity").is_in(["bulk", "other"]), pl.col("rep") == 0)
        .collect()
    )
    shown = {}
    for subject, label in next(iter(panels.values())).items():
        mine = goodput.filter(pl.col("configuration") == label).sort("time_ns")
        second = mine.group_by("entity", pl.col("time_ns") // 1_000_000_000, maintain_order=True).agg(
            pl.col("value").mean()
        )
        parts = {name: second.filter(pl.col("entity") == e) for e, name in (("bulk", "first"), ("other", "late"))}
        shown[subject] = {name: (p["time_ns"].cast(pl.Float64), p["value"] / 1e6) for name, p in parts.items()}
    caption = "Goodput of two equal flows, of which one starts later, each second of repetition 0."
    return panels_over_time("late-comer", caption, shown, "goodput (Mbit/s)", "steps")


def _short(found: Answers, places: dict[str, int]) -> Picture | None:
    flows = found.runs.flows().filter(pl.col("group") == "short", pl.col("outcome") == "complete")
    groups = {
        title: {s: flows.filter(pl.col("configuration") == c)["elapsed_ns"] / 1e6 for s, c in by_subject.items()}
        for title, by_subject in labels(found, SHORT).items()
    }
    if not groups:
        return None
    caption = "How long short transfers take beside a greedy flow of the same kind, and answers that come at once."
    return quartile_bars("short", caption, groups, "time (ms)", colours=places)
