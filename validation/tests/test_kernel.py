"""Crosswind's shapers against what their definition gives, and against the kernel's where it can be asked."""

from __future__ import annotations

import pytest

from validation.kernel import host
from validation.kernel.__main__ import TOLERANCE, main, simulate
from validation.kernel.cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda c: c.key)
def test_every_class_gets_what_the_definition_gives_it(case: Case) -> None:
    rates = simulate([case])[case.key]
    assert rates == pytest.approx(case.expected, rel=0.015)


def test_without_the_means_the_comparison_is_skipped_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host, "missing", lambda: "there is no `tc`")
    assert main(["--no-write"]) == 0
    assert "SKIPPED" in capsys.readouterr().err


def test_the_kernel_shares_as_crosswind_does() -> None:
    why = host.missing()
    # Needs root and the kernel's modules; what they gave when they were asked last is in docs/validation-qos.md.
    if why:
        pytest.skip(f"the kernel's shapers cannot be asked: {why}")
    case = next(c for c in cases() if c.key == "quantum")
    kernel, ours = host.measure(case, 4.0), simulate([case])[case.key]
    # A real kernel on a machine that somebody else keeps busy: what was measured then is not what its shaper does.
    if kernel.disturbed:
        pytest.skip(f"the machine was busy five times: {kernel.disturbed}")
    assert ours == pytest.approx(kernel.rates, rel=2 * TOLERANCE)


def test_a_measurement_that_the_machine_spoilt_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in cases() if c.key == "quantum")
    answers = iter([host.Measured({"a": 1.0}, "busy"), host.Measured({"a": 2.0}), host.Measured({"a": 3.0})])
    monkeypatch.setattr(host, "_measure", lambda *_: next(answers))
    assert host.measure(case, 1.0).rates == {"a": 2.0}
    monkeypatch.setattr(host, "_measure", lambda *_: host.Measured({"a": 1.0}, "busy"))
    assert host.measure(case, 1.0, tries=2).disturbed == "busy"


def test_a_pause_of_the_sender_or_a_late_reading_spoils_a_measurement() -> None:
    case = next(c for c in cases() if c.key == "quantum")
    # 20 packets of 1014 bytes at 2 Mbit/s are 81 ms.
    assert not host._disturbance(case, 0.080, 0.009)
    assert "82 ms" in host._disturbance(case, 0.082, 0.0)
    assert "2.0%" in host._disturbance(case, 0.0, 0.02)
