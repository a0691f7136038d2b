"""`audit` of a kernel: this machine's TCP sends, our own TCP receives, and between them is the link of a case.

It takes real time. All cases run at once, each in a namespace of its own; a case with the network of another shares its
run. What is judged are the quantities of all other bodies; what real time may add to them is in `CLOCK`.
"""

from __future__ import annotations

import json
import platform
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crosswind.core import core, has_hook
from crosswind.emulate import needs, sandbox
from crosswind.errors import CrosswindError, InputError, InterruptedRunError, did_you_mean
from crosswind.run.progress import Listener
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse
from crosswind.suites.case import Table, merged
from crosswind.suites.clauses.audit import Audit, Finding, chosen, chosen_so, features, measured, verdict_of, why_not
from crosswind.suites.clauses.body import Body
from crosswind.suites.clauses.case import AuditCase, Bound, load
from crosswind.suites.clauses.trace import Trace

KERNEL = "kernel"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")
#: What describes a kernel with one of its laws: which cases concern it.
PRESETS = {"cubic": "linux-6-cubic", "reno": "linux-6", "bbr": "linux-6-bbr"}
#: Where a kernel is otherwise than the preset that describes it: Linux's BBR sets its window itself, without PRR.
OTHERWISE = {"bbr": {"reduction": "bbr"}}
#: Runs must not depend on buffers, nor on what one before them has learnt.
SETTINGS = {
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 131072 67108864",
    "net.ipv4.tcp_no_metrics_save": "1",
}
#: What a program that pauses leaves unsent: a tenth of a second at 10 Mbit/s.
UNSENT_bytes = 131072
ON_OFF = {"on": "1", "off": "0"}
ECN = {"classic": "1", "off": "0"}
#: Keys of a case's TCP that limit the flow from the receiver's side.
SEGMENT_bytes = 1448
#: Our own end: Linux as it acknowledges, with room for the windows of all cases.
OWN: Table = {"preset": "linux-6", "mss": "1448 B", "receive_buffer": "4 MB", "send_buffer": "4 MB"}
#: A run in which a packet left the network later than this decides nothing against a body: what waits at the device
#: meanwhile leaves as a train.
LATE_MAX_ns = 2_000_000
#: How late timers of the kernel are: its wheel goes in steps of up to an eighth of the time (kernel/time/timer.c), and
#: time itself in jiffies of 4 ms at most.
WHEEL = 1.125
JIFFY_s = 0.004


@dataclass(frozen=True)
class Clock:
    """What real time may do to a quantity: its bounds are multiplied, and `more` is added to the upper one."""

    least: float = 1.0
    most: float = 1.0
    more: float = 0.0


CLOCK = {
    "syn_gaps": Clock(most=WHEEL, more=JIFFY_s),
    "timer": Clock(most=WHEEL, more=JIFFY_s),
    "timeout_gaps": Clock(least=1 / WHEEL, most=WHEEL),
}
#: What a late machine does not change: windows as the kernel has them, and what is on packets.
EXACT = {
    "cut_ratio", "cuts_in_round", "least_threshold", "after_timeout", "ended_at_threshold", "first_flight",
    "capable_retransmissions",
}  # fmt: skip
#: What it moves by no more than it was late, in s. Of everything else nobody knows.
TIMED = {"timer", "syn_gaps", "silence", "repaired"}
BECAUSE = "timers of the kernel are up to an eighth and a jiffy late"


def is_kernel(body: object) -> bool:
    """Whether the name of a body is that of the kernel: `kernel`, `kernel:cubic`."""
    return isinstance(body, str) and body.strip().partition(":")[0] == KERNEL


def law_of(body: str) -> str:
    """The kernel's law that a body names, or the one that it uses without being asked. Raises InputError."""
    law = body.strip().partition(":")[2] or DEFAULT.read_text(encoding="ascii").strip()
    known = [k for k in AVAILABLE.read_text(encoding="ascii").split() if k in PRESETS]
    if law not in known:
        raise InputError(
            "body", found=f"`{KERNEL}:{law}`", expected=f"one of {', '.join(f'{KERNEL}:{k}' for k in known)}",
            hint=did_you_mean(law, known),
        )  # fmt: skip
    return law


