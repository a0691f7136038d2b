"""Two upstream domains with different policies meet in one: whose policy decides who gets his contract?

Model 6.3: group A (flows a1 to a9) goes through domain A, group B (b1 to b9, the source's 10 to 18) through domain
B, both on through domain C, whose edge has one meter of 24 Mbit/s for each incoming domain. A marks with
excess-in, B with original; C with excess-in (Case 1) or original (Case 2). (C1, C2) = (36, 67.2) or (72, 96)
Mbit/s.

What the source printed (Table 6.9): flow 9 of group A misses its 5 Mbit/s everywhere, flow 6 of A behind 36 and
67.2; no flow of group B ever does: the policy upstream decides, not that of domain C.

What may differ here: the layout of Fig. 6.3 is lost; this reading is our summary's.
"""

from typing import Any

from crosswind.experiments.igarashi import assured, study
from crosswind.experiments.igarashi.assured import EXCESS, ORIGINAL, link, rio, wide
from crosswind.reproduce import Picture, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import total

WIDTHS = {"36 and 67.2": (36.0, 67.2), "72 and 96": (72.0, 96.0)}
POLICY_OF_C = {"Case 1": EXCESS, "Case 2": ORIGINAL}


def model(c1: float, c2: float, policy: str) -> Scenario:
    """Model 6.3."""
    links: dict[str, Any] = {"down": link("edge-c", "core-c", rio(c2)), "exit": link("core-c", "sink", wide(2))}
    flows: dict[str, Any] = {}
    contracts: dict[str, Any] = {}
    for name, marking in (("a", EXCESS), ("b", ORIGINAL)):
        own, its_flows = assured.group(name, f"edge-{name}", "sink", assured.CORE_MS)
        links |= own
        links |= {
            f"up-{name}": link(f"edge-{name}", f"core-{name}", rio(c1)),
            f"between-{name}": link(f"core-{name}", "edge-c", wide(1)),
        }
        flows |= its_flows
        contracts |= assured.contracts(name, name, marking) | assured.boundary("c", name, policy)
    domains = {d: {"nodes": [f"edge-{d}", f"core-{d}"]} for d in ("a", "b", "c")}
    return assured.finish("af-mixed", {"link": links, "flow": flows, "domain": domains, "contract": contracts})


def configurations(**_: Any) -> dict[str, Scenario]:
    """Two provisionings, two policies of domain C."""
    return {
        f"{width}, {case}": model(c1, c2, policy)
        for width, (c1, c2) in WIDTHS.items()
        for case, policy in POLICY_OF_C.items()
    }


NARROW = tuple(f"36 and 67.2, {case}" for case in POLICY_OF_C)
# Both cases together: 2 where it misses its contract in both with every seed.
A6_MISSES = " plus ".join(f"seeds in which a6 misses, {c}" for c in NARROW)

CLAIMS = {
    "IC6.11": {
        **{
            f"{flow}, {c}": measures.value(c, f"th_{flow}")
            for c in configurations()
            for flow in ("a6", "a9", "b6", "b9")
        },
        **{f"flows below contract, {c}": measures.value(c, "misses") for c in configurations()},
        **{
            f"seeds in which {flow} misses, {c}": study.portion(assured.th(c, flow) < 5.0)
            for c in configurations()
            for flow in ("a6", "a9", "b6", "b9")
        },
        A6_MISSES: study.portion(total(assured.th(c, "a6") < 5.0 for c in NARROW)),
        **{
            f"a9, {c} minus {flow}, {c}": study.difference(assured.th(c, "a9"), assured.th(c, flow))
            for c in configurations()
            if c not in NARROW
            for flow in ("a6", "b6", "b9")
        },
    }
}


def pictures(r: Results) -> list[Picture]:
    """Table 6.9: one figure for each group."""
    out = []
    for group in ("a", "b"):
        caption = f"Throughput of group {group.upper()} in model 6.3 (Table 6.9)."
        bars = assured.bars(r, list(configurations()), group)
        out.append(assured.contract_bars(f"table-6-9-{group}", caption, bars, assured.printed("t6-9.csv", group)))
    return out


EXPERIMENT = assured.experiment(__name__, "Two upstream domains with different policies")
