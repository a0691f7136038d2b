"""What does a set loss rate of the emulator do to CUBIC and H-TCP?

The source printed a figure that is lost (5.8), without the loss rates: with a small one CUBIC begins as on the real
line, H-TCP differs strongly from it. No claim rests on it; the series are drawn.

What may differ here: the loss rates are 1e-7, 1e-6 and 1e-5 (open point O5.2), times what the network is divided by.
One seed: a figure shows one run.
"""

from dataclasses import replace

from crosswind.experiments.igarashi import paths, rates
from crosswind.reproduce import Picture, Results, Scenario

LOSSES = (1e-7, 1e-6, 1e-5)
PROTOCOLS = ("CUBIC", "HTCP")


def label(name: str, loss: float) -> str:
    return f"{name} {loss:.0e}"


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Both protocols with each loss rate, and on the real line with the small buffer."""
    s = paths.SIZES_5[size]
    out = {}
    for name in PROTOCOLS:
        for loss in LOSSES:
            path = replace(paths.EMULATOR, loss=loss)
            flow = paths.buffered(name, path, s, 1.06, heedless=())
            out[label(name, loss)] = paths.scenario(path, {"f": flow}, 300, s, bin_s=1)
        line = paths.buffered(name, paths.INTERNATIONAL, s, 1.06)
        out[f"{name} line"] = paths.scenario(paths.INTERNATIONAL, {"f": line}, 300, s, bin_s=1)
    return out


def pictures(r: Results) -> list[Picture]:
    """Figure 5.8."""
    out = []
    for letter, name in zip("ab", PROTOCOLS, strict=True):
        lines = {f"{x:.0e}": (label(name, x), "f") for x in LOSSES} | {"line": (f"{name} line", "f")}
        out.append(rates.over_time(f"f5-8{letter}", f"{name} with set losses (Figure 5.8({letter})).", r, lines))
    return out


EXPERIMENT = rates.experiment(__name__, "Set losses on the emulator", where="figure 5.8", reps=1)
