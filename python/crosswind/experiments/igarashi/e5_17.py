"""What do two small UDP streams and one high-speed flow do to each other, and does it matter who comes first?

The source printed figures that are lost (5.18 to 5.20) and a summary (Table 5.3): two streams of 8 Mbit/s in
packets of 200 bytes lower every protocol with the small router buffer, with the large one not FAST and CUBIC; 3.2 or
6.4 Mbit/s are enough; the jitter of the streams rises, most with HTCP and UDT. Standard TCP is hurt when the streams
come first.

What may differ here: socket buffers are 0.95 BDP. Case 1: streams first, flow 30 s later; case 2: the other way
round; averages are over 300 s from when both are there. Flows without UDP are those of E5.1, over as long a time from
their start. Little UDP is tried on those that its source names as limited by their socket buffer. The variant
`input-stage` is that of E5.13. E5.17 to E5.19 of the source are these runs.
"""

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.igarashi import e5_1, paths, rates, study
from crosswind.reproduce import Measure, Picture, Quantity, Results, Runs, Scenario, Tables, measures
from crosswind.reproduce.claims import rules
from crosswind.reproduce.claims.quantities import largest, least, runs, total

FAST_ONES = (*paths.TCP_VARIANTS, "UDT")
LIMITED = e5_1.LIMITED
PROTOCOLS = (*FAST_ONES, "Standard")
SECONDS, LATER = 330, 30
STREAMS = ("u1", "u2")
BUFFERS = {"Small": paths.SMALL, "Large": paths.LARGE}
TOGETHER = (LATER / SECONDS, 1.0)
ALL_MBPS = 8.0
# Both streams together, in Mbit/s.
LITTLE = {"3.2": 1.6, "6.4": 3.2}
CASES = ("case 1", "case 2")
SURE = 0.99


def label(name: str, case: str, buffer: str = "Small") -> str:
    return f"{name} {case} {buffer}"


def configurations(size: str = "full", large_packets: int = paths.LARGE, port_packets: int = 0) -> dict[str, Scenario]:
    """Each protocol in both cases with both buffers; little UDP first; UDP alone. `port_packets` as in E5.13."""
    s = paths.SIZES_5[size]
    holds = {"Small": paths.SMALL, "Large": large_packets}

    def run(name: str, case: str, buffer: str) -> Scenario:
        path = paths.INTERNATIONAL.buffered(holds[buffer]).staged(port_packets)
        stream = paths.cbr(LITTLE.get(case, ALL_MBPS) / s.divisor, 200, s.seconds(SECONDS))
        first, later = ({"f": paths.buffered(name, path, s, 0.95)} if name else {}), dict.fromkeys(STREAMS, stream)
        if case != "case 2":
            first, later = later, first
        flows = first | {k: paths.at(s.seconds(LATER), v) for k, v in later.items()}
        return paths.scenario(path, flows, SECONDS, s, bin_s=1)

    cells = [(p, c, b) for p in FAST_ONES for c in CASES for b in BUFFERS] + [("Standard", c, "Small") for c in CASES]
    cells += [(p, c, "Small") for p in LIMITED for c in LITTLE] + [("", "case 1", b) for b in BUFFERS]
    return {label(*cell): run(*cell) for cell in cells}


def tables(of: Runs) -> Tables:
    """As `rates.tables`; in `repetition` the jitter of the streams (`u1_jitter_ms`)."""
    made = rates.tables(of)
    of_streams = of.flows().filter(pl.col("name").is_in(STREAMS))
    columns = [pl.col("jitter_mean_ns").filter(pl.col("name") == u).first() / 1e6 for u in STREAMS]
    wide = of_streams.group_by(rates.KEYS).agg(
        [c.alias(f"{u}_jitter_ms") for u, c in zip(STREAMS, columns, strict=True)]
    )
    return {**made, "repetition": made["repetition"].join(wide, on=rates.KEYS, how="left").sort(rates.KEYS)}


def rate(name: str, case: str, buffer: str, front: str = "") -> Quantity:
    """From 30 s on: both are there, in either case. `front` stands before the name of the run."""
    return rates.during(front + label(name, case, buffer), "f", TOGETHER)


def without(name: str, case: str, buffer: str) -> Quantity:
    """The rate without UDP over 300 s that begin as long after the flow's start."""
    begins = LATER if case == "case 2" else 0
    return rates.during(e5_1.alone(name, buffer), "f", e5_1.part(begins, begins + SECONDS - LATER))


