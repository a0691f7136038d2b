"""What does a UDP flow of 200 Mbit/s do that comes for 100 s, to each protocol alone and to two SABUL flows?

The source printed (Table 4.7) the loss rate of the UDP flow: 0.87 % beside Standard TCP, 0.84 HSTCP, 0.91 Scalable,
1.9 FAST and 1.9 SABUL; figures 4.8 and 4.9 are lost. The loss-driven protocols fall to nearly nothing, SABUL keeps
about 100 Mbit/s, FAST something between; SABUL and FAST are back at once. Two SABUL flows use what is left, but
come back more slowly than one.

What may differ here: the run goes on to 500 s (open point O4.11), and the UDP flow is even: a stream that loses by
itself, in bursts, is a variant (`udp-every-9-ms`). E4.5 and E4.6 of the source are these runs.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.igarashi import e4_1, pairs, paths, rates, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import runs, total

SECONDS, BEGINS, ENDS, UDP_MBPS = 500, 200, 300, 200
BEFORE, WITHIN = (0.2, 0.4), (0.42, 0.6)
LOSSY = ("Standard", "HSTCP", "Scalable")


def configurations(size: str = "full", udp_every_ms: float = 0.0) -> dict[str, Scenario]:
    """Each protocol alone, and two SABUL flows, with the UDP flow from 200 to 300 s."""
    s = paths.SIZES_4[size]
    udp = paths.cbr(UDP_MBPS / s.divisor, paths.MTU_BYTES, s.seconds(ENDS - BEGINS), udp_every_ms)
    burst = paths.at(s.seconds(BEGINS), udp)

    def run(flows: dict[str, Any]) -> Scenario:
        return paths.scenario(paths.JAPAN, {**flows, "udp": burst}, SECONDS, s, bin_s=2)

    two = {"f": pairs.japan("SABUL", s), "g": pairs.japan("SABUL", s)}
    return {**{p: run({"f": pairs.japan(p, s)}) for p in e4_1.PROTOCOLS}, "two SABUL": run(two)}


def within(name: str, flow: str = "f") -> Quantity:
    """The rate during the UDP flow, without its first moments."""
    return rates.during(name, flow, WITHIN)


def kept(name: str) -> Quantity:
    """That rate over the one before, without the first moments of either."""
    return within(name) / rates.during(name, "f", BEFORE)


def left(configuration: str, flows: tuple[str, ...]) -> Quantity:
    """The rate during the UDP flow over what that leaves of 305 Mbit/s."""
    return total(within(configuration, f) for f in flows) / e4_1.capacity / (1 - UDP_MBPS / 305)


def udp_loss(name: str) -> Quantity:
    return runs(name, "udp_loss")


@measured
def back_s(r: Results, configuration: str, flows: tuple[str, ...] = ("f",)) -> Any:
    """Seconds from the end of the UDP flow until a bin has nine tenths of the mean rate before it began."""
    found = []
    for rep in sorted(rates.series(r, configuration, flows[0])["rep"].unique()):
        runs = [rates.series(r, configuration, f) for f in flows]
        t = runs[0].filter(runs[0]["rep"] == rep)["s"].to_numpy()
        v = np.sum([x.filter(x["rep"] == rep)["mbps"].to_numpy() for x in runs], axis=0)
        end = t.max()
        before = v[(t > BEFORE[0] * end) & (t <= BEFORE[1] * end)].mean()
        over = t[(t > ENDS / SECONDS * end) & (v >= 0.9 * before)]
        found.append((over.min() if over.size else end) - ENDS / SECONDS * end)
    return np.array(found)


def pictures(r: Results) -> list[Picture]:
    """Figures 4.8 and 4.9, table 4.7."""
    known = {p: study.BOOK.number("IC4.11", f"beside {p}") for p in e4_1.PROTOCOLS}
    lost = {"UDP": {p: float(np.median(udp_loss(p)(r))) for p in e4_1.PROTOCOLS}}
    lines = {p: (p, "f") for p in e4_1.PROTOCOLS}
    two = {"one flow": ("SABUL", "f"), "first of two": ("two SABUL", "f"), "second of two": ("two SABUL", "g")}
    return [
        rates.over_time("f4-8", "UDP from 200 to 300 s (Figure 4.8).", r, lines),
        rates.over_time("f4-9", "One and two SABUL flows, UDP from 200 to 300 s (Figure 4.9).", r, two),
        figures.bars("t4-7", "Loss of the UDP flow (Table 4.7).", lost, "loss rate", {"UDP": known}),
    ]


CLAIMS = {
    "IC4.10": {
        **{f"{p}: kept": measures.median(kept(p)) for p in LOSSY},
        "SABUL over what is left": measures.median(left("SABUL", ("f",))),
        **{f"FAST over {p}": study.ratio(within("FAST"), within(p)) for p in LOSSY},
    },
    "IC4.11": {
        **{f"{fast} over {p}": study.ratio(udp_loss(fast), udp_loss(p)) for fast in ("FAST", "SABUL") for p in LOSSY},
        **{f"beside {p}": measures.median(udp_loss(p)) for p in e4_1.PROTOCOLS},
    },
    "IC4.12": {
        **e4_1.at_full_size(back_s, "SABUL", "FAST", *LOSSY),
        **{f"{p} over {fast}": study.ratio(back_s(p), back_s(fast)) for fast in ("FAST", "SABUL") for p in LOSSY},
    },
    "IC4.13": {
        "two over what is left": measures.median(left("two SABUL", ("f", "g"))),
        "time back": study.ratio(back_s("two SABUL", ("f", "g")), back_s("SABUL")),
    },
}

EXPERIMENT = rates.experiment(__name__, "An interrupting UDP flow", where="figures 4.8, 4.9, table 4.7")
