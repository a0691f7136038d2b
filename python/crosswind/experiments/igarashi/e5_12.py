"""How do two flows of one protocol share 1 Gbit/s when one of them has a longer round trip?

The source printed a figure that is lost (5.13: one flow of 39, 78 and 156 ms; two flows of 39/39, 39/78 and 39/156
ms): a single flow is only slightly affected by its round trip; with equal round trips the sum is that of one flow; with
unequal ones TCP variants are unfair and inefficient; UDT does not care.

What may differ here: delays lie behind the bottleneck (open point O5.10); socket buffers are 0.95 of each flow's
BDP; the path contains the domestic line, which loses packets (decision 0028). Cells that no claim looks at are not run:
39/78 of TCP variants, single flows of UDT.
"""

from dataclasses import replace

from crosswind.experiments.igarashi import paths, rates, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures, seeds
from crosswind.reproduce.claims.quantities import largest, least

SINGLE = ("39", "78", "156")
PAIRED = ("39+39", "39+156")
CELLS = [(p, c) for p in paths.TCP_VARIANTS for c in (*SINGLE, *PAIRED)] + [
    ("UDT", c) for c in ("39+39", "39+78", "39+156")
]


def label(name: str, case: str) -> str:
    return f"{name} {case}"


def configurations(
    size: str = "full", buffer_packets: int = paths.SMALL, loss: float = paths.DOMESTIC_LOSS
) -> dict[str, Scenario]:
    """Each protocol in the cases that claims look at."""
    s = paths.SIZES_5[size]
    base = paths.DOMESTIC.losing(loss).buffered(buffer_packets)
    out = {}
    for name, case in CELLS:
        own = dict(zip("fg", map(float, case.split("+")), strict=False))
        flows = {flow: paths.buffered(name, replace(base, rtt_ms=rtt), s, 0.95) for flow, rtt in own.items()}
        out[label(name, case)] = paths.scenario(base, flows, 300, s, bin_s=1, rtts_ms=own)
    return out


def total(name: str, case: str) -> Quantity:
    return rates.total(label(name, case), ("f", "g") if "+" in case else ("f",))


def second(name: str, case: str) -> Quantity:
    """The share of the second flow, which has the longer round trip."""
    return in_pair(name, case, "g") / total(name, case)


def least_over_largest(name: str) -> Quantity:
    """Of one flow with each round trip: the lowest rate over the highest."""
    found = [rates.mean(label(name, c)) for c in SINGLE]
    return least(found) / largest(found)


def in_pair(name: str, case: str, flow: str) -> Quantity:
    return rates.mean(label(name, case), flow)


def gained(name: str) -> Quantity:
    """What the short flow has more with 156 ms beside it than with 39 ms, in Mbit/s."""
    return in_pair(name, "39+156", "f") - in_pair(name, "39+39", "f")


def lost(name: str) -> Quantity:
    """What the other flow has less with 156 ms than with 39 ms, in Mbit/s."""
    return in_pair(name, "39+39", "g") - in_pair(name, "39+156", "g")


def pictures(r: Results) -> list[Picture]:
    """Figure 5.13."""
    firsts: dict[str, dict[str, Quantity]] = {}
    seconds: dict[str, dict[str, Quantity]] = {}
    for p, c in CELLS:
        firsts.setdefault(c, {})[p] = rates.mean(label(p, c))
        if "+" in c:
            seconds.setdefault(c, {})[p] = rates.mean(label(p, c), "g")
    return [
        rates.bars("f5-13", "The first flow (39 ms where there are two) (Figure 5.13).", r, firsts),
        rates.bars("f5-13-second", "The second flow (Figure 5.13).", r, seconds),
    ]


CLAIMS = {
    "IC5.9": {f"{p}: two over one": study.ratio(total(p, "39+39"), total(p, "39")) for p in paths.TCP_VARIANTS},
    "IC5.10": {
        **{
            f"{p}: long flow over its rate in 39/39": study.ratio(in_pair(p, "39+156", "g"), in_pair(p, "39+39", "g"))
            for p in paths.TCP_VARIANTS
        },
        **{
            f"{p}: sum over that of 39/39": study.ratio(total(p, "39+156"), total(p, "39+39"))
            for p in paths.TCP_VARIANTS
        },
    },
    "IC5.11": {
        f"share in {c} over 39/39": study.ratio(second("UDT", c), second("UDT", "39+39")) for c in ("39+78", "39+156")
    },
    "IC5.23": {
        **{f"{p}: gain of the short flow": seeds(gained(p)) for p in paths.TCP_VARIANTS},
        **{f"{p}: loss of the long flow less that gain": seeds(lost(p) - gained(p)) for p in paths.TCP_VARIANTS},
    },
    "IC5.24": {
        f"{p}: least over largest of 39, 78, 156 ms": measures.median(least_over_largest(p)) for p in paths.TCP_VARIANTS
    },
}

EXPERIMENT = rates.experiment(__name__, "Flows of different round trips", where="figure 5.13")
