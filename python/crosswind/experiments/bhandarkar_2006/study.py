"""How the experiments of [Bhandarkar 2006] are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crosswind.claims import Claim, Part
from crosswind.experiments.base import Experiment, Results, Variant
from crosswind.experiments.bhandarkar_2006 import measures
from crosswind.figures import Picture
from crosswind.scenario import Scenario

STUDY = "bhandarkar-2006"
SOURCE = "S. Bhandarkar, Ph.D. dissertation, Texas A&M University, 2006"
QUICK = {
    "quick": Variant(
        "Rates and times divided so that it takes seconds: orderings survive, numbers with a unit do not",
        {"size": "quick"},
    )
}


def experiment(
    name: str,
    title: str,
    doc: str | None,
    configurations: Callable[..., dict[str, Scenario]],
    claims: Sequence[Claim],
    *,
    where: str,
    figures: Callable[[Results], list[Picture]] = lambda _: [],
    variants: Mapping[str, Variant] | None = None,
    reps: int = 5,
    **more: Any,
) -> Experiment:
    """An experiment of this study; `where` is its place in the source. The source ran each once, as it seems."""
    return Experiment(
        id=f"{STUDY}/{name}",
        title=title,
        source=f"{SOURCE}, {where}",
        doc=doc or "",
        configurations=configurations,
        claims=claims,
        reps=reps,
        quick_reps=min(reps, 2),
        tables=more.pop("tables", measures.tables),
        figures=figures,
        variants=variants or {},
        **more,
    )


def claim(number: int, statement: str, published: str, *parts: Part) -> Claim:
    """A claim with its number in the specification."""
    return Claim(f"B{number}", statement, published, parts)


def withheld(number: int, statement: str, *parts: Part) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"B{number}", statement, "withheld", parts, withheld="yes")