def audit_kernel(body: str, cases: Sequence[str], seed: int, progress: Listener | None) -> Audit:
    """Puts the clauses to the TCP of this machine's kernel, in real time: under a minute for all of them.

    `body`: `kernel:LAW` for a law of the kernel, `kernel` for its usual one. `cases`, `seed` and `progress` are as in
    `audit`; the seed decides what the network draws, not what the machine does.

    Raises InputError for a law or a case that does not exist, MissingError with all that stands in the way where no
    namespace or device can be made, CrosswindError where the sandbox fails.
    """
    if not has_hook("examine_kernel"):
        raise needs.MissingError("a kernel is audited with a build that has our own TCP in real bytes: `make stacks`")
    privileges = needs.check()
    law = law_of(body)
    of = Body(f"{KERNEL}:{law}", {"type": "tcp", "preset": PRESETS[law]})
    has = {**features(of), **OTHERWISE.get(law, {})}
    wanted = list(chosen(cases, load()))
    refused = {c.id: why for c in wanted if (why := _why_not(c, of, has))}
    asked = {c.id: request(c.live, law) for c in wanted if c.id not in refused and isinstance(c.live, AuditCase)}
    keys = {name: json.dumps(r, sort_keys=True) for name, r in asked.items()}
    runs = dict.fromkeys(keys.values())
    names = {key: f"run-{i}" for i, key in enumerate(runs)}
    found = {name: Finding(load()[name], "not applicable", why=why) for name, why in refused.items()}
    with tempfile.TemporaryDirectory() as folder:
        job = {
            "kind": "opposite", "seed": seed, "folder": folder,
            "requests": [{"name": names[key], **json.loads(key)} for key in runs],
        }  # fmt: skip
        ended: set[str] = set()

        def told(run: str) -> None:
            ended.add(run)
            # While others run: the last ones end together.
            for case in (n for n, key in keys.items() if names[key] == run):
                found[case] = _finding(load()[case], law, Path(folder), run)
            if progress:
                progress(len(ended), len(runs))

        code = sandbox.listen(job, privileges, told) if runs else 0
    if code in (128 + signal.SIGINT, 128 + signal.SIGTERM):
        raise InterruptedRunError("interrupted; an audit keeps nothing, and the same command begins anew")
    if len(found) < len(wanted):
        raise CrosswindError(f"the sandbox of the audit ended with exit code {code}")
    kernel = f"{platform.system()} {platform.release()}"
    findings = [found[c.id] for c in wanted]
    return Audit(f"{of.name} ({kernel})", {"type": "kernel", "law": law, "kernel": kernel}, findings, seed)


def _why_not(case: AuditCase, body: Body, has: Mapping[str, str]) -> str:
    if why := why_not(case, body, has):
        return why
    if isinstance(case.live, str):
        return case.live
    try:
        request(case.live, "cubic")
    except InputError as e:
        return f"of a kernel: {e}"
    return ""


def request(case: AuditCase, law: str) -> Table:
    """What the engine is asked for: the scenario of a case, and what the kernel and our own end do in it.

    Raises InputError for what a kernel cannot be told.
    """
    laid = merged(case.scenario, {})
    pauses = _pauses([c for c in laid.get("timeline", []) if "flow" in c], case.seconds)
    laid["timeline"] = [c for c in laid.get("timeline", []) if "flow" not in c]
    flows: list[Table] = []
    settings = dict(SETTINGS)
    for name, flow in laid["flow"].items():
        tcp = flow.pop("tcp", {})
        own, own_settings = _own(tcp if name == "body" else {})
        settings |= own_settings
        flows.append({
            "law": law if name == "body" else _other(tcp), "does": _application(flow["workload"]),
            "pauses": pauses if name == "body" else [], "own": own, "own_size_bytes": 0,
        })  # fmt: skip
    if pauses:
        settings["net.ipv4.tcp_notsent_lowat"] = str(UNSENT_bytes)
    if any(b.quantity == "ack_step" for b in case.expect):
        # It is about the receiver, so that is the kernel.
        sent = flows[0]["does"]["bulk"]["size_bytes"]
        flows[0] |= {"does": "receives", "own_size_bytes": sent}
    scenario = Scenario.from_dict({"name": case.id, **laid})
    plan = json.loads(core().emulate_plan(json.dumps(scenario.data), 1, 0, 1))
    # The name is no part of what is run: cases with one network share a run.
    return {
        "scenario": {**scenario.data, "name": "case", "title": ""}, "until_ns": plan["duration_ns"],
        "settings": settings, "timeline": plan["timeline"], "flows": flows,
    }  # fmt: skip


