"""Which high-speed TCP keeps a link full when packets are reordered?

N12: 1 Gbit/s and 50 ms with a buffer of one bandwidth-delay product; a share of the packets late by N(25 ms, 8 ms);
one flow (figures 56 to 58, 66, 67) or fifty (figures 61, 62, 69, 70). 120 s of which 20 s are left out; fast
retransmits count from the first packet on. LTCP-DCR is that of V.C, with the variable decrease and a threshold of one
window of duplicates; SACK-DCR has that threshold too.

What the source printed: curves that are lost; LTCP-DCR above 93 % at 10 %, two orders of magnitude above LTCP at 1 %;
all others collapse to about SACK; LDP between.

What may differ here: `LTCP-DCR` is the window-threshold detector with growth during the wait: what the window has
grown by is kept when the hole is filled. The source's chapter V.C has the draft that became RFC 4653, which restores
the window that was there before each wait (variant `rfc-4653`): where one wait follows the other, that window cannot
grow. A window of duplicates is the threshold in the recovery after a wait as well. Which round trips of TCP-LDP are
valid under reordering is not stated (variants `in-order`, `per-window`). Which LTCP chapter V.A has is open
(O7; variant `variable-decrease`). Flows start within 50 ms of each other in ordinary slow start (decision 0029).
Durations are ours. Fifty flows have busy hosts (`overhead_` of N6). `--quick` is 40 s of one flow at full size with
two shares, and 24 s of five flows in place of fifty at 100 Mbit/s (the same windows).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.measures import PANELS, used
from crosswind.figures.panels import panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed, seeds
from crosswind.reproduce.claims.quantities import largest, least, mean

FEW_SHARES = {"one": (0.01, 0.1), "many": (0.0, 0.001, 0.01, 0.1)}
LATE = (1e-6, 1e-5, 0.0001, 0.001, 0.01, 0.05, 0.1)
# One flow without late packets is in no figure and no claim.
SHARES = {"one": LATE, "many": (0.0, *LATE)}
OLD = ("SACK", "LTCP", "BIC", "HTCP")
OTHERS = ("SACK", "LTCP", "BIC", "HTCP", "HSTCP", "Scalable")
ALL = (*OTHERS, "SACK-DCR", "LTCP-DCR", "LDP", "LDP-1Sample", "LDP-100Sample")
LDP_VARIANTS = ("LDP-1Sample", "LDP-100Sample")
MANY = ("SACK", "SACK-DCR", "LTCP", "BIC", "HTCP", "LTCP-DCR", "LDP", *LDP_VARIANTS, "FAST", "Scalable")
RTT_ms = 50
WATCHED = (0.01, 0.02)
# Figures 69 and 70.
FOUR = {"f69": ("LTCP", "BIC", "HTCP", "FAST", "Scalable", "LTCP-DCR", "LDP"), "f70": ("LDP", *LDP_VARIANTS)}


def configurations(
    size: str = "full",
    ltcp: str = "LTCP",
    ltcp_dcr: str = "LTCP-DCR",
    first: str = "none",
    stagger_s: float = 0.05,
    ldp_samples: str = "per-ack",
) -> dict[str, Scenario]:
    """`one <share> <protocol>`, `many ..` and `f58 <share>`; `ltcp` and `ltcp_dcr` say what those two are.

    `ldp_samples` is TCP-LDP's rule of valid round trips.

    Flows start within `stagger_s`; `first="fits"` gives them a first slow-start threshold.
    """
    full = size == "full"
    out = {}
    for kind, protocols, count in (("one", ALL, 1), ("many", MANY, 50 if full else 5)):
        # One flow is not made smaller: windows that have collapsed are a smaller share of a larger link.
        rate = 1000 if full or kind == "one" else 100
        seconds, left_out = (120, 20) if full else {"one": (40, 20), "many": (24, 6)}[kind]
        buffer = nets.bdp(rate, RTT_ms)
        access = nets.wire(10 * rate, 1) if count == 1 else nets.host(10 * rate, 1, rate)
        for p in protocols:
            own = {"LTCP": ltcp, "LTCP-DCR": ltcp_dcr}.get(p, p)
            more = {"fast": {"alpha": rate / 10}} if p == "FAST" else nets.timed(p, ldp_samples)
            flow = {"one": _flow(own, count, buffer / count, first, stagger_s, **more)}
            shares = SHARES[kind] if full else FEW_SHARES[kind]
            for share in shares:
                line = nets.reordering(rate, RTT_ms / 2 - 2, nets.droptail(buffer), share)
                name = f"{kind} {share} {p}"
                out[name] = nets.dumbbell(name, line, access, flow, pairs=count, duration_s=seconds, warm_up_s=left_out)
    flow = _flow(ltcp_dcr, 1, nets.bdp(1000, RTT_ms), first, stagger_s)
    return out | {f"f58 {x}": watched(x, flow, 120 if full else 40) for x in WATCHED}


def _flow(protocol: str, count: int, share: float, first: str, stagger_s: float, **more: Any) -> dict[str, Any]:
    """`share`: of the buffer, in packets."""
    if first == "fits":
        more["initial_ssthresh"] = f"{int(1.4 * share) * nets.PAYLOAD} B"
    return nets.bulk(protocol, count, {"uniform": ["0 s", f"{stagger_s * 1e3:g} ms"]}, **more)


def watched(share: float, wanted: dict[str, Any], seconds: float) -> Scenario:
    """Figure 58: one flow of figure 56, its window sampled every 100 ms."""
    buffer = nets.bdp(1000, RTT_ms)
    flow = {"one": wanted}
    line = nets.reordering(1000, RTT_ms / 2 - 2, nets.droptail(buffer), share)
    record = {"series": "gauges", "sample": "100 ms"}
    access = nets.wire(10_000, 1)
    return nets.dumbbell(f"f58 {share}", line, access, flow, duration_s=seconds, warm_up_s=seconds, record=record)


def shares(r: Results, kind: str) -> tuple[float, ...]:
    """The shares of late packets that were run with one flow or many, in order."""
    return tuple(map(float, r.points(kind)))


def use(kind: str, share: float, protocol: str) -> Quantity:
    """Payload of all flows over the rate of the link, as the source counts (0.9615 at the most)."""
    return used(f"{kind} {share} {protocol}", "one")


@measured
def triggers(r: Results, kind: str, share: float, protocol: str) -> npt.NDArray[np.float64]:
    """Fast recoveries per packet sent, from the first packet on, run by run. Raises as `Results.of` does."""
    label = f"{kind} {share} {protocol}"
    r.of(label, "rep")
    totals = r.runs.only(label).flows().group_by("rep").agg(pl.col("fast_recoveries", "sent_packets").sum()).sort("rep")
    return (totals["fast_recoveries"] / totals["sent_packets"]).to_numpy()


def _fewer(kind: str, share: float, fewer: str, more: str) -> Quantity:
    """By how many fast retransmits per million packets, seed by seed."""
    return 1e6 * (triggers(kind, share, more) - triggers(kind, share, fewer))


def _apart(share: float) -> Quantity:
    """Factor between the best and the worst of the four, one flow."""
    four = [use("one", share, p) for p in OLD]
    return largest(four) / least(four)


@measured
def _ldp_least(r: Results, share: float, column: str) -> npt.NDArray[np.float64]:
    """The least of the others that fill 85 % of the link or more less LDP's (figure 69)."""
    filled = [p for p in FOUR["f69"] if use("many", share, p)(r) >= 0.85]
    others = [r.of(f"many {share} {p}", column) for p in filled if p != "LDP"]
    needed("LDP" in filled and others, "LDP, or all others, use less than 85 % of the link")
    return np.min(others, axis=0) - r.of(f"many {share} LDP", column)


