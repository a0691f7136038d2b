"""What a figure shows, read back from it: as a table, and as points on its SVG for the reports' readout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = npt.NDArray[np.float64]
POINTS_MAX = 400
BUCKETS = 500


@dataclass(frozen=True)
class Series:
    """One drawn line or set of marks: the panel it is in, its label, colour, element id and values."""

    panel: int
    label: str
    colour: str
    gid: str
    x: Vector
    y: Vector


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


def name_lines(figure: Figure) -> None:
    """Gives every line an element id in the SVG."""
    for panel, ax in enumerate(figure.axes):
        for i, line in enumerate(ax.lines):
            line.set_gid(f"p{panel}l{i}")


def series(figure: Figure) -> Iterator[Series]:
    """The lines and marks of all panels; helper lines (no values, two equal ends, reference lines) are left out."""
    from matplotlib.colors import to_hex

    for panel, ax in enumerate(figure.axes):
        for i, line in enumerate(ax.lines):
            x, y = (np.asarray(v) for v in line.get_data(orig=False))
            label = str(line.get_label())
            if x.dtype.kind not in "iuf" or y.dtype.kind not in "iuf" or x.size == 0 or x.size != y.size:
                continue
            helper = label.startswith("_") and (x.size <= 2 or line.get_marker() in ("", "None", None, "_", "|"))
            if not helper:
                name = "" if label.startswith("_") else label
                yield Series(panel, name, to_hex(line.get_color()), f"p{panel}l{i}", x.astype(float), y.astype(float))


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


def points(figure: Figure) -> dict[str, Any]:
    """The points in the coordinates of the SVG (as it was drawn last), for the readout. Long series are thinned."""
    scale = 72.0 / figure.dpi
    height = figure.bbox.height * scale
    out = []
    for s in series(figure):
        ax = figure.axes[s.panel]
        x, y = s.x, s.y
        if x.size > POINTS_MAX:
            x, y = thinned(x, y, POINTS_MAX // 4)
        at = ax.transData.transform(np.column_stack([x, y])) * scale
        inside: list[bool] = [bool(np.isfinite(p).all()) for p in at]
        names = _categories(ax)
        rows = [
            [round(float(px), 1), round(float(height - py), 1), names.get(round(a), _short(a)), _short(b)]
            for (px, py), a, b, good in zip(at, x, y, inside, strict=True)
            if good
        ]
        if rows:
            out.append(
                {"label": s.label, "colour": s.colour, "id": s.gid, "panel": _panel(figure, s.panel), "at": rows}
            )
    return {"x": _axis(figure, "x"), "y": _axis(figure, "y"), "series": out} if out else {}


def _categories(ax: Axes) -> dict[int, str]:
    """What stands below an axis of categories, by place; nothing on an axis of numbers."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    if not isinstance(ax.xaxis.get_major_formatter(), (FixedFormatter, FuncFormatter)):
        return {}
    names = [label.get_text().replace("\n", " ") for label in ax.get_xticklabels()]
    return dict(enumerate(names)) if list(ax.get_xticks()) == list(range(len(names))) else {}


def _panel(figure: Figure, panel: int) -> str:
    return figure.axes[panel].get_title(loc="left")


def _axis(figure: Figure, which: str) -> str:
    text: str = getattr(figure.axes[0], f"get_{which}label")()
    shared: Any = getattr(figure, f"_sup{which}label", None)
    return text or (shared.get_text() if shared is not None else which)


def _short(value: float) -> float:
    return float(f"{value:.5g}")
