"""What do two small UDP streams and one high-speed flow do to each other, and does it matter who comes first?

The source printed figures that are lost (5.18 to 5.20) and a summary (Table 5.3): two streams of 8 Mbit/s in
packets of 200 bytes lower every protocol with the small router buffer, with the large one not FAST and CUBIC; 3.2
Mbit/s are enough; the jitter of the streams rises, most with HTCP and UDT. Standard TCP is hurt when the streams
come first.

What may differ here: socket buffers are 0.95 BDP. Case 1: streams first, flow 30 s later; case 2: the other way
round; averages begin with the flow. E5.17 to E5.19 of the source are these runs.

IC5.20 asks for an order, and six ratios below 1 pass; harm worth the name is seen in two of them. HSTCP, Scalable, FAST
and H-TCP lose no packet beside 3.2 Mbit/s with any of ten seeds, and their 0.99999 are a few packets less in 300 s.
CUBIC loses a median of 316 packets without UDP and 363 with it, and keeps 0.993 (0.977 to 0.999). UDT (0.993) loses 66
without UDP; with it 50 to 67 with seven seeds and 388 to 896 with three, where it keeps 0.88 to 0.91. With
`--quick` H-TCP loses 10 packets and keeps 0.68, HSTCP and Scalable lose one each.

IC5.21 fails in the order, by H-TCP: UDT makes most jitter (15 us; 58 with `--quick`), Scalable 13, HSTCP 12, CUBIC 11,
FAST 9, H-TCP 5. Jitter is made by what a flow puts between packets of UDP, 0.06 to 0.12 us for each Mbit/s, so who
carries least makes least, and H-TCP carries 50 of 221 Mbit/s. Its trace tells why: a window below the BDP comes as one
burst a round trip, and what it has grown by since the last must fit into the buffer. H-TCP grows faster each second,
and after 6 s by some 30 segments a round trip; the buffer has 25 packets. So it loses every 7 s, at a third of the BDP
(HSTCP, which grows by 7, loses once). With buffers of 37, 50 and 75 packets it has 79, 107 and 195 Mbit/s and 7, 10 and
13 us; HSTCP has 13 us with each. At 1 Gbit/s and 100 packets H-TCP is no better off (327 of 889 Mbit/s, 2.1 us; HSTCP
3.7, UDT 4.7). With the large buffer, where nothing is lost, H-TCP, HSTCP and Scalable have the very same 13 us. Rate
halving (variant `kernel`) leaves H-TCP more of its rate, and it makes 10.5 us, UDT 14.5, CUBIC 14.0. IC5.22 fails
because the window of Standard TCP is full when UDP comes (0.95 BDP in bursts of one round trip): with UDP the
bottleneck has 2 % too much for the length of a burst, more than 100 packets in all, and each loss halves. Tested: with
the large buffer nothing is lost, and spread over the round trip (`pacing`, at a sixteenth of the size) it keeps 0.74 of
its rate instead of 0.36.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import rates, study
from crosswind.figures import Picture
from crosswind.reproduce import Results, Tables
from crosswind.results import Runs
from crosswind.scenario import Scenario

FAST_ONES = (*paths.TCP_VARIANTS, "UDT")
PROTOCOLS = (*FAST_ONES, "Standard")
SECONDS, LATER = 330, 30
STREAMS = ("u1", "u2")
BUFFERS = {"Small": paths.SMALL, "Large": paths.LARGE}
ALL_MBPS, LITTLE_MBPS = 8.0, 1.6
LITTLE = ("no UDP", "little")
# Without UDP as well, and from 0 s on as in case 2.
BEFORE = "no UDP, from 0 s"


def label(name: str, case: str, buffer: str) -> str:
    return f"{name} {case} {buffer}"


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol without UDP and in both cases, with both buffers; little UDP first; UDP alone."""
    s = paths.SIZES_5[size]

    def run(name: str, case: str, buffer: str) -> Scenario:
        path = paths.INTERNATIONAL.buffered(BUFFERS[buffer])
        mbps = LITTLE_MBPS if case == "little" else ALL_MBPS
        stream = paths.cbr(mbps / s.divisor, 200, s.seconds(SECONDS))
        flows: dict[str, Any] = {}
        if name:
            flow = paths.buffered(name, path, s, 0.95)
            flows["f"] = flow if case in ("case 2", BEFORE) else paths.at(s.seconds(LATER), flow)
        if case not in ("no UDP", BEFORE):
            flows |= {u: paths.at(s.seconds(LATER), stream) if case == "case 2" else stream for u in STREAMS}
        return paths.scenario(path, flows, SECONDS, s, bin_s=1)

    cases = ("no UDP", BEFORE, "case 1", "case 2")
    out = {label(p, c, b): run(p, c, b) for p in PROTOCOLS for c in cases for b in BUFFERS}
    out |= {label(p, "little", "Small"): run(p, "little", "Small") for p in FAST_ONES}
    return out | {label("", "case 1", b): run("", "case 1", b) for b in BUFFERS}


