"""What came out of a suite: one row for each case, variant, subject and repetition; verdicts with intervals.

Columns that all rows have: `delay_p50_ms`, `delay_p95_ms`, `delay_p99_ms` (time that packets spent in the queue under
test, over the whole run), `utilisation` (share of the time in which the bottleneck was transmitting), `dropped` and
`marked` (shares of the packets that came), `jain` (Jain's index of the greedy flows' goodput; NaN for fewer than two).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from crosswind.errors import InputError
from crosswind.results import Runs, delays
from crosswind.stats import Estimate, jain
from crosswind.stats.comparing import median
from crosswind.suites.case import Key

KEYS = ("case", "variant", "subject")
DROPS = "^drops_.*_packets$"
# A difference below these is none, however sure it is: a tenth of the delay or a millisecond, a point of utilisation.
LEAST_SHARE, LEAST_MS, LEAST_UTILISATION = 0.1, 1.0, 0.01


def measured(runs: Runs, keys: Mapping[str, Key]) -> pl.DataFrame:
    """The rows of all runs; `keys`: configuration -> case, variant and subject."""
    named = pl.DataFrame([(c, *k) for c, k in keys.items()], schema=["configuration", *KEYS], orient="row")
    rows = _queue(runs)
    for more in (_shares(runs), _of_groups(runs), _pages(runs), _pings(runs)):
        if not more.is_empty():
            rows = rows.join(more, on=["configuration", "rep"], how="left", maintain_order="left")
    return named.join(rows, on="configuration", how="inner", maintain_order="left").drop("configuration")


def _queue(runs: Runs) -> pl.DataFrame:
    links = runs.links().filter(pl.col("link") == "bottleneck", pl.col("direction") == "forward")
    came = pl.col("arrived_packets")
    ms = {f"delay_{q}_ms": pl.col(f"queue_delay_{q}_ns") / 1e6 for q in ("p50", "p95", "p99", "max")}
    return links.select(
        "configuration",
        "rep",
        **ms,
        utilisation=pl.col("utilisation_ratio"),
        dropped=pl.sum_horizontal(pl.col(DROPS).clip(0)) / came,
        marked=pl.col("marks_packets").clip(0) / came,
    )


def _shares(runs: Runs) -> pl.DataFrame:
    """Jain's index, and the ratio of the goodput that two groups of greedy flows have each."""
    greedy = _greedy(runs)
    flows = runs.flows().join(greedy, on=["configuration", "group"], how="inner", maintain_order="left")
    out = []
    for (configuration, rep), part in flows.group_by(["configuration", "rep"], maintain_order=True):
        goodput = part["goodput_bps"].fill_nan(0.0).to_numpy()
        means = {str(g): m for g, m in part.group_by("group").agg(pl.col("goodput_bps").mean()).iter_rows()}
        out.append(
            {
                "configuration": configuration,
                "rep": rep,
                "jain": float(jain(goodput)) if goodput.size > 1 and goodput.any() else math.nan,
                "ratio": _ratio(means),
            }
        )
    return pl.DataFrame(out)


def _ratio(means: Mapping[str, float]) -> float:
    """`other` over `bulk`; where flows cross the path, those that pass all of it over those that cross."""
    if "other" in means and means.get("bulk", 0.0) > 0:
        return means["other"] / means["bulk"]
    cross = [means[c] for c in ("cross", "far-cross") if c in means]
    return means["bulk"] / float(np.mean(cross)) if cross and np.mean(cross) > 0 else math.nan


def _greedy(runs: Runs) -> pl.DataFrame:
    """The groups of transfers without end."""
    rows = [
        (label, name)
        for label, s in runs.scenarios.items()
        for name, flow in s.get("flow").items()
        if delays.workload_of(flow) == "bulk" and not flow["workload"].get("size")
    ]
    return pl.DataFrame(rows, schema={"configuration": pl.String, "group": pl.String}, orient="row")


def _of_groups(runs: Runs) -> pl.DataFrame:
    """What streams lost, how late a call came, how long short transfers took."""
    flows = delays.judged(runs.flows(), runs.scenarios)
    keys = ["configuration", "rep"]
    streams = pl.col("group").is_in(["stream", "video", "video-large"])
    sent, came = pl.col("sent_packets"), pl.col("received_packets")
    lost = flows.filter(streams).group_by(keys).agg(stream_loss=100 * (1 - came.sum() / sent.sum()))
    call = flows.filter(pl.col("group") == "call")
    above = (pl.col("delay_p99_ns") - pl.col("delay_min_ns")) / 1e6
    heard = (
        call.group_by(keys).agg(voice_p99_ms=above.mean(), mos=pl.col("mos").mean()) if "mos" in call.columns else None
    )
    short = flows.filter(pl.col("group") == "short", pl.col("outcome") == "complete")
    took = short.group_by(keys).agg(finished_p50_ms=(pl.col("elapsed_ns") / 1e6).median())
    out = flows.select(keys).unique(maintain_order=True)
    for table in (lost, heard, took):
        if table is not None and not table.is_empty():
            out = out.join(table, on=keys, how="left")
    return out


