"""How the experiments of [Igarashi 2007] are declared, and measures of their claims.

The source shows single runs and prints no intervals: an experiment here has ten seeds. A column is a quantity
with one value per seed.
"""

import csv
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.reproduce import Measure, Results, Study, measured, measures, variants
from crosswind.reproduce.claims.book import book

BOOK = book(__file__)
READINGS = variants(__file__)
STUDY = Study("igarashi", "[Igarashi 2007]", BOOK, reps=10, quick_reps=2, readings=READINGS)
experiment = STUDY.experiment
Column = Callable[[Results], Any]


def rows(file: str) -> list[dict[str, str]]:
    """The rows of a printed table, as text."""
    with (Path(__file__).parent / "data" / file).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def ratio(top: Column, bottom: Column) -> Measure:
    """The median of one column over that of another, resampled seed by seed."""
    return lambda r: stats.estimate(_ratio, top(r), bottom(r), pairing="paired")


def _ratio(a: Any, b: Any, axis: int = -1) -> Any:
    return np.median(a, axis=axis) / np.maximum(np.median(b, axis=axis), 1e-9)


def difference(new: Column, old: Column) -> Measure:
    """The difference of the medians of two columns, resampled seed by seed."""
    return lambda r: stats.difference(new(r), old(r))


def relative(new: Column, old: Column) -> Measure:
    """The relative change of the median from one column to another, resampled seed by seed."""
    return lambda r: stats.change(new(r), old(r))


@measured
def changed(r: Results, new: Column, old: Column) -> Any:
    """The relative change of a column, seed by seed."""
    return np.asarray(new(r)) / np.maximum(old(r), 1e-9) - 1.0


def change(new: Column, old: Column) -> Measure:
    """The mean relative change over the seeds, with its interval: for claims in words and for orders."""
    return measures.seeds(changed(new, old))


def order(columns: Sequence[tuple[str, Column]]) -> dict[str, Measure]:
    """The ratio of each to the one that follows."""
    return {f"{a} over {b}": ratio(x, y) for (a, x), (b, y) in pairwise(columns)}


@measured
def portion(r: Results, holds: Column) -> stats.Estimate:
    """The share of the seeds that something is true of, as it is: without an interval."""
    truth = np.asarray(holds(r))
    return stats.exact(float(truth.mean()), truth.size)
