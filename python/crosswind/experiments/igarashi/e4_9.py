"""What does the operating system of the receiver do to Standard TCP, HSTCP, Scalable TCP and FAST on JAPAN?

The source printed averages over 200 s (Table 4.8) and series (figures 4.12, 4.16): withheld here; and the amount of
data that an ACK acknowledges (figures 4.13 to 4.15): one ACK for a chunk of up to 14 segments with Linux and Windows
2000, for one or two with Solaris and FreeBSD; 20 % of FreeBSD's ACKs acknowledge nothing.

What may differ here: receivers are the profiles of `tcp.receiver`, whose mean chunks are readings. E4.9 to E4.12 of the
source are these runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.claims import Claim, MissingDataError, near
from crosswind.experiments.base import Results
from crosswind.experiments.igarashi import fast_paths as paths
from crosswind.experiments.igarashi import pairs, rates, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario

SECONDS = 200
RECEIVERS = {
    "Linux": "linux-2.4",
    "FreeBSD 4.7": "freebsd-4.7",
    "Solaris 9": "solaris-9",
    "Windows 2000": "windows-2000",
}
PROTOCOLS = ("Standard", "HSTCP", "Scalable", "FAST")


def label(protocol: str, receiver: str) -> str:
    return f"{protocol} to {receiver}"


def spacing(receiver: str) -> str:
    return f"ACKs of {receiver}"


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol to each receiver; and short runs of Standard TCP whose ACKs are kept, one by one."""
    s = paths.SIZES_4[size]
    out = {}
    for p in PROTOCOLS:
        for name, os in RECEIVERS.items():
            out[label(p, name)] = paths.scenario(
                paths.JAPAN, {"f": pairs.japan(p, s, receiver=os)}, SECONDS, s, bin_s=2
            )
    whole = paths.Size(1, 0.1)
    for name, os in RECEIVERS.items():
        # At full size, for the chunks are those of the source; in congestion avoidance, as its traces are.
        flow = pairs.japan("Standard", whole, receiver=os, initial_ssthresh=f"{100 * paths.MSS_BYTES} B")
        record = {"events": ["f"]}
        out[spacing(name)] = paths.scenario(paths.JAPAN, {"f": flow}, 100, whole, bin_s=2, record=record)
    return out


def per_ack(r: Results, receiver: str) -> npt.NDArray[np.float64]:
    """New segments that each ACK acknowledged, from when losses of slow start are repaired."""
    events = r.runs.only(spacing(receiver), [0]).events("f")
    if events.is_empty():
        raise MissingDataError("no events were kept")
    last = events.filter(pl.col("kind").is_in(["recovered", "timeout", "resend"]))["time_ns"].to_list()
    acks = events.filter((pl.col("kind") == "ack") & (pl.col("time_ns") > max(last, default=0) + 200_000_000))[
        "seq"
    ].to_numpy()
    # The first byte of data is 1: data segments, which are ACKs too, acknowledge the handshake.
    return np.asarray(np.diff(acks[acks > 1]) / paths.MSS_BYTES)


def empty(receiver: str) -> rates.Measure:
    """Share of the ACKs that acknowledge nothing new."""
    return lambda r: np.array([np.mean(per_ack(r, receiver) == 0)])


def largest(receiver: str) -> rates.Measure:
    return lambda r: np.array([per_ack(r, receiver).max()])


def average(receiver: str) -> rates.Measure:
    return lambda r: np.array([per_ack(r, receiver).mean()])


def to(protocol: str) -> list[Any]:
    """The averages of a protocol to each receiver."""
    return [rates.value(label(protocol, name), rates.mean(label(protocol, name))) for name in RECEIVERS]


def pictures(r: Results) -> list[Picture]:
    """Figures 4.12, 4.13 and 4.16, and Table 4.8 as bars."""
    heights = {p: {name: rates.mean(label(p, name)) for name in RECEIVERS} for p in PROTOCOLS}
    hists = {}
    for name in RECEIVERS:
        values, counts = np.unique(np.rint(per_ack(r, name)), return_counts=True)
        hists[name] = pl.DataFrame({"low": values, "high": values, "count": counts})
    out = [
        rates.over_time(
            f"f4-{n}", f"{p} to each receiver (Figure 4.{n}).", r, {name: (label(p, name), "f") for name in RECEIVERS}
        )
        for n, p in ((12, "Standard"), (16, "HSTCP"))
    ]
    return [
        *out,
        rates.bars("t4-8", "Receivers (Table 4.8).", r, heights),
        figures.cumulative("f4-13", "Segments that an ACK acknowledges (Figure 4.13).", hists, "segments", 1.0),
    ]


CLAIMS = (
    study.withheld("IC4.16", "Standard TCP to the four receivers, average over 200 s", to("Standard")),
    study.withheld(
        "IC4.17",
        "to the receiver without SACK over to one that acknowledges each segment with SACK",
        [
            rates.ratio(p, rates.mean(label(p, "FreeBSD 4.7")), rates.mean(label(p, "Solaris 9")))
            for p in ("HSTCP", "Scalable", "FAST")
        ],
    ),
    study.withheld(
        "IC4.18",
        "Scalable and HSTCP to Solaris against Linux",
        [
            *to("Scalable"),
            *to("HSTCP"),
            *(
                rates.ratio(
                    f"{p}: Solaris over Linux", rates.mean(label(p, "Solaris 9")), rates.mean(label(p, "Linux"))
                )
                for p in ("Scalable", "HSTCP")
            ),
        ],
    ),
    study.withheld(
        "IC4.19",
        "FAST to the receivers with SACK: averages, and when it first has 100 Mbit/s (or its part of a smaller path)",
        [
            *to("FAST"),
            *(
                rates.value(f"{name}: first tenth", rates.during(label("FAST", name), "f", (0.0, 0.1)))
                for name in ("Linux", "Solaris 9", "Windows 2000")
            ),
        ],
    ),
    Claim(
        "IC4.20",
        "20 % of the ACKs of FreeBSD acknowledge nothing (3 points; it is so by construction)",
        "20 %",
        (
            rates.value("FreeBSD 4.7", empty("FreeBSD 4.7"), near(0.20, 0.03), "20 %", "%"),
            *(rates.value(f"{name}: most segments", largest(name), unit="", digits=0) for name in RECEIVERS),
            *(rates.value(f"{name}: mean", average(name), unit="", digits=2) for name in RECEIVERS),
        ),
    ),
)

EXPERIMENT = rates.experiment(
    "e4-9",
    "Receivers by operating system",
    __doc__,
    configurations,
    CLAIMS,
    where="table 4.8, figures 4.12 to 4.16",
    figures=pictures,
)
