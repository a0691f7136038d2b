"""Writes the capacity traces of the scenarios of today's access networks from stated statistics.

    python tools/traces.py           writes scenarios/lte.csv, 5g.csv, wifi.csv, starlink.csv
    python tools/traces.py --check   says whether they are what it would write

They are made up, no measurement: a log-normal process of first order with the mean, the coefficient of variation and
the correlation time below, one value per step, scaled to that mean; during an outage there is `left` of it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"


@dataclass(frozen=True)
class Statistics:
    """What a trace is made from; rates in Mbit/s, times in seconds."""

    mean_mbps: float
    variation: float
    correlation_s: float
    step_s: float
    length_s: float
    seed: int
    outages_per_s: float = 0.0
    outage_s: float = 0.0
    left: float = 0.0

    def text(self) -> str:
        """The trace as CSV, with its statistics on top."""
        out = (
            f"# made by tools/traces.py: mean {self.mean_mbps:g} Mbit/s, coefficient of variation {self.variation:g}, "
            f"correlation time {self.correlation_s:g} s"
        )
        if self.outages_per_s:
            out += f", {self.outages_per_s:g} outages a second of {self.outage_s:g} s to {self.left:g} of the rate"
        rows = [f"{i * self.step_s:.10g},{rate:.4g}" for i, rate in enumerate([*self.rates(), self.mean_mbps])]
        return "\n".join([out, "time_s,rate_mbps", *rows, ""])

    def rates(self) -> list[float]:
        """One rate per step."""
        rng = np.random.default_rng(self.seed)
        steps = round(self.length_s / self.step_s)
        keep = float(np.exp(-self.step_s / self.correlation_s))
        sigma = float(np.sqrt(np.log1p(self.variation**2)))
        level, levels = rng.normal(), []
        for new in rng.normal(size=steps):
            level = keep * level + np.sqrt(1 - keep**2) * new
            levels.append(level)
        rates = np.exp(sigma * np.array(levels))
        down = rng.random(steps) < self.outages_per_s * self.step_s
        for i in np.flatnonzero(down):
            rates[i : i + round(self.outage_s / self.step_s)] *= self.left
        return [float(r) for r in rates * self.mean_mbps / rates.mean()]


TRACES = {
    # A phone that moves slowly through a city cell shared with others.
    "lte": Statistics(mean_mbps=20, variation=0.6, correlation_s=2, step_s=0.1, length_s=30, seed=4),
    # A band of 3.5 GHz: more rate, quicker changes, somebody in the way now and then.
    "5g": Statistics(120, 0.5, 0.5, 0.05, 20, seed=5, outages_per_s=0.25, outage_s=0.3, left=0.05),
    # A room away from the access point: rate control and neighbours, every 20 ms.
    "wifi": Statistics(60, 0.5, 0.2, 0.02, 20, seed=6, outages_per_s=0.3, outage_s=0.1, left=0.1),
    # Another satellite every 15 s, with another rate.
    "starlink": Statistics(100, 0.4, 20, 15, 60, seed=7),
}


def main() -> int:
    """Writes the files, or compares them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when a file differs")
    check = parser.parse_args().check
    old = [name for name, s in TRACES.items() if not _is_written(name, s.text())]
    if not check:
        for name, statistics in TRACES.items():
            (SCENARIOS / f"{name}.csv").write_text(statistics.text(), encoding="utf-8")
    print(f"{', '.join(old) or 'nothing'} {'is out of date' if check else 'was written anew'}")
    return int(check and bool(old))


def _is_written(name: str, text: str) -> bool:
    path = SCENARIOS / f"{name}.csv"
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
