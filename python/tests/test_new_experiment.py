"""`crosswind new experiment` writes an experiment that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crosswind.cli import main
from crosswind.experiments import __path__ as places
from crosswind.reproduce import catalogue


@pytest.fixture
def studies(tmp_path: Path) -> Iterator[Path]:
    """A folder in which studies are found, beside those of Crosswind."""
    folder = tmp_path / "studies"
    folder.mkdir()
    places.append(str(folder))
    yield folder
    places.remove(str(folder))
    catalogue.registry.cache_clear()
    catalogue._of_package.cache_clear()


def test_a_new_experiment_of_a_new_study_runs_as_it_is(
    studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "experiment", "smith-2024/f3", "--folder", str(studies)]) == 0
    package = studies / "smith_2024"
    assert sorted(p.name for p in package.rglob("*") if p.is_file()) == [
        *("__init__.py", "claims.toml", "f3.py", "study.py"),
    ]
    assert len((package / "f3.py").read_text(encoding="utf-8").splitlines()) <= 80
    assert main(["reproduce", "smith-2024/f3", "--reps", "10", "--out", "f3", "--formats", "none"]) in (0, 1)
    rows = json.loads((tmp_path / "f3" / "claims.json").read_text(encoding="utf-8"))
    assert [r["claim"] for r in rows] == ["S2-f3-1", "S2-f3-2"]
    assert all(r["verdict"] in ("pass", "unclear", "fail") for r in rows)


def test_a_second_experiment_keeps_what_the_study_has(studies: Path) -> None:
    assert main(["new", "experiment", "jones-2025/a", "--folder", str(studies)]) == 0
    before = (studies / "jones_2025" / "study.py").read_text(encoding="utf-8")
    assert main(["new", "experiment", "jones-2025/b", "--folder", str(studies)]) == 0
    assert (studies / "jones_2025" / "study.py").read_text(encoding="utf-8") == before
    assert sorted(catalogue.of_study("jones-2025")) == ["jones-2025/a", "jones-2025/b"]


@pytest.mark.parametrize("name", ["smith-2024", "Smith/f3", "smith/", "smith/../x", "smith/f 3"])
def test_names_that_make_no_module_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "experiment", name, "--folder", str(tmp_path)]) == 2
    assert "smith-2024/f3" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_an_experiment_that_exists_is_not_written_over(studies: Path) -> None:
    assert main(["new", "experiment", "smith-2024/f3", "--folder", str(studies)]) == 0
    assert main(["new", "experiment", "smith-2024/f3", "--folder", str(studies)]) == 2
