"""What share of a link do N flows of BBR have beside one loss-based flow, and does the model say it?

Runs of 200 or 400 s over two paths, against CUBIC and against Reno, with 1 to 32 flows of BBR and a drop-tail queue
of 1 to 64 bandwidth-delay products.

What the source shows: about a third to a half of the link for BBR behind deep buffers, however many loss-based
flows there are, and nearly all of it behind shallow ones or with many flows. The numbers are those that its
replication measured.

What may differ here: hosts acknowledge every second segment and have no segmentation offload; the flows start
within one round trip; five repetitions. Cells that our summary leaves out (a window of the test hosts limits them)
are not run.
"""

import itertools
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.study import BBR, OTHERS, SETTINGS, Cell
from crosswind.reproduce import Picture, Results, Scenario

CELLS = study.cells()
GROUPS = {id: list(cells) for id, cells in itertools.groupby(CELLS, key=lambda c: c.claim)}
#: Beyond this share a row says nothing about the buffer; below it the others hold some of the queue.
SATURATED, NEAR = 0.94, 0.03


def configurations() -> dict[str, Scenario]:
    """Every cell that the source printed."""
    return {c.name: _scenario(c) for c in CELLS}


def _scenario(c: Cell) -> Scenario:
    path, other, seconds = SETTINGS[c.setting]
    return study.scenario(path, c.buffer_bdp, {"bbr": (c.flows, BBR), "other": (1, OTHERS[other])}, seconds)


def _outside(cells: list[Cell]) -> Any:
    return lambda r: float(sum(not c.accepts(study.mean_share(r, c)) for c in cells))


def _row(cells: list[Cell]) -> dict[str, Any]:
    def shown(cell: Cell) -> Any:
        return lambda r: study.mean_share(r, cell)

    found = {f"{c.buffer_bdp:g} BDP": shown(c) for c in cells}
    return found if cells[0].printed is None else {"cells outside": _outside(cells)} | found


def _away(settings: str) -> Any:
    """The median distance of model and measurement over the cells of some settings."""
    cells = [c for c in CELLS if c.setting in settings]
    return lambda r: float(np.median([abs(c.model - study.mean_share(r, c)) for c in cells]))


def _exceptions(r: Results) -> float:
    """How often, against CUBIC at 10 Mbit/s, a share grows with the buffer once it is below 0.9, or falls with N."""
    found = {(c.flows, c.buffer_bdp): study.mean_share(r, c) for c in CELLS if c.setting == "A" and c.buffer_bdp <= 32}
    flows, buffers = sorted({n for n, _ in found}), sorted({x for _, x in found})
    rows = sum(found[n, a] < 0.9 and found[n, b] >= found[n, a] for n in flows for a, b in itertools.pairwise(buffers))
    columns = sum(found[a, x] > found[b, x] + 0.005 for x in buffers for a, b in itertools.pairwise(flows))
    return float(rows + columns)


def _saturation(r: Results) -> float:
    """The largest distance from 0.94 of the two cells in which the model gives the others nothing of the queue."""
    cells = [c for c in CELLS if (c.setting, c.flows, c.buffer_bdp) in (("A", 16, 4.0), ("A", 32, 8.0))]
    return max(abs(study.mean_share(r, c) - SATURATED) for c in cells)


def _over(flows: int, buffers: tuple[float, ...], settings: str) -> Any:
    """The least of model minus measurement over some cells."""
    cells = [c for c in CELLS if c.flows == flows and c.buffer_bdp in buffers and c.setting in settings]
    return lambda r: min(c.model - study.mean_share(r, c) for c in cells)


CLAIMS: dict[str, Any] = {id: _row(cells) for id, cells in GROUPS.items()} | {
    "WA4": {"against CUBIC": _away("AB"), "against Reno": _away("C")},
    "WA36": {"exceptions": _exceptions},
    "WA37": {"farthest from 0.94": _saturation},
    "SA2": {
        "one flow, model minus measured, least": _over(1, (1, 2, 4, 8, 16, 32), "AB"),
        "16 flows, 8 and 16 BDP, measured minus model, least": lambda r: -_most(r, 16, (8.0, 16.0)),
    },
}


def _most(r: Results, flows: int, buffers: tuple[float, ...]) -> float:
    cells = [c for c in CELLS if c.setting == "A" and c.flows == flows and c.buffer_bdp in buffers]
    return max(c.model - study.mean_share(r, c) for c in cells)


def pictures(r: Results) -> list[Picture]:
    """Share by buffer, a picture for each setting: measured here, and printed."""
    return [_picture(r, s) for s in SETTINGS]


def _picture(r: Results, setting: str) -> Picture:
    path, other, _ = SETTINGS[setting]
    known = [c for c in CELLS if c.setting == setting and c.printed is not None]
    measured: dict[str, dict[str, float]] = {}
    printed: dict[str, dict[str, float]] = {}
    for c in known:
        line, x = f"{c.flows} BBR", f"{c.buffer_bdp:g}"
        measured.setdefault(line, {})[x] = study.mean_share(r, c)
        printed.setdefault(line, {})[x] = c.printed or 0.0
    title = f"Share of N flows of BBR beside one of {other}, {path.rate_mbps} Mbit/s, {path.rtt_ms} ms."
    return figures.bars(f"shares-{setting}", title, measured, "share of the link", printed, xlabel="buffer (BDP)")


EXPERIMENT = study.STUDY.experiment(__name__, "Shares of BBR beside one loss-based flow", where="shares by buffer")
