"""Which high-speed TCP keeps a link full when packets are reordered?

N12: 1 Gbit/s and 50 ms with a buffer of one bandwidth-delay product; a share of the packets late by N(25 ms, 8 ms);
one flow (figures 56 to 58, 66, 67) or fifty (figures 61, 62, 69, 70). 120 s of which 20 s are left out. LTCP-DCR is
that of V.C, with the variable decrease and a threshold of one window of duplicates; SACK-DCR has that threshold too,
with which chapter V does what the timer of chapter II did (both give the same numbers here).

What the source printed: curves that are lost; LTCP-DCR above 93 % at 10 %, two orders of magnitude above LTCP at 1 %;
all others collapse to about SACK; LDP between.

What may differ here: `LTCP-DCR` is the window-threshold detector with growth during the wait, and not RFC 4653's
resume. A loss is one window of duplicates, the window grows on each of them, and what it has grown by is kept when the
hole is filled; the source's chapter V.C has the draft that became RFC 4653, which restores the window that was there
before each wait. Claims B111 (its order), B112, B113, B116, B119, B120 and B123 rest on it, as does figure 58; SACK-DCR
and the LDPs wait in the same way. All of that RFC (variant `rfc-4653`) has 11 % at 1 % and 1 % at 10 % (`--quick`, one
flow): where one wait follows the other, the window cannot grow.

Flows start with a slow-start threshold (`initial_ssthresh`) of 1.4 times their share of the bandwidth-delay product,
which the source does not give them (its slow start is TCP's); with 1 % late the first late packet ends slow start
before, at 32 segments. Durations are ours. Fifty flows have busy hosts (`overhead_` of N6). `--quick` is 60 s of one
flow at full size with two shares, of which 30 s are left out, and 36 s of five flows in place of fifty at 100 Mbit/s
(the same windows).

Figure 58 (`--quick`): with 1 and with 2 % late the window climbs from 32 to 12 000 segments in 52 s, and nothing cuts
it before the queue overflows. The delays beyond a round trip that held the source's run with 1 % up do not show.

A window of duplicates is the threshold in the recovery after a wait as well: with three there every late packet of
the window is taken for lost, what is sent again fills the queue, the first retransmission is lost in it, and LTCP-DCR
ends in timeouts (76 to 86 % of the link at 10 %; 96 % so).

At full length B111 fails as LTCP decreases by 15 % also with few segments, where the others halve: with 0.1 % late it
has 2.7 % of the link and SACK 0.65, BIC 1.7, HTCP 0.8 (with 1 % late 0.7, 0.2, 0.4 and 0.2). Open point O7 cannot
decide which LTCP chapter V.A has; with the variable decrease (variant `variable-decrease`) it has 1.9 and 0.4 %, 2.8
and 1.8 times SACK's. `--quick` has no share of 0.1 % with one flow.

B120 fails as LDP knows round trips from cumulative ACKs alone: with a tenth of the packets late nearly each of those
answers a late packet, whose round trip is 25 ms longer, far beyond the 20 ms at which the response is certain, so
LDP-100Sample stays at 2 %. With a sample from each SACKed packet (`rtt_sampling = "per-sack"`) all three fill 96 %.
B113 fails where LTCP-DCR fills the link and congestion triggers it: with one flow SACK-DCR has no fast retransmit at
all from 1 % on (a fifth of the link), LTCP-DCR one in a million packets; with fifty flows 4e-5 and 3.5e-4 per packet,
late ones or not (SACK 9e-4 to 3e-2). B124: the variants do not diverge with fifty flows (Jain's index 0.9997 for LDP
and 0.9999 for LDP-100Sample, which fill 47 and 96 % of the link; no drops, queues of 0.2 and 278 packets).
"""

from __future__ import annotations

from collections.abc import Callable

from crosswind import figures
from crosswind.claims import yes
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.experiments.bhandarkar_2006.panels import panels
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate, exact

