"""Do eight parallel Standard TCP flows fill the path JAPAN as one HSTCP or one Scalable flow does?

The source printed a figure that is lost (Figure 4.4): the sum of eight flows is similar to either.

What may differ here: the time that is looked at is that of E4.1, 300 s.
"""

import polars as pl

from crosswind import figures
from crosswind.experiments.igarashi import paths, rates, study
from crosswind.reproduce import Picture, Results, Scenario

EIGHT = tuple(f"f{k}" for k in range(1, 9))


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Eight Standard flows together, one HSTCP flow, one Scalable flow."""
    s = paths.SIZES_4[size]
    window = {"receive_buffer": f"{round(8e6 / s.divisor)} B"}
    out = {
        p: paths.scenario(paths.JAPAN, {"f": paths.protocol(p, paths.JAPAN, s, **window)}, 300, s, bin_s=2)
        for p in ("HSTCP", "Scalable")
    }
    flows = {f: paths.protocol("Standard", paths.JAPAN, s, **window) for f in EIGHT}
    return {"8 Standard": paths.scenario(paths.JAPAN, flows, 300, s, bin_s=2), **out}


def pictures(r: Results) -> list[Picture]:
    """Figure 4.4: the sum of eight flows beside either, over time."""
    of = {"8 Standard": EIGHT, "HSTCP": ("f",), "Scalable": ("f",)}
    lines = {}
    for configuration, flows in of.items():
        bins = pl.concat([rates.series(r, configuration, f) for f in flows]).filter(pl.col("rep") == 0)
        total = bins.group_by("s").agg(pl.col("mbps").sum()).sort("s")
        lines[configuration] = (total["s"].to_numpy(), total["mbps"].to_numpy())
    caption = "Eight Standard flows together against one flow (Figure 4.4)."
    return [figures.over_time("f4-4", caption, lines, "throughput (Mbit/s)")]


TOGETHER = rates.total("8 Standard", EIGHT)
CLAIMS = {"IC4.8": {f"eight over {p}": study.ratio(TOGETHER, rates.mean(p)) for p in ("HSTCP", "Scalable")}}

EXPERIMENT = rates.experiment(__name__, "Eight Standard flows against one", where="figure 4.4")
