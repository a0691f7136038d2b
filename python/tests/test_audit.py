"""`audit`: the cases are sound, what is right passes, and what is wrong is caught by the case that is about it."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, InputError
from crosswind.suites.clauses import audit as examined
from crosswind.suites.clauses.audit import audit, scenarios
from crosswind.suites.clauses.case import AuditCase, load
from crosswind.suites.clauses.measure import QUANTITIES

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
]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_is_a_scenario_that_runs(case: AuditCase) -> None:
    for scenario in scenarios(case, LINUX).values():
        scenario.validate()
    assert case.expect and case.clause and case.title
    assert all(QUANTITIES[b.quantity].__doc__ for b in (*case.given, *case.expect))


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
    assert examined._judged(never, LINUX, {}, 1, None).verdict == "inconclusive"


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
