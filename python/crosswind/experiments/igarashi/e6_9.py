"""Does re-marking between domains change the throughput of anybody in a domain with several RIO queues?

Model 6.4: the 27 flows with (a) and without (b) re-marking at the edge of domain B, from the runs of E6.8.

What the source printed (Table 6.11): no significant difference between both, and no flow below its contract. Flow 9
of AB has 4.965 and 4.984 Mbit/s of 5 there without a mark, so a flow within 1 % of its contract counts as meeting it
(open point O6.13).
"""

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.igarashi import assured, chain_of_queues
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import total

GROUPS = ("ab", "a1", "a2")
A, B = chain_of_queues.KINDS


def configurations(**_: Any) -> dict[str, Scenario]:
    """Both models."""
    return chain_of_queues.configurations()


@measured
def _distance(r: Results, pick: Any) -> Any:
    """Over the 27 flows: mean or largest distance of the median throughputs of (a) and (b)."""
    names = [f"th_{g}{k}" for g in GROUPS for k in assured.FLOWS]
    far = [abs(float(np.median(r.of(A, n)) - np.median(r.of(B, n)))) for n in names]
    return stats.exact(float(pick(far)), len(far))


def _missing(configuration: str) -> Quantity:
    """How many of the 27 flows miss their contract by more than 1 %."""
    contracts = list(zip(assured.FLOWS, assured.RATES, strict=True))
    return total(assured.th(configuration, f"{g}{k}") < 0.99 * c for g in GROUPS for k, c in contracts)


CLAIMS = {
    "IC6.16": {
        "mean": _distance(np.mean),
        "largest": _distance(np.max),
        **{f"flows below contract, {c}": measures.median(_missing(c)) for c in (A, B)},
    }
}


def pictures(r: Results) -> list[Picture]:
    """Table 6.11: one figure for each group."""
    out = []
    for g in GROUPS:
        caption = f"Throughput of group {g.upper()} with and without re-marking (Table 6.11)."
        bars = assured.bars(r, (A, B), g)
        out.append(assured.contract_bars(f"table-6-11-{g}", caption, bars, assured.printed("t6-11.csv", g)))
    return out


EXPERIMENT = assured.experiment(__name__, "Several RIO queues in a domain: throughput")
