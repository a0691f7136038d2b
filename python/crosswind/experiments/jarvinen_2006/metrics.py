"""The metrics of the source's section 4, one row per configuration and repetition.

`faster` and `slower` are the two bulk flows by elapsed time in that repetition. A repetition with a transfer that
never closed has no overall throughput, and its open transfers have no elapsed time.

Timeouts are `spurious` by the source's definition: a longer timer would have avoided them. `covered_late` are those
after which any ACK of a packet sent before covers old data; the reading `former` counts them as spurious.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from crosswind.experiments.jarvinen_2006.quality import quality
from crosswind.experiments.jarvinen_2006.story import third_story
from crosswind.experiments.jarvinen_2006.testbed import MSS, MTU, STREAM_PACKET_BYTES, RATE_Bps
from crosswind.reproduce import Results, Runs, Tables
from crosswind.reproduce.readings import FORMER
from crosswind.stats import jain

KEYS = ["configuration", "rep"]
BULK = ("faster", "slower")
# Columns of the flow table under the names that the repetition table gives them.
COUNTS = {
    "drops_packets": "drops",
    "lost_packets": "lost",
    "marks_packets": "marks",
    "timeouts": "timeouts",
    "avoidable_timeouts": "spurious",
    "spurious_timeouts": "covered_late",
    "unnecessary_retransmissions_packets": "unnecessary",
}


def _flows(runs: Runs) -> pl.DataFrame:
    """The flow table; the former reading counts spurious timeouts in its own way."""
    flows = runs.flows()
    if runs.manifest.get("variant") != FORMER:
        return flows
    return flows.with_columns(pl.col("spurious_timeouts").alias("avoidable_timeouts"))


def _with_roles(runs: Runs) -> pl.DataFrame:
    """The flow table with times in seconds, sizes on the wire, and the role of each flow."""
    flows = _flows(runs)
    audio = pl.col("group") == "audio"
    received = pl.col("received_packets") if "received_packets" in flows.columns else pl.lit(0)
    flows = flows.with_columns(
        pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9).alias("elapsed_s"),
        pl.when(pl.col("close_ns") >= 0).then(pl.col("close_ns") / 1e9).alias("close_s"),
        pl.when(pl.col("open_ns") >= 0).then(pl.col("open_ns") / 1e9).alias("start_s"),
        pl.when(audio)
        .then(received * STREAM_PACKET_BYTES)
        .otherwise((pl.col("size_bytes") / MSS).ceil() * MTU)
        .alias("object_bytes"),
    )
    rank = pl.int_range(pl.len()).over(*KEYS, "group")
    return flows.sort(*KEYS, "elapsed_s", nulls_last=True).with_columns(
        pl.when(pl.col("group") != "bulk")
        .then(pl.col("group"))
        .when(rank == 0)
        .then(pl.lit("faster"))
        .otherwise(pl.lit("slower"))
        .alias("role")
    )


def _one(flows: pl.DataFrame, role: str) -> pl.DataFrame:
    """The columns of one flow, named after its role."""
    return flows.filter(pl.col("role") == role).select(
        *KEYS,
        pl.col("start_s").alias(f"{role}_start_s"),
        pl.col("elapsed_s").alias(f"{role}_elapsed_s"),
        pl.col("simultaneous_Bps").alias(f"simultaneous_{role}"),
        pl.col("ssthresh_initial_bytes").alias(f"{role}_ssthresh_initial"),
        *(pl.col(column).alias(f"{role}_{name}") for column, name in COUNTS.items()),
    )


def _page(runs: Runs, flows: pl.DataFrame) -> pl.DataFrame:
    """The page as a whole: what its nine connections met, added up, and its response time."""
    page = runs.table("page").select(
        *KEYS,
        (pl.col("open_ns") / 1e9).alias("page_start_s"),
        pl.when(pl.col("response_ns") >= 0).then(pl.col("response_ns") / 1e9).alias("page_response_s"),
        pl.col("simultaneous_Bps").alias("simultaneous_page"),
    )
    sums = [pl.col(column).sum().alias(f"page_{name}") for column, name in COUNTS.items()]
    return page.join(flows.filter(pl.col("role") == "page").group_by(KEYS).agg(*sums), on=KEYS, how="left")


STREAM = {
    "delay_min_ns": "delay_min_ms",
    "delay_p25_ns": "delay_p25_ms",
    "delay_p50_ns": "delay_p50_ms",
    "delay_p75_ns": "delay_p75_ms",
    "delay_max_ns": "delay_max_ms",
    "ipdv_p25_ns": "ipdv_p25_ms",
    "ipdv_p50_ns": "ipdv_p50_ms",
    "ipdv_p75_ns": "ipdv_p75_ms",
    "ipdv_max_ns": "ipdv_max_ms",
}


def _audio(flows: pl.DataFrame) -> pl.DataFrame:
    """The audio stream: rate over the sender's spans, packets missing, delays and their variation."""
    return flows.filter(pl.col("role") == "audio").select(
        *KEYS,
        pl.col("start_s").alias("audio_start_s"),
        (pl.col("throughput_bps") / 8.0).alias("audio_throughput"),
        pl.col("simultaneous_Bps").alias("simultaneous_audio"),
        pl.col("drops_packets").alias("audio_drops"),
        pl.col("lost_packets").alias("audio_lost"),
        pl.col("out_of_order_packets").alias("audio_out_of_order"),
        (pl.col("drops_packets") + pl.col("lost_packets")).alias("audio_missing"),
        pl.col("sent_packets").alias("audio_sent"),
        pl.col("loss_runs").alias("audio_loss_runs"),
        pl.col("loss_run_p50_packets").alias("audio_loss_run_median"),
        pl.col("loss_run_max_packets").alias("audio_loss_run_max"),
        *((pl.col(column) / 1e6).alias(f"audio_{name}") for column, name in STREAM.items()),
    )


