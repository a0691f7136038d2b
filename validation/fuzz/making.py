"""Random scenarios from the JSON Schema of scenario files: what is new in a registry is covered without a word here.

The schema says which tables, names and numbers there are. What it cannot say stands below: which texts are names of
what (`NAMES`), and how large a quantity of a kind usually is (`USUAL`), so that a run stays short.
"""

from __future__ import annotations

import collections
import copy
import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Json = Any

#: Texts that name something in the scenario, by their key.
NAMES = {
    "from": "host",
    "to": "host",
    "node": "host",
    "client": "host",
    "uplink": "host",
    "nodes": "node",
    "link": "link",
    "link_mtu": "link",
    "flow": "flow",
    "until": "flow",
    "events": "flow",
    "hist": "flow",
    "sampled": "flow",
    "domain": "domain",
    "class": "class",
    "parent": "class",
    "default": "class",
    "serve": "class",
    "contract": "class",
    "direction": "direction",
}
#: Files and programs: no matter of the engine, or tried by tests of their own.
LEFT_OUT = {"trace", "event_file", "pcap", "own_law", "emulate"}
#: From where to where quantities are drawn, by the unit that begins the list of units in their pattern.
USUAL: dict[str, tuple[float, float, str]] = {
    "ns": (0.2, 3000, "ms"),
    "bit/s": (20, 20_000, "kbit/s"),
    "B": (40, 50_000, "B"),
    "packet": (1, 200, "packets"),
}
#: A flow has one of these.
TRANSPORTS = ["tcp", "tfrc", "udt"]
DSCP = ["EF", "AF11", "AF12", "AF13", "AF21", "CS1", 0, 46, 63]
#: Without these there is no scenario.
KEPT = {"name", "duration", "seed", "flow", "link", "from", "to", "topology", "template", "workload"}
MENDINGS = 60
UNITS = re.compile(r"\(([^()]+)\)\?\\s\*\$$")


