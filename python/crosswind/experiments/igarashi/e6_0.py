"""How much wider than the sum of its contracts must the bottleneck of one domain be? And does a token bucket do as
well?

Nine flows with contracts of 24 Mbit/s in all enter one domain whose only congested link has 1.0 to 1.5 times that.
Markers: time sliding window (original), or token buckets of several depths at 1.3 times.

What the source printed: all contracts are met above 1.3 times their sum; a token bucket of suitable depth shows no
obvious difference; its size greatly affects throughput, and one that is too large degrades it (prose, no numbers).

What may differ here: the depths tried. None is printed; suitable is one that fits the length of a flow's bursts: 50 kB,
the largest of their windows (5.4 Mbit/s times 50 ms and a queue of 15 ms are 44 kB). Very deep is one that never
empties: 100 MB are more than any flow sends, so that all of it is in profile. Worse is more that the flows miss of
their contracts, in parts of the contracts' sum (our reading): greedy flows fill the link in any case.
"""

from typing import Any

import numpy as np

from crosswind.experiments.igarashi import assured, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import runs, total

WIDTHS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
DEPTHS_KB = (5, 20, 50, 2000, 5000, 10_000, 100_000)
SUITABLE_KB, DEEP_KB = 50, 100_000
WINDOW = "1.3 x"


def bucket(depth_kb: int) -> Any:
    """Token buckets of one depth instead of the windows."""

    def make(mbps: float, _: str) -> dict[str, Any]:
        return {"type": "token-bucket", "cir": f"{mbps:g} Mbit/s", "cbs": f"{depth_kb} kB"}

    return make


def configurations(**_: Any) -> dict[str, Scenario]:
    """The widths with windows, and the depths of buckets at 1.3 times."""
    widths = {f"{w:.1f} x": assured.one_domain(w * assured.SUM_MBPS) for w in WIDTHS}
    buckets = {f"bucket {d} kB": assured.one_domain(1.3 * assured.SUM_MBPS, bucket(d)) for d in DEPTHS_KB}
    return widths | buckets


def _missing(depth_kb: int) -> Quantity:
    """By how much the flows miss their contracts, added up, in parts of the contracts' sum."""
    missing = (c - runs(f"bucket {depth_kb} kB", f"th_f{k}") for k, c in assured.CONTRACTS.items())
    return total(m.then(lambda x: np.maximum(x, 0)) for m in missing) / assured.SUM_MBPS


SUITABLE, DEEP = (f"bucket {d} kB" for d in (SUITABLE_KB, DEEP_KB))

CLAIMS = {
    "IC6.12": {
        "total, suitable depth against window": study.ratio(runs(SUITABLE, "total"), runs(WINDOW, "total")),
        "total, deep against suitable": study.ratio(runs(DEEP, "total"), runs(SUITABLE, "total")),
        "total, suitable depth less window": study.change(runs(SUITABLE, "total"), runs(WINDOW, "total")),
        "missing to contracts, deep less suitable": measures.seeds(_missing(DEEP_KB) - _missing(SUITABLE_KB)),
        "flows below contract, window": measures.value(WINDOW, "misses"),
        "flows below contract, suitable depth": measures.value(SUITABLE, "misses"),
        "flows below contract, deep": measures.value(DEEP, "misses"),
    },
    "IC6.13": {f"seeds with all met, {w} x": study.portion(runs(f"{w} x", "misses") < 1) for w in (1.4, 1.5)}
    | {"seeds with all met, 1.0 x": study.portion(runs("1.0 x", "misses") < 1)},
}


def pictures(r: Results) -> list[Picture]:
    """Throughput by flow against the width of the bottleneck."""
    shown = [f"{w} x" for w in (1.0, 1.3, 1.5)] + [f"bucket {DEEP_KB} kB"]
    caption = "Throughput by flow in one domain: width of the bottleneck over the sum of contracts."
    bars = assured.bars(r, shown)
    return [assured.contract_bars("e6-0", caption, bars)]


EXPERIMENT = assured.experiment(__name__, "Provisioning of one domain, and token buckets")
