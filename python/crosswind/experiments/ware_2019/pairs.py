"""How much does one flow of BBR have beside one of CUBIC or Reno, by buffer, and does it stay so?

One flow each over 10 Mbit/s and 40 ms for 240 and for 600 s, behind a quarter of a bandwidth-delay product up to 32
of them.

What the source shows: BBR takes nearly all behind shallow buffers and less than half behind deep ones, and its mean
goes on falling for minutes. The numbers are those that its replication measured.

What may differ here: as in `shares`. When a run has converged is not said, so the last column of WA29 is not judged;
`convergence` has the times, by a definition of its own.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.model import Path
from crosswind.experiments.ware_2019.study import BBR, OTHERS
from crosswind.reproduce import Picture, Results, Scenario, measures

PATH = Path(10, 40)
BUFFERS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LONG = (4.0, 8.0, 16.0, 32.0)
SHORT_S, LONG_S = 240, 600


def _cell(other: str, buffer_bdp: float, seconds: int = SHORT_S) -> str:
    return f"{other}, {buffer_bdp:g} BDP, {seconds} s"


def configurations() -> dict[str, Scenario]:
    """One against one: both laws and all buffers for four minutes, CUBIC and deep buffers for ten; one against 16."""
    asked = [(other, x, SHORT_S) for other in OTHERS for x in BUFFERS] + [("cubic", x, LONG_S) for x in LONG]
    pairs = {
        _cell(o, x, s): study.scenario(PATH, x, {"bbr": (1, BBR), "other": (1, OTHERS[o])}, s) for o, x, s in asked
    }
    many = study.scenario(PATH, 32, {"bbr": (1, BBR), "other": (16, OTHERS["cubic"])}, 300)
    return pairs | {"one of BBR, 16 of CUBIC": many}


def _goodputs(other: str, buffers: tuple[float, ...]) -> dict[str, Any]:
    return {
        f"{law}, {x:g} BDP": measures.value(_cell(other, x), column, np.mean)
        for law, column in (("BBR", "bbr"), (other, "other"))
        for x in buffers
    }


def _means(buffers: tuple[float, ...]) -> dict[str, Any]:
    return {
        f"{s // 60} min, {x:g} BDP": measures.value(_cell("cubic", x, s), "bbr", np.mean)
        for s in (SHORT_S, LONG_S)
        for x in buffers
    }


CLAIMS: dict[str, Any] = {
    "WA23": _goodputs("cubic", BUFFERS[:-1]),
    "WA24": _goodputs("cubic", BUFFERS[-1:]),
    "WA25": _goodputs("reno", BUFFERS),
    "WA26": {"BBR": measures.value("one of BBR, 16 of CUBIC", "bbr", np.mean)},
    "WA29": _means(LONG[:-1]),
    "WA30": {"4 min": measures.value(_cell("cubic", 32.0), "bbr", np.mean)},
}


def pictures(r: Results) -> list[Picture]:
    """Goodput of both by buffer, against CUBIC and against Reno."""
    return [_picture(r, other, id) for other, id in (("cubic", "WA23"), ("reno", "WA25"))]


def _picture(r: Results, other: str, id: str) -> Picture:
    rows = (("BBR", "bbr"), (other, "other"))
    ours = {law: {f"{x:g}": float(np.mean(r.of(_cell(other, x), c))) for x in BUFFERS} for law, c in rows}
    numbers = study.STUDY.book.numbers(id)
    printed = {
        law: {f"{x:g}": v for x in BUFFERS if (v := numbers.get(f"{law}, {x:g} BDP")) is not None} for law, _ in rows
    }
    title = f"Goodput of one flow of BBR and one of {other}, 10 Mbit/s, 40 ms."
    return figures.bars(f"pairs-{other}", title, ours, "goodput (Mbit/s)", printed, xlabel="buffer (BDP)")


EXPERIMENT = study.STUDY.experiment(__name__, "One flow of BBR against one other", where="goodput by buffer")
