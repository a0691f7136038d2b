"""What a figure shows, read back from it: as a table, and as charts that the pages of reports draw anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = npt.NDArray[np.float64]
BUCKETS = 500
CHART_BUCKETS = 400
Kind = Literal["line", "steps", "points"]


@dataclass(frozen=True)
class Series:
    """One drawn line or set of marks: the panel it is in, its label, colour, how it is drawn, and its values.

    `low` and `high` are the ends of the interval or range that is drawn round each value; empty where there is none.
    """

    panel: int
    label: str
    colour: str
    kind: Kind
    dashes: tuple[float, ...]
    x: Vector
    y: Vector
    low: Vector
    high: Vector


def with_range(line: Any, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
    """Notes on a drawn line of marks which range is drawn round each of them."""
    line.crosswind_range = (np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def thinned(x: Vector, y: Vector, buckets: int = BUCKETS) -> tuple[Vector, Vector]:
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


def series(figure: Figure) -> Iterator[Series]:
    """The lines and marks of all panels; helper lines (no values, two equal ends, reference lines) are left out."""
    for panel, ax in enumerate(figure.axes):
        labels = {id(c.lines[0]): str(c.get_label()) for c in ax.containers if hasattr(c, "lines") and c.lines[0]}
        for line in ax.lines:
            label = labels.get(id(line), str(line.get_label()))
            if not line.get_transform().contains_branch_seperately(ax.transData)[1]:
                continue
            x, y = (np.asarray(v) for v in line.get_data(orig=False))
            if x.dtype.kind not in "iuf" or y.dtype.kind not in "iuf" or x.size == 0 or x.size != y.size:
                continue
            helper = label.startswith("_") and (x.size <= 2 or line.get_marker() in ("", "None", None, "_", "|"))
            if not helper:
                yield _series(panel, "" if label.startswith("_") else label, line, x.astype(float), y.astype(float))


def _series(panel: int, label: str, line: Any, x: Vector, y: Vector) -> Series:
    from matplotlib.colors import to_hex

    bare = line.get_linestyle() in ("None", "", " ")
    kind: Kind = "points" if bare else "steps" if line.get_drawstyle().startswith("steps") else "line"
    dashes = line._unscaled_dash_pattern[1] or () if hasattr(line, "_unscaled_dash_pattern") else ()
    low, high = getattr(line, "crosswind_range", (np.empty(0), np.empty(0)))
    return Series(panel, label, to_hex(line.get_color()), kind, tuple(float(d) for d in dashes), x, y, low, high)


def table(figure: Figure) -> pl.DataFrame | None:
    """All drawn values: panel, series, and the two axes by name. None when nothing can be read back."""
    frames = []
    for s in series(figure):
        ax = figure.axes[s.panel]
        frames.append(
            pl.DataFrame(
                {
                    "panel": [ax.get_title(loc="left") or str(s.panel + 1)] * s.x.size,
                    "series": [s.label] * s.x.size,
                    ax.get_xlabel() or "x": s.x,
                    ax.get_ylabel() or "y": s.y,
                }
            )
        )
    for panel, ax in enumerate(figure.axes):
        for bars in ax.containers:
            heights = [(p.get_x() + p.get_width() / 2, p.get_height()) for p in getattr(bars, "patches", ())]
            if heights:
                rows = [(str(panel + 1), str(bars.get_label()).lstrip("_"), *h) for h in heights]
                frames.append(
                    pl.DataFrame(rows, schema=["panel", "series", "position", ax.get_ylabel() or "y"], orient="row")
                )
    return pl.concat(frames, how="diagonal_relaxed") if frames else None


def charts(figure: Figure) -> list[dict[str, Any]]:
    """What a page needs to draw the figure's panels anew; empty where it cannot (bars, maps, curves that turn back).

    Each chart: title, x and y (names of the axes), xlog and ylog, names (categories below the x axis), verticals
    (reference lines: x, label, colour) and series (label, colour, kind, dashes, x, y, low, high). Long series are
    thinned; no peak is lost.
    """
    if any(ax.patches or ax.images or ax.tables for ax in figure.axes):
        return []
    out: list[dict[str, Any]] = []
    for panel, ax in enumerate(figure.axes):
        found = [s for s in series(figure) if s.panel == panel]
        if any(s.kind != "points" and (np.diff(s.x) < 0).any() for s in found):
            return []
        if found:
            out.append(
                {
                    "title": ax.get_title(loc="left"),
                    "x": _axis(figure, ax, "x"),
                    "y": _axis(figure, ax, "y"),
                    "xlog": ax.get_xscale() == "log",
                    "ylog": ax.get_yscale() == "log",
                    "floor": bool(ax.get_ylim()[0] == 0.0),
                    "names": _categories(ax),
                    "verticals": list(_verticals(ax)),
                    "series": [_told(s) for s in found],
                }
            )
    return out


def _told(s: Series) -> dict[str, Any]:
    x, y, low, high = s.x, s.y, s.low, s.high
    if s.kind == "points":
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
        low, high = (low[order], high[order]) if low.size else (low, high)
    elif x.size > 4 * CHART_BUCKETS:
        x, y = thinned(x, y, CHART_BUCKETS)
        low = high = np.empty(0)
    told = {"label": s.label, "colour": s.colour, "kind": s.kind, "dashes": s.dashes, "x": _apart(x), "y": _numbers(y)}
    if low.size == x.size:
        told |= {"low": _numbers(low), "high": _numbers(high)}
    return told


def _apart(x: Vector) -> list[float]:
    """Places in rising order: a chart has room for one value of a series at each."""
    least = max(float(np.ptp(x)) * 1e-7, float(np.abs(x).max(initial=0.0)) * 1e-9, 1e-12)
    firsts = np.r_[True, np.diff(x) != 0]
    run = np.arange(x.size) - np.maximum.accumulate(np.where(firsts, np.arange(x.size), 0))
    return [float(f"{v:.12g}") for v in x + run * least]


def _numbers(y: Vector) -> list[float | None]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in y]


def _verticals(ax: Axes) -> Iterator[dict[str, Any]]:
    """Lines across the whole height at one x: reference lines, timeouts."""
    from matplotlib.colors import to_hex

    for line in ax.lines:
        x, y = (np.asarray(v) for v in line.get_data(orig=False))
        if (
            x.size == 2
            and x[0] == x[1]
            and list(y) == [0, 1]
            and line.get_transform() == ax.get_xaxis_transform("grid")
        ):
            label = str(line.get_label())
            yield {
                "x": float(x[0]),
                "label": "" if label.startswith("_") else label,
                "colour": to_hex(line.get_color()),
            }


def _categories(ax: Axes) -> list[str]:
    """What stands below an axis of categories, by place; nothing on an axis of numbers."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    if not isinstance(ax.xaxis.get_major_formatter(), (FixedFormatter, FuncFormatter)):
        return []
    names = [label.get_text().replace("\n", " ") for label in ax.get_xticklabels()]
    return names if list(ax.get_xticks()) == list(range(len(names))) else []


def _axis(figure: Figure, ax: Axes, which: str) -> str:
    text: str = getattr(ax, f"get_{which}label")() or getattr(figure.axes[0], f"get_{which}label")()
    shared: Any = getattr(figure, f"_sup{which}label", None)
    return text or (shared.get_text() if shared is not None else "")
