"""How fast, and at what price, does one high-speed flow fill a long fat pipe?

N5: one flow, a round trip of 120 ms, access links of 2.4 Gbit/s. Tables II and XI: rates from 100 Mbit/s to 2.4
Gbit/s with a buffer of a third of a bandwidth-delay product (open point O19), goodput and loss over 2000 s. Table
XV: 1 Gbit/s and buffers of one and one third of a product (15 000 and 5000 packets), from 200 s to 1200 s; with the
smaller buffer these are runs of table II.

What the source printed: the tables (`data/t2.csv`); BIC's packets were 1050 bytes long there.

What may differ here: one seed, for nothing is random. K_R is 2.40 at 120 ms, inferred from these tables (O18), so
claims 55 and 71 to 77 show consistency. TCP loses one packet in a cycle of 127 s at 100 Mbit/s and of 51 minutes at
2.4 Gbit/s: its goodput is the mean of 2000 s over the phases of a cycle after the first loss, its loss that of three
whole cycles or more (`saw_tooth`). At 2.4 Gbit/s access lines have twice that, so that the queue stands in front of
the bottleneck as at the other rates. `--quick` runs 100 Mbit/s alone, TCP for three whole cycles, the others for 150 s
(forty cycles and more); the claims about other rates stay unclear.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.experiments.bhandarkar_2006 import measures, nets, saw_tooth, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed
from crosswind.reproduce.claims.quantities import mean
from crosswind.stats import Estimate
from crosswind.theory import ltcp as theory

RATES = (100, 250, 500, 1000, 2400)
CYCLES_BEFORE = 1.0
# What is measured, as in the source.
TABLE_2_s, TABLE_15_s = 2000.0, 1000.0
PROTOCOLS = ("SACK", "LTCP", "LTCP variable", "HTCP", "BIC")
NAMES = {"SACK": "TCP", "LTCP": "LTCP", "LTCP variable": "variable", "HTCP": "HTCP", "BIC": "BIC"}
BUFFERS = {"1 BDP": 15_000, "1/3 BDP": 5000}
RTT_ms = 120


PUBLISHED = {(r["quantity"], r["protocol"], int(r["rate"])): float(r["value"]) for r in study.rows("t2.csv")}


def third(rate: int) -> int:
    """A third of the bandwidth-delay product, as the source counts it: packets of 1000 bytes."""
    return round(rate * 1e6 * RTT_ms / 1e3 / 8 / nets.PAYLOAD / 3)


def _flow(protocol: str, rate: float, buffer: int, first: str) -> dict[str, Any]:
    if first != "fits":
        return {"one": nets.bulk(protocol)}
    threshold = int(0.75 * (nets.bdp(rate, RTT_ms) + buffer)) * nets.PAYLOAD
    return {"one": nets.bulk(protocol, initial_ssthresh=f"{threshold} B")}


def label(buffer: str, protocol: str) -> str:
    """The run of table XV: behind the smaller buffer it is that of table II."""
    return f"t15 1 BDP {protocol}" if buffer == "1 BDP" else f"t2 1000 {protocol}"


def configurations(size: str = "full", first: str = "none") -> dict[str, Scenario]:
    """`t2 <rate> <protocol>` and `t15 1 BDP <protocol>`; `first="fits"` gives flows a first slow-start threshold."""
    out = {}
    cells = [(f"t2 {x} {p}", p, x, third(x)) for p in PROTOCOLS for x in (RATES if size == "full" else (100,))]
    if size == "full":
        cells += [(label("1 BDP", p), p, 1000, BUFFERS["1 BDP"]) for p in PROTOCOLS if p != "LTCP variable"]
    for name, p, rate, buffer in cells:
        if p == "SACK":
            cycle = saw_tooth.cycle_s(rate, buffer, RTT_ms)
            # The first loss after slow start, and three cycles from there on or 2000 s from each phase of one.
            after = 3 * cycle if size == "quick" else max(3 * cycle, cycle + 2000)
            seconds, left_out = (CYCLES_BEFORE + 0.2) * cycle + after, cycle / saw_tooth.STEPS
        elif size == "quick":
            seconds, left_out = 150.0, 50.0
        else:
            seconds, left_out = 200.0 + (TABLE_15_s if name == label("1 BDP", p) else TABLE_2_s), 200.0
        flow = _flow(p, rate, buffer, first)
        out[name] = nets.high_speed(name, flow, rate_mbps=rate, buffer=buffer, duration_s=seconds, warm_up_s=left_out)
    return out


def goodput(rate: int, protocol: str) -> Quantity:
    """Payload over the rate of the link."""
    return mean(f"t2 {rate} {protocol}", "one_bps") / rate / 1e6


@measured
def tcp(r: Results, rate: int, buffer: str = "1/3 BDP") -> saw_tooth.SawTooth:
    """The run of TCP."""
    return saw_tooth.of(r, label(buffer, "SACK") if rate == 1000 else f"t2 {rate} SACK")


TCP = {x: tcp(x) for x in RATES}
TCP_BEHIND = {b: tcp(1000, b) for b in BUFFERS}


def loss(rate: int, protocol: str) -> Quantity:
    """Drop rate of the bottleneck; of TCP in whole cycles."""
    if protocol == "SACK":
        return TCP[rate].then(lambda tcp: tcp.loss())
    return mean(f"t2 {rate} {protocol}", "bottleneck_drop_rate")


@measured
def _order(r: Results, rate: int) -> bool:
    values = [loss(rate, p)(r) for p in ("SACK", "BIC", "LTCP", "HTCP")]
    return all(a < b for a, b in pairwise(values))


@measured
def _quotient(r: Results, rate: int, over: str, under: str) -> float:
    least = loss(rate, under)(r)
    return float(loss(rate, over)(r) / needed(least, f"no losses of {NAMES[under]} at {rate} Mbit/s"))


@measured
def _events(r: Results, buffer: str, protocol: str) -> Estimate:
    """In the seconds of table XV; the run of table II lasts longer."""
    measured_s = TABLE_15_s if buffer == "1 BDP" else TABLE_2_s
    found = stats.mean(r.of(label(buffer, protocol), "one_recoveries"))
    return found.scaled(TABLE_15_s / measured_s)


def _drop_rate(buffer: str, protocol: str) -> Quantity:
    return mean(label(buffer, protocol), "bottleneck_drop_rate")


def _slope(r: Results) -> float:
    y = [loss(x, "LTCP")(r) for x in RATES]
    return float(np.polyfit(np.log(RATES), np.log(y), 1)[0])


def _same_goodput(r: Results) -> float:
    rates = [x for x in RATES if f"t2 {x} LTCP" in set(r.table("repetition")["configuration"])]
    return max(abs(r.mean(f"t2 {x} LTCP variable", "one_bps") / r.mean(f"t2 {x} LTCP", "one_bps") - 1) for x in rates)


def _phases(rate: int, pick: Callable[[Any], Any], column: int = 0) -> Quantity:
    """What TCP uses of the link (or loses: column 1) in 2000 s, over the phases of its cycle."""
    return TCP[rate].then(lambda tcp: float(pick(tcp.phases()[column])))


def pictures(r: Results) -> list[Picture]:
    """Loss rates of table II."""
    found = set(r.table("repetition")["configuration"])
    bars = {
        p: {f"{x}": r.mean(f"t2 {x} {p}", "bottleneck_drop_rate") for x in RATES if f"t2 {x} {p}" in found}
        for p in PROTOCOLS
    }
    known = {p: {f"{x}": v for (q, n, x), v in PUBLISHED.items() if (q, n) == ("loss", NAMES[p])} for p in PROTOCOLS}
    return [figures.bars("t2-loss", "Loss rate of one flow by rate (Mbit/s).", bars, "loss rate", known)]


def _over_printed(found: Quantity, protocol: str, rate: int = 1000, quantity: str = "loss") -> Quantity:
    return found / PUBLISHED[quantity, protocol, rate]


CELLS = [(b, p) for p in ("LTCP", "BIC", "HTCP") for b in BUFFERS]
CLOSED_FORM = {b: theory.tcp_loss_per_cycle(nets.bdp(1000, RTT_ms), n) for b, n in BUFFERS.items()}
SAW_TOOTH = {b: theory.utilisation(0.5, n / nets.bdp(1000, RTT_ms)) * nets.CEILING for b, n in BUFFERS.items()}
CLAIMS = {
    "B53": {f"{p} at {x}": goodput(x, p) for p in ("LTCP", "HTCP", "BIC") for x in RATES},
    "B54": {
        f"at {x}, {said}": _phases(x, pick) / nets.CEILING
        for x in RATES
        for said, pick in (("of the ceiling", np.mean), ("least phase", np.min), ("largest phase", np.max))
    },
    "B55": {
        **{f"at {x}, over the printed": _over_printed(loss(x, "LTCP"), "LTCP", x) for x in RATES},
        "power of the rate, reported": _slope,
    },
    "B56": {
        **{
            f"at {x}, over the closed form": loss(x, "SACK") / theory.tcp_loss_per_cycle(nets.bdp(x, RTT_ms), third(x))
            for x in RATES
        },
        **{f"at {x}, over the printed": _over_printed(loss(x, "SACK"), "TCP", x) for x in RATES},
        **{f"at {x}, of 2000 s": _over_printed(_phases(x, np.mean, 1), "TCP", x) for x in RATES},
    },
    "B57": {
        **{f"TCP < BIC < LTCP < HTCP at {x}": _order(x) for x in (1000, 2400)},
        "LTCP/TCP at 2400": _quotient(2400, "LTCP", "SACK"),
        **{f"HTCP/LTCP at {x}": _quotient(x, "HTCP", "LTCP") for x in (1000, 2400)},
    },
    "B71": {f"{p}, {b}": _events(b, p) for b, p in CELLS},
    "B72": {
        f"{p}, {b}, over the printed": _over_printed(_drop_rate(b, p), p, quantity=f"loss behind {b}") for b, p in CELLS
    },
    "B73": {
        **{
            f"closed form, {b}, over the printed": _over_printed(
                Quantity(lambda _, b=b: CLOSED_FORM[b]), "TCP", quantity=f"loss behind {b}"
            )
            for b in BUFFERS
        },
        **{f"utilisation of the saw-tooth, {b}": lambda _, b=b: SAW_TOOTH[b] for b in BUFFERS},
        **{
            f"loss, {b}, over the printed": _over_printed(
                run.then(lambda tcp: tcp.loss()), "TCP", quantity=f"loss behind {b}"
            )
            for b, run in TCP_BEHIND.items()
        },
        **{f"utilisation, {b}": run.then(lambda tcp: tcp.used()) for b, run in TCP_BEHIND.items()},
        **{f"200 s to 1200 s, {b}": run.then(lambda tcp: tcp.used_between(200, 1200)) for b, run in TCP_BEHIND.items()},
    },
    "B74": {
        f"{p}, {b}": measures.ratio((label(b, p), "bottleneck_drops"), (label(b, p), "one_recoveries"))
        for b, p in CELLS
    },
    "B75": {f"{p}, {b}": _drop_rate(b, p) / TCP_BEHIND[b].then(lambda tcp: tcp.loss()) for b, p in CELLS},
    "B76": {
        "goodput apart by": _same_goodput,
        **{f"loss ratio at {x}": _quotient(x, "LTCP variable", "LTCP") for x in RATES},
    },
    "B77": {f"at {x}, over the printed": _over_printed(loss(x, "LTCP variable"), "variable", x) for x in RATES},
}

EXPERIMENT = study.experiment(
    __name__,
    "One high-speed flow",
    where="tables II, XI, XV",
    reps=1,
    former={"first": "fits"},
    quick=study.smaller("100 Mbit/s, TCP for three whole cycles, others for 150 s"),
)
