"""How fast, and at what price, does one high-speed flow fill a long fat pipe?

N5: one flow, a round trip of 120 ms, access links of 2.4 Gbit/s. Tables II and XI: rates from 100 Mbit/s to 2.4
Gbit/s with a buffer of a third of a bandwidth-delay product (open point O19), goodput and loss over 2000 s. Table
XV: 1 Gbit/s and buffers of one and one third of a product (15 000 and 5000 packets), from 200 s to 1200 s; with the
smaller buffer these are the first 1200 s of table II.

What the source printed: the tables (`data/t2.csv`); BIC's packets were 1050 bytes long there.

What may differ here: K_R is 2.40 at 120 ms, inferred from these tables (O18), so claims 55 and 71 to 77 show
consistency. TCP is measured over whole cycles after the first, 16 of 127 s at 100 Mbit/s and one of 51 minutes at 2.4
Gbit/s: its losses are one per cycle, and 2000 s hold whatever falls into them. At 2.4 Gbit/s access lines have twice
that, so that the queue stands in front of the bottleneck as at the other rates; in front of as fast a line it would
stand in the host, where nothing is ever lost. Flows begin with a slow-start threshold near what path and buffer hold
(`_flow`), which the source does not say: what is measured begins long after. `--quick` runs 100 Mbit/s alone, TCP for
three of its cycles (381 s), the others for 150 s (forty and more); the claims about other rates stay unclear.

B53 to B57 and B71 to B77 need 15 billion packets and stay unclear with `--quick`. At full size (one seed) all but B74
hold. LTCP, HTCP and BIC fill every link; losses of LTCP are 0.92 to 0.98 of the printed and fall with the power -1.31
of the rate (-1.32 printed); HTCP loses 3.4 and 5.2 times as much at 1 and 2.4 Gbit/s (3.2 and 5.2); TCP has 0.927 of
the ceiling and 1.00 of the losses of the closed form at every rate, 2140 Mbit/s and 1.23e-9 at 2.4 Gbit/s (2103 and
1.18e-9). Over 2000 s, wherever they are in a cycle (variant `any-cycle`), TCP has 0.930 of the ceiling at 100 Mbit/s
and 0.891 with one loss at 1 Gbit/s, 0.66 of the closed form: B54 and B56 then fail.

Table XV: whole product of buffer: LTCP 35 events with a loss rate of 1.08e-5 and 37 packets per event, BIC 32, 5.3e-6
and 20, HTCP 50, 1.35e-4 and 325, TCP 96.15 % of the rate; a third: LTCP 70, 1.86e-5 and 32, HTCP 67, 6.3e-5 and 113,
BIC 67, 1.13e-5 and 20. B74 fails for HTCP behind the whole product, where at most 316 are accepted (243 printed): 20 s
after a loss H-TCP adds 281 segments per round trip, times 1.2 for 120 ms, and all of them are lost when it halves at
every loss, as a round trip of 120 to 240 ms tells it. The printed number takes 0.7 of that: the source's HTCP gave up
less there (a fluid model of H-TCP is as high as ours).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.claims import MissingDataError, yes
from crosswind.experiments.base import Results, Tables, Variant
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.figures import Picture
from crosswind.runs import Runs
from crosswind.scenario import Scenario
from crosswind.stats import Estimate, exact
from crosswind.theory import ltcp as theory

RATES = (100, 250, 500, 1000, 2400)
SMALL = (100, 250)
PROTOCOLS = ("SACK", "LTCP", "LTCP variable", "HTCP", "BIC")
NAMES = {"SACK": "TCP", "LTCP": "LTCP", "LTCP variable": "variable", "HTCP": "HTCP", "BIC": "BIC"}
BUFFERS = {"1 BDP": 15_000, "1/3 BDP": 5000}
RTT_ms = 120


def _published() -> dict[tuple[str, str, int], float]:
    with (Path(__file__).parent / "data" / "t2.csv").open(encoding="utf-8", newline="") as f:
        return {(r["quantity"], r["protocol"], int(r["rate"])): float(r["value"]) for r in csv.DictReader(f)}


PUBLISHED = _published()


def third(rate: int) -> int:
    """A third of the bandwidth-delay product, as the source counts it: packets of 1000 bytes."""
    return round(rate * 1e6 * RTT_ms / 1e3 / 8 / nets.PAYLOAD / 3)


def tcp_cycle_s(rate: float, buffer: float) -> float:
    """How long TCP's window takes from half of what fits to all of it, one segment a round trip."""
    capacity, per_s = nets.bdp(rate, RTT_ms), nets.bdp(rate, 1000)
    most = capacity + buffer
    waits = max(most / 2, capacity)
    return (waits - most / 2) * RTT_ms / 1e3 + (most**2 - waits**2) / 2 / per_s


