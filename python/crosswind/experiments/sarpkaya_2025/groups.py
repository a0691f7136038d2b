"""What share have n Prague flows beside m of CUBIC with ECN, by queue?

All over 10 ms and 100 Mbit/s for 60 s behind two bandwidth-delay products, or behind DualPI2; 1 to 25 flows each.

What the source printed: means of ten runs between virtual machines, totals of each side.

What may differ here: as in `pairs`.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.sarpkaya_2025 import study
from crosswind.experiments.sarpkaya_2025.study import GROUPS, Row, chosen, extreme
from crosswind.reproduce import Picture, Results, Scenario, measures


def configurations() -> dict[str, Scenario]:
    """All rows."""
    return {row.cell: study.scenario_of(row) for row in GROUPS}


def _fair(row: Row) -> float:
    return row.flows[0] / sum(row.flows)


def _excess(of: Any, aqm: Any) -> Any:
    """Prague's share less the fair one, over all rows of a queue."""
    rows = chosen(GROUPS, aqm=aqm)
    return lambda r: float(of([r.mean(row.cell, "share") - _fair(row) for row in rows]))


def _equal(aqm: str, n: int) -> Any:
    """Prague's share with as many flows on each side."""
    (row,) = chosen(GROUPS, aqm=aqm, flows=(n, n))
    return measures.value(row.cell, "share", np.mean)


def _by_number(aqm: str, *numbers: int) -> dict[str, Any]:
    return {f"{n} beside {n}": _equal(aqm, n) for n in numbers}


def _furthest(r: Results) -> float:
    """How far the share is from the fair one, behind queues by flow: the most."""
    rows = chosen(GROUPS, aqm=["FQ_Codel", "FQ_Codel_L4S"])
    return max(abs(r.mean(row.cell, "share") - _fair(row)) for row in rows)


CLAIMS: dict[str, Any] = {
    **{row.id: {"share": measures.value(row.cell, "share", np.mean)} for row in GROUPS},
    "LM-O1": {"furthest from fair": _furthest},
    "LM-O2": {
        "most above fair": _excess(max, "DualPI2"),
        "Prague's round trip, most": extreme(chosen(GROUPS, aqm="DualPI2"), "prague_ms", max),
        "CUBIC's, least": extreme(chosen(GROUPS, aqm="DualPI2"), "classic_ms", min),
        "CUBIC's, most": extreme(chosen(GROUPS, aqm="DualPI2"), "classic_ms", max),
    },
    "LM-O3": {"least above fair": _excess(min, "Codel"), **_by_number("Codel", 10, 25)},
    "LM-O4": _by_number("FIFO", 2, 5, 10),
    "LM-O5": _by_number("single_queue_FQ", 2, 5, 10, 25),
}


def pictures(r: Results) -> list[Picture]:
    """Prague's share by queue and numbers, with the printed one beside it."""
    known = [row for row in GROUPS if row.printed]
    ours = {"Prague": {row.cell: r.mean(row.cell, "share") for row in known}}
    printed = {row.cell: row.printed[0] / sum(row.printed) for row in known if row.printed}
    return [figures.bars("shares", "The share of all Prague flows, by row.", ours, "share", {"Prague": printed})]


EXPERIMENT = study.STUDY.experiment(__name__, "Several Prague flows beside CUBIC", where="several beside several")
