"""How the experiments of [Bhandarkar 2006] are declared. The source ran each once, as it seems."""

from __future__ import annotations

from crosswind.claims.book import book
from crosswind.experiments.base import Study, Variant
from crosswind.experiments.bhandarkar_2006 import measures

SOURCE = "S. Bhandarkar, Ph.D. dissertation, Texas A&M University, 2006"
# Chapter II: time is what a run costs.
SHORT = Variant("230 s, of which 30 s are left out, in place of 1100 and 100", {"size": "quick"})
BOOK = book(__file__)
STUDY = Study("bhandarkar-2006", SOURCE, reps=5, quick_reps=1, tables=measures.tables, grades=BOOK.grades())
experiment = STUDY.experiment


def span_s(size: str) -> tuple[float, float]:
    """Length of a run of chapter II, and how much of it is left out."""
    return (230.0, 30.0) if size == "quick" else (1100.0, 100.0)


def smaller(title: str) -> Variant:
    """What `--quick` leaves of an experiment."""
    return Variant(title, {"size": "quick"})
