"""Published experiments: what they are, what they claim, and what comes out when they are run again.

| file | holds |
|---|---|
| `experiment` | an experiment, the study it belongs to, its results |
| `claims/` | claims, their bands and verdicts |
| `one` | one experiment, run and judged |
| `campaign` | many, each in a process of its own |
| `report` | the page of one |
| `readings` | what a source leaves open, and how claims come out under each reading of it |
| `pages` | the pages of docs/reproduction |
| `scoreboard` | a page of all claims |
| `explain` | phenomena: small runs that show one effect each |
| `new` | the files of a new experiment |
"""

from crosswind.reproduce.experiment import Definition, Experiment, Results, Study, Tables, Variant, published

__all__ = ["Definition", "Experiment", "Results", "Study", "Tables", "Variant", "published"]
