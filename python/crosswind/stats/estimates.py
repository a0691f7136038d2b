"""Statistics with their uncertainty: every estimate carries a bootstrap interval and the number of values behind it.

Intervals are percentile bootstrap intervals, 95 % unless said otherwise, from a fixed seed: the same table
gives the same interval. The percentile method is used because medians of tables with ties break the corrected ones.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

Values = npt.ArrayLike | pl.Series
Statistic = Callable[..., Any]
CONFIDENCE = 0.95
# The fewest values of which order statistics give a 95 % interval of a median: of fewer, no difference is clear.
CLEAR_FROM = 6
RESAMPLES = 1999
CACHED_UP_TO = 2000


@dataclass(frozen=True)
class Estimate:
    """A value with its interval [low, high] and the number of observations; NaN when there were none.

    `left_out`: how many more there would have been, had they a value (a transfer that gave up has no elapsed time).
    """

    value: float
    low: float
    high: float
    n: int
    left_out: int = 0

    def is_clear(self, centre: float = 0.0) -> bool:
        """Whether the interval excludes `centre`, the place of no difference, with six values or more behind it."""
        return self.n >= CLEAR_FROM and (self.low > centre or self.high < centre)

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit."""
        ends = sorted((self.low * factor, self.high * factor))
        return Estimate(self.value * factor, ends[0], ends[1], self.n, self.left_out)


def exact(value: float, n: int = 1) -> Estimate:
    """A value without sampling error: a count, an identity, a deterministic run."""
    return Estimate(float(value), float(value), float(value), n)


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def numbers(values: Values) -> npt.NDArray[np.float64]:
    """The values as float64; what did not happen is NaN: a missing value, or -1 in a column of times (`elapsed_ns`)."""
    if isinstance(values, pl.Series):
        is_time = values.name.endswith("_ns") and values.dtype.is_integer()
        values = values.replace(-1, None).to_numpy() if is_time else values.to_numpy()
    return np.asarray(values, dtype=np.float64).ravel()


def clean(values: Values) -> npt.NDArray[np.float64]:
    """The finite values, as float64; -1 in a column of times is none."""
    a = numbers(values)
    return a[np.isfinite(a)]


def estimate(
    statistic: Statistic,
    *samples: Values,
    pairing: Literal["independent", "paired"] = "independent",
    confidence: float = CONFIDENCE,
) -> Estimate:
    """`statistic(*samples)` with its bootstrap interval.

    `statistic` takes arrays and an `axis` keyword. With `pairing="paired"` row i of every sample stems from the same
    repetition and is resampled together; rows with a missing value in any sample are left out.
    """
    columns = [numbers(s) for s in samples]
    if pairing == "paired":
        if len({c.size for c in columns}) != 1:
            raise ValueError("paired samples must have the same length")
        keep = np.all([np.isfinite(c) for c in columns], axis=0)
        data = [c[keep] for c in columns]
    else:
        data = [clean(c) for c in columns]
    n = min(d.size for d in data)
    gone = max(c.size - d.size for c, d in zip(columns, data, strict=True))
    if n == 0:
        return replace(NOTHING, left_out=gone)
    value = float(statistic(*data, axis=-1))
    if n == 1:
        return Estimate(value, value, value, 1, gone)
    draws = _resampled(statistic, data, pairing)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(draws[np.isfinite(draws)], [tail, 1.0 - tail]) if np.isfinite(draws).any() else (value,) * 2
    return Estimate(value, float(low), float(high), n, gone)


@lru_cache(maxsize=64)
def _rows(n: int, sample: int) -> npt.NDArray[np.intp]:
    """Which observations each resample of n draws; the same for every statistic, so comparisons share their draws."""
    return np.random.default_rng((n, sample)).integers(0, n, size=(RESAMPLES, n), dtype=np.intp)


