"""Do lifetime discard and Eifel keep their order when RED stands in the place of drop-tail?

The experiments of figures 5.9 to 5.11 with RED (section 5.4), beside themselves with drop-tail.

What the source printed: similar results. G59 asks of each ordering of figures 5.9 to 5.12 whether it is the same with
RED as the one measured with drop-tail, whether or not that is the published one. An order is one when the 95 % interval
of the paired difference keeps clear of zero with both; it has changed when the two signs differ.

What may differ here: RED's thresholds are a sixth and a half of the queue's limit; the source gives none. Fewer
repetitions than the figures themselves: the question is one of orders.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004 import f5_9, f5_10, f5_11, overlay
from crosswind.reproduce import Quantity, Results, Scenario
from crosswind.reproduce.claims.quantities import runs
from crosswind.stats import paired_differences

Pairs = list[tuple[Quantity, Quantity]]

FIGURES = {"f5-9": f5_9, "f5-10": f5_10, "f5-11": f5_11}
DISCIPLINES = {"drop-tail": "droptail", "RED": "red"}


def configurations() -> dict[str, Scenario]:
    """Each figure with both disciplines: `RED/f5-9/LPD 3 s 5`."""
    out = {}
    for word, discipline in DISCIPLINES.items():
        for figure, module in FIGURES.items():
            for label, scenario in module.configurations(discipline=discipline).items():
                out[f"{word}: {figure}: {label}"] = scenario
    return out


def _view(r: Results, word: str, figure: str) -> Results:
    """The results of one figure with one discipline, under its own labels."""
    prefix = f"{word}: {figure}: "
    mine = r.table("repetition").filter(pl.col("configuration").str.starts_with(prefix))
    own = mine.with_columns(pl.col("configuration").str.strip_prefix(prefix))
    return replace(r, tables={"repetition": own})


def _cells(figure: Any, new: str, old: str, column: Callable[[str], Quantity]) -> Pairs:
    """Each cell of a figure with lifetimes and queues, new and old."""
    cells = [(life, n) for life in figure.LIFETIMES_S for n in figure.LIMITS]
    return [(column(figure.label(new, *c)), column(figure.label(old, *c))) for c in cells]


def _queues(new: str, old: str, column: Callable[[str], Quantity]) -> Pairs:
    """Each queue of figure 5.10."""
    return [(column(f5_10.label(new, n)), column(f5_10.label(old, n))) for n in f5_10.LIMITS]


def _share(flow: str, what: str) -> Callable[[str], Quantity]:
    return lambda label: overlay.shares(label, flow, what)


def _time(label: str) -> Quantity:
    return runs(label, "tcp_elapsed_s").then(lambda t: np.nan_to_num(t, nan=f5_11.END_S))


def _needless(label: str) -> Quantity:
    return runs(label, "tcp_unnecessary_retransmissions_packets")


def _apart(label: str) -> Quantity:
    tcp, tfrc = (runs(label, f"{f}_received_bytes") * 8 / _time(label) for f in ("tcp", "tfrc"))
    return (tcp - tfrc).then(np.abs)


# Label -> figure, the pairs whose order it is about.
ORDERS: dict[str, tuple[str, Pairs]] = {
    "G40, G42: in time, discard and drop-tail": ("f5-9", _cells(f5_9, "LPD", "DT", _share("stream", "valid_packets"))),
    "G41: too late, discard and drop-tail": ("f5-9", _cells(f5_9, "LPD", "DT", _share("stream", "stale_packets"))),
    "G46: download time, drop-tail and discard": ("f5-10", _queues("DT", "LPD", _time)),
    "G47: download time, Eifel and discard": ("f5-10", _queues("Eifel", "LPD", _time)),
    "G48: download time, Eifel-CC and Eifel": ("f5-10", _queues("Eifel-CC", "Eifel", _time)),
    "G49: needless copies, drop-tail and discard": ("f5-10", _queues("DT", "LPD", _needless)),
    "G50: TFRC in time, discard and drop-tail": ("f5-11", _cells(f5_11, "LPD", "DT", _share("tfrc", "valid_packets"))),
    "G51: download time beside TFRC": ("f5-11", _cells(f5_11, "LPD", "DT", _time)),
    "G52: needless copies beside TFRC": ("f5-11", _cells(f5_11, "LPD", "DT", _needless)),
    "G53: difference of throughputs": ("f5-11", _cells(f5_11, "LPD", "DT", _apart)),
}


def _sign(new: Any, old: Any) -> int:
    """Which of two is larger: -1, 1, or 0 when the interval of their difference holds zero."""
    if np.array_equal(new, old):
        return 0
    e = paired_differences(new, old)
    return int(e.low > 0) - int(e.high < 0)


def _changed(r: Results, name: str) -> int:
    figure, pairs = ORDERS[name]
    views = [_view(r, word, figure) for word in DISCIPLINES]
    tail, red = ([_sign(new(view), old(view)) for new, old in pairs] for view in views)
    return sum(a * b < 0 for a, b in zip(tail, red, strict=True))


def _kept(r: Results) -> float:
    """The share of all cells whose order is not reversed."""
    cells = sum(len(pairs) for _, pairs in ORDERS.values())
    return 1.0 - sum(_changed(r, name) for name in ORDERS) / cells


CLAIMS = {
    "G59": {name: lambda r, n=name: _changed(r, n) for name in ORDERS} | {"cells that keep their order, of all": _kept}
}

EXPERIMENT = overlay.experiment(
    __name__, "Lifetime discard and Eifel with RED instead of drop-tail", where="section 5.4", reps=10
)
