"""Do two flows of one protocol share the path JAPAN equally, and is their sum above what one alone carries?

The source printed figures that are lost (4.6, 4.7: averages over 300 s): equal shares with every protocol, and a sum
above the single flow with every protocol.

What may differ here: flows start within 0.1 s of each other; in a network without other traffic two flows of one law
can stay in step, or lose at different times, for longer than on a real path.
"""

from crosswind.experiments.igarashi import e4_1, pairs, paths, rates, study
from crosswind.reproduce import Picture, Results, Scenario, measures

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


CLAIMS = {
    "IC4.9": {
        **{
            f"{p}: Jain": measures.median(rates.jain(pairs.part(p, p, "f"), pairs.part(p, p, "g")))
            for p in e4_1.PROTOCOLS
        },
        **{f"{p}: sum over one": study.ratio(rates.total(pairs.label(p, p)), rates.mean(p)) for p in e4_1.PROTOCOLS},
    }
}

EXPERIMENT = rates.experiment(__name__, "Two flows of one protocol", where="figures 4.6, 4.7")
