"""What happens when the path changes from 80 to 39 ms and back?

The source printed figures that are lost (5.12: change at 30 s, back at 90 s, a socket buffer of 80 ms at 941
Mbit/s): to the shorter path everything becomes unstable (the window is too large at once, packets overtake, bursts
are lost). Back on the longer path TCP variants drop by nearly half and recover, UDT does not care, and FAST does
not recover.

What may differ here: both directions change; packets on the longer path arrive after those sent later on the
shorter one (open point O5.7), and text and figure are read as in O5.6. The shorter path is the domestic line, which
loses packets; the longer one is the emulator. E5.10 and E5.11 of the source are these runs.
"""

from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.igarashi import drawing, paths, rates
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures, needed

SECONDS, SHORTER, LONGER = 150, 30, 90
LONG_MS, SHORT_MS = 80.0, 39.0
PROTOCOLS = (*paths.TCP_VARIANTS, "UDT")
# What figure 5.12 shows after a change; a quarter of it before.
SHOWN_S = 0.4


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol alone; events of TCP variants are kept from shortly before each change to 0.4 s after it."""
    s = paths.SIZES_5[size]
    s = replace(s, time=max(s.time, 0.5))
    path = replace(paths.DOMESTIC.unharmed(), rtt_ms=SHORT_MS)
    long = replace(path, rtt_ms=LONG_MS)
    reordering = {
        "type": "reordering",
        "share": 1.0,
        "late_mean": f"{(LONG_MS - SHORT_MS) / 2:g} ms",
        "late_deviation": "0 ms",
        "counts": "all",
        "loss": {"type": "uniform", "probability": 0.0},
    }
    lost = paths.DOMESTIC.loss * s.divisor
    switches = [
        {"at": f"{s.seconds(at):g} s", "link": "bottleneck", "set": {"share": share, "loss": {"probability": loss}}}
        for at, share, loss in ((SHORTER, 0.0, lost), (LONGER, 1.0, 0.0))
    ]
    watched = [[f"{s.seconds(at) - SHOWN_S / 4:g} s", f"{s.seconds(at) + SHOWN_S:g} s"] for at in (SHORTER, LONGER)]
    return {
        p: paths.scenario(
            path,
            {"f": paths.buffered(p, long, s, 1.0, heedless=())},
            SECONDS,
            s,
            bin_s=1,
            link=reordering,
            timeline=switches,
            record={"events": ["f"], "between": watched} if p in paths.TCP_VARIANTS else {},
        )
        for p in PROTOCOLS
    }


def share_of(low: float, high: float) -> tuple[float, float]:
    return low / SECONDS, high / SECONDS


def changed_s(r: Results, name: str, at: float) -> float:
    """When a change came in a run that may have been a shorter one."""
    return at / SECONDS * float(r.runs.scenarios[name].data["duration"].split()[0])


@measured
def duplicates(r: Results, name: str, at: float) -> Any:
    """The longest row of ACKs that say the same, in the 0.4 s after a change, run by run."""
    events = r.runs.only(name).events("f", "ack")
    t0 = changed_s(r, name, at) * 1e9
    # Data segments are ACKs too: they say 1.
    after = events.filter((pl.col("time_ns") >= t0) & (pl.col("time_ns") < t0 + SHOWN_S * 1e9) & (pl.col("seq") > 1))
    needed(after, f"no ACKs of {name} in the time after {at:g} s")
    runs = after.partition_by("rep", maintain_order=True)
    return np.array([max(len(list(g)) - 1 for _, g in groupby(run["seq"].to_list())) for run in runs], dtype=float)


def after(name: str, low: float, high: float) -> Quantity:
    """The mean rate between two moments over that before the first change."""
    return rates.during(name, "f", share_of(low, high)) / rates.during(name, "f", share_of(15, SHORTER))


def pictures(r: Results) -> list[Picture]:
    """Figure 5.12: the rates of all, and what FAST's and H-TCP's ACKs acknowledge near the changes."""
    out = [rates.over_time("f5-12a", "80, 39 and 80 ms (Figure 5.12(a)).", r, {p: (p, "f") for p in PROTOCOLS})]
    for letter, p, at, ms in (("b", "FAST", SHORTER, 39), ("c", "HTCP", SHORTER, 39), ("d", "HTCP", LONGER, 80)):
        caption = f"ACKs of {p} at the change to {ms} ms (Figure 5.12({letter}))."
        events = r.runs.only(p, [0]).events("f", "ack")
        out.append(drawing.acknowledged(f"f5-12{letter}", caption, events, changed_s(r, p, at), SHOWN_S))
    return out


CLAIMS = {
    "IC5.7": {
        **{f"{p}: to 39 ms": measures.median(duplicates(p, SHORTER)) for p in paths.TCP_VARIANTS},
        **{f"{p}: to 80 ms": measures.median(duplicates(p, LONGER)) for p in paths.TCP_VARIANTS},
    },
    "IC5.8": {
        **{f"{p}: 91 to 95 s": measures.median(after(p, 91, 95)) for p in paths.TCP_VARIANTS},
        **{f"{p}: last 10 s": measures.median(after(p, 140, 150)) for p in paths.TCP_VARIANTS},
        "UDT: 91 to 95 s": measures.median(after("UDT", 91, 95)),
        **{f"{p}: first 2 s": measures.median(after(p, 90, 92)) for p in PROTOCOLS},
    },
}

EXPERIMENT = rates.experiment(__name__, "A path that changes its length", where="figure 5.12")
