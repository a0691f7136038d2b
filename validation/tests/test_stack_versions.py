"""Older releases of a stack: the copy fits a release, the sentence names where it changes. Nothing is built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation import stack_versions as versions


def found(release: str, *factors: float) -> versions.Found:
    return versions.summed_up(release, factors)


def test_a_copy_is_of_its_release_and_asks_nothing_that_this_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "COPY", tmp_path)
    versions.copy_sources()
    stacks = tmp_path / "src" / "crates" / "stacks"
    for release, asks in (("0.11.14", False), ("0.11.19", True)):
        versions.adapt(release)
        assert f'quinn-proto = {{ version = "={release}"' in (stacks / "Cargo.toml").read_text()
        assert ("path.min_rtt" in (stacks / "src" / "quinn" / "seam.rs").read_text()) == asks


def test_the_release_where_the_factor_becomes_right_is_named() -> None:
    old, new = found("0.11.14", 0.7, 0.5951), found("0.11.15", 0.7, 0.7)
    assert (old.is_right, new.is_right) == (False, True)
    assert versions.sentence([old, new]) == "right since 0.11.15"
    assert versions.sentence([new]) == "right in all of them"
    assert versions.sentence([old]) == "not right in all of them"


def test_what_the_compiler_says_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(release: str) -> list[float]:
        raise versions.BuildError("error: no matching package")

    monkeypatch.setattr(versions, "copy_sources", lambda: None)
    monkeypatch.setattr(versions, "factors", fails)
    assert versions.main(["--releases", "0.11.99"]) == 3
    assert "0.11.99 could not be built:\nerror: no matching package" in capsys.readouterr().err
