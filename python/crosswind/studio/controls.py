"""What the page lets one move: made of the scenario and of the JSON Schema of scenarios, which names the choices.

A control is a dict: `path` (dotted, in the scenario), `label`, `help`, `kind` (slider, choice, text), `value` as it is
written; sliders have `unit`, `low`, `high`, `steps` on a logarithmic scale, choices have `options` (value, words).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from crosswind.core import core, schema
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

Node = dict[str, Any]
Control = dict[str, Any]
#: Ends of the sliders, by the unit of `quantity.parse`.
ENDS = {"bps": (1e4, 1e10), "ns": (1e5, 2e9), "packets": (1.0, 10_000.0), "bytes": (1_000.0, 2e7)}
UNITS = {"bps": "bit/s", "ns": "s", "packets": "packets", "bytes": "B"}
FACTORS = {"bps": 1.0, "ns": 1e-9, "packets": 1.0, "bytes": 1.0}
STEPS_A_DECADE = 20
#: Groups of controls that are shown.
GROUPS_MAX = 24
#: A share of lost packets from the slider goes up to this.
LOSS_MAX = 0.2


@cache
def _whole(_engine: int) -> Node:
    return schema()


def whole() -> Node:
    """The schema of scenarios."""
    return _whole(id(core()))


def followed(node: Any) -> Node:
    """A node of the schema behind its references, its own words kept."""
    found = dict(node) if isinstance(node, Mapping) else {}
    while isinstance(ref := found.pop("$ref", None), str):
        target: Any = whole()
        for part in ref.removeprefix("#/").split("/"):
            target = target[part]
        found = {**target, **found}
    return found


def choices(node: Any) -> list[tuple[str, str]]:
    """The names that a key may have, with their words; empty where anything goes."""
    node = followed(node)
    if "enum" in node:
        return [(str(v), str(v)) for v in node["enum"]]
    found = []
    for one in node.get("oneOf", ()):
        one = followed(one)
        if "const" in one:
            found.append((str(one["const"]), str(one.get("title") or one.get("description") or one["const"])))
    return found


def elements(kind: str) -> list[tuple[str, str, Node]]:
    """What `queue` or `loss` may be: name, title, its keys; only those that need nothing but their type."""
    found = []
    for one in followed({"$ref": f"#/$defs/{kind}"}).get("oneOf", ()):
        one = followed(one)
        keys = one.get("properties", {})
        name = keys.get("type", {}).get("const")
        if name and set(one.get("required", ())) <= {"type"}:
            found.append((str(name), str(one.get("title", name)), keys))
    return found


def controls(scenario: Scenario, normal: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Groups {title, controls}; the link with the lowest rate first, then flows, then the other links and the run."""
    links = list(_links(scenario, normal))
    links.sort(key=lambda one: (_number(one[2].get("rate")) or float("inf"), one[0]))
    flows = [
        {"title": f"flow {name}", "controls": list(_flow(f"flow.{name}", _table(table), normal["flow"].get(name, {})))}
        for name, table in (scenario.get("flow") or {}).items()
        if isinstance(table, Mapping)
    ]
    made = [{"title": title, "controls": list(_link(path, raw, spec))} for title, path, spec, raw in links]
    return [*made[:1], *flows, *made[1:], {"title": "run", "controls": _run(scenario)}][:GROUPS_MAX]


def _table(value: Any) -> Node:
    return dict(value) if isinstance(value, Mapping) else {}


def _number(written: Any) -> float | None:
    found = parse(written)
    return found.value if found else None


def _links(scenario: Scenario, normal: Mapping[str, Any]) -> Iterator[tuple[str, str, Node, Node]]:
    """Title, path, what it is with all defaults, and what stands in the scenario, for each direction that is told."""
    for base in ("link", "topology"):
        tables, full = scenario.get(base), normal.get(base, {})
        for name, raw in tables.items() if isinstance(tables, Mapping) else ():
            if not isinstance(raw, Mapping) or name == "pair" or not isinstance(full.get(name), Mapping):
                continue
            spec = dict(full[name])
            yield f"link {name}", f"{base}.{name}", spec, dict(raw)
            back = raw.get("reverse")
            if isinstance(back, Mapping) and isinstance(spec.get("reverse"), Mapping):
                yield f"link {name}, reverse", f"{base}.{name}.reverse", dict(spec["reverse"]), dict(back)


def _link(path: str, raw: Node, spec: Node) -> Iterator[Control]:
    queue = _table(spec.get("queue"))
    offered = elements("queue")
    kind = str(queue.get("type", "droptail"))
    if kind in [name for name, _, _ in offered]:
        options = [(name, title) for name, title, _ in offered]
        about = "What waits in front of the link. Its other keys start from their defaults."
        yield {"path": f"{path}.queue.type", "label": "queue", "help": about, **_choice(kind, options)}
    for key, label in (("rate", "rate"), ("delay", "delay")):
        if key in spec and (slider := _slider(spec[key])):
            yield {"path": f"{path}.{key}", "label": label, "help": _help("Link", spec.get("type"), key), **slider}
    keys = next((k for name, _, k in offered if name == kind), {})
    if "limit" in queue and (slider := _slider(queue["limit"])):
        about = followed(keys.get("limit")).get("description", "")
        yield {"path": f"{path}.queue.limit", "label": "limit of the queue", "help": about, **slider}
    loss = raw.get("loss")
    uniform = loss in (None, "none") or (isinstance(loss, Mapping) and loss.get("type") == "uniform")
    if uniform:
        share = float(loss.get("probability", 0.0)) if isinstance(loss, Mapping) else 0.0
        yield {
            "path": f"{path}.loss", "label": "loss", "kind": "share", "value": share, "high": LOSS_MAX,
            "help": "Share of packets that the link loses, each independently.",
        }  # fmt: skip
    yield from _more(f"{path}.queue", {k: v for k, v in keys.items() if k not in ("type", "limit")}, queue)


