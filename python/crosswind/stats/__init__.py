"""Statistics of repetitions: estimates with intervals, comparisons, how many repetitions are needed.

| file | holds |
|---|---|
| `estimates` | a value with its interval: median, mean, share, change, paired difference |
| `comparing` | tests and effect sizes between two sets of runs |
| `precision` | repetitions until a result is that sure; warm-up |
| `effects` | shares of the variance that factors explain |
"""

from __future__ import annotations

import importlib
from typing import Any

from crosswind.stats.estimates import (
    CONFIDENCE,
    NOTHING,
    RESAMPLES,
    Estimate,
    Statistic,
    Values,
    change,
    clean,
    difference,
    estimate,
    exact,
    iqr,
    iqr_of,
    jain,
    maximum,
    mean,
    median,
    numbers,
    ordered,
    paired_differences,
    quantile,
    quartiles,
    share,
)

__all__ = [
    "CONFIDENCE",
    "NOTHING",
    "RESAMPLES",
    "Estimate",
    "Statistic",
    "Values",
    "change",
    "clean",
    "difference",
    "estimate",
    "exact",
    "iqr",
    "iqr_of",
    "jain",
    "maximum",
    "mean",
    "median",
    "numbers",
    "ordered",
    "paired_differences",
    "quantile",
    "quartiles",
    "share",
]

# Comparisons and planning live in files of their own; they are reached as `stats.compare`, `stats.required`, ...
_ELSEWHERE = {
    "crosswind.stats.comparing": (
        *("bca", "cliff_delta", "cohen_d", "compare", "Comparison", "holm", "jain_interval"),
        *("same_distribution", "SameDistribution"),
    ),
    "crosswind.stats.effects": ("Effect", "shares"),
    "crosswind.stats.precision": ("Precision", "half_width", "required", "warm_up"),
}


def __getattr__(name: str) -> Any:
    for module, names in _ELSEWHERE.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'crosswind.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *(n for names in _ELSEWHERE.values() for n in names)])