def _at_shares(kind: str, pick: Any, of: Callable[[float], Quantity], keep: Any = lambda s: True) -> Quantity:
    """The least or largest (`pick`) of something, or whether it is always true, over the shares that were run."""
    return Quantity(lambda r: pick([of(s)(r) for s in shares(r, kind) if keep(s)]))


def _some(share: float) -> bool:
    return share >= 0.001


def _in_order(kind: str, share: float) -> Quantity:
    """LTCP-DCR retransmits less often than SACK-DCR, and that less often than SACK."""
    often = [triggers(kind, share, p).then(np.mean) for p in ("LTCP-DCR", "SACK-DCR", "SACK")]
    return Quantity(lambda r: often[0](r) < often[1](r) < often[2](r))


def _dcr_helps(share: float) -> Quantity:
    sack, sack_dcr, ltcp_dcr = (use("one", share, p) for p in ("SACK", "SACK-DCR", "LTCP-DCR"))
    return Quantity(lambda r: sack(r) <= sack_dcr(r) < ltcp_dcr(r))


def _variants(r: Results) -> bool:
    a, b, c = (use("one", 0.1, p)(r) for p in ("LDP", *LDP_VARIANTS))
    return a <= b + 0.01 and b <= c + 0.01


def _grown(column: str) -> Quantity:
    """What is more with LDP-100Sample than with LDP at 10 %."""
    return mean("many 0.1 LDP-100Sample", column) - mean("many 0.1 LDP", column)


