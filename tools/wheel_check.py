"""Installs the newest wheel of dist/ for this machine into an empty environment and uses it away from the source tree.

Usage: wheel_check.py [WHEEL | SDIST]      (a source archive is built first: minutes)
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a wheel must carry beside code.
INSIDE = (
    "templates/run.html",
    "templates/figures.js",
    "py.typed",
    "_core.pyi",
    "data/claims-w2.toml",
    "studio/page/index.html",
    "lessons/data/ecn.toml",
    "reproduce/templates/study.py.txt",
)


def main(arguments: list[str]) -> int:
    ours = f"*{platform.machine()}.whl"
    wheels = [Path(a) for a in arguments] or sorted((ROOT / "dist").glob(ours), key=lambda p: p.stat().st_mtime)
    if not wheels:
        print("no wheel in dist/ for this machine: make wheel", file=sys.stderr)
        return 1
    wheel = wheels[-1]
    if wheel.name.endswith(".tar.gz"):
        with tempfile.TemporaryDirectory() as folder:
            return use(wheel, Path(folder))
    if not re.search(r"-cp311-abi3-manylinux_\d+_\d+_\w+\.whl$", wheel.name.replace(".manylinux", "-manylinux")):
        print(f"{wheel.name}: expected one wheel for all Pythons (abi3) and Linuxes (manylinux)", file=sys.stderr)
        return 1
    names = zipfile.ZipFile(wheel).namelist()
    missing = [n for n in INSIDE if not any(name.endswith(n) for name in names)]
    if missing:
        print(f"{wheel.name} lacks {', '.join(missing)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        return use(wheel, Path(folder))


def use(wheel: Path, folder: Path) -> int:
    """Installs, asks the doctor, runs a scenario, a sweep and a quick reproduction."""
    venv.create(folder / "env", with_pip=True)
    binaries = folder / "env/bin"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    shutil.copyfile(ROOT / "scenarios/gprs.toml", folder / "gprs.toml")

    def run(*command: str) -> str:
        done = subprocess.run(
            [str(binaries / command[0]), *command[1:]], cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    run("pip", "install", "--quiet", "--disable-pip-version-check", str(wheel.resolve()))
    print(run("crosswind", "doctor"), end="")
    flows = json.loads(run("crosswind", "run", "gprs.toml", "--out", "r", "--json", "--report"))["flows"]
    if len(flows) != 3 or not (folder / "r/report.html").exists():
        raise SystemExit("the run of gprs.toml has no result")
    vary = "link.last-hop.queue.limit=10 packets,20 packets"
    rows = json.loads(run("crosswind", "sweep", "gprs.toml", "--vary", vary, "--reps", "3", "--out", "s", "--json"))
    run("crosswind", "list", "experiments")
    print(f"{wheel.name}: installed in an empty environment; a run and a sweep of {len(rows)} rows are right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
