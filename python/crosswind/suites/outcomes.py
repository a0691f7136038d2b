"""What came out for a controller: a row for each case, variant, subject and repetition; differences with intervals.

Beside the columns of `measured`: `retransmitted` (share of the segments that greedy and short flows sent), `bulk_bps`
(goodput of the group `bulk` together), `harm` (per cent of what others had without the subject that they no longer
have, as Ware et al. define it), `converged_s`, `offered`, `delivered`, `finished_max_ms`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from crosswind.results import Runs
from crosswind.stats import Estimate
from crosswind.stats.comparing import median
from crosswind.suites import controllers, measured
from crosswind.suites.case import Case, Key, Measure

RUN = ["configuration", "rep"]
#: Who stands for nobody: the runs of others without a subject.
NOBODY = ""
WINDOW_S = 2.0
# A difference below a twentieth is none.
LEAST_SHARE = 0.05


def rows(runs: Runs, keys: Mapping[str, Key], seconds: float) -> pl.DataFrame:
    """The rows of all subjects; runs of nobody only serve to say what others had. `seconds`: length of the runs."""
    named = pl.DataFrame([(c, *k) for c, k in keys.items()], schema=["configuration", *measured.KEYS], orient="row")
    more = named.join(_of_flows(runs), on="configuration")
    for table in (_converged(runs, seconds), _offered(runs, seconds)):
        if not table.is_empty():
            more = more.join(table, on=RUN, how="left", maintain_order="left")
    whole = measured.measured(runs, keys).join(more.drop("configuration"), on=[*measured.KEYS, "rep"], how="left")
    return _with_harm(whole).filter(pl.col("subject") != NOBODY)


def _of_flows(runs: Runs) -> pl.DataFrame:
    flows = runs.flows()
    sent, again = pl.col("sent_packets"), pl.col("retransmitted_packets").clip(0)
    tcp = flows.filter(pl.col("protocol") == "tcp")
    out = tcp.group_by(RUN, maintain_order=True).agg(retransmitted=again.sum() / sent.sum())
    goodput = pl.col("goodput_bps").fill_nan(0.0)
    bulk = flows.filter(pl.col("group") == "bulk").group_by(RUN).agg(bulk_bps=goodput.sum())
    short = flows.filter(pl.col("group") == "short")
    # A transfer that did not end has no time; the run's last is then unknown, not short.
    last = short.group_by(RUN).agg(
        finished_max_ms=pl.when((pl.col("outcome") == "complete").all()).then((pl.col("elapsed_ns") / 1e6).max())
    )
    for table in (bulk, last):
        out = out.join(table, on=RUN, how="left", maintain_order="left")
    # Types are said: most runs have no policer, and the first with one may come late.
    rates = pl.DataFrame(
        [(label, _rate(s)) for label, s in runs.scenarios.items()],
        schema={"configuration": pl.String, "policed_bps": pl.Float64},
        orient="row",
    )
    out = out.join(rates, on="configuration", how="left", maintain_order="left")
    return out.with_columns(delivered=100 * pl.col("bulk_bps") / pl.col("policed_bps")).drop("policed_bps")


def _rate(scenario: Any) -> float | None:
    """The rate of a policer in bit/s; None without one."""
    meter = scenario.get("contract.c.meter.cir")
    return float(str(meter).split()[0]) if meter else None


def _converged(runs: Runs, seconds: float) -> pl.DataFrame:
    """How long a flow that came late waited for four fifths of an equal share, over two seconds.

    One that never gets there counts as long as it was there.
    """
    late = [c for c, s in runs.scenarios.items() if "other" in s.get("record.sampled", [])]
    if not late:
        return pl.DataFrame()
    wide = (
        runs.scan("sample")
        .filter(pl.col("configuration").is_in(late), pl.col("metric") == "goodput_bps")
        .filter(pl.col("entity").is_in(["bulk", "other"]))
        .collect()
        .pivot("entity", index=[*RUN, "time_ns"], values="value")
        .sort("time_ns")
    )
    begin = seconds / 3
    out = []
    for (configuration, rep), part in wide.group_by(RUN, maintain_order=True):
        there = part.filter(pl.col("time_ns") > begin * 1e9).fill_null(0.0).fill_nan(0.0)
        t = there["time_ns"].to_numpy() / 1e9 - begin
        first, second = (_smooth(there[c].to_numpy()) for c in ("bulk", "other"))
        fair = np.flatnonzero(second >= 0.8 * (first + second) / 2)
        fair = fair[t[fair] >= WINDOW_S] if fair.size else fair
        out.append((configuration, rep, float(t[fair[0]]) if fair.size else seconds - begin))
    return pl.DataFrame(out, schema=[*RUN, "converged_s"], orient="row")


def _smooth(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Means over the samples of the last two seconds."""
    n = round(WINDOW_S / 0.1)
    total = np.cumsum(np.concatenate([np.zeros(n), x]))
    return (total[n:] - total[:-n]) / n


