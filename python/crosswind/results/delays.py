"""Delay, loss and voice quality of flows; delay under load and responsiveness of a path.

>>> import crosswind as cw                                                          # doctest: +SKIP
>>> runs = cw.run("scenarios/home-gateway.toml")                                    # doctest: +SKIP
>>> cw.delays.under_load(runs, probe="ping")                                        # doctest: +SKIP
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crosswind.errors import InputError, UnknownNameError
from crosswind.results import voice
from crosswind.scenario import Scenario

if TYPE_CHECKING:
    from crosswind.results.runs import Runs

QUANTILES = (50, 95, 99)
# What a stream of a telephone call is marked with: expedited forwarding (RFC 3246), VOICE-ADMIT (RFC 5865).
VOICE_DSCP = ("EF", "VOICE-ADMIT", "VA", "46", "44")
VOICE_WORKLOADS = ("cbr", "on-off")
# Limits of the grades for what load adds to the round-trip time, as web tests of home connections give them, ms.
GRADES = ((5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D"))
# Round-trip times above this quantile do not count for responsiveness (draft-ietf-ippm-responsiveness).
TRIMMED_ABOVE = 0.95


def judged(flows: pl.DataFrame, scenarios: Mapping[str, Scenario]) -> pl.DataFrame:
    """The rows of flows with `loss_ratio`, and with `mos` where streams of voice are among them.

    `loss_ratio`: share of the packets sent that did not come (of pings: that were not answered). What was still on its
    way at the end is not lost. `mos`: mean opinion score by the E-model, for streams (`cbr`, `on-off`) with the code
    point EF or VOICE-ADMIT; their delay is the mean and twice the mean jitter, which a playout buffer adds. Null
    elsewhere.
    """
    if flows.is_empty() or "sent_packets" not in flows.columns:
        return flows
    flows = flows.with_columns(loss_ratio=_loss(flows))
    calls = [(label, group) for label, s in scenarios.items() for group in voice_groups(s)]
    if not calls or "delay_mean_ns" not in flows.columns:
        return flows
    marked = pl.DataFrame(calls, schema={"configuration": pl.String, "group": pl.String}, orient="row")
    marked = marked.with_columns(is_voice=True)
    flows = flows.join(marked, on=["configuration", "group"], how="left", maintain_order="left")
    delay = pl.col("delay_mean_ns").fill_nan(math.inf)
    jitter = pl.col("jitter_mean_ns").fill_nan(0).fill_null(0) if "jitter_mean_ns" in flows.columns else pl.lit(0.0)
    ms = flows.select((delay + 2 * jitter) / 1e6).to_series().fill_null(math.inf).to_numpy()
    loss = flows["loss_ratio"].fill_null(1.0).to_numpy()
    heard = np.isfinite(ms)
    score = np.where(heard, voice.mos(np.where(heard, ms, 0.0), loss), voice.WORST)
    mos = pl.when("is_voice").then(pl.Series(score, dtype=pl.Float64))
    return flows.with_columns(mos=mos).drop("is_voice")


def _loss(flows: pl.DataFrame) -> pl.Expr:
    def known(name: str) -> pl.Expr:
        if name not in flows.columns:
            return pl.lit(None, dtype=pl.Float64)
        value = pl.col(name).cast(pl.Float64)
        return pl.when(value >= 0).then(value)

    sent = known("sent_packets")
    sent = pl.when(sent > 0).then(sent)
    gone = known("drops_packets").fill_null(0) + known("lost_packets").fill_null(0)
    came = pl.coalesce(known("reply_packets"), known("received_packets"))
    # Drops of both directions are counted; what did not come counts what is on its way. The smaller has neither.
    return (pl.min_horizontal(gone, (sent - came).clip(0)) / sent).clip(0, 1)


def of_pages(flows: pl.DataFrame, pages: pl.DataFrame) -> pl.DataFrame:
    """The rows of web pages with delay, round-trip time and loss of the connections of each.

    `flows`: the rows of `judged`, those of connections (`page/body`, `page/1`) among them. Percentiles are medians over
    the connections; the shortest, the longest and the share of lost packets are those of all of them together.
    """
    keys = ["configuration", "rep", "group", "name"]
    if "loss_ratio" not in flows.columns:
        return pages
    parts = flows.join(pages.select(keys[:3]).unique(), on=keys[:3], how="semi", maintain_order="left")
    parts = parts.with_columns(name=pl.col("name").str.replace(r"/[^/]*$", ""))
    sent = pl.col("sent_packets").cast(pl.Float64)
    lost = (pl.col("loss_ratio") * sent).sum() / sent.filter(pl.col("loss_ratio").is_not_null()).sum()
    columns = [c for c in parts.columns if _OF_CONNECTIONS.fullmatch(c)]
    together = parts.group_by(keys).agg(*map(_together, columns), loss_ratio=lost.fill_nan(None))
    return pages.join(together, on=keys, how="left", maintain_order="left")


_OF_CONNECTIONS = re.compile(r"(delay|rtt|queue_delay)_(min|p\d+|max)_ns")


def _together(column: str) -> pl.Expr:
    value = pl.col(column).cast(pl.Float64).fill_nan(None)
    known = value.filter(value >= 0)
    if column.endswith("_min_ns"):
        return known.min().alias(column)
    return (known.max() if column.endswith("_max_ns") else known.median()).alias(column)


def voice_groups(scenario: Scenario) -> list[str]:
    """Names of the groups of flows that are telephone calls: streams with a code point of voice."""
    groups = scenario.get("flow")
    return [name for name, flow in groups.items() if _is_voice(flow)] if isinstance(groups, Mapping) else []


def _is_voice(flow: Any) -> bool:
    return workload_of(flow) in VOICE_WORKLOADS and str(flow.get("dscp", "")).upper() in VOICE_DSCP


def workload_of(flow: Any) -> str:
    """The type of a flow's workload, as the table of a scenario has it; empty for what is none."""
    inner = flow.get("workload") if isinstance(flow, Mapping) else None
    return str(inner.get("type", "bulk")) if isinstance(inner, Mapping) else ""