def beside(name: str, case: str, buffer: str, front: str = "") -> Quantity:
    """The rate over that without UDP."""
    return rate(name, case, buffer, front) / without(name, case, buffer)


def harmed(name: str, case: str, buffer: str) -> Measure:
    """The change by UDP."""
    return study.change(rate(name, case, buffer), without(name, case, buffer))


def by_little(r: Results) -> float:
    """How many of eight flows little UDP harms: by 5 % or more for certain (99 %), with packets lost."""
    found = 0
    for name in LIMITED:
        for case in LITTLE:
            e = measures.over_seeds(study.changed(rate(name, case, "Small"), without(name, case, "Small"))(r), SURE)
            lost = np.median(r.of(label(name, case), "f_lost")) > 0
            found += int(e.n >= rules.SEEDS and e.high < 0 and e.value <= -rules.HARM and bool(lost))
    return float(found)


def jitter(name: str, buffer: str = "Small", case: str = "case 1") -> Quantity:
    """The mean over both streams, in ms."""
    return total(runs(label(name, case, buffer), f"{u}_jitter_ms") for u in STREAMS) / len(STREAMS)


LOUD = ("HTCP", "UDT")
# The lesser jitter beside HTCP and UDT over the largest beside the others, small buffer.
LOUDEST = least(map(jitter, LOUD)) / largest(jitter(p) for p in FAST_ONES if p not in LOUD)


def _ran(buffer: str) -> tuple[str, ...]:
    """Standard TCP is run with the small buffer alone."""
    return PROTOCOLS if buffer == "Small" else FAST_ONES


def pictures(r: Results) -> list[Picture]:
    """Figures 5.18 to 5.20."""
    out: list[Picture] = []
    for number, case in ((18, "case 1"), (19, "case 2")):
        heights = {b: {p: rate(p, case, b) for p in _ran(b)} for b in BUFFERS}
        heights["no UDP"] = {p: without(p, case, "Small") for p in PROTOCOLS}
        shaken = {
            b: {p: float(np.median(jitter(p, b, case)(r))) for p in _ran(b)}
            | {"UDP\nonly": float(np.median(jitter("", b)(r)))}
            for b in BUFFERS
        }
        caption = f"Jitter of the UDP streams, {case} (Figure 5.{number}(a))."
        out.append(figures.bars(f"f5-{number}a", caption, shaken, "mean jitter (ms)"))
        out.append(rates.bars(f"f5-{number}b", f"Beside UDP, {case} (Figure 5.{number}(b)).", r, heights))
    for p in ("HSTCP", "FAST"):
        lines = {"no UDP": (e5_1.alone(p, "Large"), "f")} | {c: (label(p, c, "Large"), "f") for c in CASES}
        out.append(rates.over_time(f"f5-20-{p.lower()}", f"{p}, Large (Figure 5.20).", r, lines))
    return out


CLAIMS = {
    "IC5.19": {
        **{f"{p}, {c}, Small": harmed(p, c, "Small") for p in FAST_ONES for c in CASES},
        **{f"{p}, {c}, Large": harmed(p, c, "Large") for p in ("FAST", "CUBIC") for c in CASES},
    },
    "IC5.20": {
        "flows harmed, of eight": measures.with_seeds(by_little),
        **{f"{p}: 3.2 Mbit/s": measures.median(beside(p, "3.2", "Small")) for p in LIMITED},
        **{f"{p}: change by {c} Mbit/s": harmed(p, c, "Small") for p in LIMITED for c in LITTLE},
        **{f"{p}: lost beside {c} Mbit/s": measures.value(label(p, c), "f_lost") for p in LIMITED for c in LITTLE},
    },
    "IC5.21": {
        **{f"beside {p} less alone": measures.median(jitter(p) - jitter("")) for p in FAST_ONES},
        "HTCP and UDT over the others": measures.median(LOUDEST),
    },
    "IC5.22": {c: measures.median(beside("Standard", c, "Small")) for c in CASES},
    "IC5.25": {
        f"{p}, {c}: kept with Large less with Small": measures.seeds(beside(p, c, "Large") - beside(p, c, "Small"))
        for p in FAST_ONES
        for c in CASES
    },
}

EXPERIMENT = rates.experiment(
    __name__, "Two UDP streams beside a high-speed flow", where="figures 5.18 to 5.20, table 5.3", uses=("e5-1",)
)