def _pages(runs: Runs) -> pl.DataFrame:
    pages = runs.table("page")
    if pages.is_empty():
        return pages
    there = pages.filter(pl.col("response_ns") > 0)
    return there.group_by("configuration", "rep").agg(page_p50_ms=(pl.col("response_ns") / 1e6).median())


def _pings(runs: Runs) -> pl.DataFrame:
    try:
        under = delays.under_load(runs, probe="ping")
    except InputError:
        return pl.DataFrame()
    ms = {f"loaded_{q}_ms": pl.col(f"loaded_{q}_ns") / 1e6 for q in ("p50", "p95")}
    return under.select("configuration", "rep", **ms, rpm=pl.col("responsiveness_rpm"))


@dataclass(frozen=True)
class Verdict:
    """A subject beside the first of the others, for one variant of a case; medians over the repetitions,
    with exact 95 % intervals (six repetitions or more; of fewer the range)."""

    case: str
    variant: str
    against: str
    delay_ms: Estimate
    delay_change_ms: Estimate
    utilisation: Estimate
    utilisation_change: Estimate

    @property
    def words(self) -> str:
        """Shorter or longer, fuller or emptier; what no 95 % interval carries is not said."""
        least = max(LEAST_MS, LEAST_SHARE * (self.delay_ms.value - self.delay_change_ms.value))
        delay = _side(self.delay_change_ms, least, ("shorter delay", "longer delay"))
        use = _side(self.utilisation_change, LEAST_UTILISATION, ("emptier", "fuller"))
        return ", ".join(filter(None, (delay, use))) or "no difference"


def _side(change: Estimate, least: float, words: tuple[str, str]) -> str:
    if not change.is_clear() or abs(change.value) < least:
        return ""
    return words[0] if change.value < 0 else words[1]


def verdicts(rows: pl.DataFrame, subject: str, against: str) -> list[Verdict]:
    """A verdict for each variant of each case, paired by repetition (they share their random numbers)."""
    out = []
    for (case, variant), part in rows.group_by(["case", "variant"], maintain_order=True):
        new, old = (part.filter(pl.col("subject") == s).sort("rep") for s in (subject, against))
        if new.is_empty() or new["rep"].to_list() != old["rep"].to_list():
            continue
        both = {c: (new[c].to_numpy(), old[c].to_numpy()) for c in ("delay_p95_ms", "utilisation")}
        (d, d0), (u, u0) = both["delay_p95_ms"], both["utilisation"]
        out.append(
            Verdict(str(case), str(variant), against, median(d), median(d - d0), median(u), median(u - u0))
        )  # fmt: skip
    return out


def cells(rows: pl.DataFrame, columns: Sequence[str]) -> dict[Key, dict[str, Estimate]]:
    """Medians with intervals of the columns for each case, variant and subject."""
    out: dict[Key, dict[str, Estimate]] = {}
    for key, part in rows.group_by(list(KEYS), maintain_order=True):
        known = {c: part[c].drop_nulls() for c in columns if c in part.columns}
        case, variant, subject = (str(k) for k in key)
        out[case, variant, subject] = {c: median(v) for c, v in known.items() if len(v)}
    return out


def as_json(rows: pl.DataFrame, found: Sequence[Verdict]) -> dict[str, Any]:
    """Rows and verdicts for scripts; what is missing is null."""
    clear = rows.with_columns(pl.col(pl.Float64).fill_nan(None))
    told = [
        {
            "case": v.case, "variant": v.variant, "against": v.against, "verdict": v.words,
            "delay_p95_ms": _ends(v.delay_ms), "delay_p95_change_ms": _ends(v.delay_change_ms),
            "utilisation": _ends(v.utilisation), "utilisation_change": _ends(v.utilisation_change),
        }
        for v in found
    ]  # fmt: skip
    return {"rows": clear.to_dicts(), "verdicts": told}


def _ends(e: Estimate) -> list[float | None]:
    return [None if math.isnan(x) else x for x in (e.value, e.low, e.high)]
