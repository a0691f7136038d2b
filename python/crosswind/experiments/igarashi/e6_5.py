"""Whose packets are re-marked at the boundary under the spaced policy?

Model 6.2(a), excess-in, Case 1, counted by flow at the edge of the second domain: packets that come in profile and
out of it, and those re-marked there.

What the source printed (Table 6.6): 8.2 to 9.2 % of the packets in profile of every flow are re-marked; for flow
9, which has few packets out of profile, that is a sevenfold increase of them.

What may differ here: the source's sums show that it counts packets where they come to the second domain, after the
first RIO queue; so do we.
"""

from typing import Any

import numpy as np

from crosswind.experiments.igarashi import assured, drawing, study
from crosswind.reproduce import Picture, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import runs

OWN = assured.label("inter", assured.EXCESS, "Case 1")


def configurations(**_: Any) -> dict[str, Scenario]:
    """Case 1."""
    return assured.cases("inter", assured.EXCESS, ["Case 1"])


# Flow 9: packets out of profile behind the edge over those before it.
BEFORE = runs(OWN, "out_f9")
GROWTH = (BEFORE + runs(OWN, "remarked_f9")) / BEFORE.then(lambda n: np.maximum(n, 1))
CLAIMS = {"IC6.10": {"flow 9": measures.median(GROWTH)}}


def count_picture(r: Results, name: str, caption: str, own: str, table: str) -> Picture:
    """Packets of each flow at the second domain: in profile, re-marked, out of profile; with the printed counts."""
    bars = {}
    for k in assured.FLOWS:
        median = {c: float(np.median(r.of(own, f"{c}_f{k}"))) for c in ("in", "out", "remarked")}
        bars[f"f{k}"] = {
            "in profile": median["in"] - median["remarked"],
            "re-marked": median["remarked"],
            "out of profile": median["out"],
        }
    return drawing.stacks(name, caption, bars, "packets", printed=_printed(table))


def _printed(table: str) -> dict[str, dict[str, float]]:
    """What tables 6.6 and 6.7 print of each flow where it comes to the second domain."""
    rows = [x for x in study.rows("t6-6_t6-7.csv") if x["table"] == table]
    into = {"in profile": lambda x: int(x["in"]) - int(x["remarked"]), "re-marked": lambda x: int(x["remarked"])}
    into["out of profile"] = lambda x: int(x["out"])
    return {f"f{x['flow']}": {part: of(x) for part, of in into.items()} for x in rows}


def pictures(r: Results) -> list[Picture]:
    """Table 6.6."""
    return [count_picture(r, "table-6-6", "Packets at the second domain, excess-in, Case 1 (Table 6.6).", OWN, "6.6")]


EXPERIMENT = assured.experiment(__name__, "Re-marking by flow, excess-in")
