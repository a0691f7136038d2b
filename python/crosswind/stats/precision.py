"""How many repetitions are enough: for a wanted precision of a mean, and how much of a series is warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.errors import InputError, did_you_mean
from crosswind.optional import load
from crosswind.results import Runs
from crosswind.stats.estimates import Values, clean

GROWTH_MAX = 4.0
MARGIN = 1.1
HELP = "metric=share, e.g. goodput=1% or third.elapsed=0.5% (a flow group or link before the dot)"


@dataclass(frozen=True)
class Precision:
    """A wanted half-width of the 95 % interval of the mean of a metric, as a share of the mean."""

    metric: str
    share: float
    entity: str | None = None

    @staticmethod
    def parse(text: str) -> Precision:
        """Reads `goodput=1%`. Raises InputError otherwise."""
        name, eq, share = text.partition("=")
        entity, dot, metric = name.strip().rpartition(".")
        try:
            value = float(share.strip().removesuffix("%")) / (100 if share.strip().endswith("%") else 1)
        except ValueError:
            value = math.nan
        if not eq or not metric or not 0 < value < 1:
            raise InputError("--precision", found=f"`{text}`", expected=HELP)
        return Precision(metric, value, entity if dot else None)

    def __str__(self) -> str:
        return f"{self.entity}.{self.metric}={self.share:.4g}" if self.entity else f"{self.metric}={self.share:.4g}"

    @property
    def table(self) -> str:
        return "link" if self.metric.startswith(("utilisation", "queue_", "busy")) and not self.entity else "flow"

    def needed(self, frame: pl.DataFrame, have: int) -> int:
        """Repetitions that will probably be enough; `have` when they are. One configuration's table."""
        need = have
        for means in self.means(frame):
            wanted = required(means, self.share)
            if wanted > means.len():  # so many more with a value; of further repetitions some will have none either
                need = max(need, math.ceil(wanted * have / means.len()))
        return min(need, math.ceil(have * GROWTH_MAX))

    def means(self, frame: pl.DataFrame) -> list[pl.Series]:
        """The means of the repetitions that have a value, for each flow group or link direction that has any."""
        column = metric_column(frame, self.metric)
        keys = ["group"] if self.table == "flow" else ["link", "direction"]
        if self.entity is not None:
            if self.entity not in frame[keys[0]].to_list():
                names = frame[keys[0]].unique().sort().to_list()
                raise InputError(
                    "--precision", found=f"`{self.entity}`", expected=f"one of {', '.join(names)}",
                    hint=did_you_mean(self.entity, names),
                )  # fmt: skip
            frame = frame.filter(pl.col(keys[0]) == self.entity)
        value = pl.col(column).cast(pl.Float64)
        good = (
            frame.filter(value.is_finite() & (value >= 0))
            if column.endswith("_ns")
            else frame.filter(value.is_finite())
        )
        return [one.group_by("rep").agg(value.mean())[column] for _, one in good.group_by(keys)]


def until_precise(targets: Sequence[Precision], reps: int, reps_max: int, go: Callable[[int], Runs]) -> Runs:
    """Runs with more and more repetitions until every target is met, or `reps_max` are made, or Ctrl-C.

    What is not met then is a warning of the manifest. Raises InputError for a metric of which nothing has a value.
    """
    have = min(reps, reps_max)
    while True:
        runs = go(have)
        if runs.interrupted or runs.failed:
            return runs
        tables = {p: runs.flows() if p.table == "flow" else runs.links() for p in targets}
        for p in targets:
            if not p.means(tables[p]):
                found = f"`{p}`, of which {have} repetitions have no value"
                raise InputError("--precision", found=found, expected="a metric that has one")
        missed = {p: need for p in targets if (need := p.needed(tables[p], have)) > have}
        if not missed:
            return runs
        if have >= reps_max:
            missing = ", ".join(map(str, missed))
            runs.manifest["warnings"].append(f"the precision {missing} is not reached with {have} repetitions")
            return runs
        have = min(max(missed.values()), reps_max)


def metric_column(frame: pl.DataFrame, name: str, of: str = "the results") -> str:
    """The column of numbers that a short name means: `goodput` is `goodput_bps`. Raises InputError for none or several.

    `of` says whose table it is.
    """
    valid = [c for c in frame.columns if frame[c].dtype.is_numeric()]
    if name in valid:
        return name
    found = [c for c in valid if c.rpartition("_")[0] == name]
    if len(found) == 1:
        return found[0]
    raise InputError("metric", found=f"`{name}`", expected=f"a numeric column of {of}", hint=did_you_mean(name, valid))


def half_width(values: Values, confidence: float = 0.95) -> float:
    """Half the width of the t interval of a mean; infinite for fewer than two values."""
    t = load("scipy.stats", "an interval of given precision").t
    v = clean(values)
    if v.size < 2:
        return math.inf
    return float(t.ppf(0.5 + confidence / 2, v.size - 1) * v.std(ddof=1) / math.sqrt(v.size))


def required(values: Values, share: float, confidence: float = 0.95) -> int:
    """How many repetitions the mean needs until its interval is +- `share` of it, judged by these `values`.

    The number in hand when they are enough. The estimate is itself uncertain: look again when they are there.

    >>> required([10.0, 10.0, 10.0], 0.01)
    3
    """
    v = clean(values)
    now, mean = half_width(v, confidence), abs(float(v.mean())) if v.size else 0.0
    if v.size < 2:
        return 2
    if now <= share * mean or mean == 0.0:
        return int(v.size)
    return max(int(v.size) + 1, math.ceil(v.size * (now / (share * mean)) ** 2 * MARGIN))


def warm_up(values: Values, batch: int = 5) -> int:
    """MSER-5: how many leading values of a series to leave out as warm-up (at most half of it).

    Means of batches of 5; the truncation with the smallest standard error of the rest (White, Cobb and Spratt).

    >>> warm_up([0.0] * 25 + [10.0, 11.0, 9.0, 10.0, 10.0] * 15)
    25
    """
    v = clean(values)
    means: npt.NDArray[np.float64] = v[: v.size // batch * batch].reshape(-1, batch).mean(axis=1)
    n = means.size
    if n < 4:
        return 0
    left = np.arange(n, 0, -1, dtype=np.float64)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0.0)
    scores = spread / left**2
    return int(np.argmin(scores[: n // 2 + 1])) * batch