def _flow(protocol: str, rate: float, buffer: int) -> dict[str, Any]:
    # The first slow start ends where the window fits: what it would lose is not what the source measured.
    threshold = int(0.75 * (nets.bdp(rate, RTT_ms) + buffer)) * nets.PAYLOAD
    return {"one": nets.bulk(protocol, initial_ssthresh=f"{threshold} B")}


def small_buffer(protocol: str) -> tuple[str, str]:
    """The run of table II whose first 1200 s are table XV behind the smaller buffer, and what they are called there."""
    return f"t2 1000 {protocol}", f"t15 1:3 BDP {protocol}"


def configurations(size: str = "full", cycles: str = "whole", **_: Any) -> dict[str, Scenario]:
    """`t2 <rate> <protocol>` and `t15 <buffer> <protocol>`; `size="small"` leaves out what takes long.

    `cycles="any"` measures TCP over 2000 s as the others, wherever it is in its cycle.
    """
    out = {}
    rates = {"full": RATES, "small": SMALL}.get(size, (100,))
    tables_of = {"full": tuple(BUFFERS), "small": ("1/3 BDP",)}.get(size, ())
    for p in PROTOCOLS:
        for rate in rates:
            name = f"t2 {rate} {p}"
            buffer = third(rate)
            flow = _flow(p, rate, buffer)
            seconds, left_out = (2000.0, 200.0) if size != "quick" else (150.0, 50.0)
            if p == "SACK" and cycles == "whole":
                # 127 s at 100 Mbit/s, twenty minutes at 1 Gbit/s. With `--quick` three of them.
                left_out = tcp_cycle_s(rate, buffer)
                seconds = left_out * (3 if size == "quick" else math.ceil(seconds / left_out))
            out[name] = nets.high_speed(
                name, flow, rate_mbps=rate, buffer=buffer, duration_s=seconds + left_out, warm_up_s=left_out
            )
        for b in tables_of:
            # At full size table II has the runs with the smaller buffer; TCP is measured by its cycles there.
            of_table_2 = size == "full" and b == "1/3 BDP" and (p != "SACK" or cycles == "any")
            if p == "LTCP variable" or (p == "SACK" and size != "full") or of_table_2:
                continue
            name = f"t15 {b.replace('/', ':')} {p}"
            out[name] = nets.high_speed(
                name, _flow(p, 1000, BUFFERS[b]), rate_mbps=1000, buffer=BUFFERS[b], duration_s=1200, warm_up_s=200
            )
    return out


def tables(runs: Runs) -> Tables:
    """As everywhere in the study, and the rows of table XV that lie in runs of table II."""
    whole = measures.tables(runs)
    within = {run: part for run, part in map(small_buffer, PROTOCOLS) if part not in runs.scenarios}
    found = pl.col("configuration").is_in(list(within))
    if not whole or whole["repetition"].filter(found).is_empty():
        return whole
    first = measures.tables(runs, until_s=1200)
    renamed = {
        name: table.filter(found).with_columns(pl.col("configuration").replace(within)) for name, table in first.items()
    }
    return {name: pl.concat([table, renamed[name]], how="diagonal") for name, table in whole.items()}


def goodput(rate: int, protocol: str) -> Callable[[Results], Estimate]:
    """Payload over the rate of the link."""
    return lambda r: exact(measures.mean_value(r, f"t2 {rate} {protocol}", "one_bps") / rate / 1e6)


def loss(r: Results, rate: int, protocol: str) -> float:
    """Drop rate of the bottleneck."""
    return measures.mean_value(r, f"t2 {rate} {protocol}", "bottleneck_drop_rate")


