"""How much do RED's parameters matter to the late short transfer?

The three transfers at 2 and 5.5 s behind RED with the five parameter sets that the source tried (C1 to C10). Its
outcome is not known here; what is measured is reported.

What may differ here: as in B. Of the parameters only what tc makes of them reaches the kernel: bursts of 12 and 11
packets give a weight of 1/16, bursts of 9 and 8 one of 1/8; the maximum probability becomes 0.099, 0.092 or 0.076.
"""

from __future__ import annotations

from typing import Any

from crosswind.claims import Part
from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import parts, pictures, study, testbed
from crosswind.experiments.riva_2003.parts import across, report
from crosswind.figures import Picture
from crosswind.scenario import Scenario

STARTS_s = (2.0, 5.5)
SETS = [s.label for s in testbed.TRIED]
FIRST, SMALL_BURST, LOWER, LOW_MAX_SMALL_BURST, LOW_MAX = SETS


def name(start_s: float, label: str) -> str:
    """The name of a cell: `2 5000-18000-12`."""
    return f"{start_s:g} {label}"


CELLS = {s: [name(s, x) for x in SETS] for s in STARTS_s}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Five parameter sets at two starts."""
    reading = testbed.Reading(**variant)
    return {name(s, x.label): testbed.three("RED", s, reading, x) for s in STARTS_s for x in testbed.TRIED}


def _change(new: str, old: str, start_s: float = 2.0) -> Part:
    return parts.minus(f"{new} minus {old}", name(start_s, new), name(start_s, old), "third_elapsed_s")


CLAIMS = (
    parts.withheld(
        60, "2 s: elapsed time of the third transfer by parameter set", report(CELLS[2.0], "third_elapsed_s")
    ),
    parts.withheld(61, "5.5 s: the same", report(CELLS[5.5], "third_elapsed_s")),
    parts.withheld(
        62, "2 s: effect of a smaller burst", [_change(SMALL_BURST, FIRST), _change(LOW_MAX_SMALL_BURST, LOW_MAX)]
    ),
    parts.withheld(
        63, "2 s: effect of a lower max, and of lower thresholds", [_change(LOW_MAX, FIRST), _change(LOWER, FIRST)]
    ),
    parts.withheld(
        64,
        "Every set against drop-tail",
        [
            part
            for s in STARTS_s
            for part in parts.differences("minus drop-tail", [(c, f"a/TD {s:g}") for c in CELLS[s]], "third_elapsed_s")
        ],
    ),
    parts.withheld(
        65,
        "5.5 s: spread of the five medians",
        [
            across(
                "largest minus smallest",
                CELLS[5.5],
                "third_elapsed_s",
                parts.spread,
                unit="s",
            )
        ],
    ),
)


def pictures_of(r: Results) -> list[Picture]:
    """The five sets side by side."""
    curves = {f"start {s:g} s": (list(range(1, 6)), [r.of(c, "third_elapsed_s") for c in CELLS[s]]) for s in STARTS_s}
    caption = f"Elapsed time of the third transfer with five parameter sets (Table 5-6): 1 to 5 are {', '.join(SETS)}."
    return [pictures.against_start("table-5-6", caption, {"elapsed time (s)": curves}, "parameter set")]


EXPERIMENT = study.beside_drop_tail(
    "c",
    "Five parameter sets of RED",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    headline=parts.headline("third_elapsed_s", "s", [c for s in STARTS_s for c in CELLS[s]]),
)