def repetitions(runs: Runs) -> pl.DataFrame:
    """One row per configuration and repetition; columns are named role_metric."""
    flows = _with_roles(runs)
    whole = flows.group_by(KEYS).agg(
        (pl.col("close_s").max() - pl.col("start_s").min()).alias("total_elapsed_s"),
        pl.col("close_s").is_null().any().alias("unfinished"),
        pl.col("object_bytes").sum(),
        pl.col("drops_packets").sum().alias("drops"),
        pl.col("marks_packets").sum().alias("marks"),
        pl.col("unnecessary_retransmissions_packets").sum().alias("unnecessary"),
    )
    roles = set(flows["role"].unique())
    parts = [_one(flows, role) for role in (*BULK, "third") if role in roles]
    parts += [_page(runs, flows)] if "page" in roles else []
    parts += [_audio(flows)] if "audio" in roles else []
    link = runs.links().filter((pl.col("link") == "last-hop") & (pl.col("direction") == "forward"))
    rates = pl.DataFrame(
        {"configuration": list(runs.scenarios), "rate_Bps": [RATE_Bps[_speed(s.data)] for s in runs.scenarios.values()]}
    )
    whole = whole.join(link.select(*KEYS, pl.col("sent_bytes").alias("link_bytes")), on=KEYS, how="left")
    whole = whole.join(rates, on="configuration", how="left")
    for part in parts:
        whole = whole.join(part, on=KEYS, how="left")
    finished = pl.col("total_elapsed_s").is_not_null() & ~pl.col("unfinished")
    whole = whole.with_columns(
        pl.when(finished).then(pl.col("object_bytes") / pl.col("total_elapsed_s")).alias("overall_throughput"),
        (pl.col("link_bytes") / pl.col("total_elapsed_s") / pl.col("rate_Bps")).alias("utilisation"),
        (pl.col("slower_elapsed_s") - pl.col("faster_elapsed_s")).alias("bulk_gap_s"),
    )
    if "third" in roles:
        shares = whole.select(*(f"simultaneous_{x}" for x in (*BULK, "third"))).to_numpy()
        whole = whole.with_columns(pl.Series("jain", jain(shares.astype(float)) if len(shares) else []))
        whole = whole.join(third_story(runs), on=KEYS, how="left")
    return whole.sort(*KEYS)


def _speed(scenario: Mapping[str, Any]) -> int:
    return int(str(scenario["link"]["last-hop"]["rate"]).split()[0])


def objects(runs: Runs) -> pl.DataFrame:
    """One row per connection of a page: `object` 0 is the body."""
    page = _flows(runs).filter(pl.col("group") == "page")
    number = pl.col("name").str.split("/").list.last().str.replace("body", "0").cast(pl.Int64)
    return page.select(
        *KEYS, number.alias("object"), *(pl.col(column).alias(name) for column, name in COUNTS.items())
    ).sort(*KEYS, "object")


def tables(runs: Runs) -> Tables:
    """The derived tables of an experiment."""
    out = {"repetition": repetitions(runs)}
    if "page" in set(runs.flows()["group"].unique()):
        out["objects"] = objects(runs)
    if "audio" in set(runs.flows()["name"]) and not (packets := runs.hist(entity="audio")).is_empty():
        out["stream_hist"] = packets.group_by("configuration", "metric", "low", "high").agg(pl.col("count").sum())
        out["quality"] = quality(out["stream_hist"])
    return out


def columns(results: Results, names: dict[str, str], scale: float = 1.0, link: str = "") -> dict[str, dict[str, Any]]:
    """configuration -> label -> values, for quartile figures; `names`: label -> column; `link`: those of one link."""
    present = set(results.table("repetition")["configuration"].unique())
    front = f"{link} " if link else ""
    return {
        c.removeprefix(front): {label: results.of(c, column) * scale for label, column in names.items()}
        for c in results.runs.scenarios
        if c in present and c.startswith(front)
    }
