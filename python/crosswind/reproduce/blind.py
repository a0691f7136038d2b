"""The blind test: withheld claims, judged once their published values are known, without a change to anything else.

`python -m crosswind.reproduce.blind PUBLISHED.toml DIR..` prints the table. DIR holds results of `crosswind reproduce`
(docs/reproduction/results); the values of the first score stand in `data/first-score.csv` beside each study. The file
is written like the claims of a study, with the study in front; a claim's statement, units and kinds stay its own:

```toml
[igarashi."IC7.99"]
band = "+-15 %"                                  # of every part; or `rule`, with what it needs
note = "Table 7.9"                               # is shown, and optional
[igarashi."IC7.99".parts]
"g0" = 0.02                                      # published, as the study writes it: shares as fractions
"g1" = [0.04, 0.01]                              # with its interquartile range
"g*" = { print = 0.05, band = "<= 0.1" }         # all labels that match and are not named
```

A label `A minus B`, `A plus B`, `A over B` or `A against B` (A / B - 1) that nothing measured is made of A and B, as
independent values. `also = ["IC7.98"]` lends a claim the values of others; `times = 0.9615` in a part turns a value
into the unit that was published.

Bands and rules are those of ordinary claims. Values of then have no interval: by them an order counts by its sign, and
a rule that asks for our own scatter decides nothing. S8 asks for fifty blocks of runs where one was kept: unclear.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from crosswind.errors import InputError
from crosswind.reproduce import before, gathered
from crosswind.reproduce.claims import Claim, Measure, Part, Seeds, book
from crosswind.reproduce.claims.tally import in_order, study_of
from crosswind.reproduce.pages import lines
from crosswind.reproduce.readings import passed_failed_unclear
from crosswind.stats import NOTHING, Estimate

Row = Mapping[str, Any]
HEADS = ("claim", "statement", "then", "now", "blind", "note")
OF_PARTS = ("claim", "part", "published", "accepted", "then", "then?", "now", "now?")
OPEN, LATER, ABSENT = "not decided by these values", "not yet", "not run"
#: What a label can make of two others.
OF_TWO: dict[str, Callable[[float, float], float]] = {
    "minus": lambda a, b: a - b,
    "plus": lambda a, b: a + b,
    "over": lambda a, b: a / b if b else math.nan,
    "against": lambda a, b: a / b - 1 if b else math.nan,
}


@dataclass(frozen=True)
class Judged:
    """A claim with what was measured then and now, and what both mean."""

    study: str
    id: str
    published: str
    then: str
    verdict_then: str
    now: str
    verdict_now: str
    blind: str
    note: str
    statement: str = ""
    parts: tuple[tuple[str, ...], ...] = ()


def read(file: Path) -> dict[str, dict[str, Any]]:
    """Study -> claim -> what was published of it. Raises InputError for a file that cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise InputError(str(file), found=f"a file that cannot be read ({e})", expected="TOML") from None


def judge(given: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]) -> list[Judged]:
    """All claims of which something is given. Raises InputError for unknown claims, labels, keys and bands."""
    found = []
    for study, claims in given.items():
        own = book.book(str(before.package(study) / "study.py"))
        then = before.values_then(study)
        for id in in_order(claims):
            of = (id, *claims[id].get("also", ()))
            mine = [r for r in rows if study_of(r) == study and r["claim"] in of]
            past = [r | {"claim": id} for r in then if r["claim"] in of]
            found.append(_one(study, id, _opened(own, id, claims[id]), claims[id], mine, past))
    return found


def _opened(own: book.Book, id: str, given: Row) -> book.Book:
    """The book with one claim that is no longer withheld, and has the bands that were given."""
    kept = {k: v for k, v in own.entries.get(id, {}).items() if k != "withheld"}
    if not kept:
        raise InputError("published values", found=f"the claim `{id}`", expected="a claim of the study")
    parts: dict[str, Any] = dict(kept.get("parts", {}))
    for label, row in given.get("parts", {}).items():
        own_keys = {k: v for k, v in book.keys_of(row).items() if k != "times"}
        parts[label] = book.keys_of(parts.get(label, {})) | own_keys
    entry = kept | {k: v for k, v in given.items() if k not in ("note", "also")} | {"set": "corrected", "parts": parts}
    book.check_entry(f"published values: {id}", entry)
    return book.Book({id: entry}, {id: "published values"})


