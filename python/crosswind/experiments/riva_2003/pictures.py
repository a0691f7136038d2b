"""What figures against a start time show of a cell, measured and printed."""

from collections.abc import Mapping
from typing import Any

from crosswind.reproduce import Results


def curve(r: Results, labels: Mapping[float, str], column: str) -> tuple[list[float], list[Any]]:
    """The values of a column by start time; `labels`: start -> cell."""
    return list(labels), [r.of(c, column) for c in labels.values()]


def printed(labels: Mapping[float, str], numbers: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """The printed numbers of those cells that have one, by start time; `labels`: start -> cell."""
    known = {s: numbers[c] for s, c in labels.items() if c in numbers}
    return list(known), list(known.values())