FEW_SHARES = {"one": (0.01, 0.1), "many": (0.0, 0.001, 0.01, 0.1)}
SHARES = (1e-6, 1e-5, 0.0001, 0.001, 0.01, 0.05, 0.1)
OTHERS = ("SACK", "LTCP", "BIC", "HTCP", "HSTCP", "Scalable")
ALL = (*OTHERS, "SACK-DCR", "LTCP-DCR", "LDP", "LDP-1Sample", "LDP-100Sample")
LDP_VARIANTS = ("LDP-1Sample", "LDP-100Sample")
MANY = ("SACK", "SACK-DCR", "LTCP", "BIC", "HTCP", "LTCP-DCR", "LDP", *LDP_VARIANTS, "FAST", "Scalable")
RTT_ms = 50
WATCHED = (0.01, 0.02)
# Figures 69 and 70.
FOUR = {"f69": ("LTCP", "BIC", "HTCP", "FAST", "Scalable", "LTCP-DCR", "LDP"), "f70": ("LDP", *LDP_VARIANTS)}


def configurations(size: str = "full", ltcp: str = "LTCP", ltcp_dcr: str = "LTCP-DCR") -> dict[str, Scenario]:
    """`one <share> <protocol>`, `many ..` and `f58 <share>`; `ltcp` and `ltcp_dcr` say what those two are."""
    full = size == "full"
    out = {}
    for kind, protocols, count in (("one", ALL, 1), ("many", MANY, 50 if full else 5)):
        # One flow is not made smaller: windows that have collapsed are a smaller share of a larger link.
        rate = 1000 if full or kind == "one" else 100
        seconds, left_out = (120, 20) if full else {"one": (60, 30), "many": (36, 6)}[kind]
        buffer = nets.bdp(rate, RTT_ms)
        access = nets.wire(10 * rate, 1) if count == 1 else nets.host(10 * rate, 1, rate)
        for p in protocols:
            threshold = f"{int(1.4 * buffer / count) * nets.PAYLOAD} B"
            own = {"LTCP": ltcp, "LTCP-DCR": ltcp_dcr}.get(p, p)
            more = {"fast": {"alpha": rate / 10}} if p == "FAST" else {}
            flow = {"one": nets.bulk(own, count, {"uniform": ["0 s", "2 s"]}, initial_ssthresh=threshold, **more)}
            # One flow without late packets is in no figure and no claim.
            for share in ((0.0,) if kind == "many" else ()) + SHARES if full else FEW_SHARES[kind]:
                line = nets.reordering(rate, RTT_ms / 2 - 2, nets.droptail(buffer), share)
                name = f"{kind} {share} {p}"
                out[name] = nets.dumbbell(name, line, access, flow, pairs=count, duration_s=seconds, warm_up_s=left_out)
    return out | {f"f58 {x}": watched(x, ltcp_dcr, 120 if full else 60) for x in WATCHED}


def watched(share: float, protocol: str, seconds: float) -> Scenario:
    """Figure 58: one flow of figure 56, its window sampled every 100 ms."""
    buffer = nets.bdp(1000, RTT_ms)
    start = {"uniform": ["0 s", "2 s"]}
    flow = {"one": nets.bulk(protocol, 1, start, initial_ssthresh=f"{int(1.4 * buffer) * nets.PAYLOAD} B")}
    line = nets.reordering(1000, RTT_ms / 2 - 2, nets.droptail(buffer), share)
    record = {"series": "gauges", "sample": "100 ms"}
    return nets.dumbbell(
        f"f58 {share}", line, nets.wire(10_000, 1), flow, duration_s=seconds, warm_up_s=seconds, record=record
    )


def shares(r: Results, kind: str) -> tuple[float, ...]:
    """The shares of late packets that were run with one flow or many, in order."""
    labels = r.table("repetition")["configuration"].unique().to_list()
    return tuple(sorted({float(x.split()[1]) for x in labels if x.startswith(f"{kind} ")}))


