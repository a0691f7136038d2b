"""What do two flows of different protocols make of 1 Gbit/s and 189 ms?

The source printed figures that are lost (5.14: averages over 300 s): sums are smaller than those of two flows of
one protocol, all mixed pairs are unfair, UDT hits TCP variants hardest, and Standard TCP starves beside any of
them, which hardly notices.

What may differ here: socket buffers are 0.95 BDP, the router buffer is the small one. Single flows are those of E5.1.
The router has other buffers than the one whose size is known (5.2); the variant `input-stage` has one for all hosts in
front of it, as fast as one host, so it changes nothing for a flow alone. Its 2000 packets are our number.
"""

from itertools import combinations

import numpy as np

from crosswind.experiments.igarashi import e5_1, pairs, paths, rates, study
from crosswind.reproduce import Picture, Results, Scenario, measures

PROTOCOLS = (*paths.TCP_VARIANTS, "UDT")
MIXED = tuple(combinations(PROTOCOLS, 2))


def configurations(size: str = "full", buffer_packets: int = paths.SMALL, port_packets: int = 0) -> dict[str, Scenario]:
    """All pairs, and each protocol beside Standard TCP; `port_packets` before the router's buffer."""
    s, path = paths.SIZES_5[size], paths.INTERNATIONAL.buffered(buffer_packets).staged(port_packets)
    both = [(p, p) for p in PROTOCOLS] + list(MIXED) + [(p, "Standard") for p in PROTOCOLS]
    out = {}
    for a, b in both:
        flows = {"f": paths.buffered(a, path, s, 0.95), "g": paths.buffered(b, path, s, 0.95)}
        out[pairs.label(a, b)] = paths.scenario(path, flows, 300, s, bin_s=1)
    return out


def smaller_sums(r: Results) -> np.ndarray:
    """The share of mixed pairs whose sum is below the mean of the sums of both kinds with themselves."""
    twins = {p: rates.total(pairs.label(p, p))(r) for p in PROTOCOLS}
    return np.mean([rates.total(pairs.label(a, b))(r) < (twins[a] + twins[b]) / 2 for a, b in MIXED], axis=0)


def pictures(r: Results) -> list[Picture]:
    """Figure 5.14."""
    all_pairs = [(p, p) for p in PROTOCOLS] + list(MIXED)
    sums = {"sum": {pairs.label(a, b): rates.total(pairs.label(a, b)) for a, b in all_pairs}}
    beside = [m for m in MIXED if "HTCP" in m]
    each = {
        "HTCP": {m[1 - m.index("HTCP")]: pairs.part(*m, "fg"[m.index("HTCP")]) for m in beside},
        "the other": {m[1 - m.index("HTCP")]: pairs.part(*m, "gf"[m.index("HTCP")]) for m in beside},
    }
    return [
        rates.bars("f5-14a", "Sums of two flows (Figure 5.14(a)).", r, sums),
        rates.bars("f5-14b", "HTCP beside another protocol (Figure 5.14(b)).", r, each),
    ]


CLAIMS = {
    "IC5.12": {"mixed pairs that do": measures.median(smaller_sums)},
    "IC5.13": {
        f"UDT over {p}": study.ratio(pairs.part(p, "UDT", "g"), pairs.part(p, "UDT", "f")) for p in paths.TCP_VARIANTS
    },
    "IC5.14": {
        **{
            f"Standard over {p}": study.ratio(pairs.part(p, "Standard", "g"), pairs.part(p, "Standard", "f"))
            for p in PROTOCOLS
        },
        **{
            f"{p} over alone": study.ratio(
                pairs.part(p, "Standard", "f"), rates.during(e5_1.alone(p), "f", e5_1.part(0, 300))
            )
            for p in PROTOCOLS
        },
    },
}

EXPERIMENT = rates.experiment(__name__, "Mixed protocols at 1 Gbit/s", where="figure 5.14", uses=("e5-1",))