def _offered(runs: Runs, seconds: float) -> pl.DataFrame:
    """What a line that loses much was offered in the second half, in per cent of its rate."""
    lossy = [c for c in runs.scenarios if c.startswith("collapse/")]
    if not lossy:
        return pl.DataFrame()
    sent = runs.scan("sample").filter(
        pl.col("configuration").is_in(lossy),
        pl.col("entity") == "bottleneck/forward",
        pl.col("metric") == "throughput_bps",
        pl.col("time_ns") > seconds / 2 * 1e9,
    )
    rate = {c: _bps(runs.scenarios[c].get("link.bottleneck.rate")) for c in lossy}
    means = sent.group_by(RUN).agg(pl.col("value").mean()).collect()
    return means.select(*RUN, offered=100 * pl.col("value") / pl.col("configuration").replace_strict(rate))


def _bps(text: str) -> float:
    return float(text.split()[0])


def _with_harm(whole: pl.DataFrame) -> pl.DataFrame:
    """Adds `harm` where others are there: (alone - beside) / alone of what is better when larger, else the inverse."""
    harm = pl.lit(None, dtype=pl.Float64)
    index = ["case", "variant", "rep"]
    for case, (column, better) in controllers.HARMED.items():
        if column not in whole.columns:
            continue
        alone = whole.filter(pl.col("case") == case, pl.col("subject") == NOBODY).select(*index, alone=column)
        whole = whole.join(alone, on=index, how="left", maintain_order="left")
        lost, base = pl.col("alone") - pl.col(column), pl.col("alone") if better == "higher" else pl.col(column)
        share = 100 * (lost if better == "higher" else -lost) / base
        harm = pl.when(pl.col("case") == case).then(share).otherwise(harm)
        whole = whole.with_columns(harm=harm).drop("alone")
        harm = pl.col("harm")
    return whole


@dataclass(frozen=True)
class Difference:
    """What a subject did beside another in one variant of a case, by the measure that answers the question."""

    case: str
    variant: str
    against: str
    measure: Measure
    value: Estimate
    change: Estimate

    @property
    def words(self) -> str:
        """Better or worse, where the 95 % interval excludes zero and the change is a twentieth at least."""
        c = self.change
        if self.measure.better == "nearer":
            least = math.log2(1 + LEAST_SHARE)
        else:
            least = LEAST_SHARE * max(abs(self.value.value), abs(self.value.value - c.value))
        if not c.is_clear() or abs(c.value) < least:
            return "no difference"
        return "better" if (c.value > 0) == (self.measure.better == "higher") else "worse"


def differences(whole: pl.DataFrame, cases: Sequence[Case], subject: str, against: str) -> list[Difference]:
    """One for each variant of each case, paired by repetition (subjects share their random numbers)."""
    out = []
    for case in cases:
        m = case.measures[0]
        mine = whole.filter(pl.col("case") == case.id)
        for (variant,), part in mine.group_by(["variant"], maintain_order=True):
            pair = [part.filter(pl.col("subject") == s).sort("rep") for s in (subject, against)]
            if m.column not in part.columns or pair[0]["rep"].to_list() != pair[1]["rep"].to_list():
                continue
            new, old = (_ordered(p[m.column], m) for p in pair)
            both = ~(np.isnan(new) | np.isnan(old))
            if both.any():
                out.append(Difference(
                    case.id, str(variant), against, m, median(pair[0][m.column].drop_nulls()),
                    median(new[both] - old[both]),
                ))  # fmt: skip
    return out


def _ordered(values: pl.Series, m: Measure) -> np.ndarray[Any, Any]:
    """Numbers of which less is better, or more; of a ratio the distance from one by factors."""
    x = values.cast(pl.Float64).fill_null(math.nan).to_numpy()
    return np.abs(np.log2(np.clip(x, 1e-3, None))) if m.better == "nearer" else x


def as_json(whole: pl.DataFrame, found: Sequence[Difference]) -> dict[str, Any]:
    """Rows and differences for scripts; what is missing is null."""

    def ends(e: Estimate) -> list[float | None]:
        return [None if math.isnan(x) else x for x in (e.value, e.low, e.high)]

    told = [
        {
            "case": d.case, "variant": d.variant, "against": d.against, "measure": d.measure.column, "verdict": d.words,
            "value": ends(d.value), "change": ends(d.change),
        }
        for d in found
    ]  # fmt: skip
    return {"rows": whole.with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts(), "verdicts": told}
