"""A real stack beside TCP: shares of one FIFO, simulated, and between this machine's TCP and that stack over UDP.

    python -m validation.mixed [--reps 6] [--set PATH=VALUE ..] [--simulated]

The scenario is `crates/stacks/scenarios/mixed.toml`. Both modes of a repetition have one seed, so that start times are
the same draws. Needs a build with stacks (`make stacks`) and namespaces. Prints a row for each repetition and the
difference of the mean shares, as a part of the real one. Exit code 0: of both flows it is within the aim; 1: of one it
is not; 3: this build or this machine cannot do it, which is said.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import crosswind as cw
from crosswind.core import has_hook
from crosswind.emulate import needs, testbed
from crosswind.errors import EXIT_ENVIRONMENT
from crosswind.results import Runs

SCENARIO = Path(__file__).parent.parent / "crates" / "stacks" / "scenarios" / "mixed.toml"
FLOWS = ("quinn", "tcp")
AIM = 0.05
SEED = 1


@dataclass(frozen=True)
class Half:
    """One repetition in one mode. Goodput in bit/s by flow; `late_ns`: how late one packet in a hundred left."""

    goodput_bps: dict[str, float]
    drops: dict[str, float]
    late_ns: float = 0.0
    warnings: tuple[str, ...] = ()

    def share(self, flow: str) -> float:
        """What one flow got of what both got."""
        return self.goodput_bps[flow] / sum(self.goodput_bps.values())


def half_of(runs: Runs) -> Half:
    """The one repetition of a set of runs."""
    rows = {row["name"]: row for row in runs.flows().iter_rows(named=True)}
    machine = runs.manifest.get("machine", {})
    return Half(
        {name: rows[name]["goodput_bps"] for name in FLOWS},
        {name: rows[name]["drops_packets"] for name in FLOWS},
        float(machine.get("lateness", {}).get("p99_ns", 0.0)),
        tuple(runs.manifest["warnings"]) if machine else (),
    )


def differences(simulated: Sequence[Half], real: Sequence[Half]) -> dict[str, float]:
    """By flow: the mean simulated share over the mean real one, less one."""
    return {f: mean(s.share(f) for s in simulated) / mean(r.share(f) for r in real) - 1 for f in FLOWS}


def _shown(half: Half) -> str:
    rates = " ".join(f"{half.goodput_bps[f] / 1e6:6.2f} ({half.drops[f]:4.0f} drops)" for f in FLOWS)
    return f"{rates}  share of quinn {half.share('quinn'):.3f}"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--reps", type=int, default=6)
    asked.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    asked.add_argument("--simulated", action="store_true", help="the simulated half alone")
    words = asked.parse_args()
    if not has_hook("stack_over_udp"):
        print("SKIPPED: this build has no real stacks; `make stacks` makes one that has", file=sys.stderr)
        return EXIT_ENVIRONMENT
    scenario = cw.Scenario.load(SCENARIO).with_(dict(w.split("=", 1) for w in words.set))
    simulated, real = [], []
    for seed in range(SEED, SEED + words.reps):
        simulated.append(half_of(cw.run(scenario, seed=seed)))
        print(f"{seed} simulated  {_shown(simulated[-1])}", flush=True)
        if words.simulated:
            continue
        try:
            real.append(half_of(testbed.run(scenario, seed=seed)))
        except needs.MissingError as e:
            print(f"SKIPPED: {e}", file=sys.stderr)
            return EXIT_ENVIRONMENT
        late = f"late by {real[-1].late_ns / 1e6:.2f} ms (p99)"
        print(f"{seed} real       {_shown(real[-1])}  {late} {'; '.join(real[-1].warnings)}", flush=True)
    if words.simulated:
        return 0
    found = differences(simulated, real)
    for flow, by in found.items():
        shares = [mean(h.share(flow) for h in halves) for halves in (simulated, real)]
        print(f"{flow}: share {shares[0]:.4f} simulated, {shares[1]:.4f} real: {by:+.1%}; the aim is {AIM:.0%}")
    return 0 if all(abs(by) <= AIM for by in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
