"""The metrics of the source's section 4, one row per cell and repetition.

In the tests with three transfers the two long ones are `fastest` and `slowest` by their elapsed time in that
repetition, the short one is `third`; in the tests with a stream they are `tcp` and `udp`. What a reader of the
sender's trace counts as retransmitted includes repeated SYNs (one packet, one byte) and FINs (one byte).
"""

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.riva_2003 import testbed
from crosswind.reproduce import Results, Runs, Tables, definitions
from crosswind.stats import Estimate, jain

KEYS = ["configuration", "rep"]
LONG = ("fastest", "slowest")


def _seconds(column: str) -> pl.Expr:
    return pl.when(pl.col(column) >= 0).then(pl.col(column) / 1e9)


def _with_roles(runs: Runs) -> pl.DataFrame:
    """The flow table in the source's units, with the role of each flow."""
    flows = runs.flows().filter(pl.col("protocol") == "tcp")
    syn = pl.col("syn_timeouts")
    flows = flows.with_columns(
        _seconds("elapsed_ns").alias("elapsed_s"),
        _seconds("transmit_ns").alias("xmit_s"),
        _seconds("handshake_ns").alias("handshake_s"),
        _seconds("first_congestion_ns").alias("first_congestion_s"),
        _seconds("open_ns").alias("start_s"),
        (pl.col("retransmitted_packets") + syn).alias("retx"),
        (pl.col("retransmitted_bytes") + syn + _fin_bytes()).alias("retx_bytes"),
    ).with_columns(
        (pl.col("size_bytes") / pl.col("elapsed_s")).alias("throughput"),
        (pl.col("elapsed_s") - pl.col("xmit_s")).alias("rest_s"),
        # Everything acknowledged, by the source's section 4.4; `xmit_s` is the definition of its appendix.
        (pl.col("elapsed_s") - pl.col("handshake_s")).alias("xmit_acked_s"),
    )
    rank = pl.int_range(pl.len()).over(*KEYS, "group")
    role = pl.when(pl.col("group") != "long").then(pl.col("group")).when(rank == 0).then(pl.lit(LONG[0]))
    return flows.sort(*KEYS, "elapsed_ns", nulls_last=True).with_columns(role.otherwise(pl.lit(LONG[1])).alias("role"))


COLUMNS = {
    "elapsed_s": "elapsed_s",
    "xmit_s": "xmit_s",
    "xmit_acked_s": "xmit_acked_s",
    "handshake_s": "handshake_s",
    "rest_s": "rest_s",
    "start_s": "start_s",
    "first_congestion_s": "first_congestion_s",
    "throughput": "throughput",
    "size_bytes": "bytes",
    "retx": "retx",
    "retx_bytes": "retx_bytes",
    "duplicate_acks": "dupacks",
    "triple_duplicate_acks": "triple",
    "timeouts": "timeouts",
    "syn_timeouts": "syn_lost",
    "fast_recoveries": "recoveries",
}


# Columns of the tables `repetition` and `statistics`; those of a transfer begin with its role, as `third_elapsed_s`.
METRICS = definitions(__file__)


def _fin_bytes() -> pl.Expr:
    """How often the last segment, with the FIN, was retransmitted: a FIN counts as a byte in the source's traces.

    All segments but the last are full, so that packets and bytes retransmitted tell it.
    """
    last = pl.col("size_bytes") % testbed.MSS
    missing = testbed.MSS * pl.col("retransmitted_packets") - pl.col("retransmitted_bytes")
    found = missing // (testbed.MSS - last)
    return pl.when((missing % (testbed.MSS - last) == 0) & (found >= 0)).then(found).otherwise(0)


def _one(flows: pl.DataFrame, role: str) -> pl.DataFrame:
    """The columns of one flow, named after its role."""
    mine = flows.filter(pl.col("role") == role)
    return mine.select(*KEYS, *(pl.col(c).alias(f"{role}_{name}") for c, name in COLUMNS.items()))


def _stream(runs: Runs) -> pl.DataFrame:
    udp = runs.flows().filter(pl.col("protocol") == "udp")
    return udp.select(
        *KEYS,
        pl.col("sent_packets").alias("udp_sent"),
        pl.col("received_packets").alias("udp_received"),
        (1.0 - pl.col("received_packets") / pl.col("sent_packets")).alias("udp_loss"),
    )


