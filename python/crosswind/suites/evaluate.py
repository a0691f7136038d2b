"""`evaluate`: the questions of RFC 9743 for a congestion controller, beside others."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crosswind.core import registry
from crosswind.errors import InputError, did_you_mean
from crosswind.run.laws import RememberingLaw, WindowLaw
from crosswind.run.progress import Listener
from crosswind.run.simulate import run
from crosswind.scenario import Scenario
from crosswind.suites import controllers, outcomes
from crosswind.suites.case import Answers, Case, Key, Setting, Table, chosen

Subject = str | Path | Mapping[str, Any] | WindowLaw | type
Makers = dict[str, Callable[[], RememberingLaw]]
AGAINST = ("cubic", "bbr3", "prague")
WHOLE = Setting(rate_bps=20_000_000, rtt_ms=50.0, seconds=90.0, reps=10)
QUICK = replace(WHOLE, seconds=30.0, reps=6)


@dataclass(frozen=True)
class Evaluated(Answers):
    """What `evaluate` found; `outcomes` says what the rows hold."""

    @property
    def verdicts(self) -> list[outcomes.Difference]:
        """The first subject beside each of the others."""
        first, *others = self.subjects
        return [d for other in others for d in outcomes.differences(self.rows, self.cases, first, other)]


def evaluate(
    law: Subject,
    *,
    against: Sequence[Subject] = AGAINST,
    cases: Sequence[str] = (),
    setting: Setting | None = None,
    quick: bool = False,
    reps: int | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Listener | None = None,
) -> Evaluated:
    """Puts the questions of RFC 9743 to a congestion controller and to others beside it; returns rows and verdicts.

    `law`, and each of `against`: the name of a law or a preset (`cubic`, `linux-6-bbr`), a `tcp` table or its text
    (`{ preset = "linux-6", law = "htcp" }`), a TOML file with its keys, a `WindowLaw`, a class as `cw.run(laws=..)`
    takes it, or a Python file that holds one of these two. A law stands in for the one of today's Linux.
    `cases`: ids, all by default. `setting`: rate, round trip, length and repetitions; `quick` is 30 s and six
    repetitions, `reps` another number of them. `workers`, `out` and `progress` are as in `run`.

    Raises InputError for a law or case that does not exist, and for a table that the engine refuses.
    """
    s = setting or (QUICK if quick else WHOLE)
    s = replace(s, reps=reps) if reps else s
    subjects, makers = _subjects([law, *against])
    wanted = chosen(cases, controllers.CASES)
    scenarios = dict(_scenarios(subjects, wanted, s))
    keys = {label: key for label, (key, _) in scenarios.items()}
    runs = run(
        {label: scenario for label, (_, scenario) in scenarios.items()},
        seed=s.seed, reps=s.reps, workers=workers, out=out, progress=progress, laws=makers or None,
    )  # fmt: skip
    return Evaluated(subjects, s, wanted, outcomes.rows(runs, keys, s.seconds), runs, keys)


def _scenarios(
    subjects: Mapping[str, Table], cases: Sequence[Case], s: Setting
) -> Iterator[tuple[str, tuple[Key, Scenario]]]:
    for case in cases:
        nobody: dict[str, Table] = {outcomes.NOBODY: {}} if case.id in controllers.HARMED else {}
        for subject, tcp in {**subjects, **nobody}.items():
            for variant, table in case.build(s, tcp).items():
                scenario = Scenario.from_dict({"name": case.id, "title": case.title, **table})
                yield f"{case.id}/{variant}/{subject or 'nobody'}", ((case.id, variant, subject), scenario)


def _subjects(written_as: Sequence[Subject]) -> tuple[dict[str, Table], Makers]:
    tables: dict[str, Table] = {}
    makers: Makers = {}
    for i, one in enumerate(written_as):
        name, table, law = read(one)
        # Tables say all of a law but of one in Python: files in several folders may have one name, and so may classes.
        if one in written_as[:i] or (law is None and table in tables.values()):
            continue
        name = name if name not in tables else f"{name} ({len(tables)})"
        if law is not None:
            table = {**table, "own_law": name}
            makers[name] = law
        tables[name] = table
    return tables, makers


def read(one: Subject) -> tuple[str, Table, Callable[[], RememberingLaw] | None]:
    """Name, `tcp` table and, for a law of one's own that remembers, its class."""
    if isinstance(one, WindowLaw):
        return "window law", {"preset": "linux-6", **one.settings}, None
    if isinstance(one, type):
        return _own(one.__name__.lower(), one)
    if isinstance(one, Mapping):
        table = dict(one)
        return str(table.get("law", table.get("preset", "tcp"))), table, None
    text = str(one).strip()
    if text.startswith("{"):
        return text.strip("{} ").replace('"', "").replace(" = ", " "), _toml(f"tcp = {text}", text)["tcp"], None
    if text.endswith(".py"):
        return _from_program(Path(text))
    if text.endswith(".toml"):
        found = _toml(_text_of(Path(text)), text)
        return Path(text).stem, _of_file(text, found.get("tcp", found)), None
    return text, _named(text), None


