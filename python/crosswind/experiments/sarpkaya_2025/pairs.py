"""What share has a Prague flow beside a classic one, by queue, buffer and law?

Both over 10 ms and 100 Mbit/s for 60 s; nine queues with 0.5 to 8 bandwidth-delay products of buffer; CUBIC without and
with ECN, and with a fall-back of Prague's that takes every path for a classic one; BBR of versions 1 and 3, the latter
with and without ECN.

What the source printed: means of ten runs between virtual machines, Prague as of Linux 5.15.

What may differ here: flows start within 20 ms; goodput counts slow start, as there. Prague is version 0.6. What holds
one queue of `fq` is CoDel whose own target is never met. The buffer of DualPI2 does not follow the column, as there.
Round trips are smoothed ones, sampled every 100 ms.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.sarpkaya_2025 import study
from crosswind.experiments.sarpkaya_2025.study import PAIRS, chosen, extreme
from crosswind.reproduce import Picture, Results, Scenario, measures

CUBICS = ["cubic", "cubic+ecn"]
FROM_1, FROM_2 = [1.0, 2.0, 4.0, 8.0], [2.0, 4.0, 8.0]
SINGLE, STEP_FQ = "single_queue_FQ", "FQ_Codel_L4S"
BY_FLOW = ["FQ", "FQ_Codel", STEP_FQ]


def configurations() -> dict[str, Scenario]:
    """All rows."""
    return {row.cell: study.scenario_of(row) for row in PAIRS}


def _share(of: Any, **wanted: Any) -> Any:
    return _all("share", of, **wanted)


def _all(column: str, of: Any, **wanted: Any) -> Any:
    """A column over the rows that fit; without Prague's fall-back unless it is named."""
    return extreme(chosen(PAIRS, **({"fallback": "off"} | wanted)), column, of)


def _pair_rtt(r: Results, buffer_bdp: float, other: str) -> float:
    """Mean of both flows' round trips in the single queue (ms)."""
    (row,) = chosen(PAIRS, aqm=SINGLE, buffer_bdp=buffer_bdp, other=other, fallback="off")
    return float(np.mean([r.mean(row.cell, f"{name}_ms") for name in study.BOTH]))


FAULTY = {"fallback": "linux-5.15", "other": "cubic+ecn"}

CLAIMS: dict[str, Any] = {
    **{row.id: {"share": measures.value(row.cell, "share", np.mean)} for row in PAIRS},
    "LA-O1": {"least": _share(min, aqm="Codel", other=CUBICS, buffer_bdp=FROM_2)},
    "LA-O2": {
        "CoDel, most": _share(max, aqm="Codel_drop", other=CUBICS, buffer_bdp=FROM_1),
        "CoDel, mean": _share(np.mean, aqm="Codel_drop", other=CUBICS, buffer_bdp=FROM_1),
        "PIE, most": _share(max, aqm="pie_drop", other=CUBICS),
    },
    "LA-O3": {"most": _share(max, aqm=SINGLE, other="cubic", buffer_bdp=FROM_1)},
    "LA-O4": {
        "least": _share(min, aqm=SINGLE, other="cubic+ecn", buffer_bdp=FROM_1),
        "most": _share(max, aqm=SINGLE, other="cubic+ecn", buffer_bdp=FROM_1),
    },
    "LA-O5": {
        "least": _share(min, aqm="FIFO", other=CUBICS),
        "most": _share(max, aqm="FIFO", other=CUBICS),
    },
    "LA-O6": {
        "least": _share(min, aqm=["FQ_Codel", STEP_FQ], other=CUBICS, buffer_bdp=FROM_1),
        "most": _share(max, aqm=["FQ_Codel", STEP_FQ], other=CUBICS, buffer_bdp=FROM_1),
    },
    "LA-O7": {
        "least": _share(min, aqm="DualPI2", other="cubic+ecn"),
        "most": _share(max, aqm="DualPI2", other="cubic+ecn"),
    },
    "LA-O7b": {"mean": _share(np.mean, aqm="DualPI2", other="cubic")},
    "LA-O8": {
        "Prague": _all("prague_ms", np.mean, aqm="DualPI2", other=CUBICS),
        "CUBIC": _all("classic_ms", np.mean, aqm="DualPI2", other=CUBICS),
    },
    "LA-O9": {
        "with a step, most": _all("prague_ms", max, aqm=STEP_FQ, other=CUBICS),
        "without, from 1 BDP, least": _all("prague_ms", min, aqm="FQ_Codel", other=CUBICS, buffer_bdp=FROM_1),
    },
    "LA-O10": {
        "2 BDP": lambda r: _pair_rtt(r, 2.0, "cubic"),
        "4 BDP": lambda r: _pair_rtt(r, 4.0, "cubic"),
    },
    "LA-O10b": {"2 BDP": lambda r: _pair_rtt(r, 2.0, "cubic+ecn"), "8 BDP": lambda r: _pair_rtt(r, 8.0, "cubic+ecn")},
    "LA-O11": {
        "DualPI2, mean": _share(np.mean, aqm="DualPI2", other="bbr"),
        "queues that drop, most": _share(max, aqm=["Codel_drop", "pie_drop"], other="bbr"),
    },
    "LA-O12": {
        "0.5 BDP": _share(np.mean, aqm="FIFO", other="bbr3", buffer_bdp=0.5),
        "4 BDP": _share(np.mean, aqm="FIFO", other="bbr3", buffer_bdp=4.0),
    },
    "LA-O12b": {"mean": _share(np.mean, aqm="DualPI2", other="bbr3+ecn")},
    "LA-O13": {
        "DualPI2": _share(np.mean, aqm="DualPI2", **FAULTY),
        "single queue": _share(np.mean, aqm=SINGLE, buffer_bdp=FROM_1, **FAULTY),
    },
    "LA-O14": {"least": _all("sum_mbps", min, aqm=BY_FLOW, other=CUBICS, buffer_bdp=FROM_1)},
}


def pictures(r: Results) -> list[Picture]:
    """Prague's share beside CUBIC with ECN by queue and buffer, with the printed one beside it."""
    rows = chosen(PAIRS, other="cubic+ecn", fallback="off")
    ours = {"Prague": {f"{x.aqm} {x.buffer_bdp:g}": r.mean(x.cell, "share") for x in rows}}
    known = {f"{x.aqm} {x.buffer_bdp:g}": x.printed[0] / sum(x.printed) for x in rows if x.printed}
    title = "Prague's share beside CUBIC with ECN, by queue and buffer in BDPs."
    return [figures.bars("shares", title, ours, "share", {"Prague": known})]


EXPERIMENT = study.STUDY.experiment(__name__, "Prague beside one classic flow", where="one flow beside one")
