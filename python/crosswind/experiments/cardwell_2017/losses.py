"""What rate do BBR and loss-based laws keep on a line that loses packets at random?

One flow over 100 Mbit/s and 100 ms (and other round trips and rates), with 0.001 to 50 % of the data packets lost.

What the source shows: CUBIC has a tenth of the line at 0.1 % and stalls above 1 %, BBR keeps the line up to 5 %.
Its replication (Linux 4.11, an emulator without a limit of its queue) counts what leaves the line before the loss,
with retransmissions; so do the claims of it here.

What may differ here: windows of 6.25 MB as in the replication; five repetitions. BIC and Westwood are those of the
library with the recovery of Linux 6; Vegas is in `others`. Where BBR collapses is
contested: both counts are shown. The source's runs over a cellular link are in `cellular`.

Two kinds of BBR: that of the paper paces. In Linux 4.11 pacing is left to the queue `fq` ("BBR must be used with the fq
qdisc", says its source; a timer of TCP's own came with 4.13), and the scripts of the replication choose a congestion
control and no queue. So its rows, from CA17 on, are those of BBR without pacing, which only the window of two
products holds back.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.cardwell_2017 import study
from crosswind.reproduce import Picture, Results, Scenario, measures

PACED, UNPACED = "BBR", "BBR of 4.11"
SWEEP = (0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50)
LAW_LOSSES = {
    "CUBIC": SWEEP[:8],
    UNPACED: SWEEP,
    "Reno": (0.001, 0.01, 0.1, 1, 2, 5, 10),
    "BIC": (0.001, 0.01, 0.1, 1, 2, 5, 10),
    "Westwood": (0.001, 0.01, 0.1, 1, 5, 10),
}
MINUTE, HALF, TWO = 60, 30, 120
FAST, SLOW, SLOWEST = "100.27 Mbit/s", "10 Mbit/s", "1 Mbit/s"


class Cell(tuple[str, float, str, float, int]):
    """Law, loss in percent, rate, round trip in ms, seconds."""

    @property
    def name(self) -> str:
        law, loss, rate, rtt, seconds = self
        return f"{law} {loss:g} %, {rate.split()[0]} Mbit, {rtt:g} ms, {seconds} s"


def _cell(law: str, loss: float, rate: str = FAST, rtt: float = 100, seconds: int = MINUTE) -> Cell:
    return Cell((law, loss, rate, rtt, seconds))


def _cells() -> list[Cell]:
    found = [_cell(law, p, seconds=MINUTE) for law in ("CUBIC", UNPACED) for p in LAW_LOSSES[law]]
    found += [_cell(PACED, p, seconds=MINUTE) for p in SWEEP]
    found += [_cell(law, p, seconds=HALF) for law, losses in LAW_LOSSES.items() for p in losses]
    found += [_cell("CUBIC", p, rtt=r, seconds=TWO) for r in (2, 10, 100) for p in (0.01, 0.1, 1)]
    found += [_cell(UNPACED, p, rtt=r, seconds=TWO) for r in (2, 10, 100) for p in (0.1, 1, 20, 50)]
    found += [_cell(law, p, rtt=r, seconds=TWO) for law in ("CUBIC", UNPACED) for r in (200, 500) for p in (0.1, 1)]
    found += [_cell("CUBIC", p, SLOW, seconds=HALF) for p in (0.1, 1)]
    found += [_cell(UNPACED, p, SLOW, seconds=HALF) for p in (1, 20, 40, 50)]
    return found + [_cell(UNPACED, p, SLOWEST, seconds=HALF) for p in (40, 50)]


CELLS = _cells()


def configurations() -> dict[str, Scenario]:
    """One flow for each law, loss, rate, round trip and length of the run that the source has."""
    return {c.name: _scenario(c) for c in CELLS}


def _scenario(c: Cell) -> Scenario:
    law, loss, rate, rtt, seconds = c
    line = study.line(rate, rtt, "10000000 packets", loss / 100)
    return study.scenario(line, {"one": study.flow(law)}, seconds)


def _row(law: str, losses: tuple[float, ...], column: str = "departures", **cell: Any) -> dict[str, Any]:
    word = f"{cell['rtt']:g} ms, " if "rtt" in cell else ""
    return {f"{word}{p:g} %": measures.value(_cell(law, p, **cell).name, column, np.mean) for p in losses}


def _rtts(law: str, rtts: tuple[float, ...], losses: tuple[float, ...]) -> dict[str, Any]:
    return {k: v for r in rtts for k, v in _row(law, losses, rtt=r, seconds=TWO).items()}


def _kept(r: Results, loss: float) -> float:
    """BBR's goodput over what a line of 100 Mbit/s could deliver at most (headers and losses taken off)."""
    return r.mean(_cell(PACED, loss).name, "goodput") / (100.27 * 1448 / 1500 * (1 - loss / 100))


