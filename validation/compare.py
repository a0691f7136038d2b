"""Compares Crosswind with ns-2: segment by segment where nothing is random, else by paired repetitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from crosswind import stats
from validation.ns2.driver import Outcome, Reference, Sent
from validation.ns2.scenarios import Case, Study

TICK_US = 10_000
"""ns-2's clock tick: two simulators that agree on every decision can still differ by this much in a timeout."""

TOLERANCE = 0.05
"""Relative difference of means that needs no explanation, whatever its interval."""

Verdict = Literal["same", "explained", "differs"]


# -- deterministic cases ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """One deterministic case."""

    case: Case
    verdict: Verdict
    largest_dt_us: int
    segments: int
    timeouts: int
    remark: str


def compare_sequences(case: Case, expected: Reference, got: Outcome) -> Comparison:
    """Whether the same segments left the sender in the same order, each within a tick."""
    at = first_difference(expected.sequence, got.sequence)
    pairs = list(zip(expected.sequence, got.sequence, strict=False))[: at if at is not None else None]
    largest = max((abs(a.time_us - b.time_us) for a, b in pairs), default=0)
    counts = (got.flows[0].retransmitted_packets, got.flows[0].timeouts)
    if at is not None:
        remark = f"transmission {at + 1}: {_show(expected.sequence, at)} in ns-2, {_show(got.sequence, at)} here"
    elif largest > TICK_US:
        late = next(i for i, (a, b) in enumerate(pairs) if abs(a.time_us - b.time_us) > TICK_US)
        remark = f"transmission {late + 1} is {(pairs[late][1].time_us - pairs[late][0].time_us) / 1000:+.3f} ms off"
    elif counts != (expected.retransmitted_packets, expected.timeouts):
        remark = (
            f"{counts[0]} resent, {counts[1]} timeouts; ns-2: {expected.retransmitted_packets}, {expected.timeouts}"
        )
    else:
        return Comparison(case, "same", largest, len(expected.sequence), expected.timeouts, "")
    verdict: Verdict = "explained" if case.expect else "differs"
    return Comparison(case, verdict, largest, len(expected.sequence), expected.timeouts, remark)


def first_difference(a: Sequence[Sent], b: Sequence[Sent]) -> int | None:
    """Index of the first transmission that is another segment, resent in one only, or missing."""
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if (x.segment, x.retransmit) != (y.segment, y.retransmit):
            return i
    return None if len(a) == len(b) else min(len(a), len(b))


def _show(sequence: Sequence[Sent], at: int) -> str:
    if at >= len(sequence):
        return "nothing"
    s = sequence[at]
    return f"segment {s.segment}{' again' if s.retransmit else ''} at {s.time_us / 1e6:.6f} s"


# -- statistical cases ------------------------------------------------------------------------------------------------


def _goodput(case: Case, o: Outcome) -> float:
    """Mean over the flows of the rate of acknowledged data, in kbit/s."""
    rates = [
        f.acked_segments * case.packet_bytes * 8 / (case.duration_s - start / 1e6) / 1000
        for f, start in zip(o.flows, case.starts_us, strict=True)
    ]
    return float(np.mean(rates))


def _fairness(_case: Case, o: Outcome) -> float:
    return float(stats.jain([f.acked_segments for f in o.flows]))


METRICS: Mapping[str, Callable[[Case, Outcome], float]] = {
    "goodput of a flow (kbit/s)": _goodput,
    "Jain index of goodput": _fairness,
    "packets retransmitted, all flows": lambda _c, o: float(sum(f.retransmitted_packets for f in o.flows)),
    "timeouts, all flows": lambda _c, o: float(sum(f.timeouts for f in o.flows)),
    "reductions on ECN echo, all flows": lambda _c, o: float(sum(f.ecn_reductions for f in o.flows)),
    "drops at the bottleneck": lambda _c, o: float(o.drops_packets),
    "mean queue (bytes)": lambda _c, o: o.queue_mean_bytes,
}

COUNTS = frozenset(METRICS) - {"goodput of a flow (kbit/s)", "Jain index of goodput", "mean queue (bytes)"}
"""Metrics that count events: a difference of less than one event a run is none."""


REASONS: Mapping[tuple[str, str], str] = {
    (
        "red-10-defaults",
        "timeouts, all flows",
    ): "ties: ns-2 lets an arrival see the packet that leaves at the same instant, and so does RED's average; with "
    "thresholds at 2.4 and 7.2 packets that matters most here",
}
"""Known differences of a study's metric, with their causes."""


@dataclass(frozen=True)
class Row:
    """One metric of one study: means, and the paired difference Crosswind - ns-2 with its 95 % interval."""

    study: Study
    metric: str
    ns2: float
    crosswind: float
    difference: stats.Estimate

    @property
    def verdict(self) -> Verdict:
        """`same`: the interval holds zero; `explained`: small enough to need no words; `differs`: the rest."""
        if self.difference.low <= 0 <= self.difference.high:
            return "same"
        scale = max(abs(self.ns2), abs(self.crosswind))
        small = abs(self.difference.value) <= TOLERANCE * scale or (self.metric in COUNTS and scale < 1)
        return "explained" if small else "differs"

    @property
    def reason(self) -> str:
        """Why the metric may differ; empty = no cause is known."""
        return REASONS.get((self.study.name, self.metric), "")


def compare_study(study: Study, cases: Sequence[Case], ns2: Sequence[Outcome], here: Sequence[Outcome]) -> list[Row]:
    """Metric by metric, repetition k of one simulator against repetition k of the other."""
    rows = []
    for name, metric in METRICS.items():
        a = np.array([metric(c, o) for c, o in zip(cases, ns2, strict=True)])
        b = np.array([metric(c, o) for c, o in zip(cases, here, strict=True)])
        if not (a.any() or b.any()) or (study.flows == 1 and name.startswith("Jain")):
            continue
        rows.append(Row(study, name, float(a.mean()), float(b.mean()), stats.paired_differences(b, a)))
    return rows
