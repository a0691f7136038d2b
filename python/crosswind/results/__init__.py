"""What came out of runs: their tables, in memory, in folders and for other programs.

| file | holds |
|---|---|
| `runs` | tables of runs, and the folder that they are saved into |
| `tables` | tables that are in memory, or read in part where they are large |
| `metrics` | metrics of one's own, out of samples |
| `outcomes` | how runs and flows ended, and which count |
| `summary` | tables for people |
| `export` | other formats |
| `folder` | a folder of results: who writes to it, and what in it belongs to which run |
| `place` | a folder, or an address of an object store |
| `sealed` | files with checksums |
| `interrupt` | Ctrl-C, held back while something is written |
"""

from crosswind.results.metrics import Metric, metric
from crosswind.results.runs import Runs

__all__ = ["Metric", "Runs", "metric"]
