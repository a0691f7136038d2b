"""The claims of published experiments: one vocabulary for all studies.

| file | holds |
|---|---|
| `bands` | the values that a claim accepts |
| `rules` | the rules S0 to S11, by which samples are compared |
| `claim` | claims, their parts, verdicts and kinds |
| `quantities` | what is measured before it is estimated: one is computed out of others |
| `measures` | what experiments measure: statistics, changes, orders, shares, extremes |
| `book` | the data file beside a study: published values, spreads, bands, rules |
| `tally` | counting: distinct claims, evidence apart from calibration |
"""

from crosswind.reproduce.claims.bands import (
    FREE,
    Band,
    above,
    at_least,
    at_most,
    below,
    between,
    near,
    read_band,
    within,
)
from crosswind.reproduce.claims.claim import (
    KINDS,
    MEANING,
    VERDICTS,
    BrokenClaimError,
    Checked,
    Claim,
    Kind,
    Measure,
    MeasuredPart,
    MissingDataError,
    Part,
    estimated,
    judge,
    needed,
    overall,
)
from crosswind.reproduce.claims.rules import Criterion, Printed, Seeds, Verdict
from crosswind.reproduce.claims.tally import Tally, columns, count, tally

__all__ = [
    "FREE",
    "KINDS",
    "MEANING",
    "VERDICTS",
    "Band",
    "BrokenClaimError",
    "Checked",
    "Claim",
    "Criterion",
    "Kind",
    "Measure",
    "MeasuredPart",
    "MissingDataError",
    "Part",
    "Printed",
    "Seeds",
    "Tally",
    "Verdict",
    "above",
    "at_least",
    "at_most",
    "below",
    "between",
    "columns",
    "count",
    "estimated",
    "judge",
    "near",
    "needed",
    "overall",
    "read_band",
    "tally",
    "within",
]
