"""`audit`: the cases are sound, what is right passes, and what is wrong is caught by the case that is about it."""

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, InputError
from crosswind.suites.case import merged
from crosswind.suites.clauses import audit as examined
from crosswind.suites.clauses.audit import features, scenarios
from crosswind.suites.clauses.body import body_of
from crosswind.suites.clauses.case import AuditCase, load
from crosswind.suites.clauses.examine import audit
from crosswind.suites.clauses.measure import OF_NETWORK, OF_STACKS, QUANTITIES
from crosswind.suites.clauses.trace import Trace

CASES = load()
LINUX: dict[str, Any] = {"preset": "linux-6-cubic"}
#: A body with one fault -> the case that is about it, and what it says.
FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({**LINUX, "cubic": {"c": 0.8}}, "cubic-curve", "fail"),
    ({**LINUX, "cubic": {"friendly": "off"}}, "cubic-friendly", "fail"),
    ({**LINUX, "initial_window_segments": 20}, "first-flight", "fail"),
    ({**LINUX, "rto_initial": "3 s"}, "syn-timer", "fail"),
    ({**LINUX, "recovery": "sack", "tail_probe": "off", "dupthresh": 2}, "two-duplicates", "fail"),
    ({**LINUX, "tail_probe": "on", "recovery": "sack", "sack": "on"}, "tail-loss", "deviates"),
    ({**LINUX, "ack_every_segments": 4, "quick_acks": 0}, "receiver-every-second", "deviates"),
    ({**LINUX, "rto_min": "200 ms"}, "timer-least", "deviates"),
    ({"preset": "rfc", "law": "cubic", "reduce_from": "flight"}, "cubic-timeout", "pass"),
    ({"preset": "rfc"}, "reno-decrease", "pass"),
    ({**LINUX, "idle_restart": "off"}, "restart", "deviates"),
    ({**LINUX, "grow_when": "always"}, "application-limited", "deviates"),
    ({**LINUX, "timeout_undo": "off", "frto": "off", "dsack": "off"}, "spurious-timeout", "deviates"),
    ({**LINUX, "cubic": {"fast_convergence": "off"}}, "cubic-fast-convergence", "deviates"),
    # Linux grows by 0.53 however far it is beyond the window before the loss.
    (LINUX, "cubic-friendly-beyond", "deviates"),
    ({"preset": "rfc", "law": "cubic"}, "cubic-friendly-beyond", "pass"),
    ({**LINUX, "slow_start": "hystart++"}, "hystart-plus-early", "pass"),
    ({**LINUX, "slow_start": "hystart++"}, "hystart-plus-conservative", "pass"),
    ({**LINUX, "slow_start": "hystart++"}, "cubic-after-slow-start", "pass"),
    ({**LINUX, "slow_start": "standard"}, "hystart-plus-early", "not applicable"),
    ({"preset": "bbr3"}, "bbr-use", "pass"),
    ({"preset": "bbr3"}, "stated-rate", "pass"),
    ({"preset": "linux-6-bbr", "pacing": "never"}, "stated-rate", "deviates"),
]
#: Of stacks, what cases ask for; a build without them knows no more.
OF_STACK = [{"transport": name, "law": law} for name in ("quinn", "noq", "smoltcp") for law in ("cubic", "reno", "bbr")]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_is_a_scenario_that_runs(case: AuditCase) -> None:
    for scenario in scenarios(case, body_of(LINUX)).values():
        scenario.validate()
    assert case.expect and case.clause and case.title
    assert all(QUANTITIES[b.quantity].__doc__ for b in (*case.given, *case.expect))


def test_every_case_says_something_about_some_body() -> None:
    names = ("reno", "cubic", "hstcp", "scalable", "bbr", "bbr3", "dctcp", "prague", "vegas", "westwood")
    laws: list[dict[str, str]] = [{"law": name} for name in names] + [{"slow_start": "hystart++", "law": "cubic"}]
    bodies = [features(body_of({"preset": "rfc", **more})) for more in laws] + [features(body_of(LINUX)), *OF_STACK]
    bodies.append(features(body_of({**LINUX, "frto": "off", "tail_probe": "off"})))

    def applies(case: AuditCase, has: dict[str, str]) -> bool:
        return all(any(fnmatchcase(has.get(k, "off"), p) for p in of) for k, of in case.applies.items())

    assert [c.id for c in CASES.values() if not any(applies(c, has) for has in bodies)] == []