class Maker:
    """Makes one scenario from one seed."""

    def __init__(self, schema: Json, seed: int) -> None:
        self.schema = schema
        self.defs = schema["$defs"]
        self.rng = random.Random(seed)
        self.parts: dict[str, list[Json]] = collections.defaultdict(list)
        for key, part in _parts(schema):
            self.parts[key].append(part)
        self.names: dict[str, list[str]] = {"class": ["c0", "c1", "c2"], "direction": ["forward", "reverse"]}
        #: Odd values (nothing, far too much) are rare, and in most scenarios there are none.
        self.odd = self.rng.choice([0.0, 0.0, 0.01, 0.05])
        #: How many of the optional keys of a table are written, about.
        self.keys = self.rng.choice([0.3, 1.0, 2.0, 4.0])

    def scenario(self) -> dict[str, Json]:
        rng = self.rng
        out: dict[str, Json] = {"name": "fuzz", "seed": rng.randrange(1000)}
        out["duration"] = f"{_log(rng, 0.1, 30):.3g} s"
        self.names["flow"] = [f"f{i}" for i in range(rng.choice([1, 1, 2, 3, 4]))]
        self.names["domain"] = [f"d{i}" for i in range(rng.choice([0, 0, 1, 2]))]
        self._network(out)
        flow = self.defs["Flow"]
        out["flow"] = {name: self._flow(flow) for name in self.names["flow"]}
        for key in self.names["domain"]:
            nodes = rng.sample(self.names["node"], k=min(len(self.names["node"]), rng.choice([1, 1, 2])))
            out.setdefault("domain", {})[key] = {"nodes": nodes}
        have = {"name", "title", "seed", "duration", "topology", "link", "flow", "domain", *LEFT_OUT}
        for key, node in self.schema["properties"].items():
            wanted = 0.6 if key == "contract" and self.names["domain"] else 0.25
            if key == "contract" and not self.names["domain"]:
                wanted = 0.01
            if key not in have and rng.random() < wanted:
                out[key] = self.value(node, key)
        for change in out.get("timeline", []):
            self._aim(change, out)
        return out

    def _network(self, out: dict[str, Json]) -> None:
        """A tree of nodes, a template, or a profile by its name."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.25:
            out["topology"] = topology = self.value({"$ref": "#/$defs/Topology"}, "topology")
            for key in ("pairs", "hops", "clients"):
                if topology.get(key, 0) > 4 and rng.random() > self.odd:
                    topology[key] = rng.randint(1, 4)
            ends = {"dumbbell": ["left", "right"], "chain": ["source", "sink"], "access-tree": ["server", "client"]}
            template = topology["template"]
            self.names["host"] = [*ends.get(template, []), *(["cross-in", "cross-out"] if template == "chain" else [])]
            self.names["node"] = ["router-left", "router-right", "router", "router-0", "router-1"]
            self.names["link"] = ["bottleneck", "hop-1", "client-1", "trunk"]
        elif kind < 0.3:
            out["link"] = rng.choice(self.schema["properties"]["link"]["anyOf"][0]["enum"])
            self.names.update(host=["server", "mobile"], node=["server", "mobile"], link=["last-hop"])
        else:
            count = rng.choice([2, 2, 3, 3, 4, 5])
            nodes = [f"n{i}" for i in range(count)]
            self.names.update(host=nodes, node=nodes, link=[f"l{i}" for i in range(1, count)])
            links = {}
            for i in range(1, count):
                link = self.value({"$ref": "#/$defs/Link"}, "link")
                ends = [nodes[i - 1 if rng.random() < 0.7 else rng.randrange(i)], nodes[i]]
                link["from"], link["to"] = ends if rng.random() < 0.7 else ends[::-1]
                links[f"l{i}"] = link
            out["link"] = links

    def _flow(self, node: Json) -> Json:
        flow = self.value(node, "flow")
        transport = self.rng.choices(TRANSPORTS, weights=[8, 1, 1])[0]
        for key in TRANSPORTS:
            flow.pop(key, None)
        if self.rng.random() < 0.8:
            flow[transport] = self.value(node["properties"][transport], transport, 1)
        ends = self.rng.sample(self.names["host"], k=2)
        flow["from"], flow["to"] = ends
        if flow.get("count", 1) > 6 and self.rng.random() > self.odd:
            flow["count"] = self.rng.randint(1, 6)
        if self.rng.random() < 0.6:
            flow["start"] = f"{_log(self.rng, 1, 2000):.3g} ms"
        return flow

    def _aim(self, change: dict[str, Json], out: dict[str, Json]) -> None:
        """Gives a change of the timeline one target, and keys that this target has."""
        rng = self.rng
        change.pop("flow", None)
        name = change["link"] = rng.choice(self.names["link"])
        body = self.defs["LinkBody"]["anyOf"][-1]["oneOf"]
        if rng.random() < 0.25:
            change.pop("link")
            change.pop("direction", None)
            name = change["flow"] = rng.choice(self.names["flow"])
            body = self.defs["WorkloadParams"]["oneOf"] + [self.defs["Flow"]]
        table = out.get("flow" if "flow" in change else "link", {})
        table = table.get(name, {}) if isinstance(table, dict) else {}
        wanted = (table.get("workload", table)).get("type", "wire")
        fit = [b for b in body if b["properties"].get("type", {}).get("const") == wanted] or body
        keys = {
            k: v for k, v in rng.choice(fit)["properties"].items() if k not in ("type", "profile", "reverse", "from")
        }
        chosen = rng.sample(list(keys), k=min(len(keys), rng.choice([1, 1, 2])))
        change["set"] = {k: self.value(keys[k], k) for k in chosen if k not in LEFT_OUT}
        for key, inner in change["set"].items():
            if isinstance(inner, dict) and rng.random() < 0.7:
                inner.pop("type", None)  # as what it is, with other parameters
                change["set"][key] = inner

    def value(self, node: Json, key: str, depth: int = 0) -> Json:
        """A value that fits the schema `node` and stands below `key`."""
        rng = self.rng
        if "default" in node and rng.random() < 0.1 and node["default"] is not None:
            return copy.deepcopy(node["default"])  # it may be mended
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            if name == "Dscp":
                return rng.choice(DSCP)
            return self.value({**self.defs[name], **{k: v for k, v in node.items() if k == "default"}}, key, depth)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return rng.choice(node["enum"])
        for choice in ("oneOf", "anyOf"):
            if choice in node:
                return self._chosen(node, choice, key, depth)
        kinds = node.get("type", "object")
        kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
        if "pattern" in node:
            return self._quantity(node)
        return getattr(self, f"_{kind}")(node, key, depth)

    def _chosen(self, node: Json, choice: str, key: str, depth: int) -> Json:
        """One alternative; deep inside a table one without tables, when there is any."""
        some = [n for n in node[choice] if n.get("type") != "null"]
        flat = [n for n in some if "enum" in n or "const" in n]
        if depth > 5 and flat:
            some = flat
        chosen = {**{k: v for k, v in node.items() if k == "default"}, **self.rng.choice(some)}
        return self.value(chosen, key, depth)

    def _object(self, node: Json, key: str, depth: int) -> dict[str, Json]:
        rng = self.rng
        known, out = node.get("properties", {}), {}
        share = self.keys / max(1, len(known))
        for name, inner in known.items():
            if name in LEFT_OUT:
                continue
            # Queues, losses and the like are what a scenario is about; of numbers there are many.
            is_table = inner.get("$ref", "").rsplit("/", 1)[-1].islower()
            p = 0.8 if name == "preset" else 0.35 if is_table else share
            if name in node.get("required", []) or "const" in inner or rng.random() < p:
                out[name] = self.value(inner, name, depth + 1)
        more = node.get("additionalProperties")
        if isinstance(more, dict):
            names = self.names.get(NAMES.get(key, ""), [])
            for name in rng.sample(names, k=min(len(names), rng.choice([1, 2, 3]))):
                out[name] = self.value(more, key, depth + 1)
        return out

    def _array(self, node: Json, key: str, depth: int) -> list[Json]:
        least, most = node.get("minItems", 0), node.get("maxItems", 6)
        count = min(max(least, self.rng.choice([1, 1, 2, 3])), most)
        each = node.get("prefixItems") or [node["items"]] * count
        items = [self.value(n, key, depth + 1) for n in each]
        is_ascending = self.rng.random() < 0.9 and all(isinstance(i, int | str) for i in items)
        return sorted(items, key=_size) if is_ascending else items

    def _string(self, node: Json, key: str, depth: int) -> str:
        names = self.names.get(NAMES.get(key, ""), [])
        if names:
            return self.rng.choice(names)
        return self.rng.choice(["rto", "all", f"{_log(self.rng, 0.5, 50):.2g} /s"])

    def _boolean(self, node: Json, key: str, depth: int) -> bool:
        return self.rng.random() < 0.5

    def _integer(self, node: Json, key: str, depth: int) -> int:
        rng = self.rng
        least, most = int(node.get("minimum", 0)), int(node.get("maximum", 2**31))
        if rng.random() < self.odd:
            return rng.choice([least, most, 10**6 if most > 10**6 else most])
        usual = node.get("default") or rng.choice([1, 2, 3, 5, 8, 20])
        return min(max(round(usual * _log(rng, 0.3, 3)), least), most)

    def _number(self, node: Json, key: str, depth: int) -> float:
        rng = self.rng
        if rng.random() < self.odd:
            return rng.choice([0.0, 1.0, -1.0, 1e-12, 1e12])
        default = node.get("default")
        if isinstance(default, int | float) and default and rng.random() < 0.7:
            return float(f"{default * _log(rng, 0.3, 3):.3g}")
        return rng.choice([0.0, 0.01, 0.02, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0, round(rng.random(), 3)])

    def _quantity(self, node: Json) -> str:
        """Text with a unit: near its default, or in the usual range of its kind, or rarely anything."""
        rng = self.rng
        units = UNITS.search(node["pattern"])
        units = units.group(1).split("|") if units else [""]
        low, high, unit = USUAL.get(units[0], (1, 100, units[0]))
        if rng.random() < self.odd:
            return f"{rng.choice([0, 1, 1, 1000, 1e-3, 1e6])} {rng.choice(units)}"
        default = re.match(r"([0-9.]+)\s*(\S*)$", str(node.get("default", "")))
        if default and float(default.group(1)) > 0 and rng.random() < 0.7:
            low = high = float(default.group(1)) * _log(rng, 0.2, 5)
            unit = default.group(2)
        elif units[0] == "packet" and rng.random() < 0.3:
            low, high, unit = USUAL["B"]
        number = low * (high / low) ** rng.random()
        is_whole = unit in ("B", "packets", "p", "ns", "bit/s")
        return f"{max(1, round(number)) if is_whole else float(f'{number:.3g}')} {unit}"

    def mended(
        self, scenario: dict[str, Json], refusal: Callable[[Json], str | None]
    ) -> tuple[dict[str, Json], str | None]:
        """The scenario with what `refusal` misses, and without what it objects to; and its last word.

        `refusal(scenario)` gives the dotted path of what is wrong; None: nothing.
        """
        path = refusal(scenario)
        for _ in range(MENDINGS):
            if path is None or not self._mend(scenario, _steps(path)):
                break
            path = refusal(scenario)
        return scenario, path

    def _mend(self, scenario: dict[str, Json], steps: list[str | int]) -> bool:
        """One change at this place. False: there is none."""
        above: list[tuple[Any, str | int]] = []
        at: Any = scenario
        for step in steps:
            is_there = step in at if isinstance(at, dict) else isinstance(at, list) and step in range(len(at))
            if not is_there:
                if isinstance(at, dict) and len(above) == len(steps) - 1 and self._filled(at, str(step)):
                    return True
                break
            above.append((at, step))
            at = at[step]
        if steps[-2:] == ["workload", "type"] and len(above) == len(steps):
            flow = above[-2][0]
            optional = [k for k in flow if k not in KEPT and k != "start"]
            if optional:
                del flow[self.rng.choice(optional)]
                return True
        for table, step in reversed(above):
            if step not in KEPT and table[step] is not scenario.get("flow") and not _is_last_flow(scenario, table):
                del table[step]
                return True
        return False

    def _filled(self, table: dict[str, Json], key: str) -> bool:
        """Gives the table a key that it lacks, once in a while: some table of the schema knows what it is."""
        known = self.parts.get(key)
        if not known or key in LEFT_OUT or self.rng.random() < 0.3:
            return False
        table[key] = self.value(self.rng.choice(known), key, 5)
        return True


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for step in path.split("."):
        name, *places = step.replace("]", "").split("[")
        steps += [*([name] if name else []), *(int(p) for p in places if p.isdigit())]
    return steps


def _is_last_flow(scenario: dict[str, Json], table: Any) -> bool:
    return table is scenario.get("flow") and len(table) == 1


def _parts(node: Json) -> Iterator[tuple[str, Json]]:
    """All keys that any table of the schema knows, with what they hold."""
    if isinstance(node, dict):
        known = node.get("properties")
        if isinstance(known, dict):
            yield from ((k, v) for k, v in known.items() if isinstance(v, dict))
        for inner in node.values():
            yield from _parts(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _parts(inner)


def _log(rng: random.Random, low: float, high: float) -> float:
    """Log-uniform between two numbers."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _size(item: int | str) -> float:
    """Order of whatever stands in a list: most lists of numbers and times want to ascend."""
    number = re.match(r"[0-9.e+-]+", str(item))
    scale = {"us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4}.get(str(item).rsplit(" ", 1)[-1], 1.0)
    try:
        return float(number.group()) * scale if number else 0.0
    except ValueError:
        return 0.0
