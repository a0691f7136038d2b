"""How a scenario shows itself in a notebook: a picture of the network, and its flows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crosswind.scenario import topology
from crosswind.table import Table, table_html

if TYPE_CHECKING:
    from crosswind.scenario.scenario import Scenario


def scenario_html(scenario: Scenario) -> str:
    """The network as a picture, and the flows."""
    flows = [
        [name, str(f.get("from", "")), str(f.get("to", "")), str(f.get("count", 1)), _short(f.get("workload")), _tcp(f)]
        for name, f in (scenario.get("flow") or {}).items()
    ]
    table = Table("Flows", ["flow", "from", "to", "count", "workload", "tcp"], flows)
    try:
        picture = topology.svg(scenario)
    except Exception as e:  # a wrong scenario must still be shown, with what is wrong
        picture = f"<p><strong>{escape(str(e))}</strong></p>"
    return f"<p><strong>{escape(scenario.title)}</strong></p>{picture}{table_html(table)}"


def _short(table: object) -> str:
    return ", ".join(str(v) for v in table.values()) if isinstance(table, dict) else str(table or "")


def _tcp(flow: dict[str, object]) -> str:
    tcp = flow.get("tcp")
    return _short(tcp) if tcp else "rfc"
