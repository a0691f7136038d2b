"""Suites: many scenarios that put one question to several subjects, and one report.

| file | holds |
|---|---|
| `case` | what a suite is made of: a setting, cases, measures; what it answers |
| `network` | the dumbbell of all cases, and what runs over it |
| `queues` | the cases of RFC 7928, for queues |
| `controllers` | the cases of RFC 9743, for congestion controls |
| `measured` | what came out: a row for each case, subject and repetition; verdicts with intervals |
| `outcomes` | what else came out for a congestion control: harm, convergence; differences with intervals |
| `characterise` | the verb for queues; `page` and `pictures`, what it shows |
| `evaluate` | the verb for congestion controls; `evaluate_page` and `evaluate_pictures`, what it shows |
| `clauses/` | `audit`: a congestion control before the clauses of the standards, case by case |
"""

from crosswind.suites.case import QUICK, WHOLE, Case, Setting
from crosswind.suites.characterise import Characterised, characterise
from crosswind.suites.clauses.audit import Audit
from crosswind.suites.clauses.examine import audit
from crosswind.suites.evaluate import Evaluated, evaluate

__all__ = [
    "QUICK", "WHOLE", "Audit", "Case", "Characterised", "Evaluated", "Setting", "audit", "characterise", "evaluate",
]  # fmt: skip
