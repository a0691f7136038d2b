"""How the experiments of [Riva 2003] are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crosswind.claims import Claim
from crosswind.experiments.base import Experiment, Results, Variant
from crosswind.experiments.riva_2003 import measures, readings, testbed
from crosswind.figures import Picture
from crosswind.scenario import Scenario

STUDY = "riva-2003"


def experiment(
    name: str,
    title: str,
    doc: str | None,
    configurations: Callable[..., dict[str, Scenario]],
    claims: Sequence[Claim],
    *,
    figures: Callable[[Results], list[Picture]] = lambda _: [],
    headline: Callable[[Results], dict[str, str]] = lambda _: {},
    variants: Mapping[str, Variant] | None = None,
    uses: Sequence[str] = (),
    **more: Any,
) -> Experiment:
    """An experiment of this study: 20 repetitions as published (`--reps 200` for tight medians)."""
    return Experiment(
        id=f"{STUDY}/{name}",
        title=title,
        source=testbed.SOURCE,
        doc=doc or "",
        configurations=configurations,
        claims=claims,
        reps=more.pop("reps", 20),
        quick_reps=more.pop("quick_reps", 4),
        tables=more.pop("tables", measures.tables),
        figures=figures,
        variants=readings.ALL if variants is None else variants,
        headline=headline,
        uses=uses,
        **more,
    )
