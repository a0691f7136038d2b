"""Worlds and measures of chapters 5 and 6: a server, a last-hop router, and a mobile behind a wireless link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import study
from crosswind.reproduce import Measure, Picture, Quantity, Results, Runs, Scenario, measured
from crosswind.reproduce.claims.quantities import runs
from crosswind.stats import NOTHING, Estimate, estimate, exact

Asked = ParamSpec("Asked")
HOP = "wireless"
# Processes D2 and D3 of section 3.4, D2 as the source's figure 5.9 can be explained. The link pulls only when it can
# send: everything waits in the queue while it is blocked (decision 0027).
SPIKES_RECURRING = {"first": "10 s", "every": "30 s", "length": {"uniform": ["7 s", "10 s"]}, "holds": "queue"}
SPIKE_ONCE = {"first": "10 s", "length": "10 s", "holds": "queue"}
# The TCP of chapters 5 and 6: Reno-SACK, delayed ACKs, Limited Transmit, timer of RFC 2988, timestamps, a window of 50.
WINDOW = 50


def sender(mss_bytes: int = 1000, **keys: Any) -> dict[str, Any]:
    """Keys of that TCP."""
    window = {"window_limit_segments": WINDOW, "initial_ssthresh": f"{WINDOW * mss_bytes} B"}
    return {"preset": "gurtov-reno-sack", "mss": f"{mss_bytes} B", **window, **keys}


KEYS = ["configuration", "rep"]
ENDS = ("sender", "receiver")


def world(
    name: str,
    flows: Mapping[str, Any],
    duration: str,
    *,
    hop: Mapping[str, Any],
    access_delay: str = "50 ms",
    timeline: Sequence[Mapping[str, Any]] = (),
    record: Mapping[str, Any] | None = None,
) -> Scenario:
    """Server, router and mobile; the access line is fast and only delays."""
    access = {"from": "server", "to": "router", "rate": "100 Mbit/s", "delay": access_delay}
    data: dict[str, Any] = {
        "name": name,
        "duration": duration,
        "link": {"access": access, HOP: {"from": "router", "to": "mobile", **hop}},
        "flow": {k: {"from": "server", "to": "mobile", **f} for k, f in flows.items()},
        "timeline": list(timeline),
        "record": dict(record or {}),
    }
    return Scenario.from_dict(data)


def lifetime(data: str, holds: str = "queue") -> dict[str, str]:
    """A lifetime with a deadline that the sender sets (the second format of the option, section 5.1.2)."""
    return {"data": data, "form": "absolute" if holds == "queue" else "relative"}


def queue(kind: str, limit_packets: int) -> dict[str, Any]:
    """Drop-tail, or lifetime packet discard over it. ns-2 counts the packet in transmission as one of the limit."""
    tail = {"type": "droptail", "limit": f"{max(limit_packets - 1, 1)} packets"}
    return {"type": "lpd", "queue": tail} if kind == "LPD" else tail


def red(kind: str, limit_packets: int, packet_bytes: int) -> dict[str, Any]:
    """RED in the same places, with its thresholds at a sixth and a half of the limit."""
    low, high = max(limit_packets // 6, 1), max(limit_packets // 2, 2)
    inner = {
        "type": "red-ns2",
        "limit": f"{max(limit_packets - 1, 2)} packets",
        "min_th": f"{low * packet_bytes} B",
        "max_th": f"{high * packet_bytes} B",
        "mean_packet": f"{packet_bytes} B",
    }
    return {"type": "lpd", "queue": inner} if kind == "LPD" else inner


def slow_hop(queue: Mapping[str, Any], spikes: Mapping[str, Any] | None) -> dict[str, Any]:
    """The GPRS-like link of section 3.5: 30 kbit/s and 300 ms one way, in both directions."""
    hop: dict[str, Any] = {"rate": "30 kbit/s", "delay": "300 ms", "queue": dict(queue)}
    hop["reverse"] = {"queue": {"type": "droptail", "limit": "1000 packets"}}
    return hop | ({"spikes": dict(spikes)} if spikes else {})


def repetition(of: Runs) -> dict[str, pl.DataFrame]:
    """The flow table with times in seconds: columns of flow `f` are `f_column`."""
    flows = of.flows().with_columns(
        pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9).alias("elapsed_s")
    )
    keep = [c for c in flows.columns if c not in {*KEYS, "flow", "name", "group", "protocol"}]
    out: pl.DataFrame | None = None
    for name in flows["name"].unique(maintain_order=True):
        one = flows.filter(pl.col("name") == name).select(*KEYS, *(pl.col(c).alias(f"{name}_{c}") for c in keep))
        out = one if out is None else out.join(one, on=KEYS, how="full", coalesce=True)
    links = of.links().filter((pl.col("link") == HOP) & (pl.col("direction") == "forward"))
    kept = [c for c in links.columns if c.startswith(("drops_", "utilisation", "queue_max"))]
    hop = links.select(*KEYS, *(pl.col(c).alias(f"hop_{c}") for c in kept))
    if out is None:
        return {"repetition": hop}
    return {"repetition": out.join(hop, on=KEYS, how="left").sort(*KEYS)}


experiment = replace(study.STUDY, tables=repetition).experiment


def by_start(of: Callable[Concatenate[Results, int, Asked], float]) -> Callable[Asked, Quantity]:
    """Makes `f(results, rep, a)` the quantity `f(a)`: a number of each repetition, which differ in when flows start."""

    @wraps(of)
    def given(*args: Asked.args, **named: Asked.kwargs) -> Quantity:
        return Quantity(lambda r: np.array([of(r, rep, *args, **named) for rep in range(int(r.runs.manifest["reps"]))]))

    return given


def of_means(first: Quantity, second: Quantity, of: Callable[[Any, Any], Any] = np.divide) -> Measure:
    """Two means over the repetitions, the first over the second (or another number out of both)."""

    def statistic(a: Any, b: Any, axis: int) -> Any:
        return of(a.mean(axis=axis), b.mean(axis=axis))

    return lambda r: estimate(statistic, first(r), second(r), pairing="paired")


def delays(r: Results, configuration: str, flow: str, rep: int = 0, ends: tuple[str, str] = ENDS) -> pl.DataFrame:
    """Arrival time `t` and one-way delay `delay` of each packet between the ends of a flow, by its number."""
    sent = r.events(configuration, flow, "send", end=ends[0], rep=rep).select("seq", sent="t")
    got = r.events(configuration, flow, "receive", end=ends[1], rep=rep).select("seq", "t", "len")
    return got.join(sent, on="seq").with_columns(delay=pl.col("t") - pl.col("sent")).sort("t")


@measured
def ratio(r: Results, new: str, old: str, column: str, of: Any = np.mean) -> Estimate:
    """A statistic of a column in one configuration over that in another."""
    a, b = r.of(new, column), r.of(old, column)
    below = float(of(b))
    return exact(float(of(a)) / below, len(a)) if below else NOTHING


def shares(configuration: str, flow: str, what: str) -> Quantity:
    """`what` packets over packets sent, one value per repetition."""
    return runs(configuration, f"{flow}_{what}") / runs(configuration, f"{flow}_sent_packets")


def time_sequences(
    numbers: Mapping[str, str],
    flow: str,
    caption: str,
    from_s: float = 0.0,
    until_s: float = np.inf,
    printed: Mapping[str, Mapping[str, float]] = {},
) -> Callable[[Results], list[Picture]]:
    """Time-sequence graphs of the first repetition: number of the figure -> configuration, `{}` in the caption.

    `printed`: number of the figure -> what -> published time in seconds.
    """

    def pictures(r: Results) -> list[Picture]:
        logs = {c: r.runs.only(c, [0]).events(flow) for c in numbers.values()}
        shown = (pl.col("time_ns") > from_s * 1e9) & (pl.col("time_ns") < until_s * 1e9)
        return [
            figures.time_sequence(f"fig-{n}", caption.format(c), logs[c].filter(shown), printed.get(n, {}))
            for n, c in numbers.items()
        ]

    return pictures
