"""How the experiments of [Järvinen 2006] are declared: 120 repetitions each, 40 in the combined workload."""

from crosswind.experiments.jarvinen_2006 import metrics, readings, testbed
from crosswind.reproduce import Study
from crosswind.reproduce.claims.book import book

BOOK = book(__file__)
STUDY = Study("jarvinen-2006", testbed.SOURCE, BOOK, tables=metrics.tables, readings=readings.WRITTEN)
experiment = STUDY.experiment


def printed(id: str, link: str = "") -> dict[str, float]:
    """The printed numbers of a claim by configuration, for the figures of one link."""
    front = f"{link} " if link else ""
    return {c.removeprefix(front): v for c, v in BOOK.numbers(id).items() if c.startswith(front)}
