"""The window of a ported law in a kernel beside the simulated one: the same scenario, twice."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crosswind.emulate import testbed
from crosswind.emulate.port import objects, source
from crosswind.emulate.port.constants import Portable, portable
from crosswind.emulate.port.curves import CUTS_WITHIN, Curve, GRID_s, curve, cuts, held, seconds_of
from crosswind.emulate.port.loading import loaded
from crosswind.errors import CrosswindError, InputError
from crosswind.run import run as simulate
from crosswind.run.wanted import seed_of
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

#: What a comparison accepts: mean difference of the windows.
WITHIN = 0.05
#: How often a run that is not to be trusted is made again.
TRIES = 3
#: A run whose window is seen for less than this share of its time was broken off.
WHOLE = 0.95
#: How far the real window is moved in time to see how much of a difference is one of phase.
SHIFT_MAX_s = 1.0


@dataclass(frozen=True)
class Beside:
    """Both windows over time, in segments, and what they differ by."""

    law: Portable
    scenario: Scenario
    simulated: Curve
    real: Curve
    warnings: list[str]
    machine: dict[str, Any]

    @property
    def seconds(self) -> float:
        return seconds_of(self.scenario)

    @property
    def means(self) -> tuple[float, float]:
        """Mean window over time, simulated and real, in segments."""
        grid = np.arange(self._from, self.seconds, GRID_s)
        return float(held(self.simulated, grid).mean()), float(held(self.real, grid).mean())

    @property
    def difference(self) -> float:
        """Mean over time of how far the real window is from the simulated one, at the same moment, in shares of it."""
        return self._apart(0.0)

    @property
    def in_step(self) -> tuple[float, float]:
        """The least such difference when the real window is moved in time, and by how many seconds. Decides nothing.

        A saw-tooth that begins a little later differs everywhere, though law and period are the same.
        """
        steps = round(SHIFT_MAX_s / GRID_s)
        return min((self._apart(i * GRID_s), i * GRID_s) for i in sorted(range(-steps, steps + 1), key=abs))

    def _apart(self, shift_s: float) -> float:
        grid = np.arange(self._from, self.seconds, GRID_s)
        ours = held(self.simulated, grid)
        return float(np.mean(np.abs(held(self.real, grid + shift_s) - ours) / ours))

    @property
    def cuts(self) -> tuple[int, int]:
        """How often each window was cut, simulated and real."""
        return cuts(self.simulated[1]), cuts(self.real[1])

    @property
    def is_alike(self) -> bool:
        """Whether window and cuts are within what is accepted."""
        ours, real = self.cuts
        return self.difference <= WITHIN and abs(ours - real) <= max(1.0, CUTS_WITHIN * ours)

    @property
    def _from(self) -> float:
        return float(max(self.simulated[0][0], self.real[0][0]))

    def as_dict(self) -> dict[str, Any]:
        """For scripts: windows in segments, differences as shares."""
        (ours, real), (our_cuts, real_cuts) = self.means, self.cuts
        return {
            "law": self.law.name, "kernel": platform.release(), "duration_s": self.seconds,
            "window_simulated": ours, "window_kernel": real, "mean_difference": real / ours - 1,
            "difference": self.difference, "accepted": WITHIN,
            "difference_in_step": self.in_step[0], "in_step_after_s": self.in_step[1],
            "cuts_simulated": our_cuts, "cuts_kernel": real_cuts,
            "is_alike": self.is_alike, "warnings": self.warnings,
        }  # fmt: skip


def law_of(what: Scenario) -> Portable:
    """The law that a scenario is about. Raises InputError where it has no flow of that name."""
    tcp = what.get(f"flow.{source.FLOW}.tcp")
    if not isinstance(tcp, dict) or not isinstance(tcp.get("law"), str):
        raise InputError(what.file or "scenario", f"flow.{source.FLOW}.tcp.law", "no law", "a law that can be ported")
    return portable(tcp["law"])


def built(law: Portable, what: Scenario, folder: Path) -> Path:
    """The object for a scenario: the one beside its file where that is of the same C, else a new one in `folder`."""
    text = source.bpf(law, source.parameters(law, what))
    near = Path(what.file).with_name(f"{law.name}.bpf.c") if what.file else None
    if near and near.exists() and near.read_text(encoding="utf-8") == text and near.with_suffix(".o").exists():
        return near.with_suffix(".o")
    file = folder / f"{law.name}.bpf.c"
    file.write_text(text, encoding="utf-8")
    return objects.for_kernel(file, file.with_suffix(".o"))


def compare(what: Scenario, progress: Callable[[str], None] = lambda _said: None) -> Beside:
    """Runs a scenario simulated and, with the ported law loaded, between kernels in real time.

    Raises InputError, MissingError, BlockedError; the law is out of the kernel again in every case.
    """
    law = law_of(what)
    what.validate()
    mss = parse(what.validate()["flow"][source.FLOW]["tcp"]["mss"])
    assert mss is not None
    progress("simulating")
    ours = simulate(what)
    with tempfile.TemporaryDirectory() as folder:
        progress("compiling")
        target = built(law, what, Path(folder))
        with loaded(law, target):
            for attempt in range(TRIES):
                progress(f"{seconds_of(what):g} s in real time" + (f", try {attempt + 1}" if attempt else ""))
                real = testbed.run(what, seed=seed_of(what))
                if real.manifest["trusted"]:
                    break
    found = Beside(
        law, what, curve(ours, source.FLOW, mss.value), curve(real, source.FLOW, mss.value),
        list(real.manifest["warnings"]), dict(real.manifest["machine"]),
    )  # fmt: skip
    if found.real[0][-1] < WHOLE * found.seconds:
        raise CrosswindError(f"the run between kernels was broken off after {found.real[0][-1]:.1f} s")
    return found
