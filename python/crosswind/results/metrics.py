"""Metrics of one's own, computed from recorded samples or events.

>>> @metric("cwnd_swing_ratio", sample="cwnd_bytes")
... def swing(time_s, value):
...     "Largest over mean congestion window."
...     return value.max() / value.mean()
>>> swing.name, swing.definition
('cwnd_swing_ratio', 'Largest over mean congestion window.')
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.errors import InputError, did_you_mean
from crosswind.results.runs import Runs

Vector = npt.NDArray[np.float64]
Law = Callable[[Vector, Vector], float]
# The last part of a metric's name is its unit.
UNITS = ("bps", "Bps", "ns", "s", "bytes", "packets", "ratio", "count", "segments", "joules")


@dataclass(frozen=True)
class Metric:
    """A number per entity and run, computed from one sampled series: `of(time_s, value)`."""

    name: str
    sample: str
    definition: str
    of: Law

    def measure(self, runs: Runs) -> pl.DataFrame:
        """Columns configuration, rep, entity and the metric. Raises InputError when the series was not recorded."""
        series = runs.sample(self.sample)
        if series.is_empty():
            recorded = runs.scan("sample")
            known = recorded.collect_schema() and recorded.select(pl.col("metric").unique().sort()).collect()
            names = known["metric"].to_list() if isinstance(known, pl.DataFrame) else []
            raise InputError(
                f"metric {self.name}",
                found=f"no samples of `{self.sample}`",
                expected=f"one of {', '.join(names) or '(nothing was sampled: [record] sample)'}",
                hint=did_you_mean(self.sample, names),
            )
        rows = []
        for key, one in series.sort("time_ns").group_by(["configuration", "rep", "entity"], maintain_order=True):
            time_s = one["time_ns"].to_numpy() / 1e9
            rows.append((*key, float(self.of(time_s, one["value"].cast(pl.Float64).to_numpy()))))
        types = {"configuration": pl.String, "rep": pl.Int64, "entity": pl.String, self.name: pl.Float64}
        return pl.DataFrame(rows, schema=types, orient="row").sort("configuration", "rep", "entity")

    def add_to(self, runs: Runs) -> Runs:
        """The same runs with the metric as a further column of the flow table (entities are flows)."""
        found = self.measure(runs).rename({"entity": "name"})
        tables = runs.tables.sources()
        tables["flow"] = runs.flows().join(
            found, on=["configuration", "rep", "name"], how="left", maintain_order="left"
        )
        return Runs(tables, runs.scenarios, runs.manifest, runs.extra)


def metric(name: str, *, sample: str) -> Callable[[Law], Metric]:
    """Makes a metric of a function `of(time_s, value)` of two arrays; its docstring is the definition.

    `name` ends in its unit, such as `cwnd_peak_bytes`. `sample` is the recorded series it is computed from, such as
    "cwnd_bytes"; `of` is given its times in seconds and its values, and returns one number. Raises InputError for a
    name without a unit.
    """
    if name.rpartition("_")[2] not in UNITS or "_" not in name:
        raise InputError("metric", found=f"`{name}`", expected=f"a name that ends in its unit: _{', _'.join(UNITS)}")

    def make(of: Law) -> Metric:
        return Metric(name, sample, inspect.getdoc(of) or "", of)

    return make
