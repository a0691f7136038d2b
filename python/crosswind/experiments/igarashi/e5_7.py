"""How fast do the protocols grow to receivers of different systems on a path that drops nothing, 0.95 BDP?

The source printed figures that are lost (5.9, 5.10): all protocols reach a high rate with any receiver; Windows XP,
which acknowledges long chunks, grows slowest.

What may differ here: receivers are the profiles of `tcp.receiver`; CUBIC heeds its socket buffer. E5.7 and E5.8 of the
source are these runs; the amount of data per ACK is measured in E4.9.
"""

from __future__ import annotations

import numpy as np

from crosswind.claims import Claim, at_least, at_most
from crosswind.experiments.base import Results
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import rates
from crosswind.figures import Picture
from crosswind.scenario import Scenario

RECEIVERS = {"Linux": "linux-2.4", "FreeBSD 5.3": "freebsd-5.3", "Windows XP": "windows-xp"}


def label(name: str, receiver: str) -> str:
    return f"{name} to {receiver}"


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol to each receiver; bins are short, because the flows are fast."""
    s, path = paths.SIZES_5[size], paths.EMULATOR
    out = {}
    for name in paths.TCP_VARIANTS:
        for receiver, os in RECEIVERS.items():
            flow = paths.buffered(name, path, s, 0.95, heedless=(), receiver=os)
            out[label(name, receiver)] = paths.scenario(path, {"f": flow}, 300, s, bin_s=0.2)
    return out


def slowest(r: Results) -> np.ndarray:
    """The least rate in the second half of the run, over what the buffer allows."""
    found = [rates.during(label(p, o), "f", (0.5, 1.0))(r) for p in paths.TCP_VARIANTS for o in RECEIVERS]
    return np.asarray(np.min(found, axis=0) / _limit(r))


def _limit(r: Results) -> float:
    tcp = r.runs.scenarios[label("HTCP", "Linux")].data["flow"]["f"]["tcp"]
    return float(tcp["receive_buffer"].split()[0]) * 8e-6 / (paths.EMULATOR.rtt_ms / 1e3)


def half_s(name: str, receiver: str) -> rates.Measure:
    """When a flow first has half of what its buffer allows."""
    return lambda r: rates.reached_s(label(name, receiver), _limit(r) / 2)(r)


def pictures(r: Results) -> list[Picture]:
    """Figure 5.9, with Linux beside."""
    return [
        rates.over_time(
            f"f5-9{letter}", f"To {o} (Figure 5.9).", r, {p: (label(p, o), "f") for p in ("Scalable", "FAST", "CUBIC")}
        )
        for letter, o in zip("cab", RECEIVERS, strict=True)
    ]


CLAIMS = (
    Claim(
        "IC5.5",
        "all reach a high rate with any receiver (nine tenths of the buffer's: our number), Windows XP last",
        "all high; XP slowest",
        (
            rates.value("slowest over the buffer's rate", slowest, at_least(0.9), "1", "", 3),
            *(
                rates.ratio(f"{p}: time with {o} over XP", half_s(p, o), half_s(p, "Windows XP"), at_most(1.0), "< 1")
                for p in paths.TCP_VARIANTS
                for o in ("Linux", "FreeBSD 5.3")
            ),
        ),
    ),
)

EXPERIMENT = rates.experiment(
    "e5-7",
    "Receivers on a path that drops nothing",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 5.9, 5.10",
    figures=pictures,
    variants=paths.WHOLE,
)
