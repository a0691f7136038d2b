"""The scoreboard of reproductions: every claim of every experiment on one page, with the command that repeats it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crosswind import report
from crosswind.figures.spark import spark
from crosswind.reproduce.claims import MEANING, columns, tally

PARTS_DRAWN = 6


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