def windows(r: Results) -> Picture:
    """Figure 58."""
    lines = {}
    for x in WATCHED:
        t, w = r.series(f"f58 {x}", "cwnd_bytes", "one")
        lines[f"{x:.0%} late"] = (t, w / nets.PAYLOAD)
    text = "Window of one LTCP-DCR flow with 1 and 2 % of the packets late (figure 58)."
    return figures.over_time("f58", text, lines, "window (segments)")


def _over_shares(
    r: Results, kind: str, protocols: Sequence[str], of: Callable[[float, str], Quantity]
) -> dict[str, tuple[list[float], list[float]]]:
    """A line for each protocol over the shares with which it was run, in per cent."""
    lines = {}
    for p in protocols:
        some = [s for s in shares(r, kind) if s > 0 and f"{kind} {s} {p}" in r.runs.scenarios]
        lines[p] = ([100 * s for s in some], [float(np.mean(of(s, p)(r))) for s in some])
    return lines


def _of_many(column: str, share: float, protocol: str) -> Quantity:
    return mean(f"many {share} {protocol}", column)


def four_panels(r: Results, name: str) -> Picture:
    """Figure 69 or 70: what fifty flows do to the link and to each other."""
    wanted = {"share of the link": _over_shares(r, "many", FOUR[name], lambda s, p: use("many", s, p))}
    for what, column in PANELS.items():
        if what != "utilisation":
            of = partial(_of_many, column)
            wanted[what] = _over_shares(r, "many", FOUR[name], of)
    text = f"Link use, queue, drop rate and fairness by the share of late packets ({name.replace('f', 'figure ')})."
    return panels(name, text, wanted, "% of packets late", logarithmic=("drop rate",))


def pictures(r: Results) -> list[Picture]:
    """Figures 56 to 58, 61, 62, 66, 67, 69 and 70."""
    out = [windows(r), *(four_panels(r, name) for name in FOUR)]
    often = "fast retransmits / packet"
    for kind, protocols, numbers in (("one", ALL, "56, 57, 66, 67"), ("many", MANY[:-2], "61, 62")):
        wanted = {
            "share of the link": _over_shares(r, kind, protocols, partial(use, kind)),
            often: _over_shares(r, kind, protocols, partial(triggers, kind)),
        }
        # SACK and LTCP-DCR are orders of magnitude apart.
        text = f"Link use and fast retransmits by the share of late packets (figures {numbers})."
        out.append(panels(f"reordering-{kind}", text, wanted, "% of packets late", logarithmic=(often,)))
    return out


