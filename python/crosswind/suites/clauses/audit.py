"""One body before the cases that concern it, in virtual time: what is asked, how it is judged, what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from crosswind.errors import InputError, InterruptedRunError, did_you_mean
from crosswind.run.progress import Listener
from crosswind.run.simulate import run
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse
from crosswind.suites.case import Table, merged
from crosswind.suites.clauses.body import LAWS, LOGGING, Body, body_of
from crosswind.suites.clauses.case import BASE, AuditCase, Bound, load
from crosswind.suites.clauses.choices import choice_of
from crosswind.suites.clauses.measure import OF_NETWORK, OF_STACKS, QUANTITIES
from crosswind.suites.clauses.trace import Trace, Values, traced
from crosswind.suites.evaluate import Subject

#: The start of the flow, as shares of the time that a packet of 1500 B takes on the bottleneck: what holds in one phase
#: of the queue only is a coincidence.
PHASES = (0.0, 1 / 3, 2 / 3)
PACKET_BIT = 12_000
#: Where a body logs what it does, below the folder of the page.
LOGS = "qlog"
#: From the worst to the best.
VERDICTS = ("fail", "deviates", "inconclusive", "pass", "not applicable")
#: What decides whether a clause concerns a body, by the last part of the key in a `tcp` table.
FEATURES = ("law", "recovery", "reduction", "slow_start", "ecn", "timestamps", "frto", "tail_probe", "sack", "rto")


@dataclass(frozen=True)
class Measured:
    """One bound of a case, and what was found in each phase."""

    bound: Bound
    values: tuple[Values, ...]

    def holds(self) -> list[bool]:
        return [self.bound.holds(v) for v in self.values]

    def text(self) -> str:
        """The range of what is judged, over all phases."""
        seen = np.concatenate([self.bound.summary(v) for v in self.values])
        if not len(seen):
            return "nothing to look at"
        low, high = float(seen.min()), float(seen.max())
        return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


@dataclass(frozen=True)
class Finding:
    """What came out of one case. `given` and `expect` are empty where the case does not apply; `why` says why.

    `note`: what else bears on the verdict. `log`: the folder of what the body logged in the first phase (qlog), below
    that of the page.
    """

    case: AuditCase
    verdict: str
    given: tuple[Measured, ...] = ()
    expect: tuple[Measured, ...] = ()
    why: str = ""
    trace: Trace | None = None
    note: str = ""
    log: str = ""


@dataclass(frozen=True)
class Audit:
    """All findings on one body."""

    body: str
    transport: Table
    findings: Sequence[Finding]
    seed: int

    @property
    def failed(self) -> list[Finding]:
        """Those with a broken `must`, or a broken value that the clause gives without choice."""
        return [f for f in self.findings if f.verdict == "fail"]

    def count(self, verdict: str) -> int:
        return sum(f.verdict == verdict for f in self.findings)

    def rows(self) -> list[dict[str, Any]]:
        """For programs: a row for each case."""
        return [
            {
                "case": f.case.id, "clause": f.case.clause, "strength": f.case.strength, "title": f.case.title,
                "verdict": f.verdict, "why": f.why, "note": f.note,
                "expected": [_named(m.bound) + " " + m.bound.accept() for m in f.expect],
                "measured": [m.text() for m in f.expect],
            }
            for f in self.findings
        ]  # fmt: skip


def _named(b: Bound) -> str:
    return b.quantity if b.of == "each" else f"{b.of} {b.quantity}"


def simulated(
    body: Subject,
    cases: Sequence[str],
    seed: int,
    workers: int | None,
    progress: Listener | None,
    logs: Path | None = None,
) -> Audit:
    """All cases before a body that a simulation can hold; see `examine.audit`."""
    of = body_of(body)
    if logs is not None and not of.logs:
        expected = f"a stack that logs what it does: {' or '.join(LOGGING)}"
        raise InputError("--qlog", found=f"the body {of.name}", expected=expected)
    wanted = list(chosen(cases, load()))
    has = features(of)
    findings = []
    for i, case in enumerate(wanted):
        why = why_not(case, of, has)
        findings.append(
            Finding(case, "not applicable", why=why) if why else _judged(case, of, has, seed, workers, logs)
        )
        if progress:
            progress(i + 1, len(wanted))
    return Audit(of.name, of.transport, findings, seed)


def chosen(wanted: Sequence[str], known: Mapping[str, AuditCase]) -> Iterator[AuditCase]:
    """The cases of these names and documents; all without any. Raises InputError for one that there is not."""
    documents = dict.fromkeys(c.document for c in known.values())
    for name in wanted:
        if name not in known and name not in documents:
            names = [*documents, *known]
            raise InputError(
                "--case", found=f"`{name}`", expected=f"one of {', '.join(names)}", hint=did_you_mean(name, names)
            )
    yield from (c for c in known.values() if not wanted or c.id in wanted or c.document in wanted)


def features(body: Body) -> dict[str, str]:
    """What a body has, by the names that cases use under `applies`."""
    short = merged(BASE, {"duration": "1 s", "flow": {"body": {"transport": body.transport}}})
    flow = Scenario.from_dict({"name": "body", **short}).validate()["flow"]["body"]
    has = {"transport": str(body.transport["type"])}
    if body.is_stack:
        of_ours = flow["transport"].get("law")
        own = of_ours.get("law") if isinstance(of_ours, dict) else of_ours
        law = str(own or flow["transport"]["congestion"])
        return {**has, "law": LAWS.get(law, law)}
    return {**has, **{key: str(value) for key, value in _leaves(flow["tcp"]) if key in FEATURES}}


def _leaves(table: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        yield key, value


def why_not(case: AuditCase, body: Body, has: Mapping[str, str]) -> str:
    """Why a case says nothing about a body; nothing if it does."""
    for key, patterns in case.applies.items():
        value = has.get(key, "off")
        if not any(fnmatchcase(value, p) for p in patterns):
            return f"{key} is {value}, not {' or '.join(patterns)}"
    if not body.is_stack:
        return ""
    quantities = {b.quantity for b in (*case.given, *case.expect)}
    if unseen := quantities - OF_STACKS:
        return f"of a stack nobody sees {', '.join(sorted(unseen))}: it needs segments and acknowledgements of TCP"
    if not body.shows_window and (unseen := quantities - OF_NETWORK):
        return f"the stack does not show its window: nobody sees {', '.join(sorted(unseen))}"
    try:
        scenarios(case, body)["0"].validate()
    except InputError as e:
        return f"over a stack: {e}"
    return ""


def scenarios(case: AuditCase, of: Body) -> dict[str, Scenario]:
    """The scenario of a case for a body, once for each phase; what the case demands of TCP is stronger."""
    laid = merged(case.scenario, {})
    body = laid["flow"]["body"] = dict(laid["flow"]["body"])
    # Messages run over TCP only where the transport is named.
    tcp, stack = body.pop("tcp", {}), body.pop("stack", {})
    body["transport"] = {**of.laid(tcp), **(stack if of.is_stack else {})}
    laid["flow"] = {name: _as_body(flow, body) for name, flow in laid["flow"].items()}
    out = {}
    for i, phase in enumerate(PHASES):
        base = Scenario.from_dict({"name": case.id, "title": case.title, **laid})
        out[str(i)] = base.with_({"flow.body.start": f"{_offset_ns(laid, phase)} ns"})
    return out


def _as_body(flow: Table, body: Table) -> Table:
    """A flow of a case; `like = "body"` gives it the transport that is examined."""
    if flow.get("like") != "body":
        return flow
    return {**{k: v for k, v in flow.items() if k != "like"}, "transport": body["transport"]}


def _offset_ns(laid: Table, phase: float) -> int:
    rate = parse(laid["link"]["bottleneck"]["rate"])
    assert rate is not None
    return round(phase * PACKET_BIT / rate.value * 1e9)


def _judged(
    case: AuditCase, body: Body, has: Mapping[str, str], seed: int, workers: int | None, logs: Path | None = None
) -> Finding:
    told = scenarios(case, body)
    log = f"{LOGS}/{case.id}" if logs is not None else ""
    if log:
        first = next(iter(told))
        told[first] = told[first].with_({"record.qlog": log})
    runs = run(told, seed=seed, workers=workers, laws=body.makers or None, folder=logs)
    if runs.interrupted:
        raise InterruptedRunError(
            f"interrupted in case {case.id}; an audit keeps nothing, and the same command begins anew"
        )
    runs.raise_failed(Path())
    traces = [traced(runs, label, s.validate(), case.seconds) for label, s in told.items()]
    given, expect = (tuple(measured(b, traces) for b in bounds) for bounds in (case.given, case.expect))
    verdict, note = chosen_so(verdict_of(case, given, expect), str(body.transport["type"]), has["law"], case)
    return Finding(case, verdict, given, expect, trace=traces[0], note=note, log=log)


def chosen_so(verdict: str, body: str, law: str, case: AuditCase) -> tuple[str, str]:
    """A verdict, and why: what fails deviates where it is a documented choice of this body (`choices.toml`)."""
    reason = choice_of(body, law, case.id) if verdict == "fail" else ""
    return ("deviates", f"a choice: {reason}") if reason else (verdict, "")


def measured(bound: Bound, traces: Sequence[Trace]) -> Measured:
    """A bound and its quantity in each of the traces."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return Measured(bound, tuple(QUANTITIES[bound.quantity](t, **bound.args) for t in traces))


def verdict_of(case: AuditCase, given: Sequence[Measured], expect: Sequence[Measured]) -> str:
    """What conditions and expectations, each seen in every phase, come to."""
    # An expectation without anything to look at says as little as a condition that did not come about.
    seen = [[len(v) > 0 for v in m.values] for m in expect]
    met = [all(one) for one in zip(*(m.holds() for m in given), *seen, strict=True)]
    right = [all(one) for one in zip(*(m.holds() for m in expect), strict=True)]
    wrong = any(m and not r for m, r in zip(met, right, strict=True))
    if wrong:
        return "fail" if case.strength in ("must", "value") else "deviates"
    return "pass" if all(met) else "inconclusive"
