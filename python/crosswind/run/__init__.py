"""Running scenarios: many seeds on all cores, progress, window laws of one's own, runs that need not be made again.

| file | holds |
|---|---|
| `simulate` | scenarios in, tables out |
| `laws` | window laws of one's own |
| `progress` | a progress bar |
| `wanted` | which runs are wanted, what each is called, which are missing |
| `work` | makes missing runs in threads, or wherever an executor takes them |
| `store` | finished runs by what went into them |
| `gather` | one table of many runs out of the shards that hold them |
| `kept` | runs that are made once: read where they are kept, else made |
"""

from crosswind.run.laws import WindowLaw, window_law
from crosswind.run.simulate import run
from crosswind.run.wanted import Ties

__all__ = ["Ties", "WindowLaw", "run", "window_law"]
