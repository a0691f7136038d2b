"""How much do RED's parameters matter to the late short transfer?

The three transfers at 2 and 5.5 s behind RED with the five parameter sets that the source tried (C1 to C10).

What the source printed: with each of them the late transfer is faster than behind drop-tail. At 2 s it needs 11.5 s
with the first set, 9.0 s with a smaller burst; at 5.5 s the sets lie within 2 s.

What may differ here: as in B. Of the parameters only what tc makes of them reaches the kernel: bursts of 12 and 11
packets give a weight of 1/16, bursts of 9 and 8 one of 1/8; the maximum probability becomes 0.099, 0.092 or 0.076.
"""

from typing import Any

from crosswind.experiments.riva_2003 import parts, pictures, study, testbed
from crosswind.figures import side_by_side
from crosswind.reproduce import Picture, Results, Scenario, measures

STARTS_s = (2.0, 5.5)
SETS = [s.label for s in testbed.TRIED]
FIRST, SMALL_BURST, LOWER, LOW_MAX_SMALL_BURST, LOW_MAX = SETS


def name(start_s: float, label: str) -> str:
    """The name of a cell: `2 5000-18000-12`."""
    return f"{start_s:g} {label}"


SET_NUMBERS = (1.0, 2.0, 3.0, 4.0, 5.0)
CELLS = {s: [name(s, x) for x in SETS] for s in STARTS_s}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Five parameter sets at two starts."""
    reading = testbed.reading(**variant)
    return {name(s, x.label): testbed.three("RED", s, reading, x) for s in STARTS_s for x in testbed.TRIED}


FIVE_OF = {s: [(c, f"a/TD {s:g}") for c in CELLS[s]] for s in STARTS_s}


def _two(new: str, old: str) -> tuple[str, str]:
    return name(2.0, new), name(2.0, old)


ELAPSED = "third_elapsed_s"
CLAIMS = {
    "R60": measures.each(CELLS[2.0], ELAPSED),
    "R61": measures.each(CELLS[5.5], ELAPSED),
    "R62": measures.differences([_two(SMALL_BURST, FIRST), _two(LOW_MAX_SMALL_BURST, LOW_MAX)], ELAPSED),
    "R63": measures.differences([_two(LOW_MAX, FIRST), _two(LOWER, FIRST)], ELAPSED),
    "R64": measures.differences([p for s in STARTS_s for p in FIVE_OF[s]], ELAPSED),
    "R65": {"largest minus smallest": measures.across(CELLS[5.5], ELAPSED, measures.spread)},
}


def pictures_of(r: Results) -> list[Picture]:
    """The five sets side by side."""
    cells = {f"start {s:g} s": dict(zip(SET_NUMBERS, CELLS[s], strict=True)) for s in STARTS_s}
    curves = {label: pictures.curve(r, at, ELAPSED) for label, at in cells.items()}
    marks = {label: pictures.printed(at, study.printed("R60", "R61")) for label, at in cells.items()}
    caption = f"Elapsed time of the third transfer with five parameter sets (Table 5-6): 1 to 5 are {', '.join(SETS)}."
    panel = "elapsed time (s)"
    return [side_by_side.against_start("table-5-6", caption, {panel: curves}, "parameter set", marks={panel: marks})]


EXPERIMENT = study.beside_drop_tail(
    __name__,
    "Five parameter sets of RED",
    figures=pictures_of,
    headline=parts.headline("third_elapsed_s", "s", [c for s in STARTS_s for c in CELLS[s]]),
)
