"""What a figure shows, as data: panels of series. Pages draw them as charts; `drawing` draws them for print.

Nothing here needs a drawing library: a report costs no drawing until somebody asks for SVG, PDF or PNG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

Vector = npt.NDArray[np.float64]
Kind = Literal["line", "steps", "points"]
#: In which a figure can be written.
Format = Literal["svg", "pdf", "png"]
FORMATS: tuple[Format, ...] = ("svg", "pdf", "png")
BUCKETS = 400

# Okabe and Ito's palette without its yellow: tells apart under the common colour deficiencies. One more than dashes,
# so that no two of many series have both alike.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P")
#: Lengths of dashes and gaps in points; nothing is a full line.
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (3, 1, 1, 1), (1, 1), (6, 1, 1, 1, 1, 1), (2, 2))
NOTHING: Vector = np.empty(0)


def vector(values: Any) -> Vector:
    """Numbers of any kind of sequence."""
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Series:
    """One line or set of marks.

    `low` and `high` are the ends of an interval round each value, `least` and `most` those of its range; empty where
    there is none. `colour`, `dashes` and `marker` are those of `place` in the palette unless they are given.
    """

    label: str
    x: Vector
    y: Vector
    kind: Kind = "line"
    place: int = 0
    colour: str = ""
    dashes: tuple[float, ...] | None = None
    marker: str = ""
    size: float = 4.0
    low: Vector = field(default_factory=lambda: NOTHING)
    high: Vector = field(default_factory=lambda: NOTHING)
    least: Vector = field(default_factory=lambda: NOTHING)
    most: Vector = field(default_factory=lambda: NOTHING)

    @property
    def look(self) -> tuple[str, tuple[float, ...], str]:
        """Colour, dashes and marker."""
        colour = self.colour or PALETTE[self.place % len(PALETTE)]
        dashes = DASHES[self.place % len(DASHES)] if self.dashes is None else self.dashes
        return colour, dashes, self.marker or MARKERS[self.place % len(MARKERS)]

    def told(self) -> dict[str, Any]:
        """For a page: places in rising order, thinned so that no peak is lost."""
        x, y, low, high = self.x, self.y, self.low, self.high
        if self.kind == "points":
            order = np.argsort(x, kind="stable")
            x, y = x[order], y[order]
            low, high = (low[order], high[order]) if low.size else (low, high)
        elif x.size > 4 * BUCKETS:
            x, y = thinned(x, y, BUCKETS)
            low = high = NOTHING
        colour, dashes, _ = self.look
        told = {"label": self.label, "colour": colour, "kind": self.kind, "dashes": dashes, "x": _apart(x)}
        told["y"] = _numbers(y)
        if low.size == x.size:
            told |= {"low": _numbers(low), "high": _numbers(high)}
        return told


@dataclass(frozen=True)
class Vertical:
    """A reference line at one x over the whole height."""

    x: float
    label: str = ""
    colour: str = "#16191f"


@dataclass(frozen=True)
class Chart:
    """One panel: names of its axes with units, its series, and what stands below an axis of categories."""

    x: str
    y: str
    series: Sequence[Series]
    title: str = ""
    xlog: bool = False
    ylog: bool = False
    #: Whether the y axis begins at zero.
    floor: bool = True
    names: Sequence[str] = ()
    verticals: Sequence[Vertical] = ()

    def can_be_told(self) -> bool:
        """Whether a page can draw it: curves that turn back cannot be."""
        return all(s.kind == "points" or not (np.diff(s.x) < 0).any() for s in self.series)

    def told(self) -> dict[str, Any]:
        """For a page."""
        verticals = [{"x": v.x, "label": v.label, "colour": v.colour} for v in self.verticals]
        return {
            "title": self.title, "x": self.x, "y": self.y, "xlog": self.xlog, "ylog": self.ylog, "floor": self.floor,
            "names": list(self.names), "verticals": verticals, "series": [s.told() for s in self.series if s.x.size],
        }  # fmt: skip


@dataclass(frozen=True)
class Matrix:
    """Values over two axes of categories; `labels`: of rows, of columns, of the value."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Vector
    labels: tuple[str, str, str]

    def told(self) -> list[tuple[str, list[tuple[str, float]]]]:
        """For a page: row name and, for each column, the number and how far it is up between least and largest."""
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        share = (self.values - low) / (high - low or 1.0)
        return [
            (
                name,
                [(f"{v:.3g}" if np.isfinite(v) else "-", float(np.nan_to_num(s))) for v, s in zip(vs, ss, strict=True)],
            )
            for name, vs, ss in zip(self.rows, self.values, share, strict=True)
        ]

    def table(self) -> pl.DataFrame:
        """One row for each cell."""
        cells = [
            dict(zip(self.labels, (r, c, float(self.values[i, j])), strict=True))
            for i, r in enumerate(self.rows)
            for j, c in enumerate(self.columns)
        ]
        return pl.DataFrame(cells)


def table(charts: Sequence[Chart]) -> pl.DataFrame | None:
    """All values of the charts: panel, series, the two axes by name, and intervals where there are any."""
    frames = []
    for number, chart in enumerate(charts, start=1):
        for s in chart.series:
            columns: dict[str, Any] = {
                "panel": [chart.title or str(number)] * s.x.size,
                "series": [s.label] * s.x.size,
                chart.x or "x": s.x,
                chart.y or "y": s.y,
            }
            if s.low.size == s.x.size:
                columns |= {"low": s.low, "high": s.high}
            frames.append(pl.DataFrame(columns))
    return pl.concat(frames, how="diagonal_relaxed") if frames else None


def places(panels: Mapping[str, Mapping[str, Any]], colours: Mapping[str, int] | None) -> dict[str, int]:
    """Label -> number in the palette: those of `colours`, else in order of appearance."""
    labels = dict.fromkeys(label for inner in panels.values() for label in inner)
    return {label: (colours or {}).get(label, i) for i, label in enumerate(labels)}


def thinned(x: Vector, y: Vector, buckets: int = 500) -> tuple[Vector, Vector]:
    """At most four points of each bucket: first, lowest, highest, last. No peak is lost.

    >>> x, y = np.arange(100_000.0), np.zeros(100_000)
    >>> y[77_777] = 9.0
    >>> tx, ty = thinned(x, y)
    >>> len(tx) <= 2000, ty.max(), float(tx[ty.argmax()])
    (True, np.float64(9.0), 77777.0)
    """
    n = x.size
    if n <= 4 * buckets:
        return x, y
    keep: list[int] = []
    for part in np.array_split(np.arange(n), buckets):
        inside = y[part]
        if np.isnan(inside).all():
            chosen = {part[0], part[-1]}
        else:
            chosen = {part[0], part[int(np.nanargmin(inside))], part[int(np.nanargmax(inside))], part[-1]}
        keep += sorted(int(i) for i in chosen)
    return x[keep], y[keep]


def _apart(x: Vector) -> list[float]:
    """Places in rising order: a chart has room for one value of a series at each."""
    if not x.size:
        return []
    least = max(float(np.ptp(x)) * 1e-7, float(np.abs(x).max(initial=0.0)) * 1e-9, 1e-12)
    firsts = np.r_[True, np.diff(x) != 0]
    run = np.arange(x.size) - np.maximum.accumulate(np.where(firsts, np.arange(x.size), 0))
    return [float(f"{v:.12g}") for v in x + run * least]


def _numbers(y: Vector) -> list[float | None]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in y]
