"""How much wider than the sum of its contracts must the bottleneck of one domain be? And does a token bucket do as
well?

Nine flows with contracts of 24 Mbit/s in all enter one domain whose only congested link has 1.0 to 1.5 times that.
Markers: time sliding window (original), or token buckets of several depths at 1.3 times.

What the source printed: all contracts are met above 1.3 times their sum; a token bucket of suitable depth gives
the same throughput, too deep a one a lower throughput (prose, no numbers).

What may differ here: the depths tried. None is printed; suitable is one that fits the length of a flow's bursts: 50 kB,
the largest of their windows (5.4 Mbit/s times 50 ms and a queue of 15 ms are 44 kB). Very deep is one that never
empties: 100 MB are more than any flow sends, so that all of it is in profile.

Worse is a lower total, and more that the flows miss of their contracts (our reading).

IC6.12 holds in the second and fails in the first: greedy flows fill the link in any case, so the total stays (1.0001).
Without marks the contracts are not kept: three flows miss 4.6 Mbit/s of them. That begins with 10 MB (2.6 Mbit/s, two
or three flows); with 50 kB, 2 MB and 5 MB no flow misses its contract, with 20 kB one does by 0.3 Mbit/s and with 5 kB
three by 2.9. In these 50 s a bucket of 10 MB is never empty, since it was full when they began; over 200 s nothing is
missing with it. Where flows pause a depth matters for the total, but not much: when those of 5 Mbit/s send 5 MB every
10 s instead, 2 MB cost 0.33 % of it (323 drops in profile; five seeds of 100 s). The source gives neither depth nor
traffic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind.experiments.igarashi import assured, drawing, study
from crosswind.figures import Picture
from crosswind.reproduce import Results
from crosswind.reproduce.claims import measures
from crosswind.scenario import Scenario

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


def _met(configuration: str) -> Any:
    return lambda r: r.of(configuration, "misses") == 0


def _below_contract(configuration: str) -> Any:
    """By how much the flows miss their contracts, added up (Mbit/s)."""

    def measure(r: Results) -> Any:
        missing = [np.maximum(c - r.of(configuration, f"th_f{k}"), 0) for k, c in assured.CONTRACTS.items()]
        return np.sum(missing, axis=0)

    return measure


CLAIMS = study.BOOK.claims(
    {
        "IC6.12": {
            f"total, {SUITABLE_KB} kB against window": measures.ratio(
                (f"bucket {SUITABLE_KB} kB", "total"), (WINDOW, "total"), pairing="paired"
            ),
            f"total, {DEEP_KB} kB against {SUITABLE_KB} kB": measures.ratio(
                (f"bucket {DEEP_KB} kB", "total"), (f"bucket {SUITABLE_KB} kB", "total"), pairing="paired"
            ),
            f"missing to contracts, {DEEP_KB} kB less {SUITABLE_KB} kB": study.median(
                lambda r: _below_contract(f"bucket {DEEP_KB} kB")(r) - _below_contract(f"bucket {SUITABLE_KB} kB")(r)
            ),
            "flows below contract, window": study.value(WINDOW, "misses"),
            "flows below contract, suitable depth": study.value(f"bucket {SUITABLE_KB} kB", "misses"),
            "flows below contract, deep": study.value(f"bucket {DEEP_KB} kB", "misses"),
        },
        "IC6.13": {
            **{f"seeds with all met, {w} x": study.portion(_met(f"{w} x")) for w in (1.4, 1.5)},
            "seeds with all met, 1.0 x": study.portion(_met("1.0 x")),
        },
    }
)


def pictures(r: Results) -> list[Picture]:
    """Throughput by flow against the width of the bottleneck."""
    shown = [f"{w} x" for w in (1.0, 1.3, 1.5)] + [f"bucket {DEEP_KB} kB"]
    caption = "Throughput by flow in one domain: width of the bottleneck over the sum of contracts."
    bars = assured.bars(r, shown)
    return [drawing.contract_bars("e6-0", caption, bars, assured.CONTRACTS, "throughput (Mbit/s)")]


EXPERIMENT = assured.experiment(
    "e6-0",
    "Provisioning of one domain, and token buckets",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
)
