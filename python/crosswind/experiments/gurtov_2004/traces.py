"""What is measured in the traces and transfers of chapter 4, one row per configuration and repetition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.worlds import MSS
from crosswind.reproduce import Measure, Picture, Quantity, Results, Runs, Tables, measured, measures
from crosswind.reproduce.experiment import published
from crosswind.scenario.quantity import parse

KEYS = ["configuration", "rep"]
NEEDLESS = "unnecessary_retransmissions_packets"
Asked = ParamSpec("Asked")


def transfers(runs: Runs) -> Tables:
    """Download time, segments and episodes of timeouts of the flow `tcp`."""
    flows = runs.flows().filter(pl.col("name") == "tcp")
    elapsed = pl.when(pl.col("elapsed_ns") >= 0).then(pl.col("elapsed_ns") / 1e9)
    table = flows.select(
        *KEYS,
        elapsed.alias("time_s"),
        (pl.col("sent_packets") - 1).alias("segments"),
        pl.col("spurious_episodes").alias("spurious"),
        pl.col("genuine_episodes").alias("genuine"),
        pl.col("timeouts").alias("expiries"),
        pl.col("retransmitted_packets").alias("retransmitted"),
        pl.col("unnecessary_retransmissions_packets").alias("needless"),
        pl.col("drops_packets").alias("drops"),
        pl.col("goodput_bps"),
    )
    return {"repetition": table.sort(*KEYS)}


experiment = replace(study.STUDY, tables=transfers).experiment


class Trace:
    """The events of the flow `tcp` in one configuration; `spike_s` to `end_s`: its delay spike."""

    def __init__(self, r: Results, configuration: str) -> None:
        self.events = r.events(configuration, "tcp")
        link = r.runs.scenarios[configuration].get("link.bottleneck")
        spikes = link.get("spikes", {})
        written = (spikes.get("at", ["0 s"])[0], spikes.get("length"), link["rate"])
        at, length, rate = (q.value if (q := parse(x)) else 0.0 for x in written)
        self.spike_s, self.end_s, self.rate_bps = at / 1e9, (at + length) / 1e9, rate

    def times(self, *kinds: str) -> np.ndarray[Any, Any]:
        """When events with data happened, in seconds."""
        e = self.events.filter(pl.col("kind").is_in(list(kinds)))
        keep = ~pl.col("kind").is_in(["send", "retransmit"]) | (pl.col("len") > 0)
        keep &= (pl.col("kind") != "timeout") | (pl.col("seq") > 0)
        return e.filter(keep)["time_ns"].to_numpy() / 1e9

    def segments(self, *kinds: str) -> list[int]:
        """Numbers (from 1) of the segments of such events."""
        e = self.events.filter(pl.col("kind").is_in(list(kinds)) & (pl.col("len") > 0))
        return [(s - 1) // MSS + 1 for s in e["seq"]]

    def first(self, *kinds: str, after_s: float = 0.0) -> float:
        """When the first such event after a time happened; infinite when none did."""
        t = self.times(*kinds)
        return float(min(t[t >= after_s], default=np.inf))

    def acked(self, at_s: float) -> int:
        """Segments acknowledged by then."""
        e = self.events.filter((pl.col("kind") == "ack") & (pl.col("time_ns") <= round(at_s * 1e9)))
        return 0 if e.is_empty() else (int(e["seq"].max()) - 1) // MSS  # type: ignore[arg-type]

    def sent(self, at_s: float) -> int:
        """Segments sent for the first time by then."""
        sends = (pl.col("kind") == "send") & (pl.col("len") > 0)
        return self.events.filter(sends & (pl.col("time_ns") <= round(at_s * 1e9))).height

    def flight(self, at_s: float) -> int:
        """Segments outstanding just before some time."""
        return self.sent(at_s - 1e-9) - self.acked(at_s - 1e-9)


def traced(of: Callable[Concatenate[Trace, Asked], Any]) -> Callable[Concatenate[str, Asked], Quantity]:
    """Makes `f(trace, a)` the quantity `f(configuration, a)`."""

    @wraps(of)
    def given(configuration: str, *args: Asked.args, **named: Asked.kwargs) -> Quantity:
        return Quantity(lambda r: of(Trace(r, configuration), *args, **named))

    return given


@measured
def flow(r: Results, configuration: str, column: str) -> float:
    """A value of the flow table."""
    return r.flow(configuration, "tcp", column)


def figure_of(r: Results, configuration: str, name: str, caption: str, until_s: float) -> Picture:
    """The time-sequence graph of one configuration up to a time, with its ACKs."""
    e = Trace(r, configuration).events.filter(pl.col("time_ns") <= int(until_s * 1e9))
    return figures.time_sequence(name, caption, e)


def figures_of(names: Mapping[str, str], caption: str, until_s: float) -> Callable[[Results], list[Picture]]:
    """The same of several configurations: configuration -> figure; `caption` names the configuration as `{}`."""
    return lambda r: [figure_of(r, c, name, caption.format(c), until_s) for c, name in names.items()]


def timer_figure(r: Results, configuration: str, name: str, caption: str, until_s: float) -> Picture:
    """Timeout, smoothed round-trip time, its variation and the samples of one configuration over time, in seconds."""
    lines: dict[str, tuple[Any, Any]] = {}
    for metric, label in (("rto_ns", "RTO"), ("srtt_ns", "SRTT"), ("rttvar_ns", "RTTVAR")):
        t, v = r.series(configuration, metric, "tcp")
        lines[label] = (t[t <= until_s], v[t <= until_s] / 1e9)
    e = Trace(r, configuration).events.filter((pl.col("kind") == "rtt") & (pl.col("time_ns") <= int(until_s * 1e9)))
    lines["RTT"] = (e["time_ns"].to_numpy() / 1e9, e["seq"].to_numpy() / 1e9)
    return figures.over_time(name, caption, lines, "time (s)")


def mean(configuration: str, column: str) -> Measure:
    """The mean over the repetitions, as the source's tables give it."""
    return measures.value(configuration, column, np.mean)


