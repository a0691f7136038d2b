"""Tables and the page of `evaluate`: a matrix on top, verdicts, figures, every case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from crosswind.figures import Format
from crosswind.suites import evaluate_pictures, measured
from crosswind.suites.case import Measure
from crosswind.suites.evaluate import Evaluated
from crosswind.suites.outcomes import Difference
from crosswind.suites.page import case_table, cell, factor, written
from crosswind.table import Table

GENERAL = (
    Measure("utilisation", "use (%)", "higher", 1),
    Measure("delay_p50_ms", "median delay (ms)"),
    Measure("delay_p95_ms", "p95 delay (ms)"),
    Measure("dropped", "dropped (%)", digits=2),
    Measure("marked", "marked (%)", digits=2),
    Measure("retransmitted", "retransmitted (%)", digits=2),
    Measure("jain", "Jain", "higher", 3),
)
INTRODUCTION = (
    "RFC 9743 says which questions a new congestion control has to answer before the Internet may have it; it gives no "
    "numbers. Each row below is one such question as a scenario, with the one measure that answers it. All controls "
    "meet the same networks, starts and losses, so they are compared repetition by repetition. Use is the share of "
    "time in which the bottleneck was busy, delay the time that packets spent in its queue. A ratio is what the "
    "subject gets over what the others get (of two of its own flows: the second over the first); harm is the share of "
    "what others had without it that they lose. A verdict is only given from six repetitions on, where the 95 % "
    "interval of the difference excludes zero and the difference is a twentieth at least."
)
SIGNS = {"better": "+", "worse": "-", "no difference": "="}


def matrix(found: Evaluated) -> Table:
    """One row for each variant of a case with the measure that answers its question, one column for each subject."""
    cells = measured.cells(found.rows, [c.measures[0].column for c in found.cases])
    first, *others = found.subjects
    said = {(d.case, d.variant, d.against): SIGNS[d.words] for d in found.verdicts}
    rows = []
    for case in found.cases:
        m = case.measures[0]
        for variant in dict.fromkeys(v for c, v, _ in cells if c == case.id):
            values = [_plain(cells.get((case.id, variant, s), {}).get(m.column), m) for s in found.subjects]
            marks = "".join(said.get((case.id, variant, o), " ") for o in others)
            rows.append([f"{case.id}: {variant}", m.title, *values, marks])
    note = f"Medians of {found.setting.reps} repetitions."
    if others:
        note += f" Last column: {first} is better (+), worse (-), or no different (=) beside {', '.join(others)}."
    return Table("RFC 9743 in one table", ["case", "measure", first, *others, ""], rows, note)


def _plain(e: object, m: Measure) -> str:
    value = getattr(e, "value", math.nan)
    return "-" if math.isnan(value) else f"{value * factor(m):.{m.digits}f}"


def verdict_table(found: Evaluated) -> Table:
    """What the first subject did beside each of the others, with intervals."""
    first = next(iter(found.subjects))
    rows = [
        [f"{d.case}: {d.variant}", d.against, d.measure.title, cell(d.value, d.measure), _change(d), d.words]
        for d in found.verdicts
    ]
    note = "Medians with 95 % intervals. The change of a ratio is that of its distance from one, in doublings."
    heads = ["case", "beside", "measure", first, "change", f"{first} is"]
    return Table(f"Verdicts on {first}", heads, rows, note)


def _change(d: Difference) -> str:
    c, times = d.change, 1.0 if d.measure.better == "nearer" else factor(d.measure)
    value, low, high = (x * times for x in (c.value, c.low, c.high))
    digits = d.measure.digits
    return f"{value:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def write(found: Evaluated, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html, the figures and `cases.csv`; returns the path of the page."""
    tables = {
        "matrix": matrix(found),
        "verdicts": verdict_table(found),
        "cases": [(c, case_table(found, c, GENERAL, "controller")) for c in found.cases],
    }
    return written(found, "RFC 9743", INTRODUCTION, tables, evaluate_pictures.pictures(found), folder, command, formats)
