"""What recurs in the claims about the audio stream: pooled delays, drops, the identities of its metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.jarvinen_2006 import boxes, quality
from crosswind.experiments.jarvinen_2006.quality import buckets, quantile_ms
from crosswind.experiments.jarvinen_2006.testbed import STREAM_PACKET_BYTES, STREAM_PACKETS
from crosswind.reproduce import Measure, Picture, Results, measured, measures, needed
from crosswind.stats import Estimate

FULL_RATE_Bps = STREAM_PACKETS * STREAM_PACKET_BYTES / ((STREAM_PACKETS - 1) * 0.020)


def of_metric(r: Results, names: Sequence[str], metric: str) -> pl.DataFrame:
    """The histograms of one metric in some configurations."""
    h = r.table("stream_hist")
    h = h.filter(pl.col("configuration").is_in(list(names)) & (pl.col("metric") == metric))
    if h.is_empty():
        raise r.absent(f"histogram of {metric} in {', '.join(names)}")
    return h


def pooled(r: Results, configuration: str, metric: str, q: float) -> float:
    """A quantile over the packets of all repetitions, in milliseconds, interpolated inside the histogram's buckets."""
    other, _, label = configuration.rpartition("/")
    if other:
        return pooled(r.others[other], label, metric, q)
    h = of_metric(r, [label], metric)
    return quantile_ms(*buckets(h, label, metric), q)


def quantile(configuration: str, metric: str, q: float) -> Measure:
    """A quantile over all packets of all repetitions."""
    return lambda r: pooled(r, configuration, metric, q)


def quantile_change(new: str, old: str, q: float) -> Measure:
    """The relative change of a quantile of the delay over all packets."""
    return lambda r: pooled(r, new, "delay_ns", q) / pooled(r, old, "delay_ns", q) - 1.0


@measured
def extreme(r: Results, names: Sequence[str], column: str, pick: Any) -> Estimate:
    """The smallest or largest value over all repetitions of some configurations."""
    values = stats.clean(measures.pooled(r, names, column))
    needed(values, f"no {column}")
    return stats.exact(float(pick(values)), values.size)


@measured
def rate_from_drops(r: Results, names: Sequence[str], packets: int) -> Estimate:
    """How far the stream's rate lies from the full rate times the share of packets that arrived."""
    off = []
    for c in names:
        lost = r.of(c, "audio_drops") + r.of(c, "audio_lost")
        off.append(np.abs(r.of(c, "audio_throughput") - FULL_RATE_Bps * (1.0 - lost / packets)))
    worst = np.concatenate(off)
    return stats.exact(float(np.nanmax(worst)), worst.size)


@measured
def off_the_steps(r: Results, configuration: str, column: str, step_ms: float, offset_ms: float) -> Estimate:
    """How far a delay variation lies from k * step + offset: the median over repetitions of the distance."""
    x = stats.clean(r.of(configuration, column))
    k = np.round((x - offset_ms) / step_ms)
    return stats.median(np.abs(x - (k * step_ms + offset_ms)))


@measured
def nearest(r: Results, names: Sequence[str], level_ms: float) -> Estimate:
    """The delay variation nearest to a level that occurs among all packets of some configurations (to 0.1 ms)."""
    h = of_metric(r, names, "ipdv_ns")
    found = h["low"].to_numpy() / 1e6
    return stats.exact(float(found[np.argmin(np.abs(found - level_ms))]), int(h["count"].sum()))


def starts(r: Results, configuration: str, low_s: float, high_s: float, column: str) -> npt.NDArray[np.float64]:
    """A column where the stream starts in [low, high)."""
    where = (pl.col("audio_start_s") >= low_s) & (pl.col("audio_start_s") < high_s)
    return r.of(configuration, column, where)


def delay_picture(name: str, caption: str, r: Results, names: Sequence[str]) -> Picture:
    """Cumulative distribution of the stream's one-way delay over all packets, by configuration."""
    h = r.table("stream_hist").filter(pl.col("metric") == "delay_ns")
    return figures.cumulative(
        name, caption, {c: h.filter(pl.col("configuration") == c) for c in names}, "one-way delay (ms)", 1e-6
    )


def pictures(
    r: Results,
    figure: int,
    link: str = "",
    names: Sequence[str] = (),
    printed: Mapping[str, Mapping[str, Mapping[str, float]]] = {},
) -> list[Picture]:
    """The six panels that the source has for every stream workload, and the distribution of the delay.

    `printed`: panel (a to f) -> series -> configuration -> published median.
    """
    front, where = (f"{link} " if link else ""), (f" on {link}" if link else "")
    panels = dict(zip("abcdef", ("overall", "stream", "delay", "ipdv", "bulk", "shares"), strict=True))
    known = {f"{figure}{x}": marks for x, marks in printed.items()}
    out = boxes.pictures(r, "audio", {f"{figure}{x}": q for x, q in panels.items()}, link=link, printed=known)
    chosen = [front + c for c in names]
    return [
        *out,
        delay_picture(f"delay-{figure}", f"One-way delay of the stream's packets{where}.", r, chosen),
        quality.picture(f"quality-{figure}", where, r.table("quality"), {front + c: c for c in names}),
    ]
