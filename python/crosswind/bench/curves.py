"""The figure of the performance page: a cost against something that grows by powers."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import polars as pl

from crosswind.figures import DASHES, MARKERS, PALETTE, Picture, styled

Line = tuple[list[float], list[float]]


@styled
def curves(name: str, caption: str, lines: Mapping[str, Line], xlabel: str, ylabel: str) -> Picture:
    """Marked lines over a logarithmic axis, the other one from zero: label -> (x, y)."""
    fig, ax = plt.subplots()
    for j, (label, (x, y)) in enumerate(lines.items()):
        look = {"color": PALETTE[j], "marker": MARKERS[j], "linestyle": DASHES[j]}
        ax.plot(x, y, label=label, **look)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if len(lines) > 1:
        fig.legend(loc="outside upper center", ncols=len(lines))
    said = "; ".join(
        f"{label} from {y[0]:.0f} at {x[0]:g} to {y[-1]:.0f} at {x[-1]:g}" for label, (x, y) in lines.items() if x
    )
    frames = [pl.DataFrame({"series": [label] * len(x), "x": x, "y": y}) for label, (x, y) in lines.items()]
    return Picture(name, caption, f"{caption} {ylabel} against {xlabel}: {said}.", fig, pl.concat(frames))
