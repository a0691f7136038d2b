"""Simulation against real kernels in one picture, drawn from the numbers of the last `make twin`.

    python -m validation.twin.picture [FILE]

Left: the congestion window of one CUBIC flow over time. Right: how far goodput and mean round-trip time of every flow
of the five twins lie from those of the kernel, with two standard errors.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from crosswind.figures.plotting import plt
from validation.twin.measure import Twin, average
from validation.twin.page import AIM, DOCS, differences, stored

FILE = DOCS / "images/simulation-and-kernel.svg"
SHOWN = ("twin-clean", "CUBIC")
KERNEL, SIMULATED = "#8a8f98", "#2f6fde"


def spread(t: Twin, name: str) -> float:
    """Two standard errors of a difference, as a share of the kernel's value."""
    (ours, a), (theirs, b) = (average(getattr(side, name)) for side in (t.simulated, t.real))
    return math.hypot(a / ours, b / theirs)


def draw(file: Path = FILE) -> None:
    """Writes the picture as SVG, always the same for the same numbers."""
    found = stored()
    plt.rcParams["svg.hashsalt"] = "crosswind"
    drawn, (over_time, beside) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1.15, 1))
    one = next(t for t in found.twins if (t.case, t.law) == SHOWN)
    for mode, label, colour, width in (
        ("real", f"Linux {found.release}, real time", KERNEL, 3.2),
        ("simulated", "Crosswind, simulated", SIMULATED, 1.1),
    ):
        xs, ys = zip(*one.curves[mode], strict=True)
        over_time.plot(xs, ys, color=colour, linewidth=width, label=label)
    over_time.set(xlabel="time (s)", ylabel="congestion window (kB)", ylim=(0, None), xlim=(0, max(xs)))
    over_time.set_title("CUBIC on 10 Mbit/s, 60 ms", fontsize=10, loc="left")
    over_time.legend(fontsize=8, frameon=False, loc="lower right")
    names = []
    for i, t in enumerate(reversed(found.twins)):
        flow = "" if t.flow == "bulk" else f", {t.flow}"
        names.append(f"{t.case.removeprefix('twin-')}, {t.law}{flow}")
        goodput, rtt = differences(t)
        for value, metric, offset, marker, colour in (
            (goodput, "goodput_bps", 0.16, "o", SIMULATED),
            (rtt, "rtt_mean_ns", -0.16, "s", "#d9822b"),
        ):
            label = {"goodput_bps": "goodput", "rtt_mean_ns": "mean round-trip time"}[metric] if not i else None
            error = 100 * spread(t, metric)
            beside.errorbar(
                100 * value, i + offset, xerr=error, fmt=marker, color=colour, ms=4, elinewidth=1, label=label
            )
    beside.axvspan(-100 * AIM, 100 * AIM, color="#dfe6ef", zorder=0)
    beside.set_yticks(range(len(names)), names, fontsize=8)
    beside.set(xlim=(-40, 40), xlabel="simulated against the kernel (%)")
    within = sum(abs(d) <= AIM for t in found.twins for d in differences(t))
    title = f"{within} of {2 * len(found.twins)} within {AIM:.0%} (grey)"
    beside.set_title(title, fontsize=10, loc="left")
    beside.legend(fontsize=8, frameon=False, loc="upper right")
    for ax in (over_time, beside):
        ax.spines[["top", "right"]].set_visible(False)
    drawn.tight_layout()
    drawn.savefig(file, metadata={"Date": None})
    plt.close(drawn)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