def _loss(rate: int, protocol: str) -> Callable[[Results], Estimate]:
    return lambda r: measures.mean_of(r, f"t2 {rate} {protocol}", "bottleneck_drop_rate")


def _order(rate: int) -> Callable[[Results], Estimate]:
    def measure(r: Results) -> Estimate:
        values = [loss(r, rate, p) for p in ("SACK", "BIC", "LTCP", "HTCP")]
        return yes(all(a < b for a, b in pairwise(values)))

    return measure


def _quotient(rate: int, over: str, under: str) -> Callable[[Results], Estimate]:
    def measure(r: Results) -> Estimate:
        least = loss(r, rate, under)
        if not least:
            raise MissingDataError(f"no losses of {NAMES[under]} at {rate} Mbit/s")
        return exact(loss(r, rate, over) / least)

    return measure


def _column(buffer: str, protocol: str, column: str) -> Callable[[Results], Estimate]:
    return lambda r: measures.mean_of(r, f"t15 {buffer.replace('/', ':')} {protocol}", column)


def _per_event(buffer: str, protocol: str) -> Callable[[Results], Estimate]:
    label = f"t15 {buffer.replace('/', ':')} {protocol}"
    return lambda r: measures.ratio(r, (label, "bottleneck_drops"), (label, "one_recoveries"))


def _over_tcp(buffer: str, protocol: str) -> Callable[[Results], Estimate]:
    tcp = theory.tcp_loss_per_cycle(nets.bdp(1000, RTT_ms), BUFFERS[buffer])
    label = f"t15 {buffer.replace('/', ':')} {protocol}"
    return lambda r: exact(measures.mean_value(r, label, "bottleneck_drop_rate") / tcp)


def _slope(r: Results) -> Estimate:
    y = [loss(r, x, "LTCP") for x in RATES]
    return exact(float(np.polyfit(np.log(RATES), np.log(y), 1)[0]))


def _same_goodput(r: Results) -> Estimate:
    rates = [x for x in RATES if f"t2 {x} LTCP" in set(r.table("repetition")["configuration"])]
    return exact(
        max(
            abs(
                measures.mean_value(r, f"t2 {x} LTCP variable", "one_bps")
                / measures.mean_value(r, f"t2 {x} LTCP", "one_bps")
                - 1
            )
            for x in rates
        )
    )


def _cycle_loss(rate: int) -> Callable[[Results], Estimate]:
    ideal = theory.tcp_loss_per_cycle(nets.bdp(rate, RTT_ms), third(rate))
    return lambda r: exact(loss(r, rate, "SACK") / ideal)


def pictures(r: Results) -> list[Picture]:
    """Loss rates of table II."""
    found = set(r.table("repetition")["configuration"])
    bars = {p: {f"{x}": loss(r, x, p) for x in RATES if f"t2 {x} {p}" in found} for p in PROTOCOLS}
    return [figures.bars("t2-loss", "Loss rate of one flow by rate (Mbit/s).", bars, "loss rate")]


