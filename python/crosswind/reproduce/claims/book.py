"""The claims of a study as data: `data/claims*.toml` beside its experiments.

```toml
[defaults]                     # of every claim in this file
n = 20                         # printed repetitions of a cell

[R41]
statement = "RED is faster for the third transfer at every start"
where = "Table 5-4"            # place in the source
grade = "S"                    # how firm the claim is: S, M or W
unit = "s"
digits = 2
first = "< 0"                  # accepted before the corrections; what stands here holds for every part

[R41.parts]                    # label -> a printed number, [number, IQR], a text, or keys
"RED 0 minus a/TD 0" = -2.0
"RED 2 minus a/TD 2" = { print = -11.8, iqr = [3.2, 8.5], rule = "S9" }
"ratio at 2 s" = { print = 2.03, unit = "", first = ">= 1.6" }
```

Experiments name a claim and give its measures by the same labels; a label with `*` stands for all that match and are
not named. `print` holds what the source prints and nothing else; a value that is derived, inferred or measured by
another program goes into `ours`. `chosen` says which tolerance is ours because the source gives none. Bands are
written in the words of `bands`, rules are those of `rules`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

from crosswind.errors import InputError, did_you_mean
from crosswind.reproduce.claims import rules
from crosswind.reproduce.claims.bands import FREE, Band, read_band
from crosswind.reproduce.claims.claim import KINDS, Claim, Measure, Part
from crosswind.reproduce.claims.rules import RULES, Criterion, Printed

#: How a part is judged; these may stand at the claim or in `[defaults]`, for all parts.
SHARED = (
    *("unit", "digits", "n", "iqr", "rule", "first", "band", "effect", "says", "percentile", "no_effect"),
    *("print", "printed", "ours"),
)
OF_PART = (*SHARED, "kind", "set")
OF_CLAIM = (
    *(
        "statement",
        "chosen",
        "where",
        "grade",
        "kind",
        "set",
        "withheld",
        "needs",
        "published",
        "cause",
        "because",
    ),
    *("change", "parts", *SHARED),
)
CAUSES = ("model", "set-up", "source", "reading", "open")
SETS = ("both", "first", "corrected")
Row = dict[str, Any]


@dataclass(frozen=True)
class Book:
    """The claims of a study by id, as their data files give them."""

    entries: Mapping[str, Row]
    files: Mapping[str, str]

    def claims(
        self, measured: Mapping[str, Mapping[str, Measure] | Measure], partly: Collection[str] = ()
    ) -> tuple[Claim, ...]:
        """The claims that an experiment measures: id -> label -> measure, or one measure for a claim of one part.

        `partly` names claims of which other experiments measure other parts. Raises InputError for an unknown id, and
        for labels of the data file that nothing measures.
        """
        return tuple(self.claim(id, found, "some" if id in partly else "every") for id, found in measured.items())

    def claim(
        self, id: str, measured: Mapping[str, Measure] | Measure, labels: Literal["every", "some"] = "every"
    ) -> Claim:
        """One claim; `labels="some"`: other experiments measure other parts of it."""
        if id not in self.entries:
            known = sorted(set(self.files.values())) or ["no claims.toml"]
            raise InputError(
                ", ".join(known),
                found=f"no claim `{id}`",
                expected=f"a table [{id}]",
                hint=did_you_mean(id, self.entries),
            )
        entry = self.entries[id]
        rows: dict[str, Row] = entry.get("parts", {})
        where = f"{self.files[id]}: {id}"
        if callable(measured):
            measured = {next(iter(rows), "value"): measured}
        exact = [label for label in rows if "*" not in label]
        if labels == "every" and (missing := [label for label in exact if label not in measured]):
            raise InputError(
                where, "parts", f"`{missing[0]}`, which no experiment measures", f"one of {', '.join(measured)}"
            )
        shared = {k: v for k, v in entry.items() if k in SHARED}
        parts = [_Reader(where, label, entry).part(m, shared | _row(rows, label)) for label, m in measured.items()]
        texts = [p.published for p in parts if p.published]
        return Claim(
            id,
            entry["statement"] + (f" (tolerance chosen here: {entry['chosen']})" if "chosen" in entry else ""),
            "withheld" if entry.get("withheld") else entry.get("published", ", ".join(dict.fromkeys(texts))),
            parts,
            needs=entry.get("needs", ""),
            withheld="yes" if entry.get("withheld") else "no",
            kind=entry.get("kind", "evidence"),
            where=entry.get("where", ""),
            cause=entry.get("cause", ""),
            because=entry.get("because", ""),
            change=entry.get("change", ""),
            set=entry.get("set", "both"),
        )

    def number(self, id: str, label: str) -> float:
        """A printed number, for a figure."""
        return float(self._part(id, label)["print"])

    def numbers(self, id: str, labels: Sequence[str] | None = None) -> dict[str, float]:
        """The printed numbers of a claim by label: marks in a figure."""
        rows = {label: keys_of(row) for label, row in self.entries[id].get("parts", {}).items() if "*" not in label}
        wanted = rows if labels is None else {k: rows[k] for k in labels}
        return {k: float(r["print"]) for k, r in wanted.items() if isinstance(r.get("print"), int | float)}

    def _part(self, id: str, label: str) -> Row:
        return {k: v for k, v in self.entries[id].items() if k in SHARED} | _row(self.entries[id]["parts"], label)

    def grades(self) -> dict[str, str]:
        """How firm each claim is."""
        return {id: e["grade"] for id, e in self.entries.items() if "grade" in e}


@cache
def book(here: str) -> Book:
    """The book of the study whose module is `here` (`__file__`): all files `data/claims*.toml` beside it.

    Raises InputError for a file that cannot be read, an unknown key, a claim that stands twice.
    """
    return load(sorted((Path(here).parent / "data").glob("claims*.toml")))


def load(files: Sequence[Path]) -> Book:
    """A book out of its files."""
    entries: dict[str, Row] = {}
    places: dict[str, str] = {}
    for file in files:
        try:
            whole = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as e:
            raise InputError(str(file), found=f"a file that cannot be read ({e})", expected="TOML") from None
        defaults = whole.pop("defaults", {})
        _known(f"{file.name}: defaults", defaults, (*SHARED, "grade", "where", "withheld"))
        for id, entry in whole.items():
            if id in entries:
                raise InputError(file.name, id, f"a second time (first in {places[id]})", "each claim once")
            check_entry(f"{file.name}: {id}", entry)
            entries[id], places[id] = defaults | entry, file.name
    return Book(entries, places)


def _known(where: str, row: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in row:
        if key not in keys:
            raise InputError(
                where, found=f"the key `{key}`", expected=f"one of {', '.join(keys)}", hint=did_you_mean(key, keys)
            )


def _one_of(where: str, row: Mapping[str, Any], key: str, valid: Sequence[str]) -> None:
    if key in row and row[key] not in valid:
        expected = f"one of {', '.join(valid)}"
        raise InputError(where, key, f"`{row[key]}`", expected, did_you_mean(str(row[key]), valid))


def check_entry(where: str, entry: Any) -> None:
    """Raises InputError for a claim with unknown keys or values, or without what it needs."""
    if not isinstance(entry, dict):
        raise InputError(where, found=f"`{entry}`", expected="a table of a claim")
    _known(where, entry, OF_CLAIM)
    for key, valid in (("kind", KINDS), ("cause", CAUSES), ("set", ("both", "corrected"))):
        _one_of(where, entry, key, valid)
    if "statement" not in entry:
        raise InputError(where, found="no `statement`", expected="the claim in one sentence")
    if ("cause" in entry) != ("because" in entry):
        raise InputError(where, found="only one of `cause` and `because`", expected="both: the kind and the sentence")
    for label, row in entry.get("parts", {}).items():
        at = f"{where}.parts.{label}"
        _known(at, keys_of(row), OF_PART)
        for key, kinds in (("kind", KINDS), ("set", SETS), ("rule", (*RULES, "none"))):
            _one_of(at, keys_of(row), key, kinds)


def keys_of(row: Any) -> Row:
    """A row with all its keys: `14.25` is its print, `[14.25, 3.1]` print and IQR, a text what was printed in words."""
    if isinstance(row, dict):
        return row
    if isinstance(row, list):
        return {"print": row[0], "iqr": row[1] if len(row) == 2 else row[1:]}
    return {"printed": row} if isinstance(row, str) else {"print": row}


def _row(rows: Mapping[str, Any], label: str) -> Row:
    """What the data file says of a label: patterns first, then what stands at its own name.

    The kind of a pattern is that of labels without a row of their own.
    """
    found: Row = {}
    for pattern, row in rows.items():
        if "*" in pattern and fnmatchcase(label, pattern):
            found |= keys_of(row)
    if label in rows:
        found.pop("kind", None)
    return found | keys_of(rows.get(label, {}))


@dataclass(frozen=True)
class _Reader:
    """Makes parts of one claim; `where` names file and claim in errors."""

    where: str
    label: str
    entry: Row

    def part(self, measure: Measure, row: Row) -> Part:
        if row.get("kind") == "reported":  # What the claim says of all its parts is not for one that is only shown.
            row = {k: v for k, v in row.items() if k not in ("band", "first", "effect", "rule")}
        band, first = (self._band(row, key) for key in ("band", "first"))
        chosen = row.get("set", "both")
        free = bool(self.entry.get("withheld")) or "reported" in (self.entry.get("kind"), row.get("kind"))
        rule = row.get("rule", "").replace("none", "")
        if not free and band is None and first is None and not rule:
            self._fail("neither `first` nor `band` nor `rule`", "what is accepted, or `reported`")
        old = chosen == "first" or (chosen == "both" and self.entry.get("set", "both") == "both")
        if not free and old and first is None:
            self._fail("no `first`", 'the band before the corrections, or `set = "corrected"`')
        printed = self._printed(row, band if band is not None else first)
        now = self._criterion(rule, printed, chosen)
        unit = row.get("unit", "")
        return Part(
            self.label,
            measure,
            now.accept,
            row.get("printed") or _show(row.get("print"), unit),
            unit,
            int(row.get("digits", 1)),
            rule=now,
            first=None if first is None else Criterion(first),
            agrees=rules.agreement(rule, printed) if printed.iqr or rule == "S3" else None,
            ours=_show(row.get("ours"), unit),
            printed=printed.value,
            kind=row.get("kind"),
            set=chosen,
        )

    def _fail(self, found: str, expected: str) -> None:
        raise InputError(self.where, f"parts.{self.label}", found, expected)

    def _band(self, row: Row, key: str) -> Band | None:
        if key not in row:
            return None
        centre = row.get("print", row.get("ours"))
        at = f"{self.where}.parts.{self.label}.{key}"
        return read_band(str(row[key]), float(centre) if isinstance(centre, int | float) else None, at)

    def _printed(self, row: Row, band: Band | None) -> Printed:
        value, iqr, effect = row.get("print"), row.get("iqr", ()), self._band(row, "effect")
        return Printed(
            float(value) if isinstance(value, int | float) else None,
            tuple(iqr) if isinstance(iqr, list | tuple) else (float(iqr),),
            int(row.get("n", 0)),
            band,
            effect,
            str(row.get("says", "")),
            int(row.get("percentile", 25)),
            row.get("no_effect"),
        )

    def _criterion(self, rule: str, printed: Printed, chosen: str) -> Criterion:
        if not rule or chosen == "first":
            return Criterion(printed.band or FREE, effect=printed.effect)
        make: Callable[[Printed], Criterion] = RULES[rule]
        try:
            return make(printed)
        except ValueError as e:
            raise InputError(
                self.where, f"parts.{self.label}", f"rule {rule}, which {e}", "it beside the rule"
            ) from None


def _show(value: Any, unit: str) -> str:
    """A printed value with its unit."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value * 100:g} %" if unit == "%" else f"{value:g} {unit}".rstrip()