def test_cubic_of_linux_breaks_no_must() -> None:
    found = audit(
        "cubic",
        cases=["cubic-decrease", "cubic-one-cut", "cubic-curve", "first-flight", "syn-timer", "tail-loss", "ecn"],
    )
    assert [f.case.id for f in found.findings if f.verdict != "pass"] == []


@pytest.mark.parametrize(("body", "case", "verdict"), FAULTS, ids=[c for _, c, _ in FAULTS])
def test_a_fault_is_caught_by_the_case_that_is_about_it(body: dict[str, Any], case: str, verdict: str) -> None:
    (finding,) = audit(body, cases=[case]).findings
    assert finding.verdict == verdict, [m.text() for m in finding.expect]


def test_a_condition_that_does_not_come_about_decides_nothing() -> None:
    (finding,) = audit({**LINUX, "window_limit_segments": 20}, cases=["cubic-decrease"]).findings
    assert finding.verdict == "inconclusive"


def test_an_interrupt_ends_the_audit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(interrupted=True)

    monkeypatch.setattr(examined, "run", interrupted)
    assert main(["audit", "cubic", "--case", "first-flight"]) == EXIT_INTERRUPTED
    assert "first-flight" in capsys.readouterr().err


def test_an_expectation_without_anything_to_look_at_decides_nothing() -> None:
    cut = replace(CASES["cubic-decrease"], given=(), seconds=0.5)
    never = replace(cut, scenario={**cut.scenario, "duration": "500 ms"})
    assert examined._judged(never, body_of(LINUX), {"law": "cubic"}, 1, None).verdict == "inconclusive"


def test_the_command_writes_a_report_and_ends_with_one_for_a_broken_must(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "cubic", "--case", "first-flight", "--out", str(tmp_path), "--json"]) == EXIT_DONE
    (row,) = json.loads(capsys.readouterr().out)["cases"]
    assert row["verdict"] == "pass" and row["measured"] == ["10"]
    page = (tmp_path / "report.html").read_text()
    assert "RFC 6928" in page and "first-flight" in page
    wrong = '{ preset = "linux-6", initial_window_segments = 20 }'
    assert main(["audit", wrong, "--case", "first-flight", "--out", str(tmp_path)]) == EXIT_FAILED
    assert "fail" in capsys.readouterr().out


def test_names_that_there_are_not_are_said_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "cubic", "--case", "cubic-decreese"]) == EXIT_BAD_INPUT
    assert "cubic-decrease" in capsys.readouterr().err
    with pytest.raises(InputError, match="did you mean `cubic`"):
        cw.audit("cubik")


def test_stacks_are_bodies_by_name_and_as_tables() -> None:
    assert body_of("quinn").transport == {"type": "quinn"}
    assert body_of("noq-newreno").transport == {"type": "noq", "congestion": "newreno"}
    table = body_of('{ type = "quinn", congestion = "bbr", unrepeatable = "allow" }')
    assert (table.name, table.transport["unrepeatable"], table.is_stack) == ("quinn-bbr", "allow", True)
    assert body_of("smoltcp-reno").transport == {"type": "smoltcp", "congestion": "reno"}
    assert not body_of("smoltcp").shows_window and body_of("quinn").shows_window
    assert not body_of("cubic").is_stack
    with pytest.raises(InputError, match="TOML"):
        body_of("{ type = quinn }")
    assert set(QUANTITIES) > OF_STACKS > OF_NETWORK


