"""[Gurtov 2004]: the tables that its figures show are those of its claims."""

from __future__ import annotations

import pytest

from crosswind.experiments.gurtov_2004 import traces
from crosswind.experiments.gurtov_2004.study import BOOK
from crosswind.reproduce.experiment import published

# Table, column, claim, and how labels of the claim read as configurations.
BOTH = {"with Eifel": "Reno-SACK, on", "without": "Reno-SACK, off"}


@pytest.mark.parametrize(
    ("number", "column", "claim", "named"),
    [
        ("4-1", "time_s", "G11", BOTH),
        ("4-1", "segments", "G12", BOTH),
        ("4-1", "genuine", "G13", BOTH),
        ("4-2", "segments", "G18", {}),
        ("4-2", "genuine", "G17", {"NewReno-SACK on": "NewReno-SACK, on", "FACK on": "FACK, on"}),
    ],
)
def test_printed_tables_are_those_of_the_claims(number: str, column: str, claim: str, named: dict[str, str]) -> None:
    table = published(f"table_{number}.csv", traces.__file__)
    labels = {k: named.get(k, k) for k in BOOK.numbers(claim)}
    shared = {k: table[column, c] for k, c in labels.items() if (column, c) in table}
    assert len(shared) >= 2 and set(named) <= set(shared)
    assert shared == BOOK.numbers(claim, list(shared))
