"""How much of a score came from bands and how much from models: old and new bands times old and new readings.

The bands before the corrections stand in the claims. The values before them are in `data/first-score.csv` beside a
study: what REPRODUCTION.md printed at commit 60ba0fc, with the engine and the readings of that day. Its column `part`
has the labels of now; where the same quantity was printed under another, that one stands in `printed_as`. The bands of
now are held against these printed values alone: where a rule asks for an interval, the value decides; where it asks for
our own scatter, or for a part that was not measured then, nothing is decided.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosswind.reproduce.claims import Claim, Part, overall
from crosswind.reproduce.claims.tally import distinct, in_order
from crosswind.reproduce.readings import FORMER, RANKS, Reading, passed_failed_unclear, worst
from crosswind.stats import Estimate
from crosswind.table import Table

FILE = "first-score.csv"
WHEN = "22 November 2026"
Row = Mapping[str, Any]
Verdicts = dict[str, str]


@dataclass(frozen=True)
class Column:
    """Verdicts by the bands of before and of now; `open` counts the claims that the bands of now say nothing about."""

    title: str
    before: Verdicts
    now: Verdicts
    open: int = 0


def package(study: str) -> Path:
    """Where the experiments of a study are."""
    return Path(__file__).parent.parent / "experiments" / study.replace("-", "_")


def values_then(study: str, folder: Path | None = None) -> list[dict[str, str]]:
    """What the first score printed, a row for each part; nothing for a study that has none.

    `folder`: where the study's data files are.
    """
    file = (folder or package(study) / "data") / FILE
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def first_score(study: str, claims: Sequence[Claim], folder: Path | None = None) -> Column | None:
    """The values of the first score, by both bands; None for a study that has none. `folder`: as in `values_then`."""
    rows = values_then(study, folder)
    if not rows:
        return None
    counted: dict[str, list[Claim]] = {}
    for c in claims:
        if c.kind == "evidence" and c.withheld == "no" and not c.needs:
            counted.setdefault(c.id, []).append(c)
    before: Verdicts = {}
    for r in rows:
        if r["claim"] in counted and r["verdict"] in RANKS:
            before[r["claim"]] = min(before.get(r["claim"], r["verdict"]), r["verdict"], key=RANKS.index)
    now = {id: v for id in before if (v := by_values(counted[id], rows))}
    title = f"values of the first score ({WHEN})"
    return Column(title, before, now, len(before) - len(now))


def by_values(claims: Sequence[Claim], then: Sequence[Row]) -> str | None:
    """The verdict of one claim (the parts of it that each experiment measures) by the bands of now on printed values.

    None where the values alone do not decide.
    """
    printed = {(r["claim"], r["part"]): r for r in then}
    verdicts = [_judged(p, printed.get((c.id, p.label))) for c in claims for p in c.parts if c.counts(p)]
    if "fail" in verdicts or None not in verdicts:
        return overall([v for v in verdicts if v is not None])  # type: ignore[misc]
    return None


def value_then(part: Part, printed: Row) -> float:
    """A printed value as the part measures it: shares as fractions."""
    return float(printed["value"]) / (100 if part.unit == "%" else 1)


def _judged(part: Part, printed: Row | None) -> str | None:
    """The verdict on a printed value by the criterion of now; None where that needs more than the value."""
    c = part.criterion
    if printed is None or printed["value"] in ("", "nothing") or c.covers is not None or c.ours is not None:
        return None
    value = value_then(part, printed)
    return c.judge(Estimate(value, value, value, max(int(printed["n"] or 1), c.least_n)))


def of_now(rows: Sequence[Row]) -> Column:
    """The runs of now, by both bands."""
    evidence = [r for r in rows if r.get("kind", "evidence") == "evidence"]
    now, before = (
        {id: str(v) for (_, id), v in distinct(evidence, key).items() if v in RANKS} for key in ("verdict", "earlier")
    )
    return Column("readings and engine of now", before, now)


def former(readings: Mapping[str, Sequence[Reading]], have: Collection[str] = ()) -> Column | None:
    """The former readings with the engine of now, where they were run; an experiment without one did not change.

    `readings`: experiment -> its readings, the main one first. `have`: experiments that have a former reading; those of
    which it was not run are named.
    """
    run = {name: r for name, one in readings.items() for r in one if r.name == FORMER and r.verdicts}
    if not run:
        return None
    chosen = {name: run.get(name, one[0]) for name, one in readings.items() if one}
    missing = [name for name in have if name not in run]
    title = "former readings, engine of now" + (f" (not run: {', '.join(missing)})" if missing else "")
    return Column(title, worst(chosen.values(), "earlier"), worst(chosen.values(), "verdicts"))


@dataclass(frozen=True)
class Share:
    """How many of the claims that were judged pass; `open` counts those that the values do not decide."""

    passed: int
    judged: int
    open: int = 0

    def text(self) -> str:
        share = f"{100 * self.passed / self.judged:.0f} %" if self.judged else "-"
        return share + (f" of {self.judged}, {self.open} not decided" if self.open else f" of {self.judged}")


def cells(then: Column | None, between: Column | None) -> dict[str, Share]:
    """The cells that stand beside the published result (d): a, the engine as it was, and c, by the bands of now.

    c is taken from the former readings with the engine of now where these were run: they decide every claim.
    """
    was, by_bands = then or between, between or then
    if was is None or by_bands is None:
        return {}
    return {"a": _share(was.before), "c": _share(by_bands.now, by_bands.open)}


def _share(verdicts: Verdicts, undecided: int = 0) -> Share:
    judged = [v for v in verdicts.values() if v != "error"]
    return Share(judged.count("pass"), len(judged), undecided)


def quadrants(then: Column | None, between: Column | None, now: Column) -> Table | None:
    """Passed / failed / unclear of distinct claims that are evidence. None when nothing is known of before."""
    columns = [c for c in (then, between, now) if c is not None]
    if len(columns) < 2:
        return None
    old, new, bands = columns[0], columns[-1], between or columns[0]
    rows = [
        [name, *(_shown(getattr(c, key), c.open if key == "now" else 0) for c in columns)]
        for name, key in (("bands of before", "before"), ("bands of now", "now"))
    ]
    column = ("first", "second")[columns.index(bands)]
    said = [f"By bands (down the {column} column): {_moved(bands.before, bands.now)}."]
    said += [f"By models (along the first row): {_moved(old.before, new.before)}."]
    added = sorted(set(new.now) - set(old.before))
    said += [f"New: {', '.join(in_order(added))}."] if added else []
    return Table(
        "Bands and readings", ["", *(c.title for c in columns)], rows, "Passed / failed / unclear. " + " ".join(said)
    )


def _shown(verdicts: Verdicts, undecided: int) -> str:
    return passed_failed_unclear(verdicts) + (f" ({undecided} not decided by these values)" if undecided else "")


def _moved(old: Verdicts, new: Verdicts) -> str:
    """Which claims have another verdict, in words."""
    moves: dict[str, list[str]] = {}
    for claim in old:
        if claim in new and old[claim] != new[claim]:
            moves.setdefault(f"{old[claim]} to {new[claim]}", []).append(claim)
    return "; ".join(f"{', '.join(in_order(ids))} {move}" for move, ids in sorted(moves.items())) or "nothing changes"


def aside(rows: Sequence[Row]) -> list[list[str]]:
    """Claims that leave the count: kind, how many, which."""
    kinds: dict[str, list[str]] = {}
    for r in rows:
        ids = kinds.setdefault(str(r.get("kind", "evidence")), [])
        if r["claim"] not in ids:
            ids.append(str(r["claim"]))
    return [
        [kind, str(len(ids)), ", ".join(in_order(ids))] for kind, ids in sorted(kinds.items()) if kind != "evidence"
    ]
