"""Where in a TOML file a dotted path stands: best effort, for error messages only."""

from __future__ import annotations

import re

_TABLE = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")


def _parts(dotted: str) -> list[str]:
    return [p.strip("\"'") for p in _PART.findall(dotted)]


def places(text: str) -> list[tuple[list[str], int]]:
    """Every table header and key of the file with its 1-based line number, in order."""
    out: list[tuple[list[str], int]] = []
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _parts(header.group(1))
            out.append((table, number))
        elif key := _KEY.match(line):
            out.append((table + _parts(key.group(1)), number))
    return out


def line_of(text: str, path: str) -> int | None:
    """The line on which `path` (or the nearest thing that encloses it) is written; None when it is nowhere."""
    want = [p.split("[")[0] for p in path.split(".") if p]
    best: tuple[int, int] | None = None
    for parts, number in places(text):
        shared = len(parts)
        if shared and parts == want[:shared] and (best is None or shared > best[0]):
            best = (shared, number)
    return best[1] if best else None


def table_lines(text: str, table: str) -> list[int]:
    """All lines that open the table `table`, e.g. both headers of a table that is declared twice."""
    want = _parts(table)
    lines = text.splitlines()
    return [n for parts, n in places(text) if parts == want and _TABLE.match(lines[n - 1])]
