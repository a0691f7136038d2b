"""Worlds and measures of chapters 5 and 6: a server, a last-hop router, and a mobile behind a wireless link."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.reproduce import Measure, MissingDataError, Results, Runs, Scenario, measured, measures
from crosswind.stats import NOTHING, Estimate, estimate, exact

HOP = "wireless"
# Processes D2 and D3 of section 3.4, D2 as the source's figure 5.9 can be explained. The link pulls only when it can
# send: everything waits in the queue while it is blocked (decision 0027).
SPIKES_RECURRING = {"first": "10 s", "every": "30 s", "length": {"uniform": ["7 s", "10 s"]}, "holds": "queue"}
SPIKE_ONCE = {"first": "10 s", "length": "10 s", "holds": "queue"}
# As with ns-2's later Delayer: one packet waits on the line, and routers count lifetimes down.
HELD = "one packet waits on the line during a spike, and lifetimes are counted from the router on"
# The TCP of chapters 5 and 6: Reno-SACK, delayed ACKs, Limited Transmit, timer of RFC 2988, timestamps, a window of 50.
WINDOW = 50


def sender(mss_bytes: int = 1000, **keys: Any) -> dict[str, Any]:
    """Keys of that TCP."""
    window = {"window_limit_segments": WINDOW, "initial_ssthresh": f"{WINDOW * mss_bytes} B"}
    return {"preset": "gurtov-reno-sack", "mss": f"{mss_bytes} B", **window, **keys}


KEYS = ["configuration", "rep"]


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


def repetition(runs: Runs) -> dict[str, pl.DataFrame]:
    """The flow table with times in seconds: columns of flow `f` are `f_column`."""
    flows = runs.flows().with_columns(
        pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9).alias("elapsed_s")
    )
    keep = [c for c in flows.columns if c not in {*KEYS, "flow", "name", "group", "protocol"}]
    out: pl.DataFrame | None = None
    for name in flows["name"].unique(maintain_order=True):
        one = flows.filter(pl.col("name") == name).select(*KEYS, *(pl.col(c).alias(f"{name}_{c}") for c in keep))
        out = one if out is None else out.join(one, on=KEYS, how="full", coalesce=True)
    links = runs.links().filter((pl.col("link") == HOP) & (pl.col("direction") == "forward"))
    kept = [c for c in links.columns if c.startswith(("drops_", "utilisation", "queue_max"))]
    hop = links.select(*KEYS, *(pl.col(c).alias(f"hop_{c}") for c in kept))
    if out is None:
        return {"repetition": hop}
    return {"repetition": out.join(hop, on=KEYS, how="left").sort(*KEYS)}


def events(r: Results, configuration: str, flow: str, kind: str, end: str, rep: int = 0) -> pl.DataFrame:
    """Events of one flow at one end, with `t` in seconds."""
    frame = r.runs.events(flow=flow, kind=kind)
    if frame.is_empty():
        raise MissingDataError(f"no events `{kind}` of {flow}")
    here = (pl.col("configuration") == configuration) & (pl.col("rep") == rep) & (pl.col("end") == end)
    return frame.filter(here).with_columns((pl.col("time_ns") / 1e9).alias("t")).sort("t")


def over_starts(of: Callable[[Results, int], float]) -> Measure:
    """The mean over the repetitions, which differ in when their flows start, of a number of each."""
    return measures.seeds(lambda r: of_starts(r, of))


def of_starts(r: Results, of: Callable[[Results, int], float]) -> npt.NDArray[np.float64]:
    """A number of each repetition."""
    return np.array([of(r, rep) for rep in range(int(r.runs.manifest["reps"]))])


def means_over_starts(
    first: Callable[[Results, int], float],
    second: Callable[[Results, int], float],
    of: Callable[[Any, Any], Any] = np.divide,
) -> Measure:
    """Two means over the repetitions, the first over the second (or another number out of both)."""

    def statistic(a: Any, b: Any, axis: int) -> Any:
        return of(a.mean(axis=axis), b.mean(axis=axis))

    return lambda r: estimate(statistic, of_starts(r, first), of_starts(r, second), pairing="paired")


def delays(r: Results, configuration: str, flow: str, rep: int = 0) -> pl.DataFrame:
    """Arrival time `t` and one-way delay `delay` of each datagram, by its number."""
    sent = events(r, configuration, flow, "send", "sender", rep).select("seq", pl.col("t").alias("sent"))
    got = events(r, configuration, flow, "receive", "receiver", rep).select("seq", "t", "len")
    return got.join(sent, on="seq").with_columns((pl.col("t") - pl.col("sent")).alias("delay")).sort("t")


@measured
def ratio(r: Results, new: str, old: str, column: str, of: Any = np.mean) -> Estimate:
    """A statistic of a column in one configuration over that in another."""
    a, b = r.of(new, column), r.of(old, column)
    below = float(of(b))
    return exact(float(of(a)) / below, len(a)) if below else NOTHING


def shares(r: Results, configuration: str, flow: str, what: str) -> npt.NDArray[np.float64]:
    """`what` packets over packets sent, one value per repetition."""
    return r.of(configuration, f"{flow}_{what}") / r.of(configuration, f"{flow}_sent_packets")


def spread(values: Iterable[float]) -> float:
    """Largest less smallest."""
    v = list(values)
    return max(v) - min(v)
