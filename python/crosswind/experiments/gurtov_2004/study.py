"""How the experiments of [Gurtov 2004] are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crosswind.claims import Claim
from crosswind.experiments.base import Experiment, Results, Variant
from crosswind.figures import Picture
from crosswind.scenario import Scenario

STUDY = "gurtov-2004"
SOURCE = "[Gurtov 2004]"


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
    reps: int = 1,
    quick_reps: int | None = None,
    **more: Any,
) -> Experiment:
    """An experiment of this study; `where` is its place in the source. Single traces need one repetition."""
    return Experiment(
        id=f"{STUDY}/{name}",
        title=title,
        source=f"{SOURCE} {where}",
        doc=doc or "",
        configurations=configurations,
        claims=claims,
        reps=reps,
        quick_reps=min(reps, 12) if quick_reps is None else quick_reps,
        figures=figures,
        variants=variants or {},
        **more,
    )


def withheld(number: int, statement: str, parts: Sequence[Any]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"G{number}", statement, "withheld", parts, withheld="yes")