def _one(study: str, id: str, opened: book.Book, given: Row, rows: Sequence[Row], then: Sequence[Row]) -> Judged:
    named = list(given.get("parts", {}))
    measured = {p["label"]: _estimate(p) for r in rows for p in r["parts"]}
    printed = {r["part"]: r for r in then}
    values = {k: _value(r) for k, r in printed.items() if r["value"] not in ("", "nothing")}
    for label, row in given.get("parts", {}).items():
        keys = opened._part(id, label)
        scale, percent = book.keys_of(row).get("times", 1.0), 100 if keys.get("unit") == "%" else 1
        if (own := _made(label, measured, scale)) is not None:
            measured[label] = replace(own, n=1) if keys.get("rule") == "S8" else own
        if (own := _made(label, values, scale)) is not None:
            printed[label] = {"claim": id, "part": label, "value": repr(own.value * percent), "n": own.n}
    for label in named:
        if rows and not _matching([label], [*measured, *printed]):
            raise InputError("published values", id, f"`{label}`", f"one of {', '.join(measured or printed)}")

    def claim(there: Mapping[str, Any]) -> Claim:
        labels = _matching(named, [*there, *(n for n in named if "*" not in n and n not in there)])
        return opened.claim(id, {x: _found(measured.get(x, NOTHING)) for x in labels}, "some")

    then = [dict(r) | {"claim": id} for r in printed.values()]
    past, present = claim(printed), claim(measured)
    nothing: Any = None
    checked = present.check(nothing)
    broken = any(r["verdict"] == "error" for r in rows)
    verdict = "error" if broken else LATER if any(r.get("first_look") for r in rows) else checked.verdict
    by_label = {p.label: p for p in past.parts if p.label in printed}
    beside = {r["part"]: r for r in then}
    parts = tuple(
        (
            id,
            m.part.label,
            m.part.published or m.part.ours,
            m.part.show_band(m.estimate),
            _shown(by_label[m.part.label], printed[m.part.label]) if m.part.label in by_label else "-",
            _short(before._judged(by_label[m.part.label], beside[m.part.label])) if m.part.label in by_label else "",
            f"{m.part.show(m.estimate.value)} ({m.part.show(m.estimate.low)} .. {m.part.show(m.estimate.high)})"
            if m.estimate.low < m.estimate.high
            else m.part.show(m.estimate.value),
            _short(m.verdict),
        )
        for m in checked.parts
    )
    return Judged(
        study,
        id,
        present.published,
        "; ".join(f"{p.label}: {_shown(p, printed[p.label])}" for p in past.parts if p.label in printed) or "-",
        verdict if verdict == "reported" else before.by_values([past], then) or OPEN,
        checked.measured() if rows else "-",
        verdict if rows else ABSENT,
        next((str(r["blind"]) for r in rows if r.get("blind")), "fully"),
        str(given.get("note", "")),
        opened.entries[id]["statement"],
        parts,
    )


def _short(verdict: str | None) -> str:
    return "" if verdict in ("pass", None) else str(verdict)


def _value(row: Row) -> Estimate:
    """A printed value; shares as fractions."""
    value = float(row["value"]) / (100 if row.get("unit") == "%" else 1)
    return Estimate(value, value, value, int(row["n"] or 1))


def _made(label: str, found: Mapping[str, Estimate], scale: float) -> Estimate | None:
    """What was measured, or the value that the label makes of two; None without it."""
    if label in found:
        e = found[label]
        return replace(e, value=e.value * scale, low=e.low * scale, high=e.high * scale)
    for word, make in OF_TWO.items():
        first, _, second = label.partition(f" {word} ")
        if first in found and second in found:
            return _of_two(found[first], found[second], make, word)
    return None


def _of_two(a: Estimate, b: Estimate, make: Callable[[float, float], float], word: str) -> Estimate:
    """Of two independent values: the distances to the ends of both intervals add in squares."""
    value = make(a.value, b.value)
    ends = ((a.low, b.low), (a.high, b.high)) if word == "plus" else ((a.low, b.high), (a.high, b.low))
    low, high = (math.hypot(make(x, b.value) - value, make(a.value, y) - value) for x, y in ends)
    return Estimate(value, value - low, value + high, min(a.n, b.n))


def _found(estimate: Estimate) -> Measure:
    return lambda _: estimate


def _matching(named: Sequence[str], labels: Iterable[str]) -> list[str]:
    return [x for x in labels if any(x == n or ("*" in n and fnmatchcase(x, n)) for n in named)]


def _shown(part: Part, printed: Row) -> str:
    return part.show_change(before.value_then(part, printed)) if printed["value"] not in ("", "nothing") else "nothing"


def _estimate(part: Row) -> Estimate:
    """What a row says of a part."""
    if part["value"] is None:
        return NOTHING
    low, high = (math.copysign(math.inf, s) if part[k] is None else part[k] for k, s in (("low", -1), ("high", 1)))
    if part.get("sd") is not None:
        return Seeds(part["value"], low, high, part["n"], sd=part["sd"])
    return Estimate(part["value"], low, high, part["n"])


def report(found: Sequence[Judged], rows: Sequence[Row]) -> str:
    """Counts by study, then every claim, in Markdown; and what is withheld and was not given."""
    heads = ("study", "claims", "then", "now, fully blind", "now, not fully blind", "not decided then", "not run now")
    studies = list(dict.fromkeys(j.study for j in found))
    out = [
        "Passed / failed / unclear.",
        "",
        *lines(heads, (_counts([j for j in found if j.study == s]) for s in studies)),
    ]
    for s in studies:
        own = [j for j in found if j.study == s]
        shown = ((j.id, j.statement, j.verdict_then, j.verdict_now, j.blind, j.note) for j in own)
        out += [f"## {s}", "", *lines(HEADS, shown), "", *lines(OF_PARTS, (p for j in own for p in j.parts))]
    known = {(j.study, j.id) for j in found}
    hidden = {(study_of(r), str(r["claim"])) for r in rows if r["verdict"] == "withheld"} - known
    missing = in_order(id for study, id in hidden if study in studies)
    return "\n".join([*out, *([f"Withheld, and nothing given: {', '.join(missing)}."] if missing else [])])


def _counts(of: Sequence[Judged]) -> list[object]:
    then = {j.id: j.verdict_then for j in of}
    by = [
        passed_failed_unclear({j.id: j.verdict_now for j in of if (j.blind == "fully") is fully})
        for fully in (True, False)
    ]
    absent = sum(j.verdict_now in (LATER, ABSENT) for j in of)
    return [of[0].study, len(of), passed_failed_unclear(then), *by, list(then.values()).count(OPEN), absent]


def main(arguments: Sequence[str]) -> None:
    rows = gathered.gather([Path(a) for a in arguments[1:]]).rows
    print(report(judge(read(Path(arguments[0])), rows), rows))


if __name__ == "__main__":
    main(sys.argv[1:])
