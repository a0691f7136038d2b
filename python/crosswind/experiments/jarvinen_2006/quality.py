"""How good the stream is for people who talk: the source says no number, so marks of ITU-T G.114 are reported.

Over all packets of all repetitions of a configuration: quantiles of the one-way delay, the shares of packets that take
longer than 150, 250, 400 and 500 ms, and the share whose delay varies by more than 20 ms, the spacing of the stream.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.reproduce import Picture

QUANTILES = {"p50": 0.50, "p75": 0.75, "p95": 0.95, "p99": 0.99}
LATE_ms = (150.0, 250.0, 400.0, 500.0)
SPACING_ms = 20.0
Column = npt.NDArray[np.float64]


def buckets(hist: pl.DataFrame, configuration: str, metric: str) -> tuple[Column, Column, Column]:
    """Lower and upper ends of the buckets of a histogram, in milliseconds and in order, and their counts."""
    h = hist.filter((pl.col("configuration") == configuration) & (pl.col("metric") == metric)).sort("low")
    low, high, count = (h[c].to_numpy().astype(float) for c in ("low", "high", "count"))
    return low / 1e6, high / 1e6, count


def quantile_ms(low: Column, high: Column, count: Column, q: float) -> float:
    """A quantile, interpolated inside its bucket."""
    end = np.cumsum(count)
    i = int(np.searchsorted(end, q * end[-1]))
    within = (q * end[-1] - (end[i] - count[i])) / count[i]
    return float(low[i] + within * (high[i] - low[i]))


def share_above(low: Column, high: Column, count: Column, mark_ms: float) -> float:
    """The share above a mark; a bucket that holds the mark counts in part."""
    above = np.clip((high - mark_ms) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    return float((above * count).sum() / count.sum())


def quality(hist: pl.DataFrame) -> pl.DataFrame:
    """One row per configuration."""
    rows: list[dict[str, Any]] = []
    for configuration in sorted(hist["configuration"].unique()):
        delay, variation = (buckets(hist, configuration, m) for m in ("delay_ns", "ipdv_ns"))
        if not delay[2].size:
            continue
        row = {"configuration": configuration}
        row |= {f"delay_{name}_ms": quantile_ms(*delay, q) for name, q in QUANTILES.items()}
        row |= {f"over_{mark:g}_ms": share_above(*delay, mark) for mark in LATE_ms}
        low, high, count = variation
        early = share_above(-high[::-1], -low[::-1], count[::-1], SPACING_ms) if count.size else 0.0
        late = share_above(low, high, count, SPACING_ms) if count.size else 0.0
        rows.append({**row, f"variation_over_{SPACING_ms:g}_ms": late + early})
    return pl.DataFrame(rows)


def picture(name: str, where: str, table: pl.DataFrame, labels: dict[str, str]) -> Picture:
    """The shares as bars; `labels`: configuration -> what to call it."""
    rows = {r["configuration"]: r for r in table.iter_rows(named=True) if r["configuration"] in labels}
    marks = {
        "longer than 150 ms": "over_150_ms",
        "longer than 400 ms": "over_400_ms",
        "variation over 20 ms": f"variation_over_{SPACING_ms:g}_ms",
    }
    shares = {what: {labels[c]: 100.0 * r[column] for c, r in rows.items()} for what, column in marks.items()}
    caption = f"Shares of the stream's packets by one-way delay and its variation{where}; G.114 asks for 150 ms."
    return figures.bars(name, caption, shares, "share of packets (%)")
