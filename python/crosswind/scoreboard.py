"""The scoreboard of reproductions: every claim of every experiment on one page, with the command that repeats it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from crosswind import report
from crosswind.claims import columns, tally
from crosswind.errors import InputError

WIDTH, HEIGHT = 150, 16
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
    return list({(r["experiment"], r["claim"]): r for r in rows}.values())


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


def spark(part: dict[str, Any]) -> Markup:
    """The accepted band (grey), the measured value (dot) and its interval (line), as a small picture."""
    value = part.get("value")
    if value is None:
        return Markup("")
    low, high = part.get("low"), part.get("high")
    ends = [v for v in (value, low, high, part.get("accept_low"), part.get("accept_high")) if v is not None]
    left, right = min(ends), max(ends)
    room = (right - left) * 0.15 or abs(value) * 0.1 or 1.0
    left, right = left - room, right + room

    def at(v: float | None, other: float) -> float:
        return other if v is None or not math.isfinite(v) else (v - left) / (right - left) * WIDTH

    a, b = at(part.get("accept_low"), 0.0), at(part.get("accept_high"), float(WIDTH))
    x, y = at(value, 0.0), HEIGHT / 2
    line = f'<path d="M{at(low, x):.1f} {y}H{at(high, x):.1f}"/>' if low is not None and high is not None else ""
    label = f"accepted band, and the measured value {'inside' if a - 0.01 <= x <= b + 0.01 else 'outside'} it"
    return Markup(
        f'<svg class="spark" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}"><rect x="{a:.1f}" y="2" width="{max(b - a, 1.5):.1f}" height="{HEIGHT - 4}"/>{line}'
        f'<circle cx="{x:.1f}" cy="{y}" r="3.2"/></svg>'
    )
