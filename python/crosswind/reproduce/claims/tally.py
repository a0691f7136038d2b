"""Counting claims: distinct ones, evidence apart from calibration and from what holds by construction.

Several rows of one claim (it is looked at in several experiments) count once, with the worst of their verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosswind.reproduce.claims.claim import KINDS, VERDICTS, WORST_FIRST
from crosswind.reproduce.claims.rules import Verdict

Row = Mapping[str, Any]
NUMBERS = re.compile(r"(\d+)")


def in_order(claims: Iterable[str]) -> list[str]:
    """Claims by their numbers: R5 before R12."""
    return sorted(claims, key=lambda c: [(not w.isdigit(), int(w) if w.isdigit() else 0, w) for w in NUMBERS.split(c)])


def study_of(row: Row) -> str:
    """The study that a row belongs to: `riva-2003` of `riva-2003/a (kernel)`."""
    return str(row["experiment"]).split("/")[0]


def distinct(rows: Iterable[Row], key: str = "verdict") -> dict[tuple[str, str], Verdict]:
    """Study and claim -> the worst verdict of its rows; `key` is `verdict` or `earlier`."""
    rank = {v: i for i, v in enumerate((*WORST_FIRST, "not yet", "withheld", "pass", "reported"))}
    found: dict[tuple[str, str], Verdict] = {}
    for r in rows:
        id = (study_of(r), str(r["claim"]))
        verdict: Verdict = r.get(key, r["verdict"])
        if id not in found or rank[verdict] < rank[found[id]]:
            found[id] = verdict
    return found


@dataclass(frozen=True)
class Tally:
    """Distinct claims: those that are evidence by verdict, and the others by kind and verdict."""

    evidence: Mapping[str, int]
    apart: Mapping[str, Mapping[str, int]]

    @property
    def judged(self) -> int:
        """Claims that are evidence and have a verdict of their own."""
        return sum(n for v, n in self.evidence.items() if v in ("pass", "consistent", "unclear", "fail"))

    @property
    def aside(self) -> int:
        """Claims that are counted apart: calibration, by construction, reported."""
        return sum(sum(n.values()) for n in self.apart.values())

    @property
    def broken(self) -> int:
        """Claims with a broken measurement, of any kind."""
        return self.evidence["error"] + sum(k["error"] for k in self.apart.values())

    def text(self) -> str:
        """ "97 claims: 60 pass, 30 fail, 7 unclear; apart: 12 calibration, 5 by construction"."""
        whole = sum(self.evidence.values())
        said = ", ".join(f"{n} {v}" for v, n in self.evidence.items() if n)
        others = ", ".join(f"{sum(n.values())} {kind}" for kind, n in self.apart.items() if sum(n.values()))
        return f"{whole} claims" + (f": {said}" if said else "") + (f"; apart: {others}" if others else "")


def columns(rows: Iterable[Row]) -> list[Verdict]:
    """The verdicts that a table of counts has columns for: pass, unclear and fail, and what else occurs."""
    occur = set(distinct(rows).values()) - {"reported"}
    return [v for v in VERDICTS if v in ("pass", "unclear", "fail") or v in occur]


def tally(rows: Sequence[Row], key: str = "verdict") -> Tally:
    """Counts rows of claim tables; `key="earlier"` by the bands before the corrections."""
    found = distinct(rows, key)
    kinds = {(study_of(r), str(r["claim"])): str(r.get("kind", "evidence")) for r in rows}
    kinds |= {id: "reported" for id, v in found.items() if v == "reported"}

    def by_verdict(kind: str) -> dict[str, int]:
        some = [v for id, v in found.items() if kinds[id] == kind]
        return {v: some.count(v) for v in VERDICTS}

    return Tally(by_verdict("evidence"), {k: by_verdict(k) for k in KINDS if k != "evidence"})


def count(rows: Sequence[Row]) -> dict[str, int]:
    """How many distinct claims that are evidence have each verdict."""
    return dict(tally(rows).evidence)
