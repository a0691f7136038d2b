"""The network of a scenario as a graph: for Mermaid, Graphviz, and as a picture in notebooks.

Equal links of one group (`left-1`, `left-2`, ...) are drawn once with their number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from crosswind.core import column, core

if TYPE_CHECKING:
    from crosswind.scenario.scenario import Scenario

MEMBER = re.compile(r"^(.*)-\d+$")
#: So many different values of the links of a group are named; of more their number is.
DIFFERENT_SHOWN = 3
BOX_W, BOX_H, GAP_X, GAP_Y = 104, 30, 150, 62


@dataclass(frozen=True)
class Edge:
    """A duplex link between two (groups of) nodes: its name, how many there are, and what it is like."""

    name: str
    from_: str
    to: str
    count: int
    rate: str = ""
    delay: str = ""
    queue: str = ""
    kind: str = "wire"

    def label(self) -> str:
        parts = [self.name, ", ".join(p for p in (self.rate, self.delay) if p)]
        parts.append(" ".join(p for p in ("" if self.kind == "wire" else self.kind, self.queue) if p))
        return "\n".join(p for p in parts if p)


def edges(scenario: Scenario) -> list[Edge]:
    """The links of a scenario, templates filled in, equal ones together. Raises InputError for a wrong scenario."""
    normal = scenario.validate()
    # The engine itself fills in templates: a run that ends at once says what links there are.
    starts = {f"flow.{name}.start": "0 s" for name in scenario.get("flow") or {}}
    nothing = {"duration": "1 ns", "record": None, "sharing": None, **starts}
    raw = core().run_many([scenario.with_(nothing).to_json()], 1, [0], 1, 1, False, None)["tables"]["link"]
    links = pl.DataFrame({k: column(k, raw[k]) for k in ("link", "direction", "from", "to")})
    links = links.filter(pl.col("direction") == "forward")
    ends = {*links["from"], *links["to"]}
    many = {n for n in ends if _member(n, ends) != n}
    found: dict[tuple[str, str, str], list[str]] = {}
    for link, a, b in links.select("link", "from", "to").iter_rows():
        grouped = a in many or b in many
        key = (_plain(link) if grouped else link, _plain(a) if a in many else a, _plain(b) if b in many else b)
        found.setdefault(key, []).append(link)
    return [_edge(key, [spec_of(normal, link) for link in members]) for key, members in found.items()]


def _plain(name: str) -> str:
    m = MEMBER.match(name)
    return m.group(1) if m else name


def _member(name: str, names: set[str]) -> str:
    """The group of a node that is one of several; itself when it is alone."""
    group = _plain(name)
    return group if group != name and sum(_plain(n) == group for n in names) > 1 else name


def spec_of(normal: Mapping[str, Any], link: str) -> dict[str, Any]:
    """What a link is like, whether it stands in the scenario or a template makes it. `normal`: as of `validate`."""
    if link in (own := normal.get("link", {})):
        return dict(own[link])
    made = normal["topology"]
    group, _, number = link.rpartition("-")
    usual = {"hop": "hop", "client": "last_hop"}.get(group, link)
    pair = made.get("pair", {}).get(number) if group in ("left", "right") else None
    return dict(pair or made.get(usual) or made["access"])


def _edge(key: tuple[str, str, str], specs: list[dict[str, Any]]) -> Edge:
    def seen(what: str, of: Callable[[dict[str, Any]], str]) -> str:
        values = list(dict.fromkeys(map(of, specs)))
        return " / ".join(values) if len(values) <= DIFFERENT_SHOWN else f"{len(values)} {what}"

    def queue(spec: dict[str, Any]) -> str:
        own = spec.get("queue") or {}
        return " ".join(str(own[k]) for k in ("type", "limit") if own.get(k, "none") != "none")

    def text(name: str, default: str = "") -> Callable[[dict[str, Any]], str]:
        return lambda spec: str(spec.get(name, default))

    rate, delay, kind = seen("rates", text("rate")), seen("delays", text("delay")), seen("types", text("type", "wire"))
    return Edge(*key, len(specs), rate, delay, seen("queues", queue), kind)


def _title(node: str, all_edges: list[Edge]) -> str:
    count = max((e.count for e in all_edges if node in (e.from_, e.to) and not _is_hub(node, e, all_edges)), default=1)
    return f"{node} x{count}" if count > 1 else node


def _is_hub(node: str, edge: Edge, all_edges: list[Edge]) -> bool:
    """Whether `node` is the single end of several equal links: the end that has other links too."""
    return edge.count > 1 and any(e != edge and node in (e.from_, e.to) for e in all_edges)


def mermaid(scenario: Scenario) -> str:
    """The network as a Mermaid flowchart."""
    found = edges(scenario)
    ids = {n: f"n{i}" for i, n in enumerate(dict.fromkeys(x for e in found for x in (e.from_, e.to)))}
    lines = ["graph LR", *(f'  {i}["{_title(n, found)}"]' for n, i in ids.items())]
    for e in found:
        lines.append(f'  {ids[e.from_]} ---|"{e.label().replace(chr(10), "<br>")}"| {ids[e.to]}')
    for name, f in (scenario.get("flow") or {}).items():
        if f.get("from") in ids and f.get("to") in ids:
            lines.append(f'  {ids[f["from"]]} -.->|"{name}"| {ids[f["to"]]}')
    return "\n".join(lines) + "\n"


def dot(scenario: Scenario) -> str:
    """The network for Graphviz."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    found = edges(scenario)
    nodes = dict.fromkeys(x for e in found for x in (e.from_, e.to))
    lines = ["graph network {", "  rankdir=LR; node [shape=box, style=rounded]; edge [fontsize=9];"]
    lines += [f"  {quoted(n)} [label={quoted(_title(n, found))}];" for n in nodes]
    lines += [f"  {quoted(e.from_)} -- {quoted(e.to)} [label={quoted(e.label())}];" for e in found]
    return "\n".join([*lines, "}", ""])