def groups_with(runs: Runs, workload: str) -> list[str]:
    """Names of the groups of flows with that workload, in any configuration."""
    flows = [s.get("flow") for s in runs.scenarios.values()]
    groups = [(n, f) for table in flows if isinstance(table, Mapping) for n, f in table.items()]
    return list(dict.fromkeys(name for name, flow in groups if workload_of(flow) == workload))


def round_trips(runs: Runs, probe: str) -> pl.DataFrame:
    """Every answered ping of the flows named `probe` (a flow or a group): configuration, rep, name, time_ns, rtt_ns.

    `time_ns` is when it was sent. Raises InputError where the events of the probe were not recorded, UnknownNameError
    for a name that no flow has.
    """
    flows = runs.flows()
    names = flows.filter((pl.col("name") == probe) | (pl.col("group") == probe))["name"].unique().to_list()
    if not names:
        raise UnknownNameError("probe", probe, "flow", sorted(flows["name"].unique().to_list()))
    events = runs.events()
    if not events.is_empty():
        events = events.filter(pl.col("name").is_in(names), pl.col("end") == "sender")
    if events.is_empty():
        raise InputError("probe", found=f"no events of `{probe}`", expected=f'[record] events = ["{probe}"]')
    keys = ["configuration", "rep", "name", "seq"]
    asked = events.filter(pl.col("kind") == "send").select(*keys, "time_ns")
    answered = events.filter(pl.col("kind") == "receive").select(*keys, at="time_ns")
    both = asked.join(answered, on=keys, how="inner", maintain_order="left")
    if both.is_empty():
        raise InputError("probe", found=f"no answer to `{probe}`", expected='a flow whose workload is "ping"')
    return both.select("configuration", "rep", "name", "time_ns", rtt_ns=pl.col("at") - pl.col("time_ns"))


