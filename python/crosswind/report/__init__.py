"""Reports: one self-contained page with tables, figures and everything needed to run it again.

| file | holds |
|---|---|
| `page` | the pages of runs, sweeps and comparisons |
| `comparison` | two sets of runs side by side |
"""

from crosswind.report.page import (
    comparison_page,
    environment,
    facts,
    for_page,
    prose,
    run_report,
    scenario_texts,
    sweep_page,
    write,
)

__all__ = [
    "comparison_page",
    "environment",
    "facts",
    "for_page",
    "prose",
    "run_report",
    "scenario_texts",
    "sweep_page",
    "write",
]