def _help(definition: str, kind: Any, key: str) -> str:
    for one in followed({"$ref": f"#/$defs/{definition}"}).get("oneOf", ()):
        keys = followed(one).get("properties", {})
        if keys.get("type", {}).get("const") == kind and key in keys:
            return str(followed(keys[key]).get("description", ""))
    return ""


def _more(path: str, keys: Node, values: Node) -> Iterator[Control]:
    """A control for each plain key of an element: what it means stands in the schema."""
    for key, node in keys.items():
        full = followed(node)
        value = values.get(key, full.get("default"))
        if isinstance(value, Mapping | list):
            continue
        about = {"path": f"{path}.{key}", "label": key, "help": str(full.get("description", "")), "more": True}
        if options := choices(node):
            yield {**about, **_choice("" if value is None else str(value), options)}
        elif {"string", "number", "integer"} & set(_types(full)):
            yield {**about, "kind": "text", "value": "" if value is None else str(value)}


def _types(node: Node) -> list[str]:
    found = node.get("type", [])
    inner = [t for some in ("anyOf", "oneOf") for one in node.get(some, ()) for t in _types(followed(one))]
    return [*([found] if isinstance(found, str) else found), *inner]


def _flow(path: str, raw: Node, full: Node) -> Iterator[Control]:
    count = full.get("count", 1)
    about = followed({"$ref": "#/$defs/Flow"})["properties"]
    yield {
        "path": f"{path}.count", "label": "number of flows", "kind": "slider", "value": str(count), "number": count,
        "unit": "", "low": 1, "high": 100, "steps": 2 * STEPS_A_DECADE, "help": about["count"]["description"],
    }  # fmt: skip
    tcp = _table(full.get("tcp"))
    keys = followed({"$ref": "#/$defs/tcp"})["properties"]
    if tcp:
        written = _table(raw.get("tcp"))
        preset = str(tcp.get("preset", "rfc"))
        help_ = followed(keys["preset"]).get("description", "")
        yield {"path": f"{path}.tcp.preset", "label": "TCP", "help": help_, **_choice(preset, choices(keys["preset"]))}
        laws = [("", f"as the preset has it ({tcp.get('law', 'reno')})")]
        laws += [o for o in choices(keys["law"]) if o[0] not in ("own", "tabulated")]
        help_ = followed(keys["law"]).get("description", "")
        yield {"path": f"{path}.tcp.law", "label": "window law", "help": help_, **_choice(written.get("law", ""), laws)}
        help_ = str(keys["ecn"].get("description", ""))
        ecn = _choice(str(tcp.get("ecn", "off")), choices(keys["ecn"]))
        yield {"path": f"{path}.tcp.ecn", "label": "ECN", "help": help_, **ecn}
    yield from _workload(f"{path}.workload", full.get("workload"))
    start = full.get("start")
    if isinstance(start, str | int):
        help_ = str(about["start"].get("description", ""))
        yield {"path": f"{path}.start", "label": "start", "kind": "text", "value": start, "help": help_, "more": True}


def _workload(path: str, full: Any) -> Iterator[Control]:
    for key, value in full.items() if isinstance(full, Mapping) else ():
        if key != "type" and isinstance(value, str | int | float) and not isinstance(value, bool):
            about = f"Of the workload `{full.get('type')}`."
            yield {"path": f"{path}.{key}", "label": key, "kind": "text", "value": value, "help": about, "more": True}


def _run(scenario: Scenario) -> list[Control]:
    about = followed(whole()["properties"]["duration"]).get("description", "")
    value = scenario.get("duration", "")
    return [{"path": "duration", "label": "duration", "kind": "text", "value": value, "help": about}]


def _choice(value: str, options: list[tuple[str, str]]) -> dict[str, Any]:
    if value not in [v for v, _ in options]:
        options = [(value, value), *options]
    return {"kind": "choice", "value": value, "options": options}


def _slider(written: Any) -> dict[str, Any] | None:
    """A logarithmic slider for a quantity; None for what is none, or zero."""
    found = parse(written)
    if found is None or found.unit not in ENDS:
        return None
    low, high = ENDS[found.unit]
    factor = FACTORS[found.unit]
    decades = len(str(int(high / low))) - 1
    return {
        "kind": "slider", "value": str(written), "number": found.value * factor, "unit": UNITS[found.unit],
        "low": low * factor, "high": high * factor, "steps": decades * STEPS_A_DECADE,
    }  # fmt: skip