EVENTS = {
    ("1 BDP", "LTCP"): (35, 0.15),
    ("1/3 BDP", "LTCP"): (71, 0.15),
    ("1 BDP", "BIC"): (30, 0.3),
    ("1/3 BDP", "BIC"): (63, 0.3),
    ("1 BDP", "HTCP"): (44, 0.25),
    ("1/3 BDP", "HTCP"): (66, 0.25),
}
LOSSES = {
    ("1 BDP", "LTCP"): (1.11e-5, 0.25),
    ("1/3 BDP", "LTCP"): (1.95e-5, 0.25),
    ("1 BDP", "BIC"): (4.99e-6, 0.5),
    ("1/3 BDP", "BIC"): (1.06e-5, 0.5),
    ("1 BDP", "HTCP"): (8.89e-5, 0.6),
    ("1/3 BDP", "HTCP"): (6.34e-5, 0.6),
}
PER_EVENT = {
    ("1 BDP", "LTCP"): 38,
    ("1/3 BDP", "LTCP"): 33,
    ("1 BDP", "BIC"): 20,
    ("1/3 BDP", "BIC"): 20,
    ("1 BDP", "HTCP"): 243,
    ("1/3 BDP", "HTCP"): 115,
}
TCP_USE = {"1 BDP": 0.9615, "1/3 BDP": 0.8915}
CLAIMS = study.BOOK.claims(
    {
        "B53": {
            **{f"LTCP at {x}": goodput(x, "LTCP") for x in RATES},
            **{f"{p} at {x}": goodput(x, p) for p in ("HTCP", "BIC") for x in RATES},
        },
        "B54": {
            **{
                f"at {x}, of the ceiling": lambda r, x=x: exact(goodput(x, "SACK")(r).value / nets.CEILING)
                for x in RATES
            },
        },
        "B55": {
            **{
                f"at {x}, over the printed": lambda r, x=x: exact(loss(r, x, "LTCP") / PUBLISHED["loss", "LTCP", x])
                for x in RATES
            },
            "power of the rate, reported": _slope,
        },
        "B56": {
            **{f"at {x}, over the closed form": _cycle_loss(x) for x in RATES},
        },
        "B57": {
            **{f"TCP < BIC < LTCP < HTCP at {x}": _order(x) for x in (1000, 2400)},
            "LTCP/TCP at 2400": _quotient(2400, "LTCP", "SACK"),
            **{f"HTCP/LTCP at {x}": _quotient(x, "HTCP", "LTCP") for x, p in ((1000, "3.2"), (2400, "5.2"))},
        },
        "B71": {
            **{f"{p}, {b}": _column(b, p, "one_recoveries") for (b, p), (v, t) in EVENTS.items()},
        },
        "B72": {
            **{
                f"{p}, {b}, over the printed": lambda r, b=b, p=p, v=v: exact(
                    _column(b, p, "bottleneck_drop_rate")(r).value / v
                )
                for (b, p), (v, t) in LOSSES.items()
            },
        },
        "B73": {
            **{
                f"closed form, {b}, over the printed": lambda _, b=b, v=v: exact(
                    theory.tcp_loss_per_cycle(nets.bdp(1000, RTT_ms), BUFFERS[b]) / v
                )
                for b, v in (("1 BDP", 3.08e-09), ("1/3 BDP", 7.07e-09))
            },
            **{
                f"utilisation of the saw-tooth, {b}": lambda _, b=b: exact(
                    theory.utilisation(0.5, BUFFERS[b] / nets.bdp(1000, RTT_ms)) * nets.CEILING
                )
                for b, u in TCP_USE.items()
            },
            **{
                f"goodput of the run, {b}, reported": lambda r, b=b: exact(
                    _column(b, "SACK", "one_bps")(r).value / 1000000000.0
                )
                for b, u in TCP_USE.items()
            },
        },
        "B74": {
            **{f"{p}, {b}": _per_event(b, p) for (b, p), v in PER_EVENT.items()},
        },
        "B75": {
            **{f"{p}, {b}": _over_tcp(b, p) for b, p in EVENTS},
        },
        "B76": {
            "goodput apart by": _same_goodput,
            **{
                f"loss ratio at {x}": _quotient(x, "LTCP variable", "LTCP")
                for x, v in zip(RATES, (1.07, 1.36, 1.65, 2.04, 2.67), strict=True)
            },
        },
        "B77": {
            **{
                f"at {x}, over the printed": lambda r, x=x: exact(
                    loss(r, x, "LTCP variable") / PUBLISHED["loss", "variable", x]
                )
                for x in RATES
            },
        },
    }
)

EXPERIMENT = study.experiment(
    "t2-t15",
    "One high-speed flow",
    __doc__,
    configurations,
    CLAIMS,
    where="tables II, XI, XV",
    figures=pictures,
    reps=1,
    tables=tables,
    quick=study.smaller("100 Mbit/s, TCP for three cycles (381 s), others for 150 s"),
    variants={
        "small": Variant("100 and 250 Mbit/s at full length, and table XV with the smaller buffer", {"size": "small"}),
        "any-cycle": Variant("TCP over 2000 s, wherever it is in its cycle", {"cycles": "any"}),
    },
)