def _three(whole: pl.DataFrame) -> pl.DataFrame:
    """What is said of the three transfers together."""
    shares = whole.select(*(f"{r}_throughput" for r in (*LONG, "third"))).to_numpy().astype(float)
    retx = pl.sum_horizontal([f"{r}_retx" for r in (*LONG, "third")], ignore_nulls=False)
    return whole.with_columns(
        pl.Series("jain_long", jain(shares[:, :2]) if len(shares) else []),
        pl.Series("jain_three", jain(shares) if len(shares) else []),
        (pl.col("third_elapsed_s") > pl.col("fastest_elapsed_s")).alias("exception"),
        (pl.col("slowest_elapsed_s") - pl.col("fastest_elapsed_s")).alias("gap_s"),
        retx.alias("all_retx"),
        (pl.col("third_retx") / retx).alias("third_retx_share"),
        ((pl.col("fastest_retx") + pl.col("slowest_retx")) / 2.0).alias("long_retx"),
        ((pl.col("fastest_first_congestion_s") - pl.col("slowest_first_congestion_s")).abs()).alias(
            "first_losses_apart_s"
        ),
        pl.min_horizontal("fastest_first_congestion_s", "slowest_first_congestion_s").alias("long_first_congestion_s"),
        pl.max_horizontal("fastest_first_congestion_s", "slowest_first_congestion_s").alias("long_last_slow_start_s"),
    )


def repetitions(runs: Runs) -> pl.DataFrame:
    """One row per cell and repetition; columns are named role_metric."""
    flows = _with_roles(runs)
    roles = [r for r in (*LONG, "third", "tcp") if r in set(flows["role"].unique())]
    whole = flows.select(*KEYS).unique()
    for role in roles:
        whole = whole.join(_one(flows, role), on=KEYS, how="left")
    if "third" in roles:
        whole = _three(whole)
    if "udp" in set(runs.flows()["protocol"].unique()):
        whole = whole.join(_stream(runs), on=KEYS, how="left").with_columns(
            (pl.col("tcp_throughput") * 8 / testbed.PRINTED_RATE_bps).alias("tcp_share"),
            (pl.col("udp_received") * testbed.UDP_BYTES * 8 / (40.0 * testbed.PRINTED_RATE_bps)).alias("udp_share"),
        )
    return whole.sort(*KEYS)


def statistics(repetition: pl.DataFrame) -> pl.DataFrame:
    """The source's statistics of every cell: type-7 quartiles, sample standard deviation."""
    values = [c for c, t in repetition.schema.items() if c not in KEYS and t.is_numeric()]
    long = repetition.unpivot(index=KEYS, on=values, variable_name="metric").drop_nulls("value")
    v = pl.col("value").cast(pl.Float64)
    quartile = {n: v.quantile(q, "linear").alias(n) for n, q in (("p25", 0.25), ("median", 0.5), ("p75", 0.75))}
    found = long.group_by("configuration", "metric", maintain_order=True).agg(
        v.min().alias("min"),
        v.max().alias("max"),
        *quartile.values(),
        v.mean().alias("average"),
        v.std().alias("stdev"),
    )
    return found.sort("configuration", "metric")


def tables(runs: Runs) -> Tables:
    """The derived tables of an experiment."""
    whole = repetitions(runs)
    return {"repetition": whole, "statistics": statistics(whole)}


def decoded(r: Results, cells: list[str]) -> Estimate:
    """The share of retransmitted byte counts that full segments, last segments and SYNs can make up."""
    hits = []
    for role in ("fastest", "slowest", "third"):
        last = 1 + (384 if role == "third" else 952)
        for c in cells:
            for n, size in zip(r.of(c, f"{role}_retx"), r.of(c, f"{role}_retx_bytes"), strict=True):
                hits.append(
                    any(
                        a * 1448 + b * last + (n - a - b) == size
                        for a in range(int(n) + 1)
                        for b in range(int(n) - a + 1)
                    )
                )
    return stats.share(np.array(hits, dtype=float))


def identity(r: Results, cells: list[str]) -> Estimate:
    """How far throughput is from data over elapsed time, at most."""
    off = [
        np.abs(r.of(c, f"{x}_throughput") * r.of(c, f"{x}_elapsed_s") / r.of(c, f"{x}_bytes") - 1.0).max()
        for c in cells
        for x in ("fastest", "slowest", "third")
    ]
    return stats.exact(float(max(off)), len(off))