def under_load(
    runs: Runs, probe: str = "ping", *, load: str | None = None, settle_s: float = 0.0, idle: Runs | None = None
) -> pl.DataFrame:
    """What load adds to the round-trip time of a probe; one row per configuration and repetition.

    The load is the flow or group `load`; by default the transfers (`bulk`) of the scenario, or where it has none, all
    flows but the probe. Pings sent before any of it opened are
    idle, those sent from `settle_s` seconds after all of it had opened until the first of it closed are loaded. `idle`:
    runs without load to take the idle pings from, where there is no such time in `runs` (configurations of the same
    name are compared, or one of each).

    Columns: `idle_p50_ns`, `loaded_p50_ns`, `added_p50_ns` (loaded less idle) and the same for p95 and p99;
    `responsiveness_rpm`, round trips per minute under load: 60 s over the mean of the loaded round-trip times up to
    their 95th percentile (the draft's trimmed mean, of the probe alone); `idle_rpm`; `grade` of the added median, A+
    (below 5 ms) to F; `idle_pings`, `loaded_pings`.

    Raises InputError when events of the probe are missing, when there is no load, or when no ping is idle or loaded;
    UnknownNameError for names that no flow has.
    """
    pings = round_trips(runs, probe).join(_loaded_from(runs, probe, load), on=["configuration", "rep"], how="inner")
    loaded = pings.filter(pl.col("time_ns") >= pl.col("all_ns") + settle_s * 1e9, pl.col("time_ns") < pl.col("over_ns"))
    quiet = pings.filter(pl.col("time_ns") < pl.col("first_ns"))
    if idle is not None:
        quiet = round_trips(idle, probe)
        if len(idle.scenarios) == len(runs.scenarios) == 1:
            quiet = quiet.with_columns(configuration=pl.lit(next(iter(runs.scenarios))))
    both = _distribution(quiet, "idle").join(_distribution(loaded, "loaded"), on=["configuration", "rep"], how="inner")
    if both.is_empty():
        which = "idle" if quiet.is_empty() else "loaded"
        raise InputError("under_load", found=f"no {which} pings", expected="pings before the load, and during it")
    added = [(pl.col(f"loaded_p{q}_ns") - pl.col(f"idle_p{q}_ns")).alias(f"added_p{q}_ns") for q in QUANTILES]
    both = both.with_columns(added).rename({"loaded_rpm": "responsiveness_rpm"})
    return both.with_columns(grade=pl.Series([grade(x / 1e6) for x in both["added_p50_ns"]], dtype=pl.String))


def loads(runs: Runs) -> pl.DataFrame:
    """`under_load` of every group of pings whose events were recorded, its name in `flow`; empty where none was."""
    found = []
    for probe in groups_with(runs, "ping"):
        try:
            found.append(under_load(runs, probe).with_columns(flow=pl.lit(probe)))
        except InputError:  # not recorded, no load, or no time without it
            continue
    return pl.concat(found) if found else pl.DataFrame()


def with_loads(flows: pl.DataFrame, runs: Runs) -> pl.DataFrame:
    """The rows of flows with what load adds to the median round-trip time of pings (`added_p50_ns`), and the round
    trips per minute that are left (`responsiveness_rpm`); null elsewhere, no column where there is none."""
    found = loads(runs)
    if found.is_empty() or flows.is_empty():
        return flows
    keys = ["configuration", "rep", "group"]
    columns = found.select("configuration", "rep", "added_p50_ns", "responsiveness_rpm", group="flow")
    columns = columns.with_columns(pl.col("rep").cast(flows["rep"].dtype))
    return flows.join(columns, on=keys, how="left", maintain_order="left")


def grade(added_ms: float) -> str:
    """The grade, A+ to F, for what load adds to the round-trip time (milliseconds)."""
    return next((letter for limit, letter in GRADES if added_ms < limit), "F")


def _loaded_from(runs: Runs, probe: str, load: str | None) -> pl.DataFrame:
    """When the first and all of the load had opened, and when the first of it was over, for each run."""
    flows = runs.flows().filter(pl.col("name") != probe, pl.col("group") != probe)
    if load is not None:
        known = sorted(flows["name"].unique().to_list())
        flows = flows.filter((pl.col("name") == load) | (pl.col("group") == load))
        if flows.is_empty():
            raise UnknownNameError("load", load, "flow", known)
    elif transfers := groups_with(runs, "bulk"):
        flows = flows.filter(pl.col("group").is_in(transfers))
    opened, closed = pl.col("open_ns"), pl.col("close_ns")
    flows = flows.filter(opened >= 0)
    if flows.is_empty():
        raise InputError("under_load", found="no load", expected="a flow beside the probe that opens")
    end = pl.lit(2**62)
    over = pl.when(closed >= 0).then(closed).otherwise(end)
    return flows.group_by("configuration", "rep", maintain_order=True).agg(
        first_ns=opened.min(), all_ns=opened.max(), over_ns=over.min()
    )


def _distribution(pings: pl.DataFrame, phase: str) -> pl.DataFrame:
    rtt = pl.col("rtt_ns").cast(pl.Float64)
    trimmed = rtt.filter(rtt <= rtt.quantile(TRIMMED_ABOVE, "higher")).mean()
    return pings.group_by("configuration", "rep", maintain_order=True).agg(
        *(rtt.quantile(q / 100, "linear").alias(f"{phase}_p{q}_ns") for q in QUANTILES),
        (60e9 / trimmed).alias(f"{phase}_rpm"),
        pl.len().alias(f"{phase}_pings"),
    )
