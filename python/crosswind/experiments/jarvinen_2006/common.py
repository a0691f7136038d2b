"""What the experiments of [Järvinen 2006] share: the last hop, the four configurations, the statistics of section 4.

The fixed host, the last-hop router and the mobile host stand in a row. The local network in front of the router is
fast and short; the last hop is the emulated wireless link in both directions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from crosswind.claims import Band, Part, above, below, near, within
from crosswind.experiments.base import Results, Tables, Variant
from crosswind.runs import Runs
from crosswind.scenario import Scenario
from crosswind.stats import change, jain, median

SOURCE = "I. Järvinen, M.Sc. thesis, University of Helsinki, 2006"
CONFIGURATIONS = ("BL", "BL+ECN", "ETCP", "ETCP+ECN")
MSS, MTU = 536, 576
BULK_BYTES = 640 * MSS
SHORT_BYTES = 40 * MSS
RATE_Bps = 8000.0
MaxP = Literal["nominal", "linux-plog"]
Damping = Literal["fixed", "exact"]

# Open points of the source, as other readings that can be run beside the main one.
VARIANTS: dict[str, Variant] = {
    "linux-plog": Variant(
        "RED's maximum probability as Linux's traffic-control tool rounds it: 0.0527 in effect", {"max_p": "linux-plog"}
    ),
    "lan-damping": Variant(
        "RED's average damped in idle time as for a 10 Mbit/s card, not for the last hop", {"damping_rate": "10 Mbit/s"}
    ),
    "exact-damping": Variant(
        "RED's average damped by the exponential of the source, not by the kernel's line", {"idle_damping": "exact"}
    ),
    "cache-forever": Variant("shared thresholds are never forgotten", {"lifetime": None}),
    "window-17k": Variant(
        "receive window of 17152 B (32 segments), as Linux 2.4 lets it grow with small segments",
        {"tcp": {"receive_buffer": "17152 B"}},
    ),
    "byte-counting": Variant(
        "congestion avoidance grows by a segment per round trip, whatever the rate of ACKs",
        {"tcp": {"avoidance_counting": "bytes"}},
    ),
    "heartbeat": Variant(
        "delayed ACKs by one 200 ms clock of the host, as in BSD, instead of 200 ms after each first segment",
        {"tcp": {"delayed_ack_timer": "heartbeat"}},
    ),
    "heartbeat-window-17k": Variant(
        "the two receiver readings together",
        {"tcp": {"delayed_ack_timer": "heartbeat", "receive_buffer": "17152 B"}},
    ),
    "newreno": Variant(
        "for orientation: recovery repairs one hole per round trip (NewReno, no SACK)",
        {"tcp": {"recovery": "newreno", "sack": "off"}},
    ),
}


def red_queue(
    max_p: MaxP = "nominal", damping_rate: str = "64 kbit/s", idle_damping: Damping = "fixed"
) -> dict[str, Any]:
    """The RED queue of the source's Table 6, as Linux computes it; ECN marks what is ECN-capable.

    The traffic-control tool of Linux rounds max_p so that 0.1 becomes 3456/65536 = 0.0527 in effect; whether the
    thesis met that rounding is unknown, so both readings exist. Nor is it known which rate the tool was told for its
    damping in idle periods: that of the emulated link, or that of the network card it was attached to. The kernel
    damps along a line that is steeper than the exponential that the source prints; `exact` is the exponential.
    """
    return {
        "type": "red-linux",
        "limit": "11520 B",
        "min_th": "1728 B",
        "max_th": "5184 B",
        "w_q": 2.0**-9,
        "max_p": 0.1,
        "max_p_rounding": "tc-plog" if max_p == "linux-plog" else "none",
        "avpkt": "576 B",
        "ecn": "mark",
        "rate": damping_rate,
        "idle_damping": idle_damping,
    }


def last_hop(queue: dict[str, Any], rate: str = "64 kbit/s") -> dict[str, Any]:
    """The router's queue and the emulated wireless link behind it; the uplink input queue is unlimited."""
    return {
        "from": "router",
        "to": "mobile",
        "type": "seawind",
        "rate": rate,
        "delay": "300 ms",
        "send_buffer": "12000 B",
        "receive_buffer": "12000 B",
        "in_transit": 3,
        "queue": queue,
        "reverse": {"queue": {"type": "droptail", "limit": "100000 packets"}},
    }


