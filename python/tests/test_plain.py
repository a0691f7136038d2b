"""A plain installation: what works without matplotlib and SciPy, and what is said where one of them is needed."""

from __future__ import annotations

import builtins
import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from crosswind import optional
from crosswind.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[2]
# Refuses the packages of the extras, whatever is installed here.
WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("matplotlib", "scipy", "pandas", "distributed", "fsspec", "pyarrow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse())
from crosswind.cli import main
sys.exit(main(sys.argv[1:]))
"""


def plain(*arguments: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], cwd=where, capture_output=True, text=True, timeout=120, check=False
    )


def needed(*wanted: str) -> set[str]:
    """The names of these packages and of all that they need in turn, without extras."""
    found: set[str] = set()
    todo = list(wanted)
    while todo:
        name = re.sub(r"[-_.]+", "-", Requirement(todo.pop()).name).lower()
        if name not in found:
            found.add(name)
            needs = [Requirement(r) for r in distribution(name).requires or []]
            todo += [str(r) for r in needs if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


@pytest.mark.engine
def test_plain_use_is_at_most_20_packages_and_350_megabytes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = needed(*project["dependencies"])
    assert 5 <= len(packages) <= 19, packages  # and crosswind itself
    own = [f for f in (ROOT / "python/crosswind").rglob("*") if f.is_file() and f.suffix != ".pyc"]
    files = [f.locate() for name in packages for f in distribution(name).files or [] if f.suffix != ".pyc"]
    size = sum(Path(f).stat().st_size for f in [*own, *files] if Path(f).is_file())
    assert 50e6 < size < 350e6, f"{size / 1e6:.0f} MB"
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.partition("==")[0] for line in locked} == packages | {"maturin"}, "make lock"


@pytest.mark.engine
def test_runs_sweeps_and_their_reports_need_no_extra(tmp_path: Path) -> None:
    scenario = str(ROOT / "scenarios/gprs.toml")
    done = plain("run", scenario, "--out", "r", where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'class="chart-data"' in (tmp_path / "r/report.html").read_text()
    done = plain("sweep", scenario, "--vary", "flow.bulk.count=1,2", "--reps", "2", "--out", "s", where=tmp_path)
    assert done.returncode == 0 and (tmp_path / "s/report.html").exists(), done.stderr
    done = plain("reproduce", "jarvinen-2006/w2-e0", "--quick", "--out", "w2", where=tmp_path)
    assert done.returncode in (0, 1) and "J55" in done.stdout and "Traceback" not in done.stderr, done.stderr


@pytest.mark.engine
def test_what_needs_an_extra_names_it(tmp_path: Path) -> None:
    done = plain("run", str(ROOT / "scenarios/gprs.toml"), "--formats", "svg", "--out", "r", where=tmp_path)
    assert done.returncode != 0 and "pip install 'crosswind[figures]'" in done.stderr
    assert (tmp_path / "r/flow.parquet").exists(), "finished results are kept"


def test_a_fault_inside_an_installed_package_is_not_called_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("No module named 'libfortran'", name="libfortran")

    monkeypatch.setattr(optional.importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="libfortran"):
        optional.load("scipy.stats", "a test")
    monkeypatch.setattr(
        optional.importlib, "import_module", lambda name: builtins.__import__("no_such_package_here", fromlist=["x"])
    )
    with pytest.raises(ModuleNotFoundError):
        optional.load("scipy.stats", "a test")
    assert "crosswind[stats]" in str(MissingExtraError("this", "scipy", "stats"))


def test_what_a_wheel_must_carry_is_in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    wheel_check = importlib.import_module("wheel_check")
    files = [f.as_posix() for f in (ROOT / "python/crosswind").rglob("*") if f.is_file()]
    assert [name for name in wheel_check.INSIDE if not any(f.endswith(name) for f in files)] == []