def svg(scenario: Scenario) -> str:
    """The network as a picture, nodes from left to right by their distance from the first sender."""
    found = edges(scenario)
    at = places(found, scenario)
    width = max(x for x, _ in at.values()) + BOX_W + 20
    height = max(y for _, y in at.values()) + BOX_H + 34
    said = "; ".join(f"{e.from_} to {e.to} ({e.label().replace(chr(10), ', ')})" for e in found)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(said, quote=True)}" '
        f'viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%;font:11px sans-serif">'
    ]
    for e in found:
        (ax, ay), (bx, by) = at[e.from_], at[e.to]
        x1, y1, x2, y2 = ax + BOX_W / 2, ay + BOX_H / 2, bx + BOX_W / 2, by + BOX_H / 2
        thick = 2 if e.count == 1 else 4
        out.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="currentColor" stroke-width="{thick}" opacity=".5"/>')
        for k, text in enumerate(e.label().split("\n")):
            out.append(
                f'<text x="{(x1 + x2) / 2}" y="{(y1 + y2) / 2 - 8 + 26 * (k > 0) + 12 * max(0, k - 1)}" '
                f'text-anchor="middle" fill="currentColor">{escape(text)}</text>'
            )
    for node, (x, y) in at.items():
        out.append(
            f'<rect x="{x}" y="{y}" width="{BOX_W}" height="{BOX_H}" rx="6" fill="#0072B2"/>'
            f'<text x="{x + BOX_W / 2}" y="{y + BOX_H / 2 + 4}" text-anchor="middle" fill="white">'
            f"{escape(_title(node, found))}</text>"
        )
    return "".join([*out, "</svg>"])


def places(found: list[Edge], scenario: Scenario) -> dict[str, tuple[float, float]]:
    """Where each node stands in a drawing, by its distance from the first sender: the upper left corner of its box."""
    nodes = list(dict.fromkeys(x for e in found for x in (e.from_, e.to)))
    first = next((f.get("from") for f in (scenario.get("flow") or {}).values() if f.get("from") in nodes), nodes[0])
    distance = {first: 0}
    border = [first]
    while border:
        near = [b for n in border for e in found for a, b in ((e.from_, e.to), (e.to, e.from_)) if a == n]
        border = [n for n in dict.fromkeys(near) if n not in distance]
        step = max(distance.values()) + 1
        distance |= dict.fromkeys(border, step)
    columns: dict[int, list[str]] = {}
    for n in nodes:
        columns.setdefault(distance.get(n, 0), []).append(n)
    tall = max(len(c) for c in columns.values())
    return {
        n: (10.0 + d * (BOX_W + GAP_X), 10.0 + (k + (tall - len(c)) / 2) * (BOX_H + GAP_Y))
        for d, c in columns.items()
        for k, n in enumerate(c)
    }