def lan() -> dict[str, Any]:
    """The local network in front of the router; its delay does not matter."""
    return {
        "from": "server",
        "to": "router",
        "type": "wire",
        "rate": "100 Mbit/s",
        "delay": "100 us",
        "queue": {"type": "droptail", "limit": "100000 packets"},
    }


def sender(configuration: str) -> dict[str, Any]:
    """TCP of one configuration: Baseline or Enhanced, with or without ECN."""
    enhanced = configuration.startswith("ETCP")
    return {
        "preset": "enhanced-linux-2.4" if enhanced else "baseline-linux-2.4",
        "mss": f"{MSS} B",
        "ecn": "on" if configuration.endswith("+ECN") else "off",
    }


def sharing(lifetime: str | None) -> dict[str, Any]:
    """The memory of the hosts: it outlives a repetition; the next one starts 19 s later, as the source's flows do."""
    memory = {"persist": "across-repetitions", "gap": "19 s"}
    return {"sharing": memory | ({"lifetime": lifetime} if lifetime else {})}


def workload(
    name: str,
    configuration: str,
    third_bytes: int,
    *,
    max_p: MaxP = "nominal",
    damping_rate: str = "64 kbit/s",
    idle_damping: Damping = "fixed",
    lifetime: str | None = "600 s",
    tcp: dict[str, Any] | None = None,
) -> Scenario:
    """Two bulk flows from the start and a third flow that starts somewhere in the first 36 s, on the error-free link.

    `lifetime`: the cache of shared control blocks is emptied whenever this time has passed (None: never). `tcp`:
    changes to TCP, at both ends of every flow.
    """
    red = red_queue(max_p, damping_rate, idle_damping)
    queue = red if configuration.endswith("+ECN") else {"type": "droptail", "limit": "11520 B"}
    both_ends = {**sender(configuration), **(tcp or {})}
    return Scenario.from_dict(
        {
            "name": name,
            "title": f"{name}, {configuration}",
            "seed": 1,
            "duration": "1500 s",
            "link": {"lan": lan(), "last-hop": last_hop(queue)},
            "flow": {
                "bulk": {
                    "from": "server",
                    "to": "mobile",
                    "count": 2,
                    "start": "0 s",
                    "tcp": both_ends,
                    "workload": {"type": "bulk", "size": f"{BULK_BYTES} B", "write": "4288 B"},
                },
                "third": {
                    "from": "server",
                    "to": "mobile",
                    "start": {"stratified": ["0 s", "36 s"]},
                    "tcp": both_ends,
                    "workload": {"type": "bulk", "size": f"{third_bytes} B", "write": "4288 B"},
                },
            },
            **(sharing(lifetime) if configuration.startswith("ETCP") else {}),
            "record": {"events": ["third"]},
        }
    )


def _on_the_wire(size_bytes: pl.Expr) -> pl.Expr:
    """Object size with headers: whole segments of 536 B in packets of 576 B."""
    return (size_bytes / MSS).ceil() * MTU


