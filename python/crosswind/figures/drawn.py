"""What a figure that was drawn by hand shows, read back from it: as charts for the pages, and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crosswind.figures import charts
from crosswind.figures.charts import NOTHING, Chart, Kind, Series, Vector, Vertical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def with_range(line: Any, low: Any, high: Any) -> None:
    """Notes on a drawn line of marks which interval is drawn round each of them."""
    line.crosswind_range = (charts.vector(low), charts.vector(high))


def charts_of(figure: Figure) -> list[Chart]:
    """The panels of a figure as charts; empty where a page could not draw them (bars, maps, curves that turn back)."""
    if any(ax.patches or ax.images or ax.tables for ax in figure.axes):
        return []
    found = [_chart(figure, ax) for ax in figure.axes]
    found = [c for c in found if c.series]
    return found if all(c.can_be_told() for c in found) else []


def table(figure: Figure) -> pl.DataFrame | None:
    """All drawn values: panel, series, and the two axes by name. None when nothing can be read back."""
    found = charts.table([_chart(figure, ax) for ax in figure.axes])
    frames = [] if found is None else [found]
    for panel, ax in enumerate(figure.axes):
        for bars in ax.containers:
            heights = [(p.get_x() + p.get_width() / 2, p.get_height()) for p in getattr(bars, "patches", ())]
            if heights:
                rows = [(str(panel + 1), str(bars.get_label()).lstrip("_"), *h) for h in heights]
                frames.append(
                    pl.DataFrame(rows, schema=["panel", "series", "position", ax.get_ylabel() or "y"], orient="row")
                )
    return pl.concat(frames, how="diagonal_relaxed") if frames else None


def _chart(figure: Figure, ax: Axes) -> Chart:
    return Chart(
        _axis(figure, ax, "x"),
        _axis(figure, ax, "y"),
        list(_series(ax)),
        title=ax.get_title(loc="left"),
        xlog=ax.get_xscale() == "log",
        ylog=ax.get_yscale() == "log",
        floor=bool(ax.get_ylim()[0] == 0.0),
        names=_categories(ax),
        verticals=list(_verticals(ax)),
    )


def _series(ax: Axes) -> Iterator[Series]:
    """The lines and marks of a panel; helper lines (no values, two equal ends, reference lines) are left out."""
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
            yield _read(line, "" if label.startswith("_") else label, x.astype(float), y.astype(float))


def _read(line: Any, label: str, x: Vector, y: Vector) -> Series:
    from matplotlib.colors import to_hex

    bare = line.get_linestyle() in ("None", "", " ")
    kind: Kind = "points" if bare else "steps" if line.get_drawstyle().startswith("steps") else "line"
    dashes = tuple(float(d) for d in line._unscaled_dash_pattern[1] or ())
    low, high = getattr(line, "crosswind_range", (NOTHING, NOTHING))
    return Series(label, x, y, kind, colour=to_hex(line.get_color()), dashes=dashes, low=low, high=high)


def _verticals(ax: Axes) -> Iterator[Vertical]:
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
            yield Vertical(float(x[0]), "" if label.startswith("_") else label, to_hex(line.get_color()))


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
