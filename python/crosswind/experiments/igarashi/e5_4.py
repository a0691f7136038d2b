"""How do the protocols compare on an emulated path that drops nothing, with a socket buffer of 1.06 BDP?

The source printed a figure that is lost (5.6): as on the international line in kind, but far steadier, and hardly any
effect of the router buffer.

What may differ here: the emulator is the bottleneck, and nothing is lost in it; the router's port in front of it, with
the small and with the large buffer, is as fast as the host. CUBIC heeds its socket buffer, or its window would grow
for ever without a loss. Nothing is random but the chunks of the receiver:
three seeds, of 0.24 billion packets each.
"""

from crosswind.experiments.igarashi import paths, rates
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measures
from crosswind.reproduce.claims.quantities import largest, least

BUFFERS = {"Small": paths.SMALL, "Large": paths.LARGE}


def configurations(size: str = "full", large_packets: int = paths.LARGE) -> dict[str, Scenario]:
    """Each protocol alone behind both buffers."""
    s = paths.SIZES_5[size]
    out = {}
    for buffer, packets in (BUFFERS | {"Large": large_packets}).items():
        path = paths.EMULATOR.staged(packets)
        for p in paths.TCP_VARIANTS:
            flow = paths.buffered(p, path, s, 1.06, heedless=())
            out[f"{p} {buffer}"] = paths.scenario(path, {"f": flow}, 300, s, bin_s=1)
    return out


def slowest(buffer: str, share: tuple[float, float], front: str = "") -> Quantity:
    """The slowest protocol over the fastest in a part of the run; `front` stands before the names of the runs."""
    found = [rates.during(f"{front}{p} {buffer}", "f", share) for p in paths.TCP_VARIANTS]
    return least(found) / largest(found)


def pictures(r: Results) -> list[Picture]:
    """Figure 5.6."""
    return [
        rates.over_time(
            f"f5-6{letter}",
            f"Emulated path, 1.06 BDP, {b} (Figure 5.6({letter})).",
            r,
            {p: (f"{p} {b}", "f") for p in ("Scalable", "FAST", "CUBIC")},
        )
        for letter, b in zip("ab", BUFFERS, strict=True)
    ]


CLAIMS = {
    "IC5.4": {
        "slowest over fastest": measures.median(slowest("Small", (0.5, 1.0))),
        **{f"slowest over fastest, {b}, 300 s": measures.median(slowest(b, (0.0, 1.0))) for b in BUFFERS},
    }
}

EXPERIMENT = rates.experiment(__name__, "A path that drops nothing", where="figure 5.6", reps=3)
