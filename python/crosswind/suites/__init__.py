"""Suites: many scenarios that put one question to several subjects, and one report.

| file | holds |
|---|---|
| `case` | what a suite is made of: a setting, cases, measures |
| `network` | the dumbbell of all cases, and what runs over it |
| `queues` | the cases of RFC 7928, for queues |
| `measured` | what came out: a row for each case, subject and repetition; verdicts with intervals |
| `characterise` | the verb for queues |
| `page` | tables, figures and the page of a suite |
"""

from crosswind.suites.case import QUICK, WHOLE, Case, Setting
from crosswind.suites.characterise import Characterised, characterise

__all__ = ["QUICK", "WHOLE", "Case", "Characterised", "Setting", "characterise"]
