"""How many packets are re-marked at the boundary when the markers follow the contracts?

Model 6.2(a), original marking, Case 1, counted as in E6.5.

What the source printed (Table 6.7): 307 of 144509 packets in profile (0.2 %); its prose calls that "quite a few".
The counts in profile are the contracts: 1 Mbit/s is 6250 packets in 50 s.

What may differ here: as in E6.5.
"""

from typing import Any

from crosswind.experiments.igarashi import assured
from crosswind.experiments.igarashi.e6_5 import count_picture
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import largest, least, runs

OWN = assured.label("inter", assured.ORIGINAL, "Case 1")
EXCESS = "e6-5/" + assured.label("inter", assured.EXCESS, "Case 1")
PER_MBPS = 1e6 * assured.SECONDS / 8 / assured.PACKET_BYTES


def configurations(**_: Any) -> dict[str, Scenario]:
    """Case 1."""
    return assured.cases("inter", assured.ORIGINAL, ["Case 1"])


def _share(configuration: str, k: int) -> Quantity:
    """Re-marked packets of a flow as a share of those in profile."""
    return runs(configuration, f"remarked_f{k}") / runs(configuration, f"in_f{k}")


def _of_contract(configuration: str, k: int) -> Quantity:
    return runs(configuration, f"in_f{k}") / (assured.RATES[k - 1] * PER_MBPS)


SHARES = [_share(EXCESS, k) for k in assured.FLOWS]
CLAIMS = {
    "IC6.8": {
        **{f"original, flow {k}": measures.median(_of_contract(OWN, k)) for k in assured.FLOWS},
        "excess-in, flow 1": measures.median(_of_contract(EXCESS, 1)),
        "excess-in, flow 3": measures.median(_of_contract(EXCESS, 3)),
    },
    "IC6.9": {
        **{f"excess-in, flow {k}": measures.median(_share(EXCESS, k)) for k in assured.FLOWS},
        "excess-in, spread over the flows": measures.median(largest(SHARES) - least(SHARES)),
        **{f"original, flow {k}": measures.median(_share(OWN, k)) for k in assured.FLOWS},
    },
}


def pictures(r: Results) -> list[Picture]:
    """Table 6.7."""
    return [count_picture(r, "table-6-7", "Packets at the second domain, original, Case 1 (Table 6.7).", OWN, "6.7")]


EXPERIMENT = assured.experiment(__name__, "Re-marking by flow, original marking", uses=("e6-5",))
