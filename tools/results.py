"""Writes the metric tables of docs/results.md, between its two marks, from the registry of the engine.

Usage: results.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from crosswind.core import registry

PAGE = Path(__file__).resolve().parent.parent / "docs/results.md"
BEGIN, END = "<!-- generated: metrics -->\n", "<!-- end -->\n"


def metrics() -> str:
    """One Markdown table for each kind of metric."""
    rows = [r["params"] for r in registry() if r["kind"] == "metric"]
    parts = []
    for kind in dict.fromkeys(r["kind"] for r in rows):
        parts.append(f"\n### {str(kind).replace('_', ' ').capitalize()}\n\n| name | unit | definition | source |\n")
        parts.append("|---|---|---|---|\n")
        for r in (r for r in rows if r["kind"] == kind):
            parts.append(f"| `{r['name']}` | {r['unit']} | {' '.join(r['definition'].split())} | {r['source']} |\n")
    return "".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    old = PAGE.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN)
    new = before + BEGIN + metrics() + END + rest.split(END)[1]
    if "--check" in arguments:
        print("docs/results.md is up to date" if new == old else "docs/results.md is out of date: run tools/results.py")
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
