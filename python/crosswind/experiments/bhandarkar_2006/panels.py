"""Figures in the form of [Bhandarkar 2006]: several panels over one axis, a line for each scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from crosswind.figures import DASHES, MARKERS, PALETTE, Picture, styled
from crosswind.plotting import plt

Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]


@styled
def panels(
    name: str,
    caption: str,
    wanted: Mapping[str, Lines],
    xlabel: str,
    axis: Literal["log", "linear"] = "log",
    logarithmic: Sequence[str] = (),
) -> Picture:
    """Panel -> scheme -> (x, y), two panels beside each other; those named in `logarithmic` have a log y axis too."""
    rows = (len(wanted) + 1) // 2
    columns = min(2, len(wanted))
    fig, axes = plt.subplots(rows, columns, figsize=(3.4 * columns, 2.5 * rows), sharex=True, squeeze=False)
    said = []
    for ax, (what, lines) in zip(axes.flat, wanted.items(), strict=False):
        for j, (scheme, (x, y)) in enumerate(lines.items()):
            ax.plot(
                np.asarray(x, dtype=float),
                np.asarray(y, dtype=float),
                color=PALETTE[j % len(PALETTE)],
                marker=MARKERS[(j + j // len(PALETTE)) % len(MARKERS)],
                linestyle=DASHES[j % len(DASHES)],
                label=scheme if ax is axes.flat[0] else None,
            )
            said.append(f"{what} {scheme} from {min(y):.4g} to {max(y):.4g}")
        if axis == "log":
            ax.set_xscale("log")
        if what in logarithmic:
            ax.set_yscale("symlog", linthresh=1e-6)
        elif ax.get_ylim()[0] > 0:
            ax.set_ylim(bottom=0)
        ax.set_ylabel(what)
    for ax in list(axes.flat)[len(wanted) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel(xlabel)
    fig.legend(loc="outside upper center", ncols=min(6, max(len(x) for x in wanted.values())))
    return Picture(name, caption, f"{caption} {'; '.join(said)}.", fig)
