"""How do high-speed flows share with each other, with TCP, and with flows of other round trips?

N5, 1 Gbit/s and 120 ms unless said otherwise. Tables III and XII: 2 to 10 LTCP flows. Tables IV and XIII: one TCP
flow against one high-speed flow at 100 Mbit/s, 500 Mbit/s and 1 Gbit/s, with a third of a bandwidth-delay product of
buffer. Tables V and XIV: two flows, 40 ms against 80, 120 and 160 ms, with 5000 packets of buffer and with 500 (open
point O16).

What the source printed: the tables; which buffer table V had is not clear (O16).

What may differ here: one seed, as a run of all cells is five billion packets; only the starts, within 5 s, are random.
Deviations of shares (B79) are those of flows that still converge from where slow start left them. `--quick` takes a
tenth of the rates, of the buffers and of W_T, and 100 s (tables V and XIV: 48 s): LTCP's windows then lie in the same
layers and its cycles take a tenth of the time; HTCP and BIC have no such scale, and an overflow costs a tenth of the
window as many packets, so eight flows and more share less equally.
"""

from itertools import pairwise
from typing import Any

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.experiments.bhandarkar_2006.measures import used
from crosswind.experiments.bhandarkar_2006.t2_t15 import third
from crosswind.reproduce import Measure, Picture, Quantity, Results, Scenario
from crosswind.reproduce.claims.quantities import mean

COUNTS = (2, 4, 6, 8, 10)
RATES = (100, 500, 1000)
RATIOS = (2, 3, 4)
TABLES = {"III": "LTCP", "XII": "LTCP variable"}
OPPONENTS = ("LTCP", "LTCP variable", "HTCP", "BIC")
# Those of tables IV and V.
BESIDE = ("LTCP", "HTCP", "BIC")


def two_paths(name: str, protocol: str, ratio: int, rate: float, buffer: int, seconds: float, **tcp: Any) -> Scenario:
    """Two flows through one bottleneck, with round trips of 40 ms and `ratio` times that."""
    start = {"uniform": ["0 s", "1 s"]}
    links: dict[str, Any] = {"bottleneck": {"from": "a", "to": "b", **nets.wire(rate, 10, nets.droptail(buffer))}}
    flows: dict[str, Any] = {}
    for kind, rtt in (("short", 40), ("long", 40 * ratio)):
        links[f"left-{kind}"] = {"from": f"source-{kind}", "to": "a", **nets.wire(2400, rtt / 2 - 11)}
        links[f"right-{kind}"] = {"from": "b", "to": f"sink-{kind}", **nets.wire(2400, 1)}
        flow = nets.bulk(protocol, start=start, **tcp)
        flows[kind] = {**flow, "from": f"source-{kind}", "to": f"sink-{kind}"}
    return nets.world(name, links, flows, f"{seconds} s", f"{seconds / 4:.3f} s")


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`t3 <n> <protocol>`, `t4 <rate> <protocol>`, `t5 <ratio> <buffer> <protocol>`."""
    scale = 1.0 if size == "full" else 0.1
    seconds, seconds_t5 = (1000, 1000) if size == "full" else (100, 48)
    ltcp = {} if size == "full" else {"ltcp": {"threshold": 5.0}}

    out: dict[str, Scenario] = {}
    start = {"uniform": ["0 s", "5 s"]}
    for p in TABLES.values():
        for n in COUNTS:
            rate, buffer = 1000 * scale, round(5000 * scale)
            flow = {"one": nets.bulk(p, n, start, **ltcp)}
            name = f"t3 {n} {p}"
            lengths: dict[str, Any] = {"duration_s": seconds, "warm_up_s": seconds / 5}
            out[name] = nets.high_speed(name, flow, rate_mbps=rate, buffer=buffer, pairs=n, **lengths)
    for p in OPPONENTS:
        own: dict[str, Any] = ltcp if p.startswith("LTCP") else {}
        for r in RATES:
            rate, buffer = r * scale, max(3, round(third(r) * scale))
            flows = {"tcp": nets.bulk("SACK", start=start), "other": nets.bulk(p, start=start, **own)}
            name = f"t4 {r} {p}"
            lengths = {"duration_s": seconds, "warm_up_s": seconds / 4}
            out[name] = nets.high_speed(name, flows, rate_mbps=rate, buffer=buffer, pairs=2, **lengths)
        for ratio in RATIOS:
            for b in (5000, 500):
                name = f"t5 {ratio} {b} {p}"
                out[name] = two_paths(name, p, ratio, 1000 * scale, round(b * scale), seconds_t5, **own)
    return out


def jain(n: int, protocol: str) -> Measure:
    """Jain's index of n flows."""
    return measures.mean_of(f"t3 {n} {protocol}", "one_jain")