def test_a_stack_tells_its_reductions_itself() -> None:
    rows = {
        "kind": ["cwnd", "recovery", "cwnd", "recovery"], "end": ["sender"] * 4, "len": [0] * 4,
        "time_ns": [0, 10**9, 10**9, 3 * 10**9], "seq": [145_200, 101_640, 101_640, 99_000],
        "aux": [0, 145_200, 0, 165_000],
    }  # fmt: skip
    t = Trace(
        pl.DataFrame(rows), 1452, 2e7, 4.0, pl.DataFrame({"name": ["body"], "stack_srtt_ns": [8e7]}), is_stack=True
    )
    assert QUANTITIES["cut_ratio"](t).tolist() == pytest.approx([0.7, 0.6])
    assert QUANTITIES["least_threshold"](t).min() == pytest.approx(99_000 / 1452)
    assert t.round_trip == pytest.approx(0.08)


def test_a_stack_is_examined_or_the_build_says_how_to_get_one() -> None:
    try:
        found = audit("noq", cases=["quic", "cubic-decrease", "tail-loss"])
    except InputError as e:
        assert "make stacks" in str(e)
        return
    verdicts = {f.case.id: f.verdict for f in found.findings}
    absent = {n for n, v in verdicts.items() if v == "not applicable"}
    assert absent == {"tail-loss", "quic-halves", "quic-paced-grows"}
    chosen = {f.case.id for f in found.findings if f.note.startswith("a choice")}
    assert chosen == {"quic-probe-backoff", "quic-amplification"}
    # A burst after a pause: no choice that anybody states.
    assert verdicts.pop("quic-restart") == "deviates"
    assert {v for n, v in verdicts.items() if n not in chosen | absent} == {"pass"}, verdicts


def test_what_datagrams_tell_is_measured_as_it_is_said() -> None:
    ms = 10**6
    # Three arrivals before an answer, 30 ms after the first; a gap behind the second; then five times what came.
    rows = [
        (0, "send", "sender", 0, 1000), (1, "send", "sender", 1, 1000), (2, "send", "sender", 2, 1000),
        (3, "send", "sender", 3, 1000), (4, "lost", "sender", 2, 1000), (30, "receive", "receiver", 0, 1000),
        (31, "receive", "receiver", 1, 1000), (33, "receive", "receiver", 3, 1000), (60, "send", "receiver", 0, 15_000),
        (100, "recovery", "sender", 5000, 0),
    ]  # fmt: skip
    time, kind, end, seq, size = (list(c) for c in zip(*rows, strict=True))
    table = {
        "time_ns": [x * ms for x in time],
        "kind": kind,
        "end": end,
        "seq": seq,
        "len": size,
        "aux": [0] * len(rows),
    }
    samples = pl.DataFrame({"time_ns": [0, 10 * ms], "metric": ["srtt_ns"] * 2, "value": [60e6, 61e6]})
    t = Trace(pl.DataFrame(table), 1452, 2e7, 1.0, pl.DataFrame({"name": ["body"]}), is_stack=True, samples=samples)
    assert QUANTITIES["answer_delay"](t).tolist() == pytest.approx([0.030, 0.029, 0.027])
    assert QUANTITIES["gap_answer"](t).tolist() == pytest.approx([0.027])
    assert QUANTITIES["amplification"](t).tolist() == pytest.approx([5.0])
    assert QUANTITIES["loss_found"](t).tolist() == pytest.approx([0.098])
    assert QUANTITIES["lost_span"](t).tolist() == pytest.approx([0.0])
    assert QUANTITIES["sampled"](t, metric="srtt_ns", after=0.005).tolist() == [61.0]


def of_stack(case: AuditCase, body: Any) -> str:
    """The verdict of one case on a real stack, where the build has it."""
    of = body_of(body)
    try:
        return examined._judged(case, of, features(of), 1, None).verdict
    except InputError as e:
        assert "make stacks" in str(e)
        pytest.skip("this build has no real stacks (make stacks)")


