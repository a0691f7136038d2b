"""How the experiments of [Järvinen 2006] are declared: 120 repetitions each, 40 in the combined workload."""

from __future__ import annotations

from crosswind.experiments.jarvinen_2006 import metrics, testbed
from crosswind.reproduce import Study
from crosswind.reproduce.claims.book import book

BOOK = book(__file__)
STUDY = Study("jarvinen-2006", testbed.SOURCE, tables=metrics.tables, grades=BOOK.grades())
experiment = STUDY.experiment
