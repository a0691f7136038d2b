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
    kernel, ours = host.measure(case, 2.0), simulate([case])[case.key]
    assert ours == pytest.approx(kernel, rel=2 * TOLERANCE)
