"""Do two flows of one protocol share the path JAPAN equally, and is their sum above what one alone carries?

The source printed figures that are lost (4.6, 4.7: averages over 300 s): equal shares with every protocol, and a sum
above the single flow with every protocol.

What may differ here: flows start within 0.1 s of each other; in a network without other traffic two flows of one law
can stay in step, or lose at different times, for longer than on a real path.

IC4.9 fails with FAST, as its two flows want 400 packets in a buffer of 100: with an alpha of 40 they have 115 Mbit/s
each (Jain's index 1.000), with a buffer of 500 packets 125 each. That they have a third of one flow's rate, not just
less, comes from halving at once: it presses a window into half a round trip, where the 100 packets that FAST adds per
round trip arrive as one burst and overflow the buffer again. With rate halving (variant `kernel`), which spreads the
reduction over a round trip, the two have 0.93 of one flow's rate, and with the bursts of others that E4.1 tries
(variant `kernel-others`) 1.15. At full size it fails with SABUL too (0.64), as the step of its increase has decades: a
flow above 120 Mbit/s (100 packets in 10 ms) gains ten times as much as one below. At half the size, where no flow stays
above, the index is 1.000. Jitter of 40 us (a packet at the bottleneck) between host and router changes nothing of it,
so it is no lock of phases.
"""

from __future__ import annotations

from crosswind.experiments.igarashi import e4_1, pairs, rates, study
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.figures import Picture
from crosswind.reproduce import Results
from crosswind.scenario import Scenario

SECONDS = 300


def configurations(size: str = "full", others_mbps: float = 0.0) -> dict[str, Scenario]:
    """Each protocol with itself, and alone."""
    s = paths.SIZES_4[size]
    twins = pairs.on_japan([(p, p) for p in e4_1.PROTOCOLS], SECONDS, s, others_mbps)
    return {**twins, **pairs.alone_on_japan(e4_1.PROTOCOLS, SECONDS, s, others_mbps)}


def pictures(r: Results) -> list[Picture]:
    """Figures 4.6 and 4.7."""
    twins = pairs.label("Scalable", "Scalable")
    heights = {
        name: {p: pairs.part(p, p, flow) for p in e4_1.PROTOCOLS}
        for name, flow in (("first flow", "f"), ("second flow", "g"))
    }
    heights["alone"] = {p: rates.mean(p) for p in e4_1.PROTOCOLS}
    return [
        rates.over_time("f4-6", "Two Scalable flows (Figure 4.6).", r, {"first": (twins, "f"), "second": (twins, "g")}),
        rates.bars("f4-7", "Two flows of one protocol (Figure 4.7).", r, heights),
    ]


CLAIMS = study.BOOK.claims(
    {
        "IC4.9": {
            **{
                f"{p}: Jain": study.median(rates.jain(pairs.part(p, p, "f"), pairs.part(p, p, "g")))
                for p in e4_1.PROTOCOLS
            },
            **{
                f"{p}: sum over one": study.ratio(rates.total(pairs.label(p, p)), rates.mean(p)) for p in e4_1.PROTOCOLS
            },
        },
    }
)

EXPERIMENT = rates.experiment(
    "e4-4",
    "Two flows of one protocol",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 4.6, 4.7",
    figures=pictures,
    variants=paths.OTHERS,
)