def repetitions(runs: Runs) -> pl.DataFrame:
    """One row per configuration and repetition with the metrics of section 4 of the source (see the column names).

    `faster` and `slower` are the two bulk flows by elapsed time in that repetition. Repetitions with a flow that never
    closed have no elapsed times.
    """
    keys = ["configuration", "rep"]
    flows = runs.flows().with_columns(
        pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9).alias("elapsed_s"),
        pl.when(pl.col("close_ns") >= 0).then(pl.col("close_ns") / 1e9).alias("close_s"),
        (pl.col("open_ns") / 1e9).alias("start_s"),
        _on_the_wire(pl.col("size_bytes")).alias("object_bytes"),
    )
    flows = flows.sort(*keys, "elapsed_ns").with_columns(
        pl.when(pl.col("group") == "third")
        .then(pl.lit("third"))
        .when(pl.int_range(pl.len()).over(*keys, "group") == 0)
        .then(pl.lit("faster"))
        .otherwise(pl.lit("slower"))
        .alias("role")
    )
    whole = flows.group_by(keys).agg(
        (pl.col("close_s").max() - pl.col("start_s").min()).alias("total_elapsed_s"),
        pl.col("close_s").is_null().any().alias("unfinished"),
        pl.col("object_bytes").sum(),
        pl.col("drops_packets").sum().alias("drops"),
        pl.col("marks_packets").sum().alias("marks"),
    )
    for role in ("faster", "slower", "third"):
        one = flows.filter(pl.col("role") == role).select(
            *keys,
            pl.col("start_s").alias(f"{role}_start_s"),
            pl.col("elapsed_s").alias(f"{role}_elapsed_s"),
            pl.col("drops_packets").alias(f"{role}_drops"),
            pl.col("timeouts").alias(f"{role}_timeouts"),
            pl.col("spurious_timeouts").alias(f"{role}_spurious"),
            pl.col("simultaneous_Bps").alias(f"simultaneous_{role}"),
            pl.col("ssthresh_initial_bytes").alias(f"{role}_ssthresh_initial"),
        )
        whole = whole.join(one, on=keys, how="left")
    link = runs.links().filter((pl.col("link") == "last-hop") & (pl.col("direction") == "forward"))
    whole = whole.join(link.select(*keys, pl.col("sent_bytes").alias("link_bytes")), on=keys, how="left")
    shares = whole.select("simultaneous_faster", "simultaneous_slower", "simultaneous_third").to_numpy()
    finished = pl.col("total_elapsed_s").is_not_null() & ~pl.col("unfinished")
    return (
        whole.with_columns(
            pl.when(finished).then(pl.col("object_bytes") / pl.col("total_elapsed_s")).alias("overall_throughput"),
            (pl.col("link_bytes") / pl.col("total_elapsed_s") / RATE_Bps).alias("utilisation"),
            pl.Series("jain", jain(shares.astype(float)) if len(shares) else []),
        )
        .join(third_story(runs), on=keys, how="left")
        .sort(*keys)
    )


