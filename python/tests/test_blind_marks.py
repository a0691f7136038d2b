"""Withheld claims whose experiments were in view when a reading was chosen carry the mark *not fully blind*."""

from __future__ import annotations

import pytest

from crosswind.experiments.bhandarkar_2006.study import BOOK as BHANDARKAR
from crosswind.experiments.gurtov_2004.study import BOOK as GURTOV
from crosswind.experiments.igarashi.study import BOOK as IGARASHI
from crosswind.experiments.jarvinen_2006.study import BOOK as JARVINEN
from crosswind.experiments.riva_2003.study import BOOK as RIVA
from crosswind.reproduce.claims.book import Book


def claims(front: str, *numbers: int | range) -> set[str]:
    """`J115` to `J117` and `J124` of `claims("J", range(115, 118), 124)`."""
    return {f"{front}{n}" for some in numbers for n in (some if isinstance(some, range) else (some,))}


# By study: claims of which everything withheld was in view, and those of which some parts were.
NOT_FULLY_BLIND: dict[str, tuple[Book, set[str], set[str]]] = {
    "jarvinen-2006": (JARVINEN, claims("J", range(115, 122), 124, 125), {"J128"}),
    "bhandarkar-2006": (BHANDARKAR, claims("B", 106, 107, range(125, 130)), set()),
    "gurtov-2004": (GURTOV, claims("G", 63, 65, 66), set()),
    "riva-2003": (RIVA, claims("R", range(60, 66), 89, 90, 91, 95, 97, 99), set()),
    "igarashi": (IGARASHI, claims("IC7.", range(18, 25)) | {"IC4.19"}, set()),
}


@pytest.mark.parametrize("study", NOT_FULLY_BLIND)
def test_marks_are_those_of_the_corrections_and_no_others(study: str) -> None:
    book, whole, partly = NOT_FULLY_BLIND[study]
    marks = {id: entry["blind"] for id, entry in book.entries.items() if "blind" in entry}
    assert set(marks) == whole | partly
    assert {id for id, mark in marks.items() if mark == "not fully blind"} == whole
    assert all(marks[id].startswith("not fully blind: ") for id in partly)
    assert {id for id in marks if book.entries[id].get("withheld")} == whole
