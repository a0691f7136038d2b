"""What does the operating system of the receiver do to Standard TCP, HSTCP, Scalable TCP and FAST on JAPAN?

What the source printed: averages over 200 s (Table 4.8); Standard TCP grows fastest to FreeBSD, then to Solaris, slowly
to Linux and Windows 2000 (figure 4.12); HSTCP is best to Solaris, and falls to zero again and again to FreeBSD, which
has no SACK (figure 4.16); FAST grows alike to all. An ACK acknowledges a chunk of up to 14 segments with Linux and
Windows 2000, one or two with Solaris and FreeBSD; 20 % of FreeBSD's ACKs acknowledge nothing (figures 4.13 to 4.15).

What may differ here: receivers are the profiles of `tcp.receiver`, whose mean chunks are readings. E4.9 to E4.12 of the
source are these runs. Figures 4.14 and 4.15 show 40 segments of one burst and the ACKs that answer them, in congestion
avoidance. IC4.19 judges when FAST first has 100 Mbit/s, read off bins of 2 s as in IC4.3, and reports its averages; the
mean number of segments per ACK stands in IC4.20.
"""

from collections.abc import Callable

import numpy as np

from crosswind.experiments.igarashi import drawing, e4_1, pairs, paths, rates, study
from crosswind.reproduce import Measure, Picture, Quantity, Results, Scenario, measures

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


def per_ack(receiver: str, of: Callable[[np.ndarray], float]) -> Measure:
    """A number of what each ACK acknowledges."""
    return measures.median(rates.per_ack(spacing(receiver)).then(lambda segments: np.array([of(segments)])))


def nothing_new(segments: np.ndarray) -> float:
    """Share of the ACKs that acknowledge nothing new."""
    return float(np.mean(segments == 0))


def to(protocol: str) -> dict[str, Measure]:
    """The averages of a protocol to each receiver."""
    return {label(protocol, name): measures.median(rates.mean(label(protocol, name))) for name in RECEIVERS}


def minus(first: str, second: str) -> dict[str, Measure]:
    """The difference of the averages of Standard TCP to two receivers."""
    a, b = label("Standard", first), label("Standard", second)
    return {f"{a} minus {b}": study.difference(rates.mean(a), rates.mean(b))}


def first_100(receiver: str) -> Quantity:
    """When FAST first has 100 Mbit/s."""
    return e4_1.time_to(label("FAST", receiver))


def printed() -> dict[str, dict[str, float]]:
    """Table 4.8: protocol -> receiver -> average."""
    ids = {"Standard": "IC4.16", "HSTCP": "IC4.18", "Scalable": "IC4.18", "FAST": "IC4.19"}
    return {p: {name: study.BOOK.number(id, label(p, name)) for name in RECEIVERS} for p, id in ids.items()}


def pictures(r: Results) -> list[Picture]:
    """Figures 4.12 to 4.16, and Table 4.8 as bars."""
    heights = {p: {name: rates.mean(label(p, name)) for name in RECEIVERS} for p in PROTOCOLS}
    series = [
        rates.over_time(
            f"f4-{n}", f"{p} to each receiver (Figure 4.{n}).", r, {name: (label(p, name), "f") for name in RECEIVERS}
        )
        for n, p in ((12, "Standard"), (16, "HSTCP"))
    ]
    traces = [
        drawing.ack_trace(
            f"f4-{n}",
            f"Data and ACKs in congestion avoidance, {name} (Figure 4.{n}).",
            r.runs.only(spacing(name), [0]).events("f"),
        )
        for n, name in ((14, "Linux"), (15, "FreeBSD 4.7"))
    ]
    return [
        *series,
        rates.bars("t4-8", "Receivers (Table 4.8).", r, heights, printed()),
        rates.chunks("f4-13", "Data per ACK (Figure 4.13).", r, {name: spacing(name) for name in RECEIVERS}),
        *traces,
    ]


CLAIMS = {
    "IC4.16": {
        **to("Standard"),
        **minus("FreeBSD 4.7", "Windows 2000"),
        **minus("FreeBSD 4.7", "Solaris 9"),
        **minus("Linux", "Windows 2000"),
        **minus("Linux", "Solaris 9"),
    },
    "IC4.17": {
        p: study.ratio(rates.mean(label(p, "FreeBSD 4.7")), rates.mean(label(p, "Solaris 9")))
        for p in ("HSTCP", "Scalable", "FAST")
    },
    "IC4.18": {
        **to("Scalable"),
        **to("HSTCP"),
        **{
            f"{p}: Solaris over Linux": study.ratio(rates.mean(label(p, "Solaris 9")), rates.mean(label(p, "Linux")))
            for p in ("Scalable", "HSTCP")
        },
    },
    "IC4.19": {
        **to("FAST"),
        **{f"{name}: to 100 Mbit/s": measures.median(first_100(name)) for name in RECEIVERS},
        **{
            f"{name}: to 100 Mbit/s against Linux: to 100 Mbit/s": study.relative(first_100(name), first_100("Linux"))
            for name in ("Solaris 9", "Windows 2000")
        },
    },
    "IC4.20": {
        "FreeBSD 4.7": per_ack("FreeBSD 4.7", nothing_new),
        **{f"{name}: most segments": per_ack(name, np.max) for name in RECEIVERS},
        **{f"{name}: mean": per_ack(name, np.mean) for name in RECEIVERS},
    },
}

EXPERIMENT = rates.experiment(__name__, "Receivers by operating system", where="table 4.8, figures 4.12 to 4.16")
