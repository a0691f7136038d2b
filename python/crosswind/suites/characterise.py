"""`characterise`: the scenarios of RFC 7928 for a queue, beside others."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crosswind.core import registry
from crosswind.errors import InputError, did_you_mean
from crosswind.run.progress import Listener
from crosswind.run.simulate import run
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse, written
from crosswind.suites import measured, operation, queues
from crosswind.suites.case import QUICK, WHOLE, Answers, Case, Key, Setting, Table, chosen
from crosswind.suites.measured import Verdict

AGAINST = ("droptail", "fq-codel")
FACTORS = (0.5, 2.0, 4.0)
SENSITIVITY = Case(
    "sensitivity",
    "8.3",
    "Sensitivity to parameters",
    "How much do delay and utilisation change when a parameter is halved, doubled, or four times as large?",
    lambda s, q: {},
)


@dataclass(frozen=True)
class Characterised(Answers):
    """What `characterise` found; `measured` says what the rows hold. `costs`: processor time of a packet behind each
    queue, ns, and behind drop-tail (`""`); empty where the case was not asked for."""

    costs: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdicts(self) -> list[Verdict]:
        """The first subject beside each of the others."""
        first, *others = self.subjects
        return [v for other in others for v in measured.verdicts(self.rows, first, other)]


def characterise(
    queue: str | Path | Mapping[str, Any],
    *,
    against: Sequence[str | Path | Mapping[str, Any]] = AGAINST,
    cases: Sequence[str] = (),
    setting: Setting | None = None,
    quick: bool = False,
    reps: int | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Listener | None = None,
) -> Characterised:
    """Puts the questions of RFC 7928 to a queue and to others beside it; returns rows and verdicts.

    `queue`, and each of `against`: a name (`codel`), a table, the text of one (`{ type = "codel", target = "10 ms" }`),
    or a TOML file with its keys. One without a `limit` gets that of the setting. `cases`: ids, all by default.
    `setting`: rate, round trip, length and repetitions; `quick` is 40 s and six repetitions, `reps` another number of
    them. `workers`, `out` and `progress` are as in `run`.

    Raises InputError for a queue or case that does not exist, and for a queue that the engine refuses.
    """
    s = setting or (QUICK if quick else WHOLE)
    s = replace(s, reps=reps) if reps else s
    subjects = _subjects([queue, *against], s)
    wanted = chosen(cases, (*queues.CASES, SENSITIVITY, operation.COST))
    scenarios = dict(_scenarios(subjects, wanted, s))
    keys = {label: key for label, (key, _) in scenarios.items()}
    runs = run(
        {label: scenario for label, (_, scenario) in scenarios.items()},
        seed=s.seed, reps=s.reps, workers=workers, out=out, progress=progress,
    )  # fmt: skip
    costs = operation.costs(subjects, s) if operation.COST in wanted and not runs.interrupted else {}
    return Characterised(subjects, s, wanted, measured.measured(runs, keys), runs, keys, costs)


def _scenarios(
    subjects: Mapping[str, Table], cases: Sequence[Case], s: Setting
) -> Iterator[tuple[str, tuple[Key, Scenario]]]:
    first = next(iter(subjects))
    for case in cases:
        for subject, queue in subjects.items():
            if case is SENSITIVITY and subject != first:
                continue
            built = _changed(s, queue) if case is SENSITIVITY else case.build(s, queue)
            for variant, table in built.items():
                scenario = Scenario.from_dict({"name": case.id, "title": case.title, **table})
                yield f"{case.id}/{variant}/{subject}", ((case.id, variant, subject), scenario)


def _subjects(written_as: Sequence[str | Path | Mapping[str, Any]], s: Setting) -> dict[str, Table]:
    out: dict[str, Table] = {}
    for one in written_as:
        name, table = read(one)
        known = _parameters(str(table.get("type")))
        if "limit" in known and "limit" not in table:
            table = {**table, "limit": f"{s.limit_packets} packets"}
        if table in out.values():
            continue
        out[name if name not in out else f"{name} ({len(out)})"] = table
    return out


def read(one: str | Path | Mapping[str, Any]) -> tuple[str, Table]:
    """Name and table of a queue that is written as a name, as a table or its text, or in a file."""
    if isinstance(one, Mapping):
        return str(one.get("type", "queue")), dict(one)
    text = str(one).strip()
    if text.startswith("{"):
        table = _toml(f"queue = {text}", text).get("queue")
        return _short(text), dict(table) if isinstance(table, dict) else {}
    if text.endswith(".toml"):
        file = Path(text)
        try:
            found = _toml(file.read_text(encoding="utf-8-sig"), text)
        except (OSError, UnicodeDecodeError) as e:
            raise InputError(text, found=str(getattr(e, "strerror", e)), expected="a readable file") from None
        return file.stem, _of_file(text, found.get("queue", found))
    return text, {"type": text}


def _of_file(file: str, found: Any) -> Table:
    """The table that a file holds; that of a queue which it only names."""
    if isinstance(found, Mapping):
        return dict(found)
    if isinstance(found, str):
        _parameters(found, file, "queue")
        return {"type": found}
    raise InputError(file, path="queue", found=f"`{found}`", expected="a table, or the name of a queue")


def _short(text: str) -> str:
    inner = text.strip("{} ").replace('"', "").replace(" = ", " ").replace("type ", "", 1)
    return inner.replace(",", "")


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise InputError(
            file, found=str(e), expected='a queue as TOML, e.g. { type = "codel", target = "10 ms" }'
        ) from None


def _parameters(kind: str, where: str = "queue", path: str = "") -> dict[str, Any]:
    if not (known := operation.parameters(kind)):
        names = [str(r["name"]) for r in registry() if r["kind"] == "queue"]
        raise InputError(
            where, path, found=f"`{kind}`", expected="a name of `crosswind list queues`, a table or a TOML file",
            hint=did_you_mean(kind, names),
        )  # fmt: skip
    return known


def _changed(s: Setting, queue: Table) -> dict[str, Table]:
    """Medium congestion with one parameter changed, for each that is a number, a time or a size."""

    def medium(q: Table) -> Table:
        return queues.CASES_BY_ID["steady"].build(s, q)["medium"]

    out = {"as it is": medium(queue)}
    for name, told in _parameters(str(queue["type"])).items():
        value = queue.get(name, told.get("default"))
        quantity = parse(value)
        if quantity is None or quantity.value <= 0 or told.get("enum") or name in ("overhead", "mtu"):
            continue
        for factor in FACTORS:
            changed = _scaled(value, quantity.value * factor, str(told.get("type")))
            scenario = medium({**queue, name: changed})
            if changed is not None and _is_valid(scenario):
                out[f"{name} x{factor:g}"] = scenario
    return out


def _scaled(value: Any, number: float, kind: str) -> Any:
    if isinstance(value, str):
        return written(number, value)
    return max(1, round(number)) if "integer" in kind else number


def _is_valid(scenario: Table) -> bool:
    """Whether the engine takes it: a probability times four need not be one."""
    try:
        Scenario.from_dict({"name": "sensitivity", **scenario}).validate()
    except InputError:
        return False
    return True
