"""How the experiments of [Järvinen 2006] are declared: 120 repetitions each, 40 in the combined workload."""

from __future__ import annotations

from crosswind.claims.book import book
from crosswind.experiments.base import Study
from crosswind.experiments.jarvinen_2006 import metrics, testbed

BOOK = book(__file__)
STUDY = Study("jarvinen-2006", testbed.SOURCE, tables=metrics.tables, grades=BOOK.grades())
experiment = STUDY.experiment
