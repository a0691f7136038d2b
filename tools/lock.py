"""Writes requirements.lock (plain use and the build) and requirements-all.lock (tests and documentation too).

Both hold exact versions of what is installed where this runs; plain use is what the core dependencies ask for.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
NOT_OURS = {"crosswind", "pip", "setuptools", "wheel"}


def closure(wanted: list[str]) -> set[str]:
    """The names of all packages that these need, themselves included."""
    found: set[str] = set()
    todo = list(wanted)
    while todo:
        name = canonicalize_name(Requirement(todo.pop()).name)
        if name not in found:
            found.add(name)
            needs = [Requirement(r) for r in distribution(name).requires or []]
            todo += [str(r) for r in needs if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def write(path: Path, what: str, names: set[str]) -> None:
    lines = [f"{n}=={distribution(n).version}" for n in sorted(names)]
    text = f"# Exact versions of {what}. Written by: make lock\n" + "\n".join(lines) + "\n"
    path.write_text(text, encoding="utf-8")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    core = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    everything = {canonicalize_name(d.metadata["Name"]) for d in distributions()} - NOT_OURS
    write(ROOT / "requirements.lock", "what plain use and the build need", closure(core))
    write(ROOT / "requirements-all.lock", "everything that tests and documentation need too", everything)


if __name__ == "__main__":
    main()
