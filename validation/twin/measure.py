"""Runs the twins and reduces each run to a few numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import polars as pl

import crosswind as cw
from crosswind.emulate import testbed
from crosswind.results import Runs

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios" / "emulate"
LAWS = {"Reno": "linux-6", "CUBIC": "linux-6-cubic"}
SIMULATED_REPS = 40
"""Where something is drawn; elsewhere one repetition is all of them."""
TRIES = 3
"""How often a repetition with real hosts is tried until it is to be trusted."""
QUANTILES = 200
"""Steps of a distribution that is kept."""
CONFIDENCE = 2.0
"""Standard errors of the interval that is printed."""


@dataclass(frozen=True)
class Case:
    """One scenario, and what stands in front of its row."""

    name: str
    about: str
    real_reps: int
    is_drawn: bool = False
    together: int = 1
    """Repetitions with real hosts at a time, where the rate is low."""


CASES = (
    Case("twin-clean", "10 Mbit/s x 60 ms, a queue of one bandwidth-delay product", 3),
    Case("twin-shallow", "the same with a queue of ten packets", 12, together=4),
    Case("twin-loss", "the same, one packet in a hundred lost", 12, is_drawn=True, together=4),
    Case("twin-spikes", "the same, standing still for a second every six seconds or so", 12, is_drawn=True, together=4),
    Case("twin-two-rtts", "30 and 120 ms into one queue", 12, is_drawn=True, together=4),
)


@dataclass
class Numbers:
    """What one mode gave for one flow; one entry for each repetition."""

    goodput_bps: list[float] = field(default_factory=list)
    rtt_mean_ns: list[float] = field(default_factory=list)
    rtt_p50_ns: list[float] = field(default_factory=list)
    rtt_p95_ns: list[float] = field(default_factory=list)
    retransmitted_packets: list[float] = field(default_factory=list)
    drops_packets: list[float] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    cwnd_mean_bytes: list[float] = field(default_factory=list)

    def take(self, flow: dict[str, Any], rtt: pl.Series, cwnd: pl.Series) -> None:
        self.goodput_bps.append(flow["goodput_bps"])
        self.rtt_mean_ns.append(_number(rtt.mean()))
        self.rtt_p50_ns.append(_number(rtt.quantile(0.5)))
        self.rtt_p95_ns.append(_number(rtt.quantile(0.95)))
        self.retransmitted_packets.append(flow["retransmitted_packets"])
        self.drops_packets.append(flow["drops_packets"] + flow["lost_packets"])
        self.timeouts.append(flow["timeouts"])
        self.cwnd_mean_bytes.append(_number(cwnd.mean()))


def _number(x: object) -> float:
    return float(x) if isinstance(x, int | float) else float("nan")


@dataclass
class Twin:
    """One flow under one law, simulated and real."""

    case: str
    law: str
    flow: str
    simulated: Numbers
    real: Numbers
    lateness_p99_ns: float
    untrusted: int
    curves: dict[str, list[tuple[float, float]]]
    """Congestion windows of the first repetition: seconds and kilobytes."""
    rtts_ms: dict[str, list[float]] = field(default_factory=dict)
    """Round-trip times of all repetitions together, as quantiles at equal steps from the least to the largest."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Twin:
        own = {**data, "simulated": Numbers(**data["simulated"]), "real": Numbers(**data["real"])}
        return Twin(**own)


def average(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of its interval."""
    half = CONFIDENCE * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean(values), half


def scenario(case: Case, preset: str) -> cw.Scenario:
    what = cw.Scenario.load(SCENARIOS / f"{case.name}.toml")
    return what.with_({f"flow.{name}.tcp.preset": preset for name in what.data["flow"]})


def simulate(case: Case, law: str) -> Runs:
    """The simulated half of a case."""
    return cw.run(scenario(case, LAWS[law]), reps=SIMULATED_REPS if case.is_drawn else 1)


def simulate_anew(twins: Sequence[Twin]) -> None:
    """Gives twins new simulated halves; what real hosts did stays."""
    for case in CASES:
        for law in LAWS:
            own = [t for t in twins if (t.case, t.law) == (case.name, law)]
            runs = simulate(case, law) if own else None
            for twin in own:
                assert runs is not None
                twin.simulated = Numbers()
                reduce(runs, twin.flow, twin.simulated)
                twin.curves["simulated"] = curve(runs, twin.flow)
                twin.rtts_ms["simulated"] = rtts([runs], twin.flow)


def measure(case: Case, law: str) -> list[Twin]:
    """Both modes of one case; one twin for each of its flows."""
    what = scenario(case, LAWS[law])
    ours = simulate(case, law)
    if case.together > 1:
        real = [whole(testbed.run(what, seed=1, reps=case.real_reps, together=case.together))]
    else:
        real = [one_real(what, seed=rep + 1) for rep in range(case.real_reps)]
    late = max(float(run.manifest["machine"]["lateness"]["p99_ns"]) for run in real)
    untrusted = sum(not run.manifest["trusted"] for run in real)
    twins = []
    for name in what.data["flow"]:
        twin = Twin(case.name, law, name, Numbers(), Numbers(), late, untrusted, {})
        reduce(ours, name, twin.simulated)
        for run in real:
            reduce(run, name, twin.real)
        twin.curves = {"simulated": curve(ours, name), "real": curve(real[0], name)}
        twin.rtts_ms = {"simulated": rtts([ours], name), "real": rtts(real, name)}
        twins.append(twin)
    return twins


def whole(runs: Runs) -> Runs:
    """The runs, none of which is missing. Raises KeyboardInterrupt or RunFailedError otherwise."""
    if runs.interrupted:
        raise KeyboardInterrupt
    runs.raise_failed("no folder")
    return runs


def one_real(what: cw.Scenario, seed: int) -> Runs:
    """One repetition with real hosts; of several tries the most punctual one, if none is to be trusted."""
    found: list[Runs] = []
    for _ in range(TRIES):
        found.append(testbed.run(what, seed=seed))
        if found[-1].manifest["trusted"]:
            return found[-1]
        print(f"{what.name}: {found[-1].manifest['warnings']}", file=sys.stderr)
    return min(found, key=lambda r: r.manifest["machine"]["lateness"]["p99_ns"])


def reduce(runs: Runs, flow: str, into: Numbers) -> None:
    """Adds the repetitions of a set of runs."""
    for row in runs.flows().filter(name=flow).iter_rows(named=True):
        samples = runs.sample(entity=flow).filter(rep=row["rep"])
        into.take(row, *(samples.filter(metric=m)["value"] for m in ("srtt_ns", "cwnd_bytes")))


def curve(runs: Runs, flow: str) -> list[tuple[float, float]]:
    """The congestion window of the first repetition over time."""
    seen = runs.sample("cwnd_bytes", flow)
    seen = seen.filter(rep=seen["rep"].min()).sort("time_ns")
    return [(round(t / 1e9, 3), round(v / 1e3, 2)) for t, v in seen.select("time_ns", "value").iter_rows()]


def rtts(runs: Sequence[Runs], flow: str) -> list[float]:
    """The distribution of a flow's round-trip times over time, all repetitions alike."""
    seen = pl.concat([r.sample("srtt_ns", flow)["value"] for r in runs])
    return [round(_number(seen.quantile(i / QUANTILES)) / 1e6, 3) for i in range(QUANTILES + 1)]