def _second_half(r: Results, loss: float) -> float:
    """What leaves the line after 30 s: the minute less its first half, which has the same random numbers."""
    minute, half = (r.mean(_cell(UNPACED, loss, seconds=s).name, "departures") for s in (MINUTE, HALF))
    return 2 * minute - half


def _knee(r: Results, column: str, law: str = UNPACED) -> float:
    """The smallest loss (%) at which BBR has less than half of what it has at 1 %."""
    at_one = r.mean(_cell(law, 1).name, column)
    below = [p for p in SWEEP if p > 1 and r.mean(_cell(law, p).name, column) < at_one / 2]
    return min(below, default=float("nan"))


def _formula(r: Results, loss: float) -> float:
    """CUBIC's departures over the rate that the deterministic model gives: the larger of CUBIC's and Reno's."""
    p, rtt_s, mss = loss / 100, 0.1, 1448 * 8e-6
    cubic = 1.054 * rtt_s**0.75 / p**0.75 * mss / rtt_s
    reno = 1.22 / p**0.5 * mss / rtt_s
    return r.mean(_cell("CUBIC", loss).name, "departures") / max(cubic, reno)


CLAIMS: dict[str, Any] = {
    "CA1": _row("CUBIC", (0.1,), "goodput"),
    "CA2": _row("CUBIC", (1, 5), "goodput"),
    "CA3": {f"{p:g} %": (lambda r, p=p: _kept(r, p)) for p in (0.001, 0.01, 0.1, 1, 2, 5)},
    "CA4": {"goodput at 20 %": measures.value(_cell(PACED, 20).name, "goodput", np.mean)},
    "CA15": _row("CUBIC", (0.001, 0.1, 1, 5, 10, 15)),
    "CA16": _row("CUBIC", (0.01, 2)),
    "CA17": {
        **_row(UNPACED, (0.001, 0.01, 0.1, 1, 2, 5, 15, 20, 25, 40)),
        "40 %, after 30 s": lambda r: _second_half(r, 40),
    },
    "CA18": _row(UNPACED, (10, 30, 50)),
    "CA19": _row("CUBIC", (0.001, 0.1, 1, 5), seconds=HALF),
    "CA20": _row(UNPACED, (0.001, 0.01, 0.1, 1, 2, 5, 15, 20, 25, 40), seconds=HALF),
    "CA21": _row("Reno", (0.001, 0.01, 0.1, 1, 2, 5, 10), seconds=HALF),
    "CA23": _row("Westwood", (0.001, 0.01, 5, 10), seconds=HALF),
    "CA24": {f"{law} {k}": v for law in ("Westwood", "BIC") for k, v in _row(law, (0.1, 1), seconds=HALF).items()},
    "CA25": _row("BIC", (0.001, 0.01, 2, 5, 10), seconds=HALF),
    "CA26": _rtts("CUBIC", (2, 10, 100), (0.01, 0.1, 1)),
    "CA27": {f"{law}, {k}": v for law in ("CUBIC", UNPACED) for k, v in _rtts(law, (200, 500), (0.1, 1)).items()},
    "CA28": _rtts(UNPACED, (2, 10, 100), (0.1, 1, 20, 50)),
    "CA29": {
        **{f"CUBIC {k}": v for k, v in _row("CUBIC", (0.1, 1), rate=SLOW, seconds=HALF).items()},
        **{f"BBR {k}": v for k, v in _row(UNPACED, (1, 20, 40, 50), rate=SLOW, seconds=HALF).items()},
    },
    "CA30": _row(UNPACED, (40, 50), rate=SLOWEST, seconds=HALF),
    "CA32": {
        "departures halve at": lambda r: _knee(r, "departures"),
        "goodput halves at": lambda r: _knee(r, "goodput"),
        "goodput with pacing halves at": lambda r: _knee(r, "goodput", PACED),
    },
    "CA33": {f"{p:g} %": (lambda r, p=p: _formula(r, p)) for p in (0.1, 1, 2, 5)},
}


def pictures(r: Results) -> list[Picture]:
    """What leaves the line, by loss: CUBIC and BBR in a minute."""
    book = study.STUDY.book
    ours = {
        law: {f"{p:g} %": r.mean(_cell(law, p).name, "departures") for p in losses}
        for law, losses in (("CUBIC", LAW_LOSSES["CUBIC"]), (PACED, SWEEP), (UNPACED, SWEEP))
    }
    printed = {"CUBIC": book.numbers("CA15"), UNPACED: book.numbers("CA17")}
    title = "What leaves a line of 100 Mbit/s, 100 ms, by random loss."
    return [figures.bars("losses", title, ours, "departures (Mbit/s)", printed, xlabel="loss")]


EXPERIMENT = study.STUDY.experiment(__name__, "Rates on a line that loses packets", where="loss sweep")
