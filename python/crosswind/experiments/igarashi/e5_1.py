"""What does the socket buffer do to one flow over 941 Mbit/s and 189 ms, with a small and with a large router buffer?

The source printed figures that are lost (5.3, 5.4, 5.5 and 5.7: socket buffers of 0.80 to 1.06 of the BDP, averages
over 300 s): below the BDP every flow has what its buffer allows; above it, with the small router buffer, all but
CUBIC lose much; the large one mends FAST and makes Scalable worse. CUBIC was not limited by its socket buffer.

What may differ here: sizes of the router buffers are readings (O5.1), and so is the line between host and router
(see `fast_paths`). E5.1 to E5.3 and E5.5 of the source are these runs.

IC5.2 fails with Scalable TCP (0.97): it gives up an eighth per loss and is back after 13 round trips, so a full buffer
costs it little. The kernels of the source did not let it: their rate halving takes the window to half of the threshold,
and slow start follows. With it (variant `kernel`) Scalable has 0.81, HSTCP 0.87, H-TCP 0.79, FAST 0.72, and IC5.2
passes. IC5.3 fails because the excess of 1.06 over 1.00 BDP is 920 packets, which fit into 2000: nothing is lost with
the large buffer, and nothing is unstable. With 400 packets (`large-400`; the source says more than 200) HSTCP loses a
tenth, Scalable next to nothing. With both (`kernel-large-400`) Scalable is worse than with the small buffer (0.91) and
far below 0.95 BDP (0.74), HSTCP too (0.89), FAST has 1.46 times as much as with the small one, and IC5.2 and IC5.3
pass.
"""

from __future__ import annotations

from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import rates, study
from crosswind.figures import Picture
from crosswind.reproduce import Results, Variant
from crosswind.scenario import Scenario

SECONDS = 300
SHARES = (0.80, 0.95, 1.00, 1.06)
BUFFERS = {"Small": paths.SMALL, "Large": paths.LARGE}
LIMITED = ("HSTCP", "Scalable", "FAST", "HTCP")
STEADY = (0.5, 1.0)


READINGS = {
    **paths.WHOLE,
    **{
        f"large-{n}": Variant(f"the large router buffer holds {n} packets (O5.1)", {"large_packets": n})
        for n in (400, 800)
    },
    "kernel-large-400": Variant(
        "`kernel`, and the large router buffer holds 400 packets (O5.1)", {"hosts": "kernel", "large_packets": 400}
    ),
}


def label(name: str, share: float, buffer: str) -> str:
    """CUBIC has one run for each router buffer: it does not heed the socket's."""
    return f"{name} {buffer}" if name == "CUBIC" else f"{name} {share:.2f} {buffer}"


def configurations(size: str = "full", large_packets: int = paths.LARGE) -> dict[str, Scenario]:
    """Each protocol with each socket buffer and both router buffers."""
    s = paths.SIZES_5[size]
    out = {}
    for buffer, packets in (BUFFERS | {"Large": large_packets}).items():
        path = paths.INTERNATIONAL.buffered(packets)
        for name in paths.TCP_VARIANTS:
            for share in SHARES:
                flow = paths.buffered(name, path, s, share)
                out[label(name, share, buffer)] = paths.scenario(path, {"f": flow}, SECONDS, s, bin_s=1)
    return out


def rate(name: str, share: float, buffer: str) -> rates.Measure:
    return rates.mean(label(name, share, buffer))


def over_limit(name: str, share: float, buffer: str) -> rates.Measure:
    """The rate in the second half of the run over what the socket buffer allows: buffer / RTT."""

    def measure(r: Results):  # type: ignore[no-untyped-def]
        configuration = label(name, share, buffer)
        window = float(r.runs.scenarios[configuration].data["flow"]["f"]["tcp"]["receive_buffer"].split()[0])
        return rates.during(configuration, "f", STEADY)(r) / (window * 8e-6 / (paths.INTERNATIONAL.rtt_ms / 1e3))

    return measure


def pictures(r: Results) -> list[Picture]:
    """Figures 5.3 (as bars), 5.4, 5.5 and 5.7."""
    out = []
    for letter, buffer in (("a", "Small"), ("b", "Large")):
        heights = {f"{x:.2f} BDP": {p: rate(p, x, buffer) for p in paths.TCP_VARIANTS} for x in SHARES}
        out.append(rates.bars(f"f5-3{letter}", f"Socket buffers, {buffer} (Figure 5.3({letter})).", r, heights))
        for number, share in ((5, 1.06), (7, 0.95)):
            lines = {p: (label(p, share, buffer), "f") for p in ("Scalable", "FAST", "CUBIC")}
            caption = f"{share} BDP, {buffer} (Figure 5.{number}({letter}))."
            out.append(rates.over_time(f"f5-{number}{letter}", caption, r, lines))
    fast = {f"{x:.2f} BDP": (label("FAST", x, "Small"), "f") for x in SHARES}
    two = {f"{p} {x:.2f}": (label(p, x, "Small"), "f") for p in ("HTCP", "Scalable") for x in (0.95, 1.0)}
    return [
        *out,
        rates.over_time("f5-4a", "FAST, Small (Figure 5.4(a)).", r, fast),
        rates.over_time("f5-4b", "HTCP and Scalable, Small (Figure 5.4(b)).", r, two),
    ]


CLAIMS = study.BOOK.claims(
    {
        "IC5.1": {
            **{f"{p} {x:.2f}, over x": study.median(over_limit(p, x, "Small")) for p in LIMITED for x in (0.8, 0.95)},
            **{f"{p} {x:.2f}: lost": study.value(label(p, x, "Small"), "f_loss") for p in LIMITED for x in (0.8, 0.95)},
        },
        "IC5.2": {
            **{f"{p}: 1.06 over 0.95": study.ratio(rate(p, 1.06, "Small"), rate(p, 0.95, "Small")) for p in LIMITED},
            "CUBIC over FAST at 0.95": study.ratio(rate("CUBIC", 1.06, "Small"), rate("FAST", 0.95, "Small")),
        },
        "IC5.3": {
            "FAST: Large over Small": study.ratio(rate("FAST", 1.06, "Large"), rate("FAST", 1.06, "Small")),
            "Scalable: Large over Small": study.ratio(rate("Scalable", 1.06, "Large"), rate("Scalable", 1.06, "Small")),
            **{
                f"{p} Large: 1.06 over 0.95": study.ratio(rate(p, 1.06, "Large"), rate(p, 0.95, "Large"))
                for p in ("HSTCP", "Scalable")
            },
        },
    }
)

EXPERIMENT = rates.experiment(
    "e5-1",
    "Socket buffers and router buffers",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 5.3 to 5.5 and 5.7",
    figures=pictures,
    variants=READINGS,
)
