"""Model 6.4: one domain with several RIO queues in a row, and a second one behind it.

Group AB (flows ab1 to ab9) crosses RIO1, RIO2 and RIO4 of domain A and RIO6 of domain B; A1 crosses RIO3 and RIO2,
A2 RIO5 and RIO4, both stay in domain A. C1 = 36, C2 = 66, C3 = 30 Mbit/s: C2 = C1 + C3. The layout of Fig. 6.4 is
lost; this is our summary's reading. Gates that only count stand behind RIO1 and behind RIO4.
"""

from typing import Any

from crosswind.experiments.igarashi import assured
from crosswind.experiments.igarashi.assured import ORIGINAL, link, rio, wide
from crosswind.reproduce import Scenario

C1, C2, C3 = 36.0, 66.0, 30.0
QUEUES = ("rio2", "rio4", "rio6")
KINDS = {"(a) inter": "inter", "(b) intra": "intra"}


def _gate(name: str) -> dict[str, Any]:
    return {name: {"domain": name, "flow": [f"ab{k}" for k in assured.FLOWS], "dscp": "AF11", "intervals": "on"}}


def model(kind: str, gate: str = "") -> Scenario:
    """(a) with re-marking at the edge of domain B, or (b) without; `gate="gate-2"` counts behind RIO2, too."""
    links = {
        "rio1": link("edge-ab", "gate-1", rio(C1)),
        "gate-1": link("gate-1", "node-1", wide(0.5)),
        "rio3": link("edge-a1", "node-1", rio(C1)),
        "rio2": link("node-1", "node-2", rio(C2)),
        "rio5": link("edge-a2", "node-2", rio(C1)),
        "rio4": link("node-2", "node-3", rio(C2)),
        "exit-a1": link("node-2", "sink-a1", wide(1)),
        "exit-a2": link("node-3", "sink-a2", wide(1)),
        "gate-4": link("node-3", "gate-4", wide(0.5)),
        "between": link("gate-4", "edge-b", wide(1)),
        "rio6": link("edge-b", "core-b", rio(C3)),
        "exit-ab": link("core-b", "sink-ab", wide(1)),
    }
    flows: dict[str, Any] = {}
    contracts = _gate("gate-1") | _gate("gate-4")
    if gate:
        links["rio2"] = link("node-1", "gate-2", rio(C2, 0.5))
        links["gate-2"] = link("gate-2", "node-2", wide(0.5))
        contracts |= _gate("gate-2")
    for prefix, core_ms in (("ab", 7.0), ("a1", 3.0), ("a2", 3.0)):
        own, its_flows = assured.group(prefix, f"edge-{prefix}", f"sink-{prefix}", core_ms)
        links |= own
        flows |= its_flows
        contracts |= assured.contracts(prefix, "a", ORIGINAL)
    at_b = assured.boundary("b", "gate-4", ORIGINAL) if kind == "inter" else assured.passing("b", "gate-4")
    for c in at_b.values():
        c["intervals"] = "on"
    domains = {
        "a": {"nodes": ["edge-ab", "edge-a1", "edge-a2"]},
        "gate-1": {"nodes": ["gate-1"]},
        "gate-4": {"nodes": ["gate-4"]},
        "b": {"nodes": ["edge-b", "core-b"]},
    }
    if gate:
        domains["gate-2"] = {"nodes": ["gate-2"]}
    data = {"link": links, "flow": flows, "domain": domains, "contract": {**contracts, **at_b}}
    return assured.finish(f"af-chain-{kind}", data)


def configurations(**_: Any) -> dict[str, Scenario]:
    """Both models."""
    return {label: model(kind) for label, kind in KINDS.items()}
