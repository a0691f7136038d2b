"""Qdiscs and classes of one device as the queue of a link, and what `netem` says about the link itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from crosswind.errors import InputError, did_you_mean
from crosswind.scenario.tc import active, fair, words
from crosswind.scenario.tc.filters import Match
from crosswind.scenario.tc.lines import Id, Statement, shown
from crosswind.scenario.tc.red import Red
from crosswind.scenario.tc.units import shown_rate, shown_time

Queue = dict[str, Any]
#: Bucket of a class that names none: a packet of 1600 bytes, as `tc` has it on kernels with timers of a nanosecond.
BURST = 1600
FIFO_PACKETS = 1000
NETEM_PACKETS = 1000
#: The preference of the first filter that names none, and where the kernel begins to look for one that is taken.
FIRST_OWN, OWN_FROM = 0xC000, 0x8000
#: Words behind each kind of qdisc.
QDISCS = {**words.QDISCS, **active.WORDS, "cake": fair.CAKE, "sfq": fair.SFQ, "sfb": fair.SFB}
QDISCS["fq"] = {**QDISCS["fq"], "priomap": words.Word("priomap", words.priomap)}
#: Without `priomap`: bands of the sixteen priorities, and the priority of each type of service (tc-prio).
PRIOMAP = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
PRIORITIES = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4]


@dataclass
class Behind:
    """What stands behind a device: a queue, and the rate, delay and loss that `netem` gave the link."""

    queue: Queue = field(default_factory=dict)
    link: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Device:
    """The statements of one device, and the queue that they make.

    `header`: bytes in front of each IP packet that the kernel counts. `flows_of` names the flows that a match means.
    """

    def __init__(
        self, of: Sequence[Statement], matches: Sequence[tuple[Statement, Match]], header: int,
        flows_of: Callable[[Match], list[str]],
    ) -> None:  # fmt: skip
        self.header, self.flows_of, self.matches = header, flows_of, list(matches)
        self.qdiscs: dict[Id | None, Statement] = {}
        self.classes: dict[Id, Statement] = {}
        self.used: set[int] = set()
        self.out = Behind()
        for s in of:
            self._keep(s)

    def _keep(self, s: Statement) -> None:
        if s.what == "qdisc":
            before = self.qdiscs.get(s.parent)
            handles = {q.own for q in self.qdiscs.values() if q is not before and q.own}
            if s.own in handles:
                raise InputError(s.where, path="handle", found=f"{shown(s.own or (0, 0))} twice", expected="a new one")
            self.qdiscs[s.parent] = s
        elif s.what == "class":
            own = s.own or (0, 0)
            if own in self.classes and self.classes[own].parent != s.parent:
                raise InputError(s.where, path="classid", found=f"{shown(own)} twice", expected="a new one")
            self.classes[own] = s

    def behind(self) -> Behind:
        """The queue and the link. Raises InputError where a statement hangs in the air or cannot be said."""
        root = self.qdiscs.get(None)
        self.out.queue = self._queue(root, None) if root else _fifo(f"{FIFO_PACKETS} packets")
        known = ", ".join(sorted(shown(i) for i in {*self.classes, *(q.own for q in self.qdiscs.values() if q.own)}))
        for s in [*self.qdiscs.values(), *self.classes.values(), *(s for s, _ in self.matches)]:
            if s.order not in self.used:
                found = f"below {shown(s.parent)}" if s.parent else "at no root"
                raise InputError(s.where, path=s.what, found=found, expected=f"one of {known or 'no handle at all'}")
        return self.out

    def _values(self, s: Statement, table: Any) -> words.Values:
        self.used.add(s.order)
        if s.kind not in table:
            expected = f"one of {', '.join(table)}"
            raise InputError(
                s.where, path=s.what, found=f"`{s.kind}`", expected=expected, hint=did_you_mean(s.kind, table)
            )
        return words.read(s.where, s.kind, s.words, table[s.kind])

    def _queue(self, s: Statement, below: Statement | None) -> Queue:
        v = self._values(s, QDISCS)
        if s.kind in ("htb", "drr", "prio", "pfifo_fast"):
            classful = {"htb": self._shares, "drr": self._rounds}
            return classful.get(s.kind, self._bands)(s, v)
        if s.kind == "netem":
            return self._netem(s, v, below)
        if s.kind == "tbf":
            return self._tbf(s, v)
        if s.kind == "red":
            # HTB never asks a class that holds nothing, which is how a RED of Linux hears of idle time.
            idle = {"idle_damping": "none"} if below is not None and below.kind == "htb" else {}
            return Red.of(s.where, v).queue() | self._overhead() | idle
        if s.kind in ("pfifo", "bfifo"):
            return self._plain(s, v)
        if s.kind in ("cake", "sfq", "sfb"):
            self.out.notes += fair.notes(s.where, s.kind, v)
            return fair.queue(s.where, s.kind, v)
        out = active.queue(s.where, s.kind, v)
        return out | self._three_bands(s, v) if s.kind == "fq" else out

    def _overhead(self, more: int = 0) -> Queue:
        counted = self.header + more
        return {"overhead": f"{counted} B"} if counted else {}

    def _plain(self, s: Statement, v: words.Values) -> Queue:
        if s.kind == "pfifo":
            return _fifo(f"{v.get('limit', FIFO_PACKETS)} packets")
        if "limit" not in v:
            raise InputError(s.where, path="bfifo", found="no limit", expected="`limit`: its default is the device's")
        return _fifo(f"{v['limit']} B") | self._overhead()

    def _inner(self, s: Statement, minors: Sequence[int]) -> Queue | None:
        """The queue inside of a qdisc, which `tc` calls the parent with one of these numbers."""
        own = s.own[0] if s.own else None
        children = [q for p, q in self.qdiscs.items() if p is not None and p[0] == own and p[1] in minors]
        if len(children) > 1:
            raise InputError(children[1].where, path=s.kind, found="a second queue inside", expected="one")
        return self._queue(children[0], s) if children else None

    def _netem(self, s: Statement, v: words.Values, below: Statement | None) -> Queue:
        if below is not None and below.kind != "tbf":
            expected = "it at the root or inside of tbf: a class has no delay or loss of its own here"
            raise InputError(s.where, path="qdisc", found="`netem` inside of " + below.kind, expected=expected)
        if "rate" in v:
            self.out.link["rate"] = shown_rate(v["rate"])
        if "delay" in v:
            self.out.link["delay"] = shown_time(v["delay"])
        if v.get("loss"):
            self.out.link["loss"] = {"type": "uniform", "probability": v["loss"]}
        if "rate" not in v and below is None:
            self.out.notes.append(
                f"{s.where}: the limit of netem counts what its delay holds, too; a delay here holds what it must"
            )
        inner = self._inner(s, (0, 1))
        return inner if inner is not None else _fifo(f"{v.get('limit', NETEM_PACKETS)} packets")

    def _tbf(self, s: Statement, v: words.Values) -> Queue:
        for word in ("rate", "burst"):
            if word not in v:
                raise InputError(s.where, path="tbf", found=f"no {word}", expected=f"`{word}`, which tc demands")
        if ("limit" in v) == ("latency" in v):
            found = "limit and latency" if "limit" in v else "neither limit nor latency"
            raise InputError(s.where, path="tbf", found=found, expected="one of the two")
        if ("peakrate" in v) != ("mtu" in v):
            raise InputError(s.where, path="tbf", found="one of peakrate and mtu", expected="both or neither")
        limit = v["limit"] if "limit" in v else _within(v)
        out: Queue = {"type": "tbf", "rate": shown_rate(v["rate"]), "burst": f"{v['burst']} B"}
        if "peakrate" in v:
            out |= {"peak_rate": shown_rate(v["peakrate"]), "mtu": f"{v['mtu']} B"}
        if "mpu" in v:
            out["mpu"] = f"{v['mpu']} B"
        inner = self._inner(s, (0, 1))
        queue = inner if inner is not None else _fifo(f"{limit} B") | self._overhead()
        return out | self._overhead(v.get("overhead", 0)) | {"queue": queue}

    def _shares(self, s: Statement, v: words.Values) -> Queue:
        """An htb with its classes."""
        own = s.own or (1, 0)
        classes = {i: c for i, c in self.classes.items() if i[0] == own[0]}
        if not classes:
            raise InputError(s.where, path="htb", found="no classes", expected="`tc class add .. htb rate ..` below it")
        values = {i: self._values(c, words.CLASSES) for i, c in classes.items()}
        inner = {c.parent for c in classes.values()}
        leaves = [i for i in classes if i not in inner]
        default = (own[0], v.get("default", 0))
        if default not in leaves:
            found = f"default {v['default']:x}" if v.get("default") else "no default"
            known = ", ".join(shown(i) for i in leaves)
            expected = f"one of the leaves {known}: what no filter takes is not sent past htb here"
            raise InputError(s.where, path="htb", found=found, expected=expected)
        common = {k: {x.get(k, 0) for x in values.values()} for k in ("overhead", "mpu")}
        for word, several in common.items():
            if len(several) > 1:
                raise InputError(
                    s.where,
                    path=f"htb {word}",
                    found=", ".join(map(str, sorted(several))),
                    expected="one for all classes",
                )
        out: Queue = {"type": "htb", "oversubscription": "allow", "default": named(default)}
        out |= self._overhead(common["overhead"].pop())
        out |= {"mpu": f"{mpu} B"} if (mpu := common["mpu"].pop()) else {}
        out |= {"r2q": v["r2q"]} if "r2q" in v else {}
        if filters := self._filters(s, leaves):
            out["filter"] = filters
        made = {i: self._class(i, classes, values[i], i in leaves, s) for i in classes}
        reached = {default, *(m.target for _, m in self.matches)}
        while idle := [i for i in made if i not in reached and not any(classes[j].parent == i for j in made)]:
            self._left_out(s, idle)
            made = {i: c for i, c in made.items() if i not in idle}
        out["class"] = {named(i): c for i, c in made.items()}
        return out

    def _left_out(self, s: Statement, idle: Sequence[Id]) -> None:
        named_all = ", ".join(shown(i) for i in idle)
        self.out.notes.append(f"{s.where}: no filter leads to {named_all}, so it is left out")

    def _class(self, i: Id, classes: dict[Id, Statement], v: words.Values, is_leaf: bool, root: Statement) -> Queue:  # noqa: FBT001
        s = classes[i]
        if "rate" not in v:
            raise InputError(s.where, path=f"class {shown(i)}", found="no rate", expected="`rate`, which tc demands")
        out: Queue = {}
        if s.parent in classes:
            out["parent"] = named(s.parent or i)
        elif s.parent not in ((i[0], 0), (i[0], 0xFFFF)):
            known = ", ".join(shown(x) for x in [(i[0], 0), *classes])
            raise InputError(s.where, path="class parent", found=shown(s.parent or (0, 0)), expected=f"one of {known}")
        out |= {"rate": shown_rate(v["rate"]), "ceil": shown_rate(v["ceil"] if "ceil" in v else v["rate"])}
        out |= {"burst": f"{v.get('burst', BURST)} B", "cburst": f"{v.get('cburst', BURST)} B"}
        out |= {k: f"{v[k]} B" if k == "quantum" else v[k] for k in ("prio", "quantum") if k in v}
        below = self.qdiscs.get(i)
        if is_leaf:
            out["queue"] = self._queue(below, root) if below else _fifo(f"{FIFO_PACKETS} packets")
        return out

    def _bands(self, s: Statement, v: words.Values) -> Queue:
        """Strict priority: a class for each band; packets that no filter takes go by their type of service."""
        own = s.own or (1, 0)
        bands = v.get("bands", 3)
        bands_of = v.get("priomap", PRIOMAP)
        if not 2 <= bands <= 16 or max(bands_of) >= bands:
            expected = "2 to 16 bands, and a priomap within them"
            raise InputError(
                s.where, path=s.kind, found=f"{bands} bands, priomap up to {max(bands_of)}", expected=expected
            )
        leaves = [(own[0], band + 1) for band in range(bands)]
        by_band, usual = _by_band(bands_of), bands_of[0]
        filters = self._filters(s, leaves)
        filters += [{"class": named(leaves[b]), "dscp": points} for b, points in by_band.items() if b != usual]
        classes: Queue = {}
        for band, i in enumerate(leaves):
            below = self.qdiscs.get(i)
            queue = self._queue(below, s) if below else _fifo(f"{FIFO_PACKETS} packets")
            classes[named(i)] = {"prio": band, "queue": queue}
        reached = {named(leaves[usual]), *(f["class"] for f in filters)}
        if idle := [i for i in leaves if named(i) not in reached]:
            self._left_out(s, idle)
        classes = {name: c for name, c in classes.items() if name in reached}
        return {"type": "prio", "default": named(leaves[usual]), "filter": filters, "class": classes}

    def _three_bands(self, s: Statement, v: words.Values) -> Queue:
        """The bands of fq, which go by the type of service: a class for each that there is."""
        bands_of = v.get("priomap", PRIOMAP)
        if max(bands_of) >= active.BANDS:
            found = f"a priomap up to {max(bands_of)}"
            raise InputError(s.where, path="fq priomap", found=found, expected=f"bands below {active.BANDS}")
        by_band, usual = _by_band(bands_of), bands_of[0]
        filters = [{"class": f"band-{b}", "dscp": points} for b, points in by_band.items() if b != usual]
        classes = {f"band-{b}": {"band": b} for b in sorted(by_band)}
        return {"default": f"band-{usual}", "filter": filters, "class": classes}

    def _rounds(self, s: Statement, _v: words.Values) -> Queue:
        """A drr with its classes."""
        own = s.own or (1, 0)
        classes = {i: c for i, c in self.classes.items() if i[0] == own[0]}
        if not classes:
            raise InputError(
                s.where, path="drr", found="no classes", expected="`tc class add .. drr quantum ..` below it"
            )
        filters = self._filters(s, list(classes))
        if not filters or set(filters[-1]) != {"class"}:
            expected = "a last one that takes all, such as `matchall`: the kernel drops what no filter takes"
            raise InputError(s.where, path="drr", found="filters that do not take all", expected=expected)
        made: Queue = {}
        for i, c in classes.items():
            values = self._values(c, words.CLASSES)
            if c.parent not in ((own[0], 0), (own[0], 0xFFFF)):
                found = shown(c.parent or (0, 0))
                raise InputError(c.where, path="class parent", found=found, expected=shown((own[0], 0)))
            below = self.qdiscs.get(i)
            queue = self._queue(below, s) if below else _fifo(f"{FIFO_PACKETS} packets")
            made[named(i)] = ({"quantum": f"{values['quantum']} B"} if "quantum" in values else {}) | {"queue": queue}
        reached = {f["class"] for f in filters}
        if idle := [i for i in classes if named(i) not in reached]:
            self._left_out(s, idle)
        return {"type": "drr", "filter": filters, "class": {n: c for n, c in made.items() if n in reached}}

    def _filters(self, s: Statement, leaves: Sequence[Id]) -> list[Queue]:
        own = s.own or (1, 0)
        mine = [(f, m) for f, m in self.matches if (f.parent[0] if f.parent else own[0]) == own[0]]
        out = []
        for f, m in _as_asked(mine):
            self.used.add(f.order)
            if m.target not in leaves:
                known = ", ".join(shown(i) for i in leaves)
                raise InputError(
                    f.where, path="flowid", found=shown(m.target), expected=f"a class without classes: {known}"
                )
            flows = self.flows_of(m)
            keys = m.keys() | ({"flow": flows if len(flows) > 1 else flows[0]} if flows else {})
            out.append({"class": named(m.target), **keys})
            self.out.notes += m.notes
        return out


def _as_asked(filters: Sequence[tuple[Statement, Match]]) -> list[tuple[Statement, Match]]:
    """Filters in the order in which a packet meets them: by preference, then as they were added.

    One that names no preference gets one below the lowest from 32768 on (the kernel's `tcf_auto_prio`): it comes after
    those with small ones, and before all that were added without one.
    """
    given: dict[int, int] = {}
    for f, _ in filters:
        given[f.order] = f.preference or min((p - 1 for p in given.values() if p >= OWN_FROM), default=FIRST_OWN)
    return sorted(filters, key=lambda x: (given[x[0].order], x[0].order))


def _by_band(bands_of: Sequence[int]) -> dict[int, list[int]]:
    """Code points by the band that their type of service has."""
    by_band: dict[int, list[int]] = {}
    for dscp in range(64):
        by_band.setdefault(bands_of[PRIORITIES[(dscp << 2 & 0x1E) >> 1]], []).append(dscp)
    return by_band


def named(of: Id) -> str:
    """A class as a scenario calls it."""
    return f"{of[0]:x}-{of[1]:x}"


def _fifo(limit: str) -> Queue:
    return {"type": "droptail", "limit": limit}


def _within(v: words.Values) -> int:
    """Bytes that wait no longer than `latency`, besides a full bucket."""

    def at(rate: int, bucket: int) -> int:
        return round(rate / 8 * v["latency"] / 1e9) + bucket

    limit = at(v["rate"], v["burst"])
    return min(limit, at(v["peakrate"], v["mtu"])) if "peakrate" in v else limit
