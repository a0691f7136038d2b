"""How the experiments of [Bhandarkar 2006] are declared. The source ran each once, as it seems."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosswind.experiments.bhandarkar_2006 import measures, nets
from crosswind.reproduce import Configurations, Experiment, Scenario, Study, Variant, variants
from crosswind.reproduce.claims.book import book

SOURCE = "S. Bhandarkar, Ph.D. dissertation, Texas A&M University, 2006"
# Chapter II: time is what a run costs.
SHORT = Variant("230 s, of which 30 s are left out, in place of 1100 and 100", {"size": "quick"})
BOOK = book(__file__)
STUDY = Study(
    "bhandarkar-2006", SOURCE, BOOK, reps=10, quick_reps=1, tables=measures.tables, readings=variants(__file__)
)
LATER = "0.2 s"


def experiment(
    module: str,
    title: str,
    *,
    former: Mapping[str, Any] | None = None,
    **more: Any,
) -> Experiment:
    """One experiment; `former` is what its `configurations` was given before the readings were corrected.

    Every experiment has the reading `rto-200-ms`: timeouts of 0.2 s and more, as in ns-2 from October 2004 on.
    """
    floor = {"rto_min": LATER}
    readings = {"rto-200-ms": Variant("timeouts of 0.2 s and more", floor)}
    readings["former"] = Variant("as before the readings were corrected", floor | dict(former or {}))
    return STUDY.experiment(module, title, read=_waiting, variants=readings, **more)


def _waiting(configurations: Configurations) -> Configurations:
    def read(rto_min: str = "", **settings: Any) -> dict[str, Scenario]:
        found = configurations(**settings)
        return {k: nets.waiting(s, rto_min) for k, s in found.items()} if rto_min else found

    return read


def rows(file: str) -> list[dict[str, str]]:
    """The rows of a printed table, as text."""
    with (Path(__file__).parent / "data" / file).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def span_s(size: str) -> tuple[float, float]:
    """Length of a run of chapter II, and how much of it is left out."""
    return (230.0, 30.0) if size == "quick" else (1100.0, 100.0)


def smaller(title: str) -> Variant:
    """What `--quick` leaves of an experiment."""
    return Variant(title, {"size": "quick"})
