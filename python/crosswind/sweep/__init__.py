"""Sweeps: many configurations of one scenario, on this machine or on others, resumed where they were stopped.

| file | holds |
|---|---|
| `design` | what varies: grids, zips, random and Latin hypercube samples |
| `plan` | the points of a sweep, their labels and columns |
| `cluster` | running them on other machines |
| `sweeps` | a sweep from its design to its tables |
| `summary` | its results for people |
| `report` | its page and figures |
"""

from crosswind.sweep.sweeps import Sweep, sweep

__all__ = ["Sweep", "sweep"]
