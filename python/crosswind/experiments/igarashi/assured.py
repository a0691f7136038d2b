"""The testbed of chapter 6: groups of nine greedy SACK flows with contracts, markers at edges, RIO in the core.

Throughput (TH) counts packets of 1000 bytes as delivered to the application, each once, over the 50 s of a run.
The source's totals exceed its bottleneck by about 2 %, so its own measure is another one (open point O6.5: accept 2 %
of offset in totals). A flow misses its contract when it has less than the contract; where 2 % are granted the claim
says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.igarashi import study
from crosswind.reproduce import Picture, Quantity, Results, Runs, Scenario, Tables
from crosswind.reproduce.claims.quantities import runs

KEYS = ["configuration", "rep"]
SECONDS = 50
PACKET_BYTES = 1000
SEGMENT_BYTES = 960
RATES = (1, 2, 5, 1, 2, 5, 1, 2, 5)
RTTS_MS = (30, 30, 30, 40, 40, 40, 50, 50, 50)
SUM_MBPS = sum(RATES)
FLOWS = tuple(range(1, 10))
# C1 and C2 in Mbit/s.
CASES: Mapping[str, tuple[float, float]] = {"Case 1": (36.0, 33.6), "Case 2": (72.0, 33.6), "Case 3": (72.0, 48.0)}
ORIGINAL, EXCESS = "original", "excess-in"
CONTRACTS = {str(k): float(RATES[k - 1]) for k in FLOWS}
# One way, between the first and the last router; the rest of a round trip is in the access link.
CORE_MS = 5.0
# Each packet of a sender takes up to this much longer, against phase locking (open point O6.3).
UNEVEN = {"type": "reordering", "share": 0.0, "jitter": "10 us"}


def meter(mbps: float, marking: str) -> dict[str, Any]:
    """The source's meter: a time sliding window of 1 s."""
    return {"type": "tsw2cm", "cir": f"{mbps:g} Mbit/s", "window": "1 s", "marking": marking}


def rio(mbps: float, ms: float = 1.0) -> dict[str, Any]:
    """What a congested link of a core is like: RIO one way, more than enough the other way."""
    return {
        "rate": f"{mbps:g} Mbit/s",
        "delay": f"{ms:g} ms",
        "queue": {"type": "rio", "limit": "200 packets"},
        "reverse": {"rate": "1 Gbit/s", "queue": "droptail"},
    }


def wide(ms: float) -> dict[str, Any]:
    """A link that loses nothing."""
    return {"rate": "1 Gbit/s", "delay": f"{ms:g} ms", "queue": {"limit": "100000 packets"}}


def link(a: str, b: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"from": a, "to": b, **body}


def flow(source: str, sink: str) -> dict[str, Any]:
    """A greedy flow of ns-2: SACK, 1000 bytes a packet, an acknowledgement for each."""
    tcp = {"preset": "ns2-sack1", "mss": f"{SEGMENT_BYTES} B", "window_limit_segments": 1000}
    return {
        "from": source,
        "to": sink,
        "start": {"uniform": ["0 s", "100 ms"]},
        "workload": {"type": "bulk"},
        "tcp": tcp,
    }