def tcp_share(rate: int, protocol: str, group: str = "tcp") -> Quantity:
    """Rate of one of the two flows, in Mbit/s (of the full size)."""
    return mean(f"t4 {rate} {protocol}", f"{group}_bps") / 1e6


def unfairness(ratio: int, buffer: int, protocol: str) -> Quantity:
    """Rate of the flow with the short round trip over the other's."""
    label = f"t5 {ratio} {buffer} {protocol}"
    return measures.ratio((label, "short_bps"), (label, "long_bps"))


def _all_unfair(*protocols: str) -> dict[str, Measure]:
    cells = [(p, k, b) for p in protocols for b in (5000, 500) for k in RATIOS]
    return {f"{p}, ratio {k}, buffer {b}": unfairness(k, b, p) for p, k, b in cells}


def _spread(n: int) -> Quantity:
    return measures.ratio((f"t3 {n} LTCP variable", "one_sd_bps"), (f"t3 {n} LTCP", "one_sd_bps"))


def pictures(r: Results) -> list[Picture]:
    """Tables III and XII."""
    scale = 1.0 if r.size == "full" else 0.1
    out = []
    rows = study.rows("t3_t12.csv")
    for name, column, per, what in (
        ("jain", "one_jain", 1.0, "Jain's index"),
        ("sd_mbps", "one_sd_bps", 1e6 * scale, "deviation of the rates (Mbit/s)"),
    ):
        bars = {p: {f"{n}": r.mean(f"t3 {n} {p}", column) / per for n in COUNTS} for p in TABLES.values()}
        known = {p: {x["n"]: float(x[name]) for x in rows if x["table"] == table} for table, p in TABLES.items()}
        text = f"{what} of n LTCP flows, fixed and variable decrease (tables III and XII)."
        out.append(figures.bars(f"t3-{name.partition('_')[0]}", text, bars, what, known, xlabel="flows"))
    return out


CLAIMS = {
    "B58": {
        **{f"Jain, n = {n}": jain(n, "LTCP") for n in COUNTS},
        **{f"used, n = {n}": used(f"t3 {n} LTCP", "one") for n in COUNTS},
    },
    "B59": {f"at {x} Mbit/s": tcp_share(x, "LTCP") for x in RATES},
    "B60": {
        **{f"{p} at {x}": tcp_share(x, p) for p in BESIDE for x in RATES},
        **{
            f"{p} at {b} minus {p} at {a}": tcp_share(b, p) - tcp_share(a, p)
            for p in BESIDE
            for a, b in pairwise(RATES)
        },
        **{f"HTCP at {x} over LTCP at {x}": tcp_share(x, "HTCP") / tcp_share(x, "LTCP") for x in RATES},
        **{f"HTCP at {x} minus BIC at {x}": tcp_share(x, "HTCP") - tcp_share(x, "BIC") for x in RATES},
    },
    "B61": {f"at {x}": used(f"t4 {x} LTCP", "tcp", "other") for x in RATES},
    "B62": {f"ratio {k}, buffer {b}": unfairness(k, b, "LTCP") for b in (5000, 500) for k in RATIOS},
    "B63": _all_unfair(*BESIDE),
    "B79": {
        **{f"Jain, n = {n}": jain(n, "LTCP variable") for n in COUNTS},
        **{f"deviation over the fixed one's, n = {n}": _spread(n) for n in COUNTS},
    },
    "B80": {f"{p} at {x}": tcp_share(x, p) for p in ("LTCP", "LTCP variable") for x in RATES},
    "B81": {
        **{f"at {x}": tcp_share(x, "LTCP variable", "other") for x in RATES},
        **{f"share at {x}": used(f"t4 {x} LTCP variable", "other") for x in RATES},
    },
    "B82": _all_unfair("LTCP", "LTCP variable"),
}

EXPERIMENT = study.experiment(
    __name__,
    "High-speed flows share",
    where="tables III to V, XII to XIV",
    reps=1,
    quick=study.smaller("a tenth of the rates, buffers and W_T, 100 s"),
)
