"""Which high-speed TCP does well on a path of several bottlenecks where one router reorders packets?

N15: five routers in a row, 1 Gbit/s and 28 ms between them, a cloud at each (1 Gbit/s, 1 ms). Six groups of flows,
from R1 to R5, R1 to R2, R3 to R2, R3 to R4, R5 to R4 and R5 to R1, each with 20 long flows and 100 web sessions.
Router R3 delays 1 % of the packets that pass it by N(25 ms, 8 ms).

What the source printed: a table of utilisation, drop rate and queue of four lines, and of Jain's index of each group.

What may differ here: lines and buffers (7500 packets) are those of the source's V.B.2, the only ones named with which a
delay is mostly less than a round trip (decision 0029); web sessions use SACK. Utilisation counts headers, as it seems
to there: up to 96.9 % is printed (O14). R3 reorders data only. Flows start within 50 ms of each other. LTCP-DCR waits
for a window of duplicates and grows meanwhile; it does not restore windows as RFC 4653 does. 120 s of which 20 s are
left out. `--quick` is 100 Mbit/s with 2 long flows and 10 web sessions per group, and 30 s of which 5 s are left out.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.reproduce import Measure, Picture, Quantity, Results, Runs, Scenario, Tables, measured
from crosswind.reproduce.claims.measures import mean

PROTOCOLS = ("LTCP variable", "BIC", "HTCP", "FAST", "LTCP-DCR", "LDP")
LINE_ms = 28.0
GROUPS = ((1, 5), (1, 2), (3, 2), (3, 4), (5, 4), (5, 1))
# The line and its direction by the name in the source.
LINES = {"R1-R2": "line1/forward", "R3-R2": "line2/reverse", "R3-R4": "line3/forward", "R5-R4": "line4/reverse"}
# Column -> what it is, and the claim with the printed values.
METRICS = {
    "utilisation": ("utilisation", "B125"),
    "drop_rate": ("drop rate", "B126"),
    "queue": ("mean queue over buffer", "B127"),
}


def group_name(a: int, b: int) -> str:
    """`R1-R5`."""
    return f"R{a}-R{b}"


def buffer_packets(rate: float, line_ms: float = LINE_ms) -> int:
    """7500 packets at 1 Gbit/s and 28 ms; before, a product of the path from R1 to R5 and back, clouds included."""
    return round(7500 * rate / 1000) if line_ms == LINE_ms else nets.bdp(rate, 2 * (4 * line_ms + 2))


def world(name: str, protocol: str, size: str, line_ms: float, first: str, ldp_samples: str) -> Scenario:
    """Clouds of as many hosts as a group has flows, two for each router and group."""
    full = size == "full"
    rate, long, web, seconds = (1000.0, 20, 100, 120) if full else (100.0, 2, 10, 30)
    buffer = buffer_packets(rate, line_ms)
    links: dict[str, Any] = {}
    for k in range(1, 5):
        line = nets.reordering(rate, line_ms, nets.droptail(buffer), 0.01 if k == 3 else 0.0)
        line["reverse"] = {"queue": nets.droptail(buffer), "share": 0.01 if k == 2 else 0.0}
        links[f"line{k}"] = {"from": f"r{k}", "to": f"r{k + 1}", **line}
    own: dict[str, Any] = nets.timed(protocol, ldp_samples)
    if first == "fits":
        own["initial_ssthresh"] = f"{int(1.4 * buffer / long) * nets.PAYLOAD} B"
    if protocol == "FAST":
        own["fast"] = {"alpha": 100.0 if full else 10.0}
    start = {"uniform": ["0 s", "2 s" if first == "fits" else "50 ms"]}
    flows: dict[str, Any] = {}
    for a, b in GROUPS:
        for k in range(1, long + 1):
            out, back = f"s{a}{b}-{k}", f"d{a}{b}-{k}"
            access = nets.host(rate, 1, rate)
            links[f"left-{a}{b}-{k}"] = {"from": out, "to": f"r{a}", **access}
            links[f"right-{a}{b}-{k}"] = {"from": f"r{b}", "to": back, **nets.wire(rate, 1)}
            ends = {"from": out, "to": back}
            flows[f"{group_name(a, b).lower()}-{k}"] = {**nets.bulk(protocol, start=start, **own), **ends}
            session = nets.bulk("SACK", web // long, {"uniform": ["0 s", "15 s"]}, idle_restart="on")
            flows[f"web{a}{b}-{k}"] = {**session, **ends, "workload": {"type": "web"}}
    sample = f"{seconds // (3 if first == 'fits' else 6)} s"
    return nets.world(name, links, flows, f"{seconds} s", sample)


def configurations(
    size: str = "full", line_ms: float = LINE_ms, first: str = "none", ldp_samples: str = "per-ack"
) -> dict[str, Scenario]:
    """One per protocol; `ldp_samples` is TCP-LDP's rule of valid round trips."""
    return {p: world(p, p, size, line_ms, first, ldp_samples) for p in PROTOCOLS}