def group(prefix: str, edge: str, sink: str, core_ms: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nine sources at an edge router: their links and flows, named `<prefix>1` to `<prefix>9`."""
    links, flows = {}, {}
    for k, rtt in zip(FLOWS, RTTS_MS, strict=True):
        name = f"{prefix}{k}"
        links[name] = link(f"host-{name}", edge, {**wide(rtt / 2 - core_ms), **UNEVEN})
        flows[name] = flow(f"host-{name}", sink)
    return links, flows


def contracts(prefix: str, domain: str, marking: str, make: Callable[[float, str], Any] = meter) -> dict[str, Any]:
    """One contract for each flow of a group with the domain that it enters."""
    return {
        f"{domain}-{prefix}{k}": {
            "domain": domain,
            "flow": f"{prefix}{k}",
            "meter": make(rate, marking),
            "class": "AF1",
        }
        for k, rate in zip(FLOWS, RATES, strict=True)
    }


def boundary(domain: str, source: str, marking: str) -> dict[str, Any]:
    """What one domain sends into another as AF11 is metered as a whole and re-marked beyond the contracts' sum."""
    return {
        f"{domain}-from-{source}": {
            "domain": domain,
            "from": source,
            "dscp": "AF11",
            "meter": meter(SUM_MBPS, marking),
            "class": "AF1",
        }
    }


def passing(domain: str, source: str) -> dict[str, Any]:
    """A contract that changes nothing: it makes the edge count."""
    return {f"{domain}-from-{source}": {"domain": domain, "from": source}}


def finish(name: str, data: dict[str, Any]) -> Scenario:
    return Scenario.from_dict({"name": name, "duration": f"{SECONDS} s", **data})


def two_domains(case: str, marking: str, kind: str) -> Scenario:
    """Model 6.2: (a) `inter`, with re-marking between two domains, or (b) `intra`, without."""
    c1, c2 = CASES[case]
    links, flows = group("f", "edge-a", "sink", CORE_MS)
    links |= {
        "upstream": link("edge-a", "core-a", rio(c1)),
        "between": link("core-a", "edge-b", wide(1)),
        "downstream": link("edge-b", "core-b", rio(c2)),
        "exit": link("core-b", "sink", wide(2)),
    }
    second = boundary("b", "a", marking) if kind == "inter" else passing("b", "a")
    return finish(
        f"af-{kind}",
        {
            "link": links,
            "flow": flows,
            "domain": {"a": {"nodes": ["edge-a", "core-a"]}, "b": {"nodes": ["edge-b", "core-b"]}},
            "contract": {**contracts("f", "a", marking), **second},
        },
    )


def one_domain(mbps: float, make: Callable[[float, str], Any] = meter, marking: str = ORIGINAL) -> Scenario:
    """A single domain with one RIO queue."""
    links, flows = group("f", "edge-a", "sink", 2.0)
    links |= {"core": link("edge-a", "core-a", rio(mbps)), "exit": link("core-a", "sink", wide(1))}
    return finish(
        "af-one",
        {
            "link": links,
            "flow": flows,
            "domain": {"a": {"nodes": ["edge-a", "core-a"]}},
            "contract": contracts("f", "a", marking, make),
        },
    )


def tables(of: Runs) -> Tables:
    """`repetition`: TH of each flow (`th_f1`, Mbit/s), their sum, how many miss their contract, and packets by
    colour at the second domain (`in_f1`, `out_f1`, `remarked_f1`); `crossing`: the same, one row per flow."""
    th = pl.col("size_bytes") / SEGMENT_BYTES * PACKET_BYTES * 8 / SECONDS / 1e6
    flows = of.flows().with_columns(th.alias("th"))
    names = flows["name"].unique(maintain_order=True).to_list()
    rate = {n: float(RATES[int(n[-1]) - 1]) for n in names}
    flows = flows.with_columns(pl.col("name").replace_strict(rate).alias("contract"))
    wide_rows = flows.group_by(KEYS, maintain_order=True).agg(
        *(pl.col("th").filter(pl.col("name") == n).first().alias(f"th_{n}") for n in names),
        pl.col("th").sum().alias("total"),
        (pl.col("th") < pl.col("contract")).sum().alias("misses"),
        (pl.col("th") < 0.98 * pl.col("contract")).sum().alias("clear_misses"),
    )
    edges = of.table("boundary").filter(pl.col("domain") == "b")
    if edges.is_empty():
        return {"repetition": wide_rows.sort(KEYS)}
    counts = edges.select(
        *KEYS,
        "name",
        pl.col("arrived_green_packets").alias("in"),
        pl.col("arrived_yellow_packets").alias("out"),
        pl.col("remarked_packets").alias("remarked"),
    )
    columns = ["in", "out", "remarked"]
    crossing = counts["name"].unique(maintain_order=True).to_list()
    rows = counts.group_by(KEYS, maintain_order=True).agg(
        pl.col(c).filter(pl.col("name") == n).first().alias(f"{c}_{n}") for c in columns for n in crossing
    )
    return {"repetition": wide_rows.join(rows, on=KEYS, how="left").sort(KEYS), "crossing": counts}


experiment = replace(study.STUDY, tables=tables).experiment


def th(configuration: str, flow_name: str) -> Quantity:
    """The throughput of a flow in Mbit/s, seed by seed."""
    return runs(configuration, f"th_{flow_name}")


def bars(r: Results, configurations: Sequence[str], prefix: str = "f") -> dict[str, dict[str, float]]:
    """Median throughput by flow, for figures."""
    return {c: {str(k): float(np.median(r.of(c, f"th_{prefix}{k}"))) for k in FLOWS} for c in configurations}


def printed(file: str, prefix: str) -> dict[str, dict[str, float]]:
    """What a table of the source prints of a group: configuration -> flow -> throughput."""
    rows = [x for x in study.rows(file) if x["flow"].startswith(prefix)]
    return {c: {x["flow"][-1]: float(x[c]) for x in rows} for c in rows[0] if c != "flow"}


def label(kind: str, marking: str, case: str) -> str:
    """How a configuration of model 6.2 is named."""
    return f"{kind} {marking} {case}"


def cases(kind: str, marking: str, which: Sequence[str] = tuple(CASES)) -> dict[str, Scenario]:
    """The configurations of one table of the source."""
    return {label(kind, marking, case): two_domains(case, marking, kind) for case in which}


def contract_bars(
    name: str, caption: str, series: Mapping[str, Mapping[str, float]], printed: Mapping[str, Mapping[str, float]] = {}
) -> Picture:
    """Throughput by flow with a line at each contract; `printed`: published values."""
    return figures.bars(name, caption, series, "throughput (Mbit/s)", printed, xlabel="flow", limits=CONTRACTS)


def table_picture(
    number: str, what: str, configurations: Sequence[str], printed: Mapping[str, Mapping[str, float]] = {}
) -> Callable[[Results], list[Picture]]:
    """The picture of one table of throughputs; `printed`: configuration -> flow -> published value."""
    name, caption = f"table-{number.replace('.', '-')}", f"Throughput {what} (Table {number})."
    return lambda r: [contract_bars(name, caption, bars(r, configurations), printed)]