def third_story(runs: Runs) -> pl.DataFrame:
    """What befell the third flow, from its event log, per repetition.

    `first_drop_round`: the round trip (1 = the initial window) in which its first dropped segment was sent; null when
    nothing was dropped. `initial_timeout`: a timeout before the first data was acknowledged. `first_ack_s`: how long
    that acknowledgement took. `last_window_timeout`: a timeout after the last new segment had been sent.
    """
    schema = {
        "configuration": pl.String,
        "rep": pl.Int64,
        "first_drop_round": pl.Float64,
        "initial_timeout": pl.Boolean,
        "last_window_timeout": pl.Boolean,
        "first_ack_s": pl.Float64,
    }
    events = runs.events(flow="third")
    if events.is_empty():
        return pl.DataFrame(schema=schema)
    # What the data sender sent, heard and waited for in vain; SYN and FIN (no data, sequence number 0) are not meant.
    kind, of_data = pl.col("kind"), pl.col("len") > 0
    heard = kind.is_in(["ack", "timeout"]) & (pl.col("seq") > 0)
    mine = (pl.col("end") == "sender") & ((kind.is_in(["send", "drop"]) & of_data) | heard)
    parts = (
        events.filter(mine).group_by(["configuration", "rep"], maintain_order=True).agg("time_ns", "kind", "seq", "len")
    )
    rows = [
        (row["configuration"], row["rep"], *_story(row["time_ns"], row["kind"], row["seq"], row["len"]))
        for row in parts.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _story(
    times: list[int], kinds: list[str], seqs: list[int], lengths: list[int]
) -> tuple[float | None, bool, bool, float | None]:
    sent = [t for t, k in zip(times, kinds, strict=True) if k == "send"]
    if not sent:
        return None, False, False, None
    first_seq = next(s for s, k in zip(seqs, kinds, strict=True) if k == "send")
    timeouts = [t for t, k in zip(times, kinds, strict=True) if k == "timeout"]
    first_ack = next((t for t, k, s in zip(times, kinds, seqs, strict=True) if k == "ack" and s > first_seq), None)
    until = math.inf if first_ack is None else first_ack
    return (
        _round_of_first_drop(kinds, seqs, lengths),
        any(sent[0] < t <= until for t in timeouts),
        any(t > sent[-1] for t in timeouts),
        None if first_ack is None else (first_ack - sent[0]) / 1e9,
    )


def _round_of_first_drop(kinds: list[str], seqs: list[int], lengths: list[int]) -> float | None:
    """Counts round trips: one ends when everything sent before it began has been acknowledged."""
    dropped = [s for s, k in zip(seqs, kinds, strict=True) if k == "drop"]
    if not dropped:
        return None
    lost = min(dropped)
    number, ends_at, highest = 1, None, 0
    for kind, seq, length in zip(kinds, seqs, lengths, strict=True):
        if kind == "send":
            if seq >= lost:
                break
            highest = seq + length
            ends_at = highest if ends_at is None or number == 1 else ends_at
        elif kind == "ack" and ends_at is not None and seq >= ends_at:
            number, ends_at = number + 1, highest
    return float(number)


def tables(runs: Runs) -> Tables:
    """The derived tables of W1 and W2."""
    return {"repetition": repetitions(runs)}


def headline(column: str, unit: str, digits: int = 1) -> Callable[[Results], dict[str, str]]:
    """The median of a column in every configuration, as the numbers by which readings are compared."""

    def numbers(r: Results) -> dict[str, str]:
        return {c: f"{np.nanmedian(r.of(c, column)):.{digits}f} {unit}".rstrip() for c in CONFIGURATIONS}

    return numbers


def median_part(
    label: str,
    configuration: str,
    column: str,
    accept: Band,
    printed: float | None = None,
    *,
    unit: str = "",
    digits: int = 1,
) -> Part:
    """The median of a column of the repetition table."""
    text = "" if printed is None else (f"{printed * 100:g} %" if unit == "%" else f"{printed:g} {unit}".rstrip())
    return Part(label, lambda r: median(r.of(configuration, column)), accept, text, unit, digits)


def change_part(
    label: str,
    new: str,
    old: str,
    column: str,
    accept: Band,
    printed: float | None = None,
    *,
    of: Any = np.median,
    where: pl.Expr | None = None,
) -> Part:
    """The relative change of a statistic between two configurations, repetition by repetition."""
    text = "" if printed is None else f"{printed * 100:+g} %"
    return Part(label, lambda r: change(r.of(new, column, where), r.of(old, column, where), of=of), accept, text, "%")


def falling(column: str, order: Sequence[str], slack: dict[str, float] | None = None) -> list[Part]:
    """Medians that fall along `order`: one part per neighbouring pair, strict unless `slack` allows some for it."""
    allowed = slack or {}
    return [
        change_part(f"{b} against {a}", b, a, column, Band(high=allowed[b]) if b in allowed else below(0.0))
        for a, b in itertools.pairwise(order)
    ]


def rising(column: str, order: Sequence[str]) -> list[Part]:
    """Medians that rise strictly along `order`."""
    return [change_part(f"{b} against {a}", b, a, column, above(0.0)) for a, b in itertools.pairwise(order)]


def table_parts(
    column: str,
    quantity: str,
    printed: dict[tuple[str, str], float],
    tolerance: float,
    *,
    unit: str,
    digits: int = 1,
    absolute: bool = False,
) -> list[Part]:
    """One part per configuration with a printed median, each within the tolerance (relative unless `absolute`)."""
    out = []
    for c in CONFIGURATIONS:
        if (quantity, c) in printed:
            value = printed[(quantity, c)]
            band = near(value, tolerance) if absolute else within(value, tolerance)
            out.append(median_part(c, c, column, band, value, unit=unit, digits=digits))
    return out


def configurations(name: str, third_bytes: int, **variant: Any) -> dict[str, Scenario]:
    """The four configurations of a workload by label."""
    return {c: workload(name, c, third_bytes, **variant) for c in CONFIGURATIONS}


def columns(results: Results, names: dict[str, str], scale: float = 1.0) -> dict[str, dict[str, Any]]:
    """configuration -> label -> values, for quartile figures; `names`: label -> column."""
    present = results.table("repetition")["configuration"].unique(maintain_order=True).to_list()
    return {
        c: {label: results.of(c, column) * scale for label, column in names.items()}
        for c in CONFIGURATIONS
        if c in present
    }