def _own(name: str, law: Callable[[], RememberingLaw]) -> tuple[str, Table, Callable[[], RememberingLaw]]:
    return name, {"preset": "linux-6", "law": "own", "own_law": name}, law


def _of_file(file: str, found: Any) -> Table:
    """The table that a file holds, or what it names."""
    if isinstance(found, Mapping):
        return dict(found)
    if isinstance(found, str):
        return _named(found, file, "tcp")
    raise InputError(file, path="tcp", found=f"`{found}`", expected="a table, or the name of a law or preset")


def _named(name: str, where: str = "law", path: str = "") -> Table:
    presets = [str(r["name"]) for r in registry() if r["kind"] == "preset"]
    laws = [str(r["name"]) for r in registry() if r["kind"] == "law"]
    if f"linux-6-{name}" in presets:
        return {"preset": f"linux-6-{name}"}
    if name in presets:
        return {"preset": name}
    if name in laws and name not in ("own", "tabulated", "hystart"):
        return {"preset": "linux-6", "law": name}
    raise InputError(
        where, path, found=f"`{name}`",
        expected="a name of `crosswind list laws` or `presets`, a tcp table, a TOML file or a Python file",
        hint=did_you_mean(name, [*laws, *presets]),
    )  # fmt: skip


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(str(file), found=str(getattr(e, "strerror", e)), expected="a readable file") from None


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        expected = 'a tcp table as TOML, e.g. { preset = "linux-6", law = "htcp" }'
        raise InputError(file, found=str(e), expected=expected) from None


def _from_program(file: Path) -> tuple[str, Table, Callable[[], RememberingLaw] | None]:
    """The one law that a Python file defines: a class with `on_ack` and `on_loss`, or a `WindowLaw`."""
    _text_of(file)
    # With its ending no imported module is called so, and none of these is taken for the one that defines the class.
    spec = importlib.util.spec_from_file_location(file.name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as e:
        raise InputError(str(file), found=f"{type(e).__name__}: {e}", expected="a Python file that can be run") from e
    own = [v for v in vars(module).values() if getattr(v, "__module__", None) == module.__name__]
    classes = [v for v in own if isinstance(v, type) and all(callable(getattr(v, m, 0)) for m in ("on_ack", "on_loss"))]
    tables = [v for v in vars(module).values() if isinstance(v, WindowLaw)]
    if len(classes) + len(tables) != 1:
        raise InputError(
            str(file), found=f"{len(classes) + len(tables)} laws",
            expected="one class with on_ack and on_loss, or one cw.window_law(..)",
        )  # fmt: skip
    if tables:
        return file.stem, {"preset": "linux-6", **tables[0].settings}, None
    return _own(file.stem, classes[0])