def use(r: Results, kind: str, share: float, protocol: str) -> float:
    """Payload of all flows over the rate of the link, as the source counts (0.9615 at the most)."""
    links = r.runs.links()
    own = (links["link"] == "bottleneck") & (links["configuration"] == f"{kind} {share} {protocol}")
    rate = float(links.filter(own)["rate_bps"][0])
    return measures.mean_value(r, f"{kind} {share} {protocol}", "one_sum_bps") / rate


def triggers(r: Results, kind: str, share: float, protocol: str) -> float:
    """Fast recoveries per packet sent."""
    label = f"{kind} {share} {protocol}"
    return measures.mean_value(r, label, "one_recoveries") / measures.mean_value(r, label, "one_sent")


def _collapse(r: Results) -> Estimate:
    """Largest factor between the four at any share from 0.1 % on."""
    use_of = [[use(r, "one", s, p) for p in ("SACK", "LTCP", "BIC", "HTCP")] for s in shares(r, "one") if s >= 0.001]
    return exact(max(max(x) / min(x) for x in use_of))


def _at(kind: str, share: float, protocol: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(use(r, kind, share, protocol))


def _ordered(r: Results) -> Estimate:
    return yes(
        all(
            use(r, "one", s, "SACK") <= use(r, "one", s, "SACK-DCR") < use(r, "one", s, "LTCP-DCR")
            for s in shares(r, "one")
            if s >= 0.001
        )
    )


def _triggers_ordered(r: Results) -> Estimate:
    return yes(
        all(
            triggers(r, kind, s, "LTCP-DCR") < triggers(r, kind, s, "SACK-DCR") < triggers(r, kind, s, "SACK")
            for kind in ("one", "many")
            for s in shares(r, kind)
            if s >= 0.001
        )
    )


def _least(kind: str, protocol: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(min(use(r, kind, s, protocol) for s in shares(r, kind)))


def _ldp(which: Callable[[list[float]], float]) -> Callable[[Results], Estimate]:
    return lambda r: exact(which([use(r, "many", s, "LDP") for s in shares(r, "many") if s < 0.05]))


def _largest_other(r: Results) -> Estimate:
    return exact(max(use(r, "one", 0.01, p) for p in OTHERS))


def _below(r: Results) -> Estimate:
    return yes(all(use(r, "one", s, "LDP") < use(r, "one", s, "LTCP-DCR") for s in shares(r, "one") if s >= 0.01))


def _variants(r: Results) -> Estimate:
    a, b, c = (use(r, "one", 0.1, p) for p in ("LDP", "LDP-1Sample", "LDP-100Sample"))
    return yes(a <= b + 0.01 and b <= c + 0.01)


def _far_below(r: Results) -> Estimate:
    return exact(max(use(r, "many", 0.1, p) / use(r, "many", 0.0, p) for p in ("LTCP", "BIC", "HTCP")))


def _diverge(column: str, sign: float) -> Callable[[Results], Estimate]:
    def measure(r: Results) -> Estimate:
        a, b = (measures.mean_value(r, f"many 0.1 {p}", column) for p in ("LDP", "LDP-100Sample"))
        return yes(sign * (b - a) > 0)

    return measure


def windows(r: Results) -> Picture:
    """Figure 58."""
    lines = {}
    for x in WATCHED:
        cwnd = r.runs.only(f"f58 {x}", [0]).sample("cwnd_bytes", "one").sort("time_ns")
        lines[f"{x:.0%} late"] = (cwnd["time_ns"].to_numpy() / 1e9, cwnd["value"].to_numpy() / nets.PAYLOAD)
    text = "Window of one LTCP-DCR flow with 1 and 2 % of the packets late (figure 58)."
    return figures.over_time("f58", text, lines, "window (segments)")


def four_panels(r: Results, name: str) -> Picture:
    """Figure 69 or 70: what fifty flows do to the link and to each other."""
    some = [s for s in shares(r, "many") if s > 0]
    at = [100 * s for s in some]
    columns = {
        "mean queue (packets)": "bottleneck_queue",
        "drop rate": "bottleneck_drop_rate",
        "Jain's index": "one_jain",
    }
    wanted = {"share of the link": {p: (at, [use(r, "many", s, p) for s in some]) for p in FOUR[name]}}
    for what, column in columns.items():
        wanted[what] = {p: (at, [measures.mean_value(r, f"many {s} {p}", column) for s in some]) for p in FOUR[name]}
    text = f"Link use, queue, drop rate and fairness by the share of late packets ({name.replace('f', 'figure ')})."
    return panels(name, text, wanted, "% of packets late", logarithmic=("drop rate",))


def pictures(r: Results) -> list[Picture]:
    """Figures 56 to 58, 61, 62, 66, 67, 69 and 70."""
    out = [windows(r), *(four_panels(r, name) for name in FOUR)]
    often = "fast retransmits / packet"
    for kind, protocols, numbers in (("one", ALL, "56, 57, 66, 67"), ("many", MANY[:-2], "61, 62")):
        some = [s for s in shares(r, kind) if s > 0]
        at = [100 * s for s in some]
        wanted = {
            "share of the link": {p: (at, [use(r, kind, s, p) for s in some]) for p in protocols},
            often: {p: (at, [triggers(r, kind, s, p) for s in some]) for p in protocols},
        }
        # SACK and LTCP-DCR are orders of magnitude apart.
        text = f"Link use and fast retransmits by the share of late packets (figures {numbers})."
        out.append(panels(f"reordering-{kind}", text, wanted, "% of packets late", logarithmic=(often,)))
    return out


VARIANTS = {
    "rfc-4653": Variant("LTCP-DCR with all of RFC 4653, also the window it restores", {"ltcp_dcr": "LTCP-NCR"}),
    "variable-decrease": Variant("LTCP decreases by 1/(K+1), as in V.C (open point O7)", {"ltcp": "LTCP variable"}),
}

CLAIMS = study.BOOK.claims(
    {
        "B111": {
            "largest over least, from 0.1 % on": _collapse,
            **{f"{p} at 1 %": _at("one", 0.01, p) for p in ("SACK", "LTCP", "BIC", "HTCP")},
            "SACK <= SACK-DCR < LTCP-DCR": _ordered,
        },
        "B112": {"quotient": lambda r: exact(use(r, "one", 0.01, "LTCP-DCR") / use(r, "one", 0.01, "LTCP"))},
        "B113": {"in that order": _triggers_ordered},
        "B116": {
            "least of LTCP-DCR": _least("many", "LTCP-DCR"),
            "others at 10 % over 0 %, largest (half is our number)": _far_below,
        },
        "B119": {
            "LTCP-DCR at 10 %": _at("one", 0.1, "LTCP-DCR"),
            "largest other at 1 %": _largest_other,
            "LDP below LTCP-DCR": _below,
        },
        "B120": {
            "in that order at 10 % (1 point: our number)": _variants,
            "LDP-100Sample below LTCP-DCR by": lambda r: exact(
                use(r, "one", 0.1, "LTCP-DCR") - use(r, "one", 0.1, "LDP-100Sample")
            ),
        },
        "B123": {
            "least of LDP below 5 %": _ldp(min),
            "largest of LDP below 5 %": _ldp(max),
            "LDP lower at 10 %": lambda r: yes(use(r, "many", 0.1, "LDP") < use(r, "many", 0.001, "LDP")),
            "least of LTCP-DCR": _least("many", "LTCP-DCR"),
        },
        "B124": {
            "Jain lower": _diverge("one_jain", -1),
            "queue higher": _diverge("bottleneck_queue", 1),
            "loss higher": lambda r: yes(
                measures.mean_value(r, "many 0.1 LDP-100Sample", "bottleneck_drop_rate")
                > measures.mean_value(r, "many 0.1 LDP", "bottleneck_drop_rate")
            ),
        },
    }
)

EXPERIMENT = study.experiment(
    "f56-f70",
    "High-speed TCP and reordering",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 56 to 58, 61, 62, 66, 67, 69, 70",
    figures=pictures,
    variants=VARIANTS,
    quick=study.smaller("fewer shares, 60 s of one flow; five flows at 100 Mbit/s instead of fifty at 1 Gbit/s, 36 s"),
)
