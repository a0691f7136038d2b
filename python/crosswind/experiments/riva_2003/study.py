"""How the experiments of [Riva 2003] are declared: 20 repetitions as published (`--reps 200` for tight medians)."""

from __future__ import annotations

from crosswind.experiments.base import Study
from crosswind.experiments.riva_2003 import measures, readings, testbed

STUDY = Study("riva-2003", testbed.SOURCE, reps=20, quick_reps=4, tables=measures.tables, variants=readings.ALL)
experiment = STUDY.experiment