def tables(runs: Runs) -> Tables:
    """`lines` (configuration, line, utilisation, drop_rate, queue) and `flow_window`."""
    if "sample" not in runs.tables:
        return {}
    names = pl.DataFrame({"entity": list(LINES.values()), "line": list(LINES)})
    return {"lines": measures.links(runs).join(names, on="entity"), "flow_window": measures.flows(runs)}


@measured
def line(r: Results, protocol: str, name: str, column: str) -> float:
    """One number of a line; the queue is a share of the buffer."""
    row = r.table("lines").filter((pl.col("configuration") == protocol) & (pl.col("line") == name))
    value = float(row[column].mean())  # type: ignore[arg-type]
    if column != "queue":
        return value
    held = r.runs.scenarios[protocol].data["link"]["line1"]["queue"]["limit"]
    return value / float(str(held).split()[0])


def jain_of_each(protocol: str, group: str) -> Quantity:
    """Jain's index of the long flows of a group, run by run."""
    return measures.jain_of(protocol, f"{group.lower()}-")


def jain(protocol: str, group: str) -> Quantity:
    """The mean of that over the runs."""
    return jain_of_each(protocol, group).then(np.mean)


def less_fair(group: str, than: str) -> Measure:
    """Jain's index of a group of FAST flows less that of another protocol, seed by seed."""
    return mean(jain_of_each("FAST", group) - jain_of_each(than, group))


@measured
def _ratio(r: Results, name: str) -> float:
    ltcp, dcr = (line(p, name, "drop_rate")(r) for p in ("LTCP variable", "LTCP-DCR"))
    return dcr / ltcp if ltcp > 0 else float("nan")


NAMES = [group_name(*g) for g in GROUPS]
# The lines of which no packet passes the router that reorders, and the groups that use them alone.
FULL = ("R1-R2", "R5-R4")


def pictures(r: Results) -> list[Picture]:
    """Figure 72 as four panels."""
    out = []
    for column, (what, claim) in METRICS.items():
        bars = {p: {x: line(p, x, column)(r) for x in LINES} for p in PROTOCOLS}
        name, text = f"f72-{column.replace('_', '-')}", f"{what} of each line (figure 72)."
        out.append(figures.bars(name, text, bars, what, _printed(claim, LINES)))
    bars = {p: {g: jain(p, g)(r) for g in NAMES} for p in PROTOCOLS}
    text, known = "Jain's index of each group (figure 72).", _printed("B128", NAMES)
    out.append(figures.bars("f72-jain", text, bars, "Jain's index", known))
    return out


def _printed(claim: str, columns: Iterable[str]) -> dict[str, dict[str, float]]:
    """The printed values of a claim by protocol, and by line or group."""
    known = study.BOOK.numbers(claim)
    return {p: {x: known[f"{p}, {x}"] for x in columns} for p in PROTOCOLS}


def _all(column: str) -> dict[str, Measure]:
    return {f"{p}, {x}": line(p, x, column) for p in PROTOCOLS for x in LINES}


CLAIMS = {
    "B125": _all("utilisation"),
    "B126": _all("drop_rate"),
    "B127": _all("queue"),
    "B128": {
        **{f"{p}, {g}": jain(p, g) for p in PROTOCOLS for g in NAMES},
        **{f"FAST, {g} minus {p}, {g}": less_fair(g, p) for g in FULL for p in PROTOCOLS if p not in ("FAST", "LDP")},
    },
    "B129": {x: _ratio(x) for x in FULL},
}

EXPERIMENT = study.experiment(
    __name__,
    "Several bottlenecks and a router that reorders",
    where="figures 71, 72",
    former={"line_ms": 10.0, "first": "fits"},
    quick=study.smaller("100 Mbit/s, 2 long flows and 10 web sessions per group, 60 s"),
)
