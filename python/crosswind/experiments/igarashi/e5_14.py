"""What do 3000 short transfers with heavy-tailed sizes and one high-speed flow do to each other?

The source printed figures that are lost (5.15 to 5.17: transfers begin at random within 300 s, Pareto sizes with shape
1.3 and means of 100, 300 and 500 KB; the load of the largest was 32.6 Mbit/s on average, above 100 Mbit/s in some
seconds): the high-speed flow is hurt, more by larger transfers; these get a higher rate the larger they are, and less
beside the high-speed flow for 300 and 500 KB; the large router buffer mitigates both.

What may differ here: sizes are the quantiles of the distribution, one each, so that all runs have the same ones; where
the network is divided there are fewer transfers of the same sizes. Transfers that are not finished at the end count
with what they have carried. Flows alone are those of E5.1. E5.14 to E5.16 of the source are these runs.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.igarashi import e5_1, paths, rates, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures, needed
from crosswind.reproduce.claims.quantities import runs

PROTOCOLS = (*paths.TCP_VARIANTS, "UDT")
MEANS_KB = (100, 300, 500)
# The transfers come from 50 to 350 s, over which averages are taken (open point O5.8).
TRANSFERS, FROM, SECONDS, SHAPE = 3000, 50, 350, 1.3
WHILE = (FROM / SECONDS, 1.0)


def label(name: str, mean_kb: int, buffer: str = "Small") -> str:
    return f"{name or 'short'} {mean_kb} {buffer}"


def short_flows(mean_kb: int, size: paths.Size) -> dict[str, Any]:
    """The transfers: quantiles of a Pareto distribution, in an order that mixes sizes and names."""
    n = max(20, round(TRANSFERS / size.divisor * size.time))
    least = mean_kb * 1000 * (SHAPE - 1) / SHAPE
    sizes = least * (1 - (np.arange(n) + 0.5) / n) ** (-1 / SHAPE)
    flow = paths.tcp(size)
    return {
        f"short{k:04d}": {
            **flow,
            "workload": {"type": "bulk", "size": f"{round(b)} B"},
            "start": {"uniform": [f"{size.seconds(FROM):g} s", f"{size.seconds(SECONDS) - 0.5:g} s"]},
        }
        for k, b in enumerate(sizes)
    }


def configurations(
    size: str = "full", heedless: tuple[str, ...] = ("CUBIC",), large_packets: int = paths.LARGE
) -> dict[str, Scenario]:
    """Each high-speed flow with each load, the loads alone, and the largest with the large buffer."""
    s = paths.SIZES_5[size]
    s = replace(s, time=max(s.time, 0.3))
    small, large = (paths.INTERNATIONAL.buffered(n) for n in (paths.SMALL, large_packets))

    def run(path: paths.Path, name: str, mean_kb: int) -> Scenario:
        flows = {"f": paths.buffered(name, path, s, 0.95, heedless=heedless)} if name else {}
        if mean_kb:
            flows |= short_flows(mean_kb, s)
        return paths.scenario(path, flows, SECONDS, s, bin_s=1, shared=("short",))

    out = {label(p, m): run(small, p, m) for p in ("", *PROTOCOLS) for m in MEANS_KB}
    return out | {label(p, 500, "Large"): run(large, p, 500) for p in PROTOCOLS}


def high_rate(name: str, mean_kb: int, buffer: str = "Small") -> Quantity:
    """The mean rate of the high-speed flow while transfers come, or from 50 to 350 s where there are none."""
    if not mean_kb:
        return rates.during(e5_1.alone(name, buffer), "f", e5_1.part(FROM, SECONDS))
    return rates.during(label(name, mean_kb, buffer), "f", WHILE)


def short_rate(name: str, mean_kb: int, buffer: str = "Small") -> Quantity:
    """All bytes over all times of the short transfers."""
    return runs(label(name, mean_kb, buffer), "short_mbps")


def loaded(mean_kb: int) -> Quantity:
    """What the transfers carry while they come, alone."""
    return runs(label("", mean_kb), "short_load_mbps") * SECONDS / (SECONDS - FROM)


def peak(r: Results) -> np.ndarray:
    """The largest second of that."""
    s = r.runs.only(label("", 500)).sample("throughput_bps", "bottleneck/forward")
    needed(s, "no series of the bottleneck")
    found = s.group_by("rep", maintain_order=True).agg(pl.col("value").max())["value"].to_numpy()
    return np.asarray(found / 1e6)


def pictures(r: Results) -> list[Picture]:
    """Figures 5.15 to 5.17, and the load of the transfers."""
    load = {"short": {f"{m} KB": loaded(m) for m in MEANS_KB}}
    known = {"short": {"500 KB": study.BOOK.number("IC5.17", "average")}}
    high = {f"{m} KB" if m else "alone": {p: high_rate(p, m) for p in PROTOCOLS} for m in (0, *MEANS_KB)}
    shorts = {p or "alone": {f"{m} KB": short_rate(p, m) for m in MEANS_KB} for p in ("", *PROTOCOLS)}
    buffers = {b: {p: high_rate(p, 500, b) for p in PROTOCOLS} for b in ("Small", "Large")}
    short_buffers = {b: {p: short_rate(p, 500, b) for p in PROTOCOLS} for b in ("Small", "Large")}
    return [
        rates.bars("f5-15a", "High-speed flow and short transfers (Figure 5.15(a)).", r, high),
        rates.bars("f5-15b", "Short transfers (Figure 5.15(b)).", r, shorts),
        rates.over_time("f5-16", "With 500 KB (Figure 5.16).", r, {p: (label(p, 500), "f") for p in PROTOCOLS}),
        rates.bars("f5-17a", "Router buffer, high-speed flow (Figure 5.17(a)).", r, buffers),
        rates.bars("f5-17b", "Router buffer, short transfers (Figure 5.17(b)).", r, short_buffers),
        rates.bars("load", "What the transfers carry while they come (5.4.3).", r, load, known),
    ]


CLAIMS = {
    "IC5.15": {
        f"{p}: {b} over {a} KB": study.ratio(high_rate(p, b), high_rate(p, a))
        for p in PROTOCOLS
        for a, b in ((0, 100), (100, 300), (300, 500))
    },
    "IC5.16": {
        **study.order([(f"{m} KB", short_rate("", m)) for m in (500, 300, 100)]),
        **{
            f"beside {p}, {m} KB": study.ratio(short_rate(p, m), short_rate("", m))
            for p in PROTOCOLS
            for m in (300, 500)
        },
    },
    "IC5.17": {
        "average": measures.at_full_size(measures.median(loaded(500))),
        "largest second": measures.at_full_size(measures.median(peak)),
    },
    "IC5.18": {
        **{p: study.change(high_rate(p, 500, "Large"), high_rate(p, 500)) for p in PROTOCOLS},
        **{f"short beside {p}": study.change(short_rate(p, 500, "Large"), short_rate(p, 500)) for p in PROTOCOLS},
    },
}

EXPERIMENT = rates.experiment(
    __name__, "Short transfers beside a high-speed flow", where="figures 5.15 to 5.17", uses=("e5-1",)
)