def _pauses(changes: Sequence[Table], seconds: float) -> list[list[int]]:
    """From when until when the application is silent, in ns."""
    pauses: list[list[int]] = []
    for c in changes:
        if set(c["set"]) != {"sending"}:
            raise InputError("timeline", found=f"`set` of {', '.join(c['set'])}", expected="what a program can do")
        at = parse(c["at"])
        assert at is not None
        if c["set"]["sending"] == "off":
            pauses.append([round(at.value), round(seconds * 1e9)])
        elif pauses:
            pauses[-1][1] = round(at.value)
    return pauses


def _other(tcp: Mapping[str, Any]) -> str:
    law = next((k for k, preset in PRESETS.items() if preset == tcp.get("preset")), None)
    if law is None:
        raise InputError("flow.tcp.preset", found=f"`{tcp.get('preset')}`", expected="a law of this kernel")
    return law


def _own(tcp: Mapping[str, Any]) -> tuple[Table, dict[str, str]]:
    """The table of our own end and settings of the kernel that make of both what a case demands."""
    own, settings = dict(OWN), {"net.ipv4.tcp_ecn": "0"}
    for key, value in tcp.items():
        if key == "window_limit_segments":
            own["receive_buffer"] = f"{int(value) * SEGMENT_bytes} B"
        elif key == "receive_buffer":
            own[key] = value
        elif key in ("timestamps", "sack"):
            own[key] = value
            settings[f"net.ipv4.tcp_{key}"] = ON_OFF[value]
        elif key == "ecn" and value in ECN:
            own[key] = value
            settings["net.ipv4.tcp_ecn"] = ECN[value]
        else:
            raise InputError(f"tcp.{key}", found=f"`{value}`", expected="what a kernel or its peer can be told")
    return own, settings


def _application(workload: Mapping[str, Any]) -> Table:
    numbers = {key: parse(value) for key, value in workload.items()}
    if workload["type"] == "bulk":
        size = numbers.get("size")
        return {"bulk": {"size_bytes": round(size.value) if size else None}}
    if workload["type"] == "cbr":
        payload, every = numbers["payload"], numbers["interval"]
        assert payload is not None and every is not None
        return {"messages": {"payload_bytes": round(payload.value), "every_ns": round(every.value)}}
    raise InputError("workload", found=f"`{workload['type']}`", expected="bulk or cbr")


def _finding(case: AuditCase, law: str, folder: Path, name: str) -> Finding:
    """What one run says of a case."""
    assert isinstance(case.live, AuditCase)
    live = case.live
    facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    table = folder / f"{name}.parquet"
    if not table.exists():
        return Finding(live, "inconclusive", note=f"it could not be run: {facts['failure']}")
    trace = _trace(live, pl.read_parquet(table), facts)
    given, expect = (
        tuple(measured(_loosened(b), [trace]) for b in bounds) for bounds in (live.given, live.expect)
    )  # fmt: skip
    verdict, note = chosen_so(verdict_of(live, given, expect), KERNEL, law, case)
    if not note and verdict in ("fail", "deviates") and (late_s := facts["late_max_ns"] / 1e9) * 1e9 > LATE_MAX_ns:
        by_machine = tuple(replace(m, bound=_late(m.bound, late_s)) for m in expect)
        if verdict_of(live, given, by_machine) != verdict:
            note = f"it would be `{verdict}`, but the machine was up to {late_s * 1e3:.1f} ms late"
            verdict = "inconclusive"
    return Finding(live, verdict, given, expect, trace=trace, note=note or facts["failure"] or "")


def _loosened(b: Bound) -> Bound:
    clock = CLOCK.get(b.quantity)
    if clock is None:
        return b
    because = "; ".join(part for part in (b.because, BECAUSE) if part)
    return replace(b, least=b.least * clock.least, most=b.most * clock.most + clock.more, because=because)


def _late(b: Bound, by_s: float) -> Bound:
    """What a bound says where the machine was late by so much."""
    if b.quantity in EXACT:
        return b
    by = by_s if b.quantity in TIMED else np.inf
    return replace(b, least=b.least - by, most=b.most + by)


def _trace(case: AuditCase, events: pl.DataFrame, facts: Table) -> Trace:
    rate = parse(case.scenario["link"]["bottleneck"]["rate"])
    assert rate is not None
    goodput = [8 * b / case.seconds for b in facts["right_bytes"]]
    flows = pl.DataFrame({"name": list(case.scenario["flow"]), "goodput_bps": goodput})
    # Of a receiver nobody looks at a socket.
    mss = facts["mss_bytes"] or SEGMENT_bytes
    return Trace(events, mss, rate.value, case.seconds, flows)