@pytest.mark.parametrize("stack", ["quinn", "noq-newreno"])
def test_the_boundary_of_persistent_congestion_is_found_to_a_hundredth(stack: str) -> None:
    just, not_quite = CASES["quic-persistent-just"], CASES["quic-persistent-not-quite"]
    assert (of_stack(just, stack), of_stack(not_quite, stack)) == ("pass", "pass")
    # Each expects what a stack with three per cent more or less of patience does in the network of the other.
    late = replace(just, scenario=not_quite.scenario, given=not_quite.given)
    early = replace(not_quite, scenario=just.scenario, given=just.given)
    assert (of_stack(late, stack), of_stack(early, stack)) == ("fail", "fail")


@pytest.mark.parametrize("stack", ["quinn", "noq-newreno"])
def test_a_burst_after_a_pause_over_quic_is_noticed(stack: str) -> None:
    case = CASES["quic-restart"]
    assert of_stack(case, stack) == "deviates"
    # What is slow to write leaves no burst behind: the deviation is that of the restart.
    workload = {**case.scenario["flow"]["body"]["workload"], "interval": "400 us", "on": "800 ms"}
    slow = replace(case, scenario=merged(case.scenario, {"flow": {"body": {"workload": workload}}}))
    unhurried = replace(slow, given=case.given[:1])
    assert of_stack(unhurried, stack) == "pass"


def test_a_stack_that_states_a_rate_and_sends_at_another_is_noticed() -> None:
    case = CASES["stated-rate"]
    assert of_stack(case, {"type": "quinn", "congestion": "bbr", "unrepeatable": "allow"}) == "deviates"


@pytest.mark.parametrize(("probes", "use", "verdict"), [
    ((600, 775), 1.0, "pass"), ((), 1.0, "fail"), ((900,), 1.0, "fail"), ((), 0.5, "inconclusive"),
])  # fmt: skip
def test_a_sender_whose_full_window_holds_its_probes_back_is_noticed(
    probes: tuple[int, ...], use: float, verdict: str
) -> None:
    ms = 10**6
    at = [*range(0, 520, 5), *probes]
    n = len(at)
    events = {
        "time_ns": [x * ms for x in at], "kind": ["send"] * n, "end": ["sender"] * n, "seq": [*range(n)],
        "len": [1200] * n, "aux": [0] * n,
    }  # fmt: skip
    sampled = [
        (t * ms, m, v) for t in range(0, 1000, 5) for m, v in (("in_flight_bytes", use * 1e5), ("cwnd_bytes", 1e5))
    ]
    samples = pl.DataFrame(sampled, schema=["time_ns", "metric", "value"], orient="row")
    t = Trace(pl.DataFrame(events), 1452, 1e9, 1.0, pl.DataFrame({"name": ["body"]}), is_stack=True, samples=samples)
    case = CASES["quic-probe-full-window"]
    given, expect = ([examined.measured(b, [t]) for b in bounds] for bounds in (case.given, case.expect))
    assert examined.verdict_of(case, given, expect) == verdict


@pytest.mark.engine
def test_another_estimate_of_the_timer_is_noticed() -> None:
    rfc = {"preset": "rfc", "law": "reno"}
    (right,) = audit(rfc, cases=["timer-estimate"]).findings
    assert right.verdict == "pass", [m.text() for m in right.expect]
    # The floor of a second hides the estimate, and is not it.
    case = CASES["timer-estimate"]
    flow = {**case.scenario["flow"]["body"], "tcp": {"window_limit_segments": 20, "rto_min": "300 ms"}}
    floored = replace(case, scenario={**case.scenario, "flow": {"body": flow}})
    body = body_of(rfc)
    wrong = examined._judged(floored, body, examined.features(body), 1, None)
    assert wrong.verdict == "fail", [m.text() for m in wrong.expect]


def test_a_stack_without_a_window_is_judged_by_what_the_network_sees() -> None:
    try:
        found = audit("smoltcp", cases=["use", "bursts", "cubic-decrease", "application-limited"])
    except InputError as e:
        assert "make stacks" in str(e)
        return
    of = {f.case.id: f for f in found.findings}
    assert of["use"].verdict in {"pass", "deviates"}
    assert of["bursts"].verdict in {"pass", "deviates"}
    assert of["cubic-decrease"].verdict == of["application-limited"].verdict == "not applicable"
    assert "does not show its window" in of["cubic-decrease"].why
