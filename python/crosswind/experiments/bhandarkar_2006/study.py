"""How the experiments of [Bhandarkar 2006] are declared. The source ran each once, as it seems."""

from __future__ import annotations

from collections.abc import Callable

from crosswind.claims import Claim, Part, between
from crosswind.experiments.base import Results, Study, Variant
from crosswind.experiments.bhandarkar_2006 import measures
from crosswind.stats import Estimate

SOURCE = "S. Bhandarkar, Ph.D. dissertation, Texas A&M University, 2006"
# Chapter II: time is what a run costs.
SHORT = Variant("230 s, of which 30 s are left out, in place of 1100 and 100", {"size": "quick"})
STUDY = Study("bhandarkar-2006", SOURCE, reps=5, quick_reps=1, tables=measures.tables)
experiment = STUDY.experiment


def span_s(size: str) -> tuple[float, float]:
    """Length of a run of chapter II, and how much of it is left out."""
    return (230.0, 30.0) if size == "quick" else (1100.0, 100.0)


def smaller(title: str) -> Variant:
    """What `--quick` leaves of an experiment."""
    return Variant(title, {"size": "quick"})


def claim(number: int, statement: str, published: str, *parts: Part) -> Claim:
    """A claim with its number in the specification."""
    return Claim(f"B{number}", statement, published, parts)


def holds(label: str, measure: Callable[[Results], Estimate]) -> Part:
    """A statement that is to be true: its measure is `yes(..)`."""
    return Part(label, measure, between(1, 1), "yes", digits=0)


def withheld(number: int, statement: str, *parts: Part) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"B{number}", statement, "withheld", parts, withheld="yes")
