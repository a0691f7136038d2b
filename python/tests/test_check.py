"""What `make test` counts: no test that could not be made looks as if it had passed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "tools" / "check.py"
OUTPUT = """
running 3 tests
test reads ... ok
test opposite ... ok
test slow ... ignored, takes an hour

successes:

---- opposite stdout ----
20 MB in 3.4 s
INCONCLUSIVE: the machine was too busy for real time

---- reads stdout ----
two packets, none SKIPPED

successes:
    opposite
    reads

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s
"""


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("check", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "check", module)
    spec.loader.exec_module(module)
    return module


def test_a_rust_test_that_could_not_be_made_is_counted_as_skipped(check: ModuleType) -> None:
    stage = check.Stage("Rust tests", [], "rust")
    check.count(stage, OUTPUT)
    assert (stage.passed, stage.failed) == (1, 0)
    assert stage.skipped == [
        "slow: takes an hour",
        "opposite: INCONCLUSIVE: the machine was too busy for real time",
    ]


def test_failed_tests_are_named_at_the_very_end(check: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    rust, python = check.Stage("Rust tests", [], "rust"), check.Stage("Python tests", [], "python")
    check.count(rust, OUTPUT.replace("test reads ... ok", "test reads ... FAILED"))
    check.count(python, "FAILED tests/test_a.py::test_b - AssertionError: 3\n1 failed, 2 passed in 1.0s")
    assert rust.failures == ["reads"] and rust.said[:2] == ["reads:", "two packets, none SKIPPED"]
    assert python.failures == ["tests/test_a.py::test_b - AssertionError: 3"]
    assert (python.passed, python.failed) == (2, 1)
    check.say("FAILED", python.failures)
    assert capsys.readouterr().out.endswith("!! 1 FAILED:\n!!   tests/test_a.py::test_b - AssertionError: 3\n")