def tables(runs: Runs) -> Tables:
    """As `rates.tables`; in `repetition` the jitter of the streams (`u1_jitter_ms`)."""
    made = rates.tables(runs)
    of_streams = runs.flows().filter(pl.col("name").is_in(STREAMS))
    columns = [pl.col("jitter_mean_ns").filter(pl.col("name") == u).first() / 1e6 for u in STREAMS]
    wide = of_streams.group_by(rates.KEYS).agg(
        [c.alias(f"{u}_jitter_ms") for u, c in zip(STREAMS, columns, strict=True)]
    )
    return {**made, "repetition": made["repetition"].join(wide, on=rates.KEYS, how="left").sort(rates.KEYS)}


def rate(name: str, case: str, buffer: str) -> rates.Measure:
    """From 30 s on: both are there, in either case."""
    return rates.during(label(name, case, buffer), "f", (LATER / SECONDS, 1.0))


def kept(name: str, case: str, buffer: str) -> rates.Measure:
    """The rate over that of a flow without UDP that begins at the same time."""
    alone = BEFORE if case == "case 2" else "no UDP"
    return lambda r: rate(name, case, buffer)(r) / rate(name, alone, buffer)(r)


def lost(name: str, case: str) -> rates.Measure:
    """Packets of the flow that the small buffer refused, run by run."""

    def measure(r: Results) -> np.ndarray:
        flows = r.runs.only(label(name, case, "Small")).flows()
        return flows.filter(pl.col("name") == "f").sort("rep")["drops_packets"].cast(pl.Float64).to_numpy()

    return measure


def jitter(name: str, buffer: str, case: str = "case 1") -> rates.Measure:
    """The mean over both streams, in ms."""
    return lambda r: np.mean([r.of(label(name, case, buffer), f"{u}_jitter_ms") for u in STREAMS], axis=0)


def raised(name: str) -> rates.Measure:
    """The jitter beside a protocol less that of the streams alone, small buffer, in ms."""
    return lambda r: jitter(name, "Small")(r) - jitter("", "Small")(r)


def loudest(r: Results) -> np.ndarray:
    """The lesser jitter beside HTCP and UDT over the largest beside the others, small buffer."""
    beside = {p: jitter(p, "Small")(r) for p in FAST_ONES}
    most = np.min([beside["HTCP"], beside["UDT"]], axis=0)
    return np.asarray(most / np.max([v for p, v in beside.items() if p not in ("HTCP", "UDT")], axis=0))


def pictures(r: Results) -> list[Picture]:
    """Figures 5.18 to 5.20."""
    out: list[Picture] = []
    for number, case in ((18, "case 1"), (19, "case 2")):
        heights = {b: {p: rate(p, case, b) for p in PROTOCOLS} for b in BUFFERS}
        heights["no UDP"] = {p: rate(p, "no UDP", "Small") for p in PROTOCOLS}
        beside = {
            b: {p: float(np.median(jitter(p, b, case)(r))) for p in PROTOCOLS}
            | {"UDP\nonly": float(np.median(jitter("", b)(r)))}
            for b in BUFFERS
        }
        caption = f"Jitter of the UDP streams, {case} (Figure 5.{number}(a))."
        out.append(figures.bars(f"f5-{number}a", caption, beside, "mean jitter (ms)"))
        out.append(rates.bars(f"f5-{number}b", f"Beside UDP, {case} (Figure 5.{number}(b)).", r, heights))
    for p in ("HSTCP", "FAST"):
        lines = {c: (label(p, c, "Large"), "f") for c in ("no UDP", "case 1", "case 2")}
        out.append(rates.over_time(f"f5-20-{p.lower()}", f"{p}, Large (Figure 5.20).", r, lines))
    return out


CLAIMS = study.BOOK.claims(
    {
        "IC5.19": {
            **{f"{p}, {c}, Small": study.median(kept(p, c, "Small")) for p in FAST_ONES for c in ("case 1", "case 2")},
            **{
                f"{p}, {c}, Large": study.median(kept(p, c, "Large"))
                for p in ("FAST", "CUBIC")
                for c in ("case 1", "case 2")
            },
        },
        "IC5.20": {
            **{p: study.median(kept(p, "little", "Small")) for p in FAST_ONES},
            **{f"{p}: lost, {c}": study.median(lost(p, c)) for p in FAST_ONES for c in LITTLE},
        },
        "IC5.21": {
            **{f"beside {p} less alone": study.median(raised(p)) for p in FAST_ONES},
            "HTCP and UDT over the others": study.median(loudest),
        },
        "IC5.22": {
            "case 2": study.median(kept("Standard", "case 2", "Small")),
            "case 1": study.median(kept("Standard", "case 1", "Small")),
        },
    }
)

EXPERIMENT = rates.experiment(
    "e5-17",
    "Two UDP streams beside a high-speed flow",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 5.18 to 5.20, table 5.3",
    tables=tables,
    figures=pictures,
    variants=paths.WHOLE,
)