LOSS_BASED = ("LTCP", "BIC", "HTCP")
CLAIMS = {
    "B111": {
        "largest over least, from 0.1 % on": _at_shares("one", max, _apart, _some),
        **{f"largest over least at {s:.1%}": _apart(s) for s in (0.001, 0.01, 0.1)},
        **{f"{p} at 1 %": use("one", 0.01, p) for p in OLD},
        "SACK <= SACK-DCR < LTCP-DCR": _at_shares("one", all, _dcr_helps, _some),
    },
    "B112": {"quotient": use("one", 0.01, "LTCP-DCR") / use("one", 0.01, "LTCP")},
    "B113": {
        "in that order": lambda r: all(_at_shares(k, all, partial(_in_order, k), _some)(r) for k in ("one", "many")),
        **{
            f"one flow, {s:.1%}: {a} below {b}": seeds(_fewer("one", s, a, b))
            for s in filter(_some, LATE)
            for a, b in (("LTCP-DCR", "SACK-DCR"), ("SACK-DCR", "SACK"))
        },
        **{
            f"fifty flows, {s:.1%}: LTCP-DCR below {p}": seeds(_fewer("many", s, "LTCP-DCR", p))
            for s in filter(_some, LATE)
            for p in LOSS_BASED
        },
    },
    "B116": {
        "least of LTCP-DCR": _at_shares("many", min, lambda s: use("many", s, "LTCP-DCR")),
        "others at 10 % over 0 %, largest (half is our number)": largest(
            use("many", 0.1, p) / use("many", 0.0, p) for p in LOSS_BASED
        ),
    },
    "B119": {
        "LTCP-DCR at 10 %": use("one", 0.1, "LTCP-DCR"),
        "largest other at 1 %": largest(use("one", 0.01, p) for p in OTHERS),
        "LDP below LTCP-DCR": _at_shares(
            "one", all, lambda s: use("one", s, "LDP") < use("one", s, "LTCP-DCR"), lambda s: s >= 0.01
        ),
    },
    "B120": {
        "in that order at 10 % (1 point: our number)": _variants,
        "LDP-100Sample below LTCP-DCR by": use("one", 0.1, "LTCP-DCR") - use("one", 0.1, "LDP-100Sample"),
    },
    "B123": {
        "least of LDP below 5 %": _at_shares("many", min, lambda s: use("many", s, "LDP"), lambda s: s < 0.05),
        "largest of LDP below 5 %": _at_shares("many", max, lambda s: use("many", s, "LDP"), lambda s: s < 0.05),
        "LDP lower at 10 %": use("many", 0.1, "LDP") < use("many", 0.001, "LDP"),
        "least of LTCP-DCR": _at_shares("many", min, lambda s: use("many", s, "LTCP-DCR")),
    },
    "B124": {
        "Jain lower": _grown("one_jain") < 0,
        "queue higher": _grown("bottleneck_queue") > 0,
        "loss higher": _grown("bottleneck_drop_rate") > 0,
    },
    "B135": {
        **{
            f"{what} of the others less LDP's, {s:.1%}": seeds(_ldp_least(s, column))
            for s in LATE
            if s <= 0.05
            for what, column in (("queue", "bottleneck_queue"), ("drop rate", "bottleneck_drop_rate"))
        },
        "least Jain of all": _at_shares(
            "many", min, lambda s: least(mean(f"many {s} {p}", "one_jain") for p in FOUR["f69"]), lambda s: s > 0
        ),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "High-speed TCP and reordering",
    where="figures 56 to 58, 61, 62, 66, 67, 69, 70",
    former={"first": "fits", "stagger_s": 2.0},
    quick=study.smaller("fewer shares, 60 s of one flow; five flows at 100 Mbit/s instead of fifty at 1 Gbit/s, 36 s"),
)
