"""Several panels over one axis, a line for each scheme, some of them with a log axis that reaches zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from crosswind.figures.charts import MARKERS, PALETTE, thinned
from crosswind.figures.drawing import LINESTYLES as DASHES
from crosswind.figures.drawing import RASTER_ABOVE, styled
from crosswind.figures.pictures import Picture
from crosswind.figures.plotting import plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Lines = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
Shape = Literal["marked", "steps", "points"]
# Below it a log y axis is linear, down to 0.
LEAST = 1e-6


@styled
def panels(
    name: str,
    caption: str,
    wanted: Mapping[str, Lines],
    xlabel: str,
    axis: Literal["log", "linear"] = "log",
    logarithmic: Sequence[str] = (),
    shape: Shape = "marked",
    scale: Literal["own", "one"] = "own",
) -> Picture:
    """Panel -> scheme -> (x, y), two panels beside each other; those named in `logarithmic` have a log y axis too.

    `shape`: lines with a mark at each value, steps (many values over time) or marks alone. `scale`: a y axis for each
    panel, or one for all.
    """
    rows = (len(wanted) + 1) // 2
    columns = min(2, len(wanted))
    size = (3.4 * columns, 2.5 * rows)
    fig, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=scale == "one", squeeze=False)
    said = []
    for ax, (what, lines) in zip(axes.flat, wanted.items(), strict=False):
        for j, (scheme, (x, y)) in enumerate(lines.items()):
            values = np.asarray(y, dtype=float)
            _draw(ax, j, np.asarray(x, dtype=float), values, shape, scheme if ax is axes.flat[0] else None)
            said.append(f"{what} {scheme} from {values.min():.4g} to {values.max():.4g}" if values.size else what)
        if axis == "log":
            ax.set_xscale("log")
        ax.set_ylabel(what)
    used = list(axes.flat)[: len(wanted)]
    top = max(ax.dataLim.ymax for ax in used)
    for ax, what in zip(used, wanted, strict=True):
        if what in logarithmic:
            ax.set_yscale("symlog", linthresh=LEAST)
            ax.set_ylim(-LEAST / 3, max(100 * LEAST, 2 * ax.dataLim.ymax))
        elif ax.get_ylim()[0] > 0:
            ax.set_ylim(0, 1.05 * (top if scale == "one" else ax.dataLim.ymax))
    for ax in list(axes.flat)[len(wanted) :]:
        ax.set_visible(False)
    for ax in used[-columns:]:
        # The last panel of each column, also above an empty place.
        ax.set_xlabel(xlabel)
        ax.xaxis.set_tick_params(labelbottom=True)
    most = max(len(x) for x in wanted.values())
    if most > 1:
        fig.legend(loc="outside upper center", ncols=min(6, most))
    return Picture(name, caption, f"{caption} {'; '.join(said)}.", fig)


def _draw(
    ax: Axes, j: int, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], shape: Shape, label: str | None
) -> None:
    look: dict[str, Any] = {"color": PALETTE[j % len(PALETTE)], "label": label}
    if shape == "steps":
        x, y = thinned(x, y)
        look |= {"linestyle": DASHES[j % len(DASHES)], "drawstyle": "steps-post", "linewidth": 1.1}
    else:
        look["marker"] = MARKERS[(j + j // len(PALETTE)) % len(MARKERS)]
        if shape == "marked":
            look["linestyle"] = DASHES[j % len(DASHES)]
        else:
            look |= {"linestyle": "", "markersize": 2.4, "markeredgewidth": 0, "rasterized": x.size > RASTER_ABOVE}
    ax.plot(x, y, **look)
