"""How do the protocols compare on an emulated path that drops nothing, with a socket buffer of 1.06 BDP?

The source printed a figure that is lost (5.6): as on the international line in kind, but far steadier, and hardly any
effect of the router buffer.

What may differ here: CUBIC heeds its socket buffer here, or its window would grow for ever without a loss.
"""

from __future__ import annotations

import numpy as np

from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import rates, study
from crosswind.figures import Picture
from crosswind.reproduce import Results
from crosswind.scenario import Scenario


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol alone."""
    s, path = paths.SIZES_5[size], paths.EMULATOR
    return {
        p: paths.scenario(path, {"f": paths.buffered(p, path, s, 1.06, heedless=())}, 300, s, bin_s=1)
        for p in paths.TCP_VARIANTS
    }


def least_over_largest(r: Results) -> np.ndarray:
    """The slowest protocol over the fastest, in the second half of the run."""
    found = [rates.during(p, "f", (0.5, 1.0))(r) for p in paths.TCP_VARIANTS]
    return np.asarray(np.min(found, axis=0) / np.max(found, axis=0))


def pictures(r: Results) -> list[Picture]:
    """Figure 5.6."""
    lines = {p: (p, "f") for p in ("Scalable", "FAST", "CUBIC")}
    return [rates.over_time("f5-6", "Emulated path, 1.06 BDP (Figure 5.6).", r, lines)]


CLAIMS = study.BOOK.claims(
    {
        "IC5.4": {"slowest over fastest": study.median(least_over_largest)},
    }
)

EXPERIMENT = rates.experiment(
    "e5-4",
    "A path that drops nothing",
    __doc__,
    configurations,
    CLAIMS,
    where="figure 5.6",
    figures=pictures,
    variants=paths.WHOLE,
)
