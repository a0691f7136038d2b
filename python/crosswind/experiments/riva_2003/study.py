"""How the experiments of [Riva 2003] are declared: 20 repetitions as published (`--reps 200` for tight medians)."""

from typing import Any

from crosswind.experiments.riva_2003 import measures, readings, testbed
from crosswind.reproduce import Experiment, Study
from crosswind.reproduce.claims.book import book

BOOK = book(__file__)
STUDY = Study(
    "riva-2003",
    testbed.SOURCE,
    BOOK,
    reps=20,
    quick_reps=4,
    tables=measures.tables,
    variants=readings.ALL,
    metrics=measures.METRICS,
    beside=("kernel", "former"),
)
experiment = STUDY.experiment


def printed(*ids: str) -> dict[str, float]:
    """The printed numbers of some claims by label."""
    return {label: v for id in ids for label, v in BOOK.numbers(id).items()}


def beside_drop_tail(module: str, title: str, **more: Any) -> Experiment:
    """An experiment that is compared with the three transfers behind drop-tail."""
    return experiment(module, title, uses=("a",), **more)
