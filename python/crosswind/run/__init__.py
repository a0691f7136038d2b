"""Running scenarios: many seeds on all cores, progress, window laws of one's own, runs that need not be made again.

| file | holds |
|---|---|
| `simulate` | scenarios in, tables out |
| `laws` | window laws of one's own |
| `progress` | a progress bar |
| `store` | finished runs by what went into them |
| `sharing` | runs that others have made |
"""

from crosswind.run.laws import WindowLaw, window_law
from crosswind.run.simulate import Ties, run

__all__ = ["Ties", "WindowLaw", "run", "window_law"]
