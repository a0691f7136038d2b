"""What was seen of one flow in one run, as arrays in the order of events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.scenario.quantity import parse
from crosswind.suites.case import Table

if TYPE_CHECKING:
    from crosswind.results import Runs

Values = npt.NDArray[Any]
USUAL_MSS_B = 1448.0
#: A slow-start threshold that no loss has set yet.
NOT_SET_B = 1 << 30


@dataclass(frozen=True)
class Trace:
    """Events of the flow `body`. Times in s, windows in segments, sizes in B.

    `mss`: payload of a full segment; a stack's windows count its datagrams. `rate_bps`: that of the bottleneck.
    `flows`: table `flow` of the run. `is_stack`: a stack tells each reduction as its controller made it, the window
    after it in `seq` and the window before in `aux`, and knows no end of a recovery.
    """

    events: pl.DataFrame
    mss: int
    rate_bps: float
    seconds: float
    flows: pl.DataFrame
    is_stack: bool = False
    #: Time series of the flow (time_ns, metric, value), where the case samples.
    samples: pl.DataFrame | None = None

    @cached_property
    def kind(self) -> Values:
        return self.events["kind"].to_numpy()

    @cached_property
    def sender(self) -> Values:
        return (self.events["end"] == "sender").to_numpy()

    @cached_property
    def time(self) -> Values:
        return self.events["time_ns"].to_numpy() / 1e9

    @cached_property
    def seq(self) -> Values:
        return self.events["seq"].to_numpy()

    @cached_property
    def len(self) -> Values:
        return self.events["len"].to_numpy()

    @cached_property
    def aux(self) -> Values:
        return self.events["aux"].to_numpy()

    def rows(self, *kinds: str, sender: bool = True) -> Values:
        """Positions of the events of these kinds at one end."""
        return np.flatnonzero(np.isin(self.kind, kinds) & (self.sender == sender))

    @cached_property
    def acks(self) -> Values:
        return self.rows("ack")

    @cached_property
    def sends(self) -> Values:
        """New segments with payload."""
        rows = self.rows("send")
        return rows[self.len[rows] > 0]

    @cached_property
    def window_rows(self) -> Values:
        return self.rows("cwnd")

    @cached_property
    def windows(self) -> Values:
        """The window after each change, in segments, at `window_rows`."""
        return self.seq[self.window_rows] / self.mss

    def window_before(self, row: int) -> float:
        """The window in segments that was known before an event; nan if there was none."""
        if self.is_stack:
            return float(self.aux[row]) / self.mss
        at = np.searchsorted(self.window_rows, row) - 1
        return float(self.windows[at]) if at >= 0 else np.nan

    def after(self, row: int) -> tuple[float, float]:
        """Window and slow-start threshold in segments that were first written down after an event."""
        if self.is_stack:
            return float(self.seq[row]) / self.mss, float(self.seq[row]) / self.mss
        at = np.searchsorted(self.window_rows, row)
        if at >= len(self.window_rows):
            return np.nan, np.nan
        return float(self.windows[at]), float(self.aux[self.window_rows[at]]) / self.mss

    def sampled(self, metric: str) -> tuple[Values, Values]:
        """Times in s and values of one metric's time series; empty where it was not sampled."""
        if self.samples is None or self.samples.is_empty():
            return np.array([]), np.array([])
        rows = self.samples.filter(pl.col("metric") == metric).sort("time_ns")
        return rows["time_ns"].to_numpy() / 1e9, rows["value"].to_numpy()

    def window_at(self, seconds: float) -> float:
        """The window in segments at a time."""
        at = np.searchsorted(self.time[self.window_rows], seconds, side="right") - 1
        return float(self.windows[at]) if at >= 0 else np.nan

    @cached_property
    def round_trip(self) -> float:
        """The median round trip in s; of a stack, which tells no samples, its smoothed one at the end. 0: not known."""
        samples = self.seq[self.rows("rtt")] / 1e9
        if not len(samples) and "stack_srtt_ns" in self.flows.columns:
            samples = self.flows.filter(pl.col("name") == "body")["stack_srtt_ns"].to_numpy() / 1e9
        return float(np.median(samples)) if len(samples) else 0.0

    @cached_property
    def rounds(self) -> Values:
        """Times in s at which rounds begin: a round ends when a segment is acknowledged that was sent in it."""
        sent_at, sent_end = self.time[self.sends], self.seq[self.sends] + self.len[self.sends]
        ack_at, acked = self.time[self.acks], np.maximum.accumulate(self.seq[self.acks])
        begins: list[float] = []
        now = float(sent_at[0]) if len(sent_at) else 0.0
        while True:
            begins.append(now)
            first = np.searchsorted(sent_at, now)
            if first >= len(sent_at):
                break
            ends = np.searchsorted(acked, sent_end[first])
            if ends >= len(ack_at):
                break
            now = max(float(ack_at[ends]), now + 1e-9)
        return np.array(begins)


def traced(runs: Runs, label: str, table: Table, seconds: float) -> Trace:
    """The trace of one configuration; `table` is its scenario with every default filled in."""

    own = runs.only(label)
    body = table["flow"]["body"]
    transport = body.get("transport", {})
    datagram = transport.get("initial_mtu") if isinstance(transport, dict) else None
    mss = _number(datagram or body.get("tcp", {}).get("mss"), USUAL_MSS_B)
    rate = _number(table["link"]["bottleneck"].get("rate"), 0.0)
    samples = own.sample(entity="body") if "sample" in table.get("record", {}) else None
    return Trace(own.events("body"), round(mss), rate, seconds, own.flows(), datagram is not None, samples)


def _number(written: object, otherwise: float) -> float:
    found = parse(written)
    return found.value if found else otherwise
