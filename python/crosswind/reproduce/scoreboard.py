"""The scoreboard of reproductions: every claim of every experiment on one page, with the command that repeats it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crosswind import report
from crosswind.errors import InputError
from crosswind.figures.spark import spark
from crosswind.reproduce.claims import MEANING, columns, tally

PARTS_DRAWN = 6


def collect(folder: Path) -> list[dict[str, Any]]:
    """All rows of the claims.json files below a folder, other readings left out. Raises InputError without any."""
    rows: list[dict[str, Any]] = []
    for file in sorted(folder.rglob("claims.json")):
        if "variants" not in file.relative_to(folder).parts:
            try:
                rows += json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as e:
                raise InputError(str(file), found=f"claims that cannot be read ({e})", expected="JSON") from None
    if not rows:
        raise InputError(str(folder), found="no claims", expected="results of `crosswind reproduce` at or below it")
    # An experiment with other values than the published one judges nothing.
    return list({(r["experiment"], r["claim"]): r for r in rows if not r.get("changed")}.values())


def write(rows: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Writes scoreboard.html."""
    sources: dict[str, list[dict[str, Any]]] = {}
    for r in rows:
        sources.setdefault(r["experiment"].split("/")[0], []).append(r)
    verdicts = columns(rows)
    table = [(s, _counts(some, verdicts)) for s, some in [*sources.items(), ("all", list(rows))]]
    experiments: dict[str, list[dict[str, Any]]] = {}
    for r in rows:
        shown = [(p, spark(p), _n(p)) for p in r["parts"][:PARTS_DRAWN]]
        experiments.setdefault(r["experiment"], []).append(
            {**r, "shown": shown, "hidden": len(r["parts"]) - len(shown)}
        )
    html = report.environment().get_template("scoreboard.html").render(
        title="Scoreboard of reproductions",
        verdicts=verdicts,
        meaning=MEANING,
        sources=table,
        experiments=experiments,
    )  # fmt: skip
    page = folder / "scoreboard.html"
    page.write_text(html, encoding="utf-8")
    return page


def _counts(rows: Sequence[dict[str, Any]], verdicts: Sequence[str]) -> list[int]:
    """Distinct claims by verdict, and those that are counted apart."""
    found = tally(rows)
    return [*(found.evidence[v] for v in verdicts), found.aside]


def _n(part: dict[str, Any]) -> int:
    return int(part.get("n") or 0)