def _resampled(
    statistic: Statistic, data: Sequence[npt.NDArray[np.float64]], pairing: Literal["independent", "paired"]
) -> npt.NDArray[np.float64]:
    """The statistic of every resample. Paired samples are drawn row by row, others each on its own."""
    large = max(d.size for d in data) > CACHED_UP_TO
    make = _rows.__wrapped__ if large else _rows
    which = [make(d.size, 0 if pairing == "paired" else i) for i, d in enumerate(data)]
    step = max(1, RESAMPLES * CACHED_UP_TO // max(d.size for d in data)) if large else RESAMPLES
    out = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for i in range(0, RESAMPLES, step):
            drawn = [d[rows[i : i + step]] for d, rows in zip(data, which, strict=True)]
            out.append(np.asarray(statistic(*drawn, axis=-1), dtype=np.float64))
    return np.concatenate(out)


def quantile(values: Values, q: float) -> Estimate:
    """The q quantile (0..1, linear interpolation) with its interval."""
    return estimate(lambda x, axis: np.quantile(x, q, axis=axis), values)


def median(values: Values) -> Estimate:
    """The median with its interval."""
    return quantile(values, 0.5)


def mean(values: Values) -> Estimate:
    """The mean with its interval."""
    return estimate(lambda x, axis: np.mean(x, axis=axis), values)


def share(hits: Values) -> Estimate:
    """The share (0..1) of true values with its interval."""
    return mean(hits)


def maximum(values: Values) -> Estimate:
    """The largest value; its interval is the value itself (a maximum cannot be bootstrapped)."""
    v = clean(values)
    return exact(float(v.max()), v.size) if v.size else NOTHING


def iqr_of(x: npt.NDArray[np.float64], axis: int = -1) -> Any:
    """Q75 - Q25 along `axis`, as a plain number."""
    low, high = np.quantile(x, [0.25, 0.75], axis=axis)
    return high - low


def iqr(values: Values) -> Estimate:
    """The interquartile range Q75 - Q25 with its interval."""
    return estimate(iqr_of, values)


def quartiles(values: Values) -> tuple[float, float, float, float, float]:
    """Minimum, lower quartile, median, upper quartile, maximum; NaN when empty."""
    v = clean(values)
    if v.size == 0:
        return (math.nan,) * 5
    five = np.quantile(v, [0.0, 0.25, 0.5, 0.75, 1.0])
    return tuple(float(x) for x in five)  # type: ignore[return-value]


def jain(x: npt.ArrayLike, axis: int = -1) -> Any:
    """Jain's fairness index (sum x)^2 / (n sum x^2) along `axis`: 1 when all are equal, 1/n when one has everything."""
    a = np.asarray(x, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return a.sum(axis=axis) ** 2 / (a.shape[axis] * (a**2).sum(axis=axis))


def change(new: Values, old: Values, of: Statistic = np.median) -> Estimate:
    """Relative change of a statistic, `of(new) / of(old) - 1`, with its interval; repetitions must be paired."""
    return estimate(lambda a, b, axis: of(a, axis=axis) / of(b, axis=axis) - 1.0, new, old, pairing="paired")


def difference(new: Values, old: Values, of: Statistic = np.median) -> Estimate:
    """`of(new) - of(old)` with its interval; repetitions must be paired."""
    return estimate(lambda a, b, axis: of(a, axis=axis) - of(b, axis=axis), new, old, pairing="paired")


def paired_differences(new: Values, old: Values) -> Estimate:
    """Mean of the differences repetition by repetition (common random numbers), with its interval."""
    return estimate(lambda a, b, axis: np.mean(a - b, axis=axis), new, old, pairing="paired")


def ordered(samples: Sequence[Values], slack: float = 0.0) -> bool:
    """Whether the medians decrease along the list, each at most `slack` (relative) above its predecessor."""
    medians = [float(np.median(clean(s))) for s in samples]
    return all(b <= a * (1.0 + slack) for a, b in itertools.pairwise(medians))
