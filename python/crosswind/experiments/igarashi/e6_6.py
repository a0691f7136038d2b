"""How many packets are re-marked at the boundary when the markers follow the contracts?

Model 6.2(a), original marking, Case 1, counted as in E6.5.

What the source printed (Table 6.7): 307 of 144509 packets in profile (0.2 %); its prose calls that "quite a few".
The counts in profile are the contracts: 1 Mbit/s is 6250 packets in 50 s.

What may differ here: as in E6.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind.claims import Claim, at_most, between, within
from crosswind.experiments.base import Results, published
from crosswind.experiments.igarashi import assured, study
from crosswind.experiments.igarashi.e6_5 import count_picture
from crosswind.figures import Picture
from crosswind.scenario import Scenario

P = published("assured.csv", __file__)
OWN = assured.label("inter", assured.ORIGINAL, "Case 1")
EXCESS = "e6-5/" + assured.label("inter", assured.EXCESS, "Case 1")
PER_MBPS = 1e6 * assured.SECONDS / 8 / assured.PACKET_BYTES


def configurations(**_: Any) -> dict[str, Scenario]:
    """Case 1."""
    return assured.cases("inter", assured.ORIGINAL, ["Case 1"])


def _share(configuration: str, k: int) -> Any:
    """Re-marked packets of a flow as a share of those in profile."""
    return lambda r: r.of(configuration, f"remarked_f{k}") / r.of(configuration, f"in_f{k}")


def _spread(r: Results) -> Any:
    shares = [_share(EXCESS, k)(r) for k in assured.FLOWS]
    return np.max(shares, axis=0) - np.min(shares, axis=0)


def _printed(configuration: str, k: int) -> str:
    own = configuration.removeprefix("e6-5/")
    return f"{P[(f'remarked_f{k}', own)] / P[(f'in_f{k}', own)] * 100:.2f} %"


def _of_contract(configuration: str, k: int) -> Any:
    return lambda r: r.of(configuration, f"in_f{k}") / (assured.RATES[k - 1] * PER_MBPS)


# 1 and 2 Mbit/s within 10 %; the 5 Mbit/s of long round trips may fall short by 9 %, none has 2 % more.
_FULL = {1: within(1.0, 0.1), 2: within(1.0, 0.1), 5: between(0.91, 1.02)}

CLAIMS = (
    Claim(
        "IC6.8",
        "Packets in profile, Case 1: original marking lets the contract pass; excess-in flow 1 2.2 times it",
        "6250, 12500, at most 31250 packets; 2.2 and 1.02 times",
        [
            *(
                study.of_seeds(
                    f"original, flow {k}", _of_contract(OWN, k), _FULL[assured.RATES[k - 1]], "1", "of contract", 3
                )
                for k in assured.FLOWS
            ),
            study.of_seeds("excess-in, flow 1", _of_contract(EXCESS, 1), within(2.2, 0.1), "2.2", "of contract"),
            study.of_seeds("excess-in, flow 3", _of_contract(EXCESS, 3), within(1.02, 0.1), "1.02", "of contract"),
        ],
    ),
    Claim(
        "IC6.9",
        "Re-marked share, Case 1: excess-in 8 to 9.5 % of every flow's packets in profile, original at most 0.5 %",
        "8.2 to 9.2 %; 0.2 %",
        [
            *(
                study.of_seeds(
                    f"excess-in, flow {k}", _share(EXCESS, k), between(0.08, 0.095), _printed(EXCESS, k), "%"
                )
                for k in assured.FLOWS
            ),
            study.of_seeds("excess-in, spread over the flows", _spread, at_most(0.01), "1 point", "%"),
            *(
                study.of_seeds(f"original, flow {k}", _share(OWN, k), at_most(0.005), _printed(OWN, k), "%")
                for k in assured.FLOWS
            ),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """Table 6.7."""
    return [count_picture(r, "table-6-7", "Packets at the second domain, original, Case 1 (Table 6.7).", OWN)]


EXPERIMENT = assured.experiment(
    "e6-6",
    "Re-marking by flow, original marking",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
    uses=("e6-5",),
)
