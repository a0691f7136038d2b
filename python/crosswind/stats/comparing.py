"""Comparisons: how large a difference is, how sure, and how much it matters. Part of `crosswind.stats`.

Repetitions of two configurations with one seed share their random numbers, so they are compared pair by pair: what both
have in common cancels. Intervals are bias-corrected and accelerated (BCa) bootstrap intervals.

>>> c = compare([5.0, 6.0, 7.0, 8.0, 9.0, 9.5], [4.0, 5.5, 6.0, 7.5, 8.0, 8.5])
>>> c.pairing, c.n, round(c.difference.value, 3)
('paired', 6, 0.833)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from crosswind.optional import load
from crosswind.stats.estimates import (
    CONFIDENCE,
    NOTHING,
    RESAMPLES,
    Estimate,
    Statistic,
    Values,
    clean,
    estimate,
    exact,
    jain,
    numbers,
)

Pairing = Literal["paired", "independent"]
Vector = npt.NDArray[np.float64]
# Rules of thumb of Romano and others for Cliff's delta.
SIZES = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (1.01, "large"))


def bca(
    statistic: Statistic, *samples: Values, pairing: Pairing = "independent", confidence: float = CONFIDENCE
) -> Estimate:
    """A statistic with its BCa bootstrap interval (scipy); the plain percentile interval where BCa does not exist.

    `statistic(*samples, axis)`. BCa does not exist when all values are equal; it needs at least three.
    """
    data = _paired(samples) if pairing == "paired" else [clean(s) for s in samples]
    n = min((d.size for d in data), default=0)
    if n < 3:
        return estimate(statistic, *data, pairing=pairing, confidence=confidence)
    scipy_stats = load("scipy.stats", "comparing")  # takes a second to import
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy_stats.DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        found = scipy_stats.bootstrap(
            data, statistic, n_resamples=RESAMPLES, paired=pairing == "paired", vectorized=True, axis=-1,
            confidence_level=confidence, method="BCa", rng=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return estimate(statistic, *data, pairing=pairing, confidence=confidence)
    return Estimate(float(statistic(*data, axis=-1)), float(found.low), float(found.high), n)


def _paired(samples: Sequence[Values]) -> list[Vector]:
    columns: list[Vector] = [numbers(s) for s in samples]
    if len({c.size for c in columns}) != 1:
        raise ValueError("paired samples must have the same length")
    keep = np.all([np.isfinite(c) for c in columns], axis=0)
    return [c[keep] for c in columns]


def _mean_difference(a: Any, b: Any, axis: int = -1) -> Any:
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def _ratio_of_means(a: Any, b: Any, axis: int = -1) -> Any:
    return np.mean(a, axis=axis) / np.mean(b, axis=axis) - 1.0


@dataclass(frozen=True)
class Comparison:
    """Two samples side by side. `difference` and `change` are of means, new against old; p-values are two-sided."""

    pairing: Pairing
    n: int
    new: Estimate
    old: Estimate
    difference: Estimate
    change: Estimate
    cohen_d: float
    cliff_delta: Estimate
    p_value: float
    test: str

    @property
    def clear(self) -> bool:
        """Whether the interval of the difference excludes zero; never of fewer than six values on a side."""
        return self.difference.is_clear()

    @property
    def size(self) -> str:
        """How large the effect is, in words (Cliff's delta)."""
        delta = abs(self.cliff_delta.value)
        return next((word for limit, word in SIZES if delta < limit), "unknown")

    def __str__(self) -> str:
        d, c = self.difference, self.change
        verdict = "clear" if self.clear else "no clear difference"
        return (
            f"{d.value:+.4g} ({d.low:+.4g} to {d.high:+.4g}), {c.value:+.1%} ({c.low:+.1%} to {c.high:+.1%}), "
            f"{self.size} effect, {verdict} (n = {self.n}, {self.pairing})"
        )


def compare(new: Values, old: Values, pairing: Pairing = "paired") -> Comparison:
    """Compares two samples; `paired` when value i of both comes from repetition i of one seed.

    Medians of both with intervals, difference and relative change of the means with BCa intervals, Cohen's d (of the
    differences when paired), Cliff's delta, and a rank test (Wilcoxon when paired, else Mann and Whitney).
    """
    a, b = _paired([new, old]) if pairing == "paired" else [clean(new), clean(old)]
    n = min(a.size, b.size)
    if n == 0:
        return Comparison(pairing, 0, NOTHING, NOTHING, NOTHING, NOTHING, math.nan, NOTHING, math.nan, "none")
    p, test = _rank_test(a, b, pairing)

    def interval(of: Callable[..., Any]) -> Estimate:
        # One value says nothing about how sure it is.
        return bca(of, a, b, pairing=pairing) if n > 1 else Estimate(float(of(a, b)), math.nan, math.nan, n)

    return Comparison(
        pairing=pairing,
        n=n,
        new=median(a),
        old=median(b),
        difference=interval(_mean_difference),
        change=interval(_ratio_of_means) if np.mean(b) != 0 else NOTHING,
        cohen_d=cohen_d(a, b, pairing),
        cliff_delta=cliff_delta(a, b),
        p_value=p,
        test=test,
    )


def median(values: Values) -> Estimate:
    """The median with an interval from order statistics: exact for any distribution (at least 95 %), n of 6 or more.

    Below that, and for no values, the interval is the range.
    """
    v = np.sort(clean(values))
    if v.size == 0:
        return NOTHING
    below, k = 1, 0  # the smallest k with P(X <= k) of a fair coin at or above half of what the interval leaves out
    while below < (1 - CONFIDENCE) / 2 * 2**v.size:
        k += 1
        below += math.comb(v.size, k)
    low = v[k - 1] if k >= 1 else v[0]
    high = v[v.size - k] if k >= 1 else v[-1]
    return Estimate(float(np.median(v)), float(low), float(high), int(v.size))


def cohen_d(new: Values, old: Values, pairing: Pairing = "paired") -> float:
    """Difference of means in standard deviations: of the differences when paired, else pooled. NaN without spread."""
    if pairing == "paired":
        a, b = _paired([new, old])
        d = a - b
        spread = float(d.std(ddof=1)) if d.size > 1 else 0.0
        return float(d.mean()) / spread if spread > 0 else math.nan
    a, b = clean(new), clean(old)
    if a.size < 2 or b.size < 2:
        return math.nan
    pooled = math.sqrt(((a.size - 1) * a.var(ddof=1) + (b.size - 1) * b.var(ddof=1)) / (a.size + b.size - 2))
    return float(a.mean() - b.mean()) / pooled if pooled > 0 else math.nan


def cliff_delta(new: Values, old: Values) -> Estimate:
    """P(new > old) - P(new < old), from -1 to 1, with its interval. Needs no distribution."""

    def delta(a: Any, b: Any, axis: int = -1) -> Any:
        order = np.sort(b, axis=-1)
        if a.ndim == 1:
            return _delta(a, order)
        return np.array([_delta(x, y) for x, y in zip(a.reshape(-1, a.shape[-1]), order.reshape(-1, order.shape[-1]))])  # noqa: B905

    return estimate(delta, clean(new), clean(old))


def _delta(a: Vector, sorted_b: Vector) -> float:
    below = np.searchsorted(sorted_b, a, side="left")
    above = sorted_b.size - np.searchsorted(sorted_b, a, side="right")
    return float((below - above).mean() / sorted_b.size)


def _rank_test(a: Vector, b: Vector, pairing: Pairing) -> tuple[float, str]:
    scipy_stats = load("scipy.stats", "a rank test")
    if pairing == "paired":
        if a.size < 2 or np.all(a == b):
            return 1.0, "Wilcoxon signed-rank"
        return float(scipy_stats.wilcoxon(a, b).pvalue), "Wilcoxon signed-rank"
    if a.size < 2 or b.size < 2:
        return math.nan, "Mann-Whitney U"
    return float(scipy_stats.mannwhitneyu(a, b).pvalue), "Mann-Whitney U"


@dataclass(frozen=True)
class SameDistribution:
    """Tests whether two samples come from one distribution: p-values, and the largest distance of the two curves."""

    kolmogorov_smirnov_p: float
    distance: float
    anderson_darling_p: float
    n: tuple[int, int]


def same_distribution(a: Values, b: Values, resamples: int = 999) -> SameDistribution:
    """Kolmogorov-Smirnov and Anderson-Darling tests of two independent samples (the latter by permutation)."""
    scipy_stats = load("scipy.stats", "a test of distributions")
    x, y = clean(a), clean(b)
    if min(x.size, y.size) < 2:
        return SameDistribution(math.nan, math.nan, math.nan, (x.size, y.size))
    ks = scipy_stats.ks_2samp(x, y)
    if np.unique(np.concatenate([x, y])).size < 2:
        return SameDistribution(1.0, 0.0, 1.0, (x.size, y.size))
    method = scipy_stats.PermutationMethod(n_resamples=resamples, rng=np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ad = scipy_stats.anderson_ksamp([x, y], method=method)
    return SameDistribution(float(ks.pvalue), float(ks.statistic), float(ad.pvalue), (x.size, y.size))


def jain_interval(shares: npt.ArrayLike) -> Estimate:
    """Jain's index with its interval: the mean over repetitions (rows) of the index over flows (columns).

    One row only (flat): bootstrapped over the flows.
    """
    a = np.asarray(shares, dtype=np.float64)
    if a.ndim == 1:
        return exact(1.0, a.size) if a.size == 1 else bca(jain, a)
    return bca(lambda x, axis: np.mean(x, axis=axis), jain(a, axis=1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusts p-values for having made several tests (Holm): compare them with 5 % as usual.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        out[i] = highest
    return out
