"""Figures in the form of the source: bars with a line at the contract, curves against a limit, causes in stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind.figures import INK, PALETTE, Picture, bars, styled
from crosswind.figures_sweep import small_multiples
from crosswind.plotting import plt


def against(name: str, caption: str, panels: Mapping[str, Mapping[str, Any]], xlabel: str, ylabel: str) -> Picture:
    """Curves with intervals, one panel for each case: panel -> series -> [(x, estimate)]."""
    return small_multiples(name, caption, panels, xlabel, ylabel, "linear")


@styled
def contract_bars(
    name: str,
    caption: str,
    series: Mapping[str, Mapping[str, float]],
    contracts: Mapping[str, float],
    ylabel: str,
) -> Picture:
    """Bars side by side for each flow, with a line at its contract: series -> flow -> value."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    flows = list(contracts)
    step = 0.8 / max(1, len(series))
    for j, (label, values) in enumerate(series.items()):
        x = np.arange(len(flows)) + (j - (len(series) - 1) / 2) * step
        heights = [values[f] for f in flows]
        ax.bar(
            x, heights, step * 0.92, color=PALETTE[j % len(PALETTE)], hatch=("", "//", "..", "xx")[j % 4], label=label
        )
    for i, f in enumerate(flows):
        line = ax.plot([i - 0.45, i + 0.45], [contracts[f]] * 2, color=INK, linewidth=1.4)
        line[0].set_label("contract" if i == 0 else "_")
    ax.set_xticks(range(len(flows)), flows)
    ax.grid(axis="x", visible=False)
    ax.set_xlabel("flow")
    ax.set_ylabel(ylabel)
    fig.legend(loc="outside upper center", ncols=min(4, len(series) + 1))
    rows = [{"flow": f, "contract": contracts[f], **{s: v[f] for s, v in series.items()}} for f in flows]
    said = "; ".join(f"{r['flow']}: {', '.join(f'{s} {r[s]:.3g}' for s in series)}" for r in rows)
    return Picture(name, caption, f"{caption} {ylabel} by flow, line at the contract. {said}.", fig, pl.DataFrame(rows))


@styled
def stacks(name: str, caption: str, bars: Mapping[str, Mapping[str, float]], ylabel: str) -> Picture:
    """One bar for each case, divided by cause: case -> cause -> value."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    causes = list(dict.fromkeys(c for b in bars.values() for c in b))
    below = np.zeros(len(bars))
    for j, cause in enumerate(causes):
        heights = np.array([b.get(cause, 0.0) for b in bars.values()])
        hatch = ("", "//", "..", "xx")[j % 4]
        ax.bar(range(len(bars)), heights, 0.7, bottom=below, color=PALETTE[j % len(PALETTE)], hatch=hatch, label=cause)
        below += heights
    ax.set_xticks(range(len(bars)), list(bars), rotation=20 if max(map(len, bars)) > 8 else 0)
    ax.grid(axis="x", visible=False)
    ax.set_ylabel(ylabel)
    fig.legend(loc="outside upper center", ncols=min(4, len(causes)))
    rows = [{"case": case, **{c: b.get(c, 0.0) for c in causes}} for case, b in bars.items()]
    said = "; ".join(f"{case}: {', '.join(f'{c} {v:.3g}' for c, v in b.items())}" for case, b in bars.items())
    return Picture(name, caption, f"{caption} {ylabel}: {said}.", fig, pl.DataFrame(rows))


__all__ = ["against", "bars", "contract_bars", "stacks"]
