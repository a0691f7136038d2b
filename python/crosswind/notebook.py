"""How scenarios, runs and sweeps show themselves in notebooks: a picture of the network, tables, sparklines."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crosswind.summary import Table, flow_table, link_table, sparks

if TYPE_CHECKING:
    from crosswind.runs import Runs
    from crosswind.scenario import Scenario
    from crosswind.sweep import Sweep

ROWS_SHOWN = 20


def table_html(table: Table) -> str:
    """A summary table as HTML."""
    heads = "".join(f'<th style="text-align:left">{escape(h)}</th>' for h in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in table.rows[:ROWS_SHOWN])
    more = len(table.rows) - ROWS_SHOWN
    note = " ".join(p for p in (table.note, f"{more} more rows." if more > 0 else "") if p)
    return (
        f"<table><caption style='text-align:left;font-weight:600'>{escape(table.title)}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" + (f"<p>{escape(note)}</p>" if note else "")
    )


def scenario_html(scenario: Scenario) -> str:
    """The network as a picture, and the flows."""
    from crosswind import topology

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


def runs_html(runs: Runs) -> str:
    """What each flow got and each link did, sparklines, warnings."""
    parts = [table_html(t) for t in (flow_table(runs), link_table(runs)) if t]
    lines = "".join(f"{escape(s.label)} {s.line} max {escape(s.top)}\n" for s in sparks(runs))
    if lines:
        parts.append(f"<pre>{lines}</pre>")
    parts += [f"<p><strong>Check before trusting:</strong> {escape(w)}.</p>" for w in runs.manifest.get("warnings", [])]
    return "".join(parts)


def sweep_html(sweep: Sweep) -> str:
    """Medians with intervals."""
    from crosswind.sweep_summary import table_of

    return table_html(table_of(sweep))
