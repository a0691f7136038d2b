"""Runs W1, W2 and W4 of [Järvinen 2006] in both modes, and reduces each repetition to a few numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import crosswind as cw
from crosswind.emulate import testbed as real
from crosswind.experiments.jarvinen_2006 import testbed, w1_arq, w1_e0, w2_arq, w2_e0, w4_arq, w4_e0
from crosswind.experiments.jarvinen_2006.testbed import MSS, MTU, STREAM_PACKET_BYTES, STREAM_PACKETS
from crosswind.results import Runs
from crosswind.stats import jain

REAL_REPS = 10
SIMULATED_REPS = 60
SEED = 1
# What differs between a kernel of today and Linux 2.4 and cannot be switched off in the former.
TODAY = {
    "recovery": "rack",
    "reduction": "prr-safe-ack",
    "avoidance_counting": "segments",
    "reduce_from": "cwnd",
    "rto_tick": "1 us",
    "rto_initial": "1 s",
    "delayed_ack": "40 ms",
    "quick_acks": 16,
}
STREAM_s = (STREAM_PACKETS - 1) * 0.02
METRICS = {
    "third_elapsed": ("elapsed time of the third transfer", "s"),
    "faster_elapsed": ("elapsed time of the faster bulk transfer", "s"),
    "slower_elapsed": ("elapsed time of the slower bulk transfer", "s"),
    "overall_throughput": ("overall throughput", "B/s"),
    "simultaneous_third": ("simultaneous throughput of the third transfer", "B/s"),
    "jain_median": ("Jain's index", ""),
    "drops": ("packets of the stream dropped", ""),
    "stream_throughput": ("throughput of the stream", "B/s"),
    "bulk_timeouts": ("timeouts of the bulk transfers", ""),
}


@dataclass(frozen=True)
class Case:
    """One workload on one link, with the labels that the study gives it."""

    key: str
    title: str
    workload: testbed.Workload
    label: str
    printed: Mapping[str, tuple[str, str]]  # quantity -> claim and label of its printed number


_W1 = {
    "third_elapsed": ("J36", "BL"),
    "faster_elapsed": ("J44", "faster, BL"),
    "slower_elapsed": ("J44", "slower, BL"),
    "overall_throughput": ("J35", "BL"),
}
_W2 = {"overall_throughput": ("J55", "BL"), "simultaneous_third": ("J56", "BL"), "jain_median": ("J58", "BL")}
_W4 = {"overall_throughput": ("J103", "BL"), "drops": ("J94", "BL"), "stream_throughput": ("J95", "BL")}
CASES = (
    Case("w1-e0", "W1, error-free", w1_e0.WORKLOAD, "BL", _W1),
    Case("w2-e0", "W2, error-free", w2_e0.WORKLOAD, "BL", _W2),
    Case("w4-e0", "W4, error-free", w4_e0.WORKLOAD, "BL", _W4),
    Case("w1-arq", "W1, ARQ (r4)", w1_arq.WORKLOAD, "r4 BL", {"overall_throughput": ("J47", "r4 BL")}),
    Case("w2-arq", "W2, ARQ (r4)", w2_arq.WORKLOAD, "r4 BL", {}),
    Case("w4-arq", "W4, ARQ (r4)", w4_arq.WORKLOAD, "r4 BL", {}),
)


def scenario(case: Case, **tcp: Any) -> cw.Scenario:
    """The study's scenario, with changes to TCP at both ends."""
    chosen = {"tcp": tcp} if tcp else {}
    return testbed.configurations(case.workload, [case.label], chosen)[case.label]


def measure(case: Case) -> dict[str, Any]:
    """Medians of a case in all columns, and how punctual the machine was."""
    live = real.run(scenario(case).with_({"record.sample": "200 ms"}), seed=SEED, reps=REAL_REPS, together=REAL_REPS)
    columns = {
        "simulated": medians(cw.run(scenario(case), seed=SEED, reps=SIMULATED_REPS)),
        "today": medians(cw.run(scenario(case, **TODAY), seed=SEED, reps=SIMULATED_REPS)),
        "real": medians(live),
    }
    return {
        "case": case.key,
        "columns": columns,
        "trusted": bool(live.manifest["trusted"]),
        "warnings": live.manifest["warnings"],
    }


def medians(runs: Runs) -> dict[str, list[float]]:
    """Median and quartiles of every metric over the repetitions."""
    rows = pl.DataFrame(list(repetitions(runs)), infer_schema_length=None)
    found = {}
    for name in rows.columns:
        values = rows[name].drop_nulls().to_numpy().astype(float)
        values = values[np.isfinite(values)]
        if len(values):
            found[name] = [round(float(q), 4) for q in np.quantile(values, (0.5, 0.25, 0.75))]
    return found


def repetitions(runs: Runs) -> Iterator[dict[str, float]]:
    """The metrics of each repetition."""
    flows = runs.flows()
    if "received_packets" not in flows.columns:
        flows = flows.with_columns(pl.lit(0).alias("received_packets"))
    flows = flows.with_columns(
        pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9).alias("elapsed_s"),
        pl.when(pl.col("group") == "audio")
        .then(pl.col("received_packets") * STREAM_PACKET_BYTES)
        .otherwise((pl.col("size_bytes") / MSS).ceil() * MTU)
        .alias("object_bytes"),
    )
    for (rep,), own in flows.group_by("rep", maintain_order=True):
        bulk = own.filter(group="bulk").sort("elapsed_s", nulls_last=True)
        row = {
            "faster_elapsed": bulk["elapsed_s"][0],
            "slower_elapsed": bulk["elapsed_s"][1],
            "bulk_timeouts": float(bulk["timeouts"].sum()),
        }
        tcp = own.filter(pl.col("group") != "audio")
        if (tcp["close_ns"] >= 0).all():
            total_s = (tcp["close_ns"].max() - own["open_ns"].min()) / 1e9  # type: ignore[operator]
            row["overall_throughput"] = own["object_bytes"].sum() / total_s
        third, audio = own.filter(group="third"), own.filter(group="audio")
        if third.height:
            row["third_elapsed"] = third["elapsed_s"][0]
            shares = simultaneous(runs, int(rep), tcp)  # type: ignore[call-overload]
            row["simultaneous_third"] = shares["third"]
            row["jain_median"] = float(jain(np.array([list(shares.values())]))[0])
        if audio.height:
            row["drops"] = float(audio["drops_packets"][0])
            row["stream_throughput"] = audio["object_bytes"][0] / STREAM_s
        yield row


def simultaneous(runs: Runs, rep: int, flows: pl.DataFrame) -> dict[str, float]:
    """What each transfer got while all were active; real hosts tell it by their receivers' samples."""
    if "simultaneous_Bps" in flows.columns:
        return dict(zip(flows["name"], flows["simultaneous_Bps"], strict=True))
    ends = flows.filter(pl.col("close_ns") >= 0)["close_ns"]
    low, high = int(flows["open_ns"].max()), int(ends.min() or 0)  # type: ignore[arg-type]
    found = {}
    for name in flows["name"]:
        seen = runs.sample("goodput_bps", name).filter(rep=rep).sort("time_ns")
        times, rates = seen["time_ns"].to_numpy(), seen["value"].to_numpy()
        before = np.concatenate([[0], times[:-1]])
        overlap = np.clip(np.minimum(times, high) - np.maximum(before, low), 0, None)
        found[name] = float((rates * overlap).sum() / 8e9 * MTU / MSS / max(1e-9, (high - low) / 1e9))
    return found
