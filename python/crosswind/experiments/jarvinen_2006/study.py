"""How the experiments of [Järvinen 2006] are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crosswind.claims import Claim
from crosswind.experiments.base import Experiment, Results, Variant
from crosswind.experiments.jarvinen_2006 import measures, testbed
from crosswind.figures import Picture
from crosswind.scenario import Scenario

STUDY = "jarvinen-2006"


def experiment(
    name: str,
    title: str,
    doc: str | None,
    configurations: Callable[..., dict[str, Scenario]],
    claims: Sequence[Claim],
    *,
    figures: Callable[[Results], list[Picture]] = lambda _: [],
    variants: Mapping[str, Variant] | None = None,
    headline: Callable[[Results], dict[str, str]] = lambda _: {},
    reps: int = 120,
    uses: Sequence[str] = (),
    **more: Any,
) -> Experiment:
    """An experiment of this study, with its tables; `reps` is 120, or 40 in the combined workload."""
    return Experiment(
        id=f"{STUDY}/{name}",
        title=title,
        source=testbed.SOURCE,
        doc=doc or "",
        configurations=configurations,
        claims=claims,
        reps=reps,
        tables=more.pop("tables", measures.tables),
        figures=figures,
        variants=variants or {},
        headline=headline,
        uses=uses,
        **more,
    )
