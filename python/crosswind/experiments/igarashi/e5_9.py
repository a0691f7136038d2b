"""What do bursty ACKs (FreeBSD) and sparse ones (Windows XP) do on the domestic line, where losses are likely?

The source printed figures that are lost (5.11: 39 ms, socket buffers of 0.95 and 1.06 BDP): bursts of ACKs make bursts
of data, more losses and a lower rate with FreeBSD; with Windows XP there is no such thing.

What may differ here: the line loses at random what the others of the source lose on it (decision 0028), and as many
packets are late; the variant `in-order` has the losses alone, `no-losses` neither. The chunks of XP are not divided, so
at a smaller size its bursts are larger beside the buffer.
"""

from dataclasses import replace

from crosswind.experiments.igarashi import paths, rates, study
from crosswind.reproduce import Picture, Results, Scenario

RECEIVERS = {"FreeBSD 5.3": "freebsd-5.3", "Windows XP": "windows-xp"}
SHARES = (0.95, 1.06)


def label(name: str, receiver: str, share: float) -> str:
    return f"{name} to {receiver}, {share:.2f}"


def configurations(
    size: str = "full", loss: float = paths.DOMESTIC.loss, late_share: float = paths.DOMESTIC.late_share
) -> dict[str, Scenario]:
    """Each protocol to both receivers with both socket buffers."""
    s, path = paths.SIZES_5[size], replace(paths.DOMESTIC, loss=loss, late_share=late_share)
    out = {}
    for name in paths.TCP_VARIANTS:
        for receiver, os in RECEIVERS.items():
            for share in SHARES:
                flow = paths.buffered(name, path, s, share, receiver=os)
                out[label(name, receiver, share)] = paths.scenario(path, {"f": flow}, 150, s, bin_s=1)
    return out


def pictures(r: Results) -> list[Picture]:
    """Figure 5.11."""
    cases = [(o, x) for x in SHARES for o in RECEIVERS]
    return [
        rates.over_time(
            f"f5-11{letter}",
            f"To {o}, {x} BDP (Figure 5.11({letter})).",
            r,
            {p: (label(p, o, x), "f") for p in ("Scalable", "FAST", "CUBIC")},
        )
        for letter, (o, x) in zip("abcd", cases, strict=True)
    ]


CLAIMS = {
    "IC5.6": {
        f"{p} {x:.2f}: FreeBSD over XP": study.ratio(
            rates.mean(label(p, "FreeBSD 5.3", x)), rates.mean(label(p, "Windows XP", x))
        )
        for p in paths.TCP_VARIANTS
        for x in SHARES
    }
}

EXPERIMENT = rates.experiment(__name__, "Receivers on a line with losses", where="figure 5.11")