def ratio(new: str, old: str, column: str) -> Measure:
    """The ratio of two means, repetition by repetition the same spikes."""
    return measures.ratio((new, column), (old, column), np.mean, "paired")


def rate(configuration: str) -> Measure:
    """Spurious timeouts per 30 s of transfer: means of both over the repetitions."""
    both = [(configuration, "spurious"), (configuration, "time_s")]
    return measures.joined(both, lambda m: 30.0 * m[0] / m[1], each=np.mean, pairing="paired")


def change(new: str, old: str, column: str) -> Measure:
    """The relative change of a mean between two configurations with the same spikes."""
    return measures.change(new, old, column, np.mean)


def difference(new: str, old: str, column: str) -> Measure:
    """The difference of two means, repetition by repetition the same spikes."""
    return measures.difference(new, old, column, np.mean, pairing="paired")


def table_pictures(number: str, variants: Sequence[str]) -> Callable[[Results], list[Picture]]:
    """Means of a table of the source as bars, its own numbers as marks: download times, and timeouts by kind."""
    printed = published(f"table_{number}.csv", __file__)

    def bars(r: Results, what: str, caption: str, columns: Mapping[str, str], unit: str) -> Picture:
        cells = {f"{word}{mode}": (column, mode) for word, column in columns.items() for mode in ("off", "on")}
        found = {s: {v: r.mean(f"{v}, {mode}", column) for v in variants} for s, (column, mode) in cells.items()}
        known = {s: {v: printed[column, f"{v}, {mode}"] for v in variants} for s, (column, mode) in cells.items()}
        caption = f"{caption}, Eifel off and on (table {number.replace('-', '.')}), means."
        return figures.bars(f"t{number}-{what}", caption, found, unit, known)

    timeouts = {"spurious, ": "spurious", "genuine, ": "genuine"}
    return lambda r: [
        bars(r, "times", "Download times", {"": "time_s"}, "time (s)"),
        bars(r, "timeouts", "Timeouts", timeouts, "timeouts"),
    ]


def means(names: Sequence[str], columns: Sequence[str]) -> measures.Measures:
    """Means of several columns of several configurations."""
    return {f"{n}: {c}": mean(n, c) for n in names for c in columns}
