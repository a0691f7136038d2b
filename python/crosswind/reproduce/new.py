"""The beginnings of a new experiment: its file, its claims, and those of its study if that is new."""

from __future__ import annotations

import re
from pathlib import Path

from crosswind.errors import InputError

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


def experiment(id: str, folder: Path) -> list[Path]:
    """Writes an experiment `study/name` below a folder of studies; the files that it wrote, its own first.

    A new study gets its package, declaration and data file as well. Of a study that has a data file already only the
    new experiment's own is written (`data/claims-NAME.toml`). Raises InputError for a name that makes no module, and
    when the experiment exists.
    """
    study, _, name = id.partition("/")
    for word in (study, name):
        if not NAME.fullmatch(word):
            raise InputError("experiment", found=f"`{id}`", expected="study/name in small letters: smith-2024/f3")
    package, module = study.replace("-", "_"), name.replace("-", "_")
    place = folder / package
    if (place / f"{module}.py").exists():
        raise InputError("experiment", found=f"`{id}`, which exists", expected="a new name")
    prefix = "".join(w[0] for w in re.split(r"[-_]", study)).upper() + f"-{name}-"
    words = {
        "package": package,
        "module": module,
        "name": name,
        "id": study,
        "prefix": prefix,
        "longer": "50 packets minus 10 packets",
    }
    wanted = {place / f"{module}.py": "experiment.py.txt"}
    if not (place / "__init__.py").exists():
        wanted |= {place / "study.py": "study.py.txt", place / "data" / "claims.toml": "claims.toml.txt"}
    else:
        wanted[place / "data" / f"claims-{name}.toml"] = "claims.toml.txt"
    (place / "data").mkdir(parents=True, exist_ok=True)
    for path, template in wanted.items():
        path.write_text((TEMPLATES / template).read_text(encoding="utf-8").format(**words), encoding="utf-8")
    (place / "__init__.py").touch()
    return list(wanted)
