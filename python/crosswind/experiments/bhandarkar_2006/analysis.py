"""Do the closed forms of chapter III, and two of chapter IV, agree with the tables that they were printed in?

Tables I and X (layers, decreases, speed-ups), the minimum buffers, the exponents of unfairness, the examples of
TCP's limits, the identity behind the printed fairness indices, and growth of the law itself: one LTCP flow with K_R
= 1 from a window of 50 segments on a path without losses, its window sampled every round trip.

What the source printed: tables I, IX and X; equations 3.11 to 3.28; examples in the introduction of chapter III.

What may differ here: table I prints a speed-up of 1.00 for layer 2 with the fixed decrease, where its formula gives
3.33 (open point O21: the printed value is left out); the constant of equation 3.20 is that of equation 3.19 (O20).
Growth is that of continuous layers, so a layer takes delta_K ln((K+1)/K) round trips and not delta_K / K.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.claims import MissingDataError, Part, at_least, at_most, between, near, within, yes
from crosswind.experiments.base import Results
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate, exact
from crosswind.theory import ltcp as theory

LAYERS = range(3, 9)


def _rows(file: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / "data" / file).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def configurations(**_: Any) -> dict[str, Scenario]:
    """One LTCP flow with K_R = 1 that begins in congestion avoidance at 50 segments; nothing is lost."""
    law = {"kr_ref": 1.0, "kr_exponent": 0.0}
    flow = nets.bulk("LTCP", initial_window_segments=50, initial_ssthresh="50000 B", ltcp=law)
    record = {"series": "gauges"}
    line = nets.wire(10_000, 48)
    growth = nets.dumbbell(
        "growth", line, nets.wire(10_000, 1), {"one": flow}, duration_s=90, warm_up_s=0.1, record=record
    )
    return {"growth": growth}


def _largest(column: str, formula: Callable[[int], float], first: int = 1) -> Callable[[Results], Estimate]:
    """Largest difference between a column of table I or X and its formula."""

    def measure(_: Results) -> Estimate:
        rows = [r for r in _rows("t1_layers.csv") if r[column] and int(r["k"]) >= first]
        return exact(max(abs(float(r[column]) - formula(int(r["k"]))) for r in rows), len(rows))

    return measure


def window_over_time(results: Results) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in round trips and window in segments of the growing flow."""
    cwnd = results.runs.sample("cwnd_bytes", "one")
    if cwnd.is_empty():
        raise MissingDataError("no samples of the window")
    return cwnd["time_ns"].to_numpy() / 1e8, cwnd["value"].to_numpy() / nets.PAYLOAD


def _growth(k: int) -> Callable[[Results], Estimate]:
    def measure(results: Results) -> Estimate:
        t, w = window_over_time(results)
        if w.max() < theory.layer_start(k):
            raise MissingDataError(f"the window does not reach layer {k}")
        reached = np.interp([theory.THRESHOLD * 1.02, theory.layer_start(k)], w, t)
        first = theory.layer_length(2) * np.log((2 + 0.02 * 50 / 150) / 2)
        return exact((reached[1] - reached[0] + first) / theory.claim_time_continuous(k))

    return measure


def _drops_at_most_one_layer(_: Results) -> Estimate:
    wrong = 0
    for k in range(2, 60):
        for share in np.linspace(0, 0.999, 25):
            w = theory.layer_start(k) + share * theory.layer_length(k)
            variable = theory.beta_variable(k) * (1 - share) + theory.beta_variable(k + 1) * share
            betas = [variable, *([theory.BETA] if k <= 19 else [])]
            wrong += sum(theory.layer_of(w * (1 - b) + 1e-9) < k - 1 for b in betas)
    return exact(wrong)


def _sharing(_: Results) -> Estimate:
    starts = [(1000.0, 10.0), (3000.0, 100.0), (50.0, 5000.0), (12_000.0, 4000.0)]
    return exact(min(theory.two_flows(s, 20_000, 200)[-1] for s in starts))


def _monotone(_: Results) -> Estimate:
    jain = [theory.two_flows(s, 20_000, 60) for s in ((1000.0, 10.0), (3000.0, 100.0))]
    return yes(all(b >= a - 1e-12 for j in jain for a, b in pairwise(j)))


def _identity(_: Results) -> Estimate:
    rows = _rows("t9_jain.csv")
    n = [int(r["n"]) for r in rows]
    sd = [float(r["sd_mbps"]) / float(r["mean_mbps"]) for r in rows]
    jain = [1 / (1 + s * s * (k - 1) / k) for s, k in zip(sd, n, strict=True)]
    return exact(max(abs(j - float(r["jain"])) for j, r in zip(jain, rows, strict=True)), len(rows))


def _seconds(text: str) -> float:
    return sum(float(part) * unit for part, unit in zip(text.split(":"), (3600, 60, 1), strict=True))


T7_T8 = {
    "Low": [("0:19:09", 22.950), ("0:19:09", 22.966)],
    "Moderate": [("1:01:36", 73.852), ("0:31:08", 37.298)],
    "High": [("2:22:22", 170.690), ("1:09:15", 82.942)],
}


def _transfers(_: Results) -> Estimate:
    pairs = [(_seconds(total), 50 * one) for rows in T7_T8.values() for total, one in rows]
    return exact(max(abs(total / fifty - 1) for total, fifty in pairs), len(pairs))


def _value(value: float) -> Callable[[Results], Estimate]:
    return lambda _: exact(value)


def pictures(results: Results) -> list[Picture]:
    """Growth of the law beside TCP's."""
    t, w = window_over_time(results)
    return [
        figures.over_time(
            "analysis-growth",
            "Window of an LTCP flow (K_R = 1) from 50 segments, and of TCP; the time axis counts 0.1 s round trips.",
            {"LTCP": (t / 10, w), "TCP": (t / 10, 50 + t)},
            "window (segments)",
            "lines",
        )
    ]


HALF, LIMIT = 0.005, 0.0051
CLAIMS = (
    study.claim(
        42,
        "W_K is 0, 50, 200, 500, 1000, 1750, ..",
        "table I",
        Part("largest difference", _largest("window", theory.layer_start), near(0, 0.5), "0", digits=3),
    ),
    study.claim(
        43,
        "beta_K = 1/(K+1); 0.15 < 3/(K+1) up to K = 18, equal at 19",
        "table X",
        Part("largest difference", _largest("beta", theory.beta_variable), near(0, 5.1e-5), "0", digits=5),
        study.holds(
            "0.15 below the bound up to 18", lambda _: yes(all(theory.beta_bound(k) > 0.15 for k in range(1, 19)))
        ),
        Part("bound at 19", _value(theory.beta_bound(19)), near(0.15, 1e-12), "0.15", digits=3),
    ),
    study.claim(
        44,
        "speed-ups of tables I and X",
        "tables I, X",
        Part("claiming", _largest("claim", theory.claim_speed_up), at_most(LIMIT), "0", digits=4),
        Part(
            "recovery, fixed (from K = 3)",
            _largest("recovery_fixed", theory.recovery_speed_up, 3),
            at_most(LIMIT),
            "0",
            digits=4,
        ),
        Part(
            "recovery, variable",
            _largest("recovery_variable", theory.recovery_speed_up_variable),
            at_most(LIMIT),
            "0",
            digits=4,
        ),
    ),
    study.claim(
        45,
        "from 50 segments W_K is reached in delta_K ln((K+1)/K) round trips per layer, sooner than with whole layers",
        "equation 3.15",
        *[Part(f"K = {k}, over the integral", _growth(k), near(1, 0.02), "1", digits=3) for k in LAYERS],
        Part(
            "integral over equation 3.15, K = 8",
            _value(theory.claim_time_continuous(8) / theory.claim_time(8)),
            at_most(1),
            "< 1",
            digits=3,
        ),
    ),
    study.claim(
        46,
        "a loss costs at most one layer (fixed: up to K = 19)",
        "equation 3.14",
        Part("violations", _drops_at_most_one_layer, between(0, 0), "0", digits=0),
    ),
    study.claim(
        47,
        "two flows with synchronised losses converge to equal shares",
        "equations 3.2, 3.3",
        Part("Jain's index after 200 losses", _sharing, at_least(0.999), "1", digits=4),
        study.holds("it never falls", _monotone),
    ),
    study.claim(
        49,
        "minimum buffer and utilisation of one flow",
        "III.A.3.e",
        Part("buffer for 100 %, fixed", _value(theory.minimum_buffer(0.15)), near(0.176, HALF / 5), "0.176", digits=4),
        *[
            Part(
                f"utilisation, decrease {d}, buffer {b:.2f}",
                _value(theory.utilisation(d, b)),
                near(u, 0.0006),
                f"{u}",
                digits=4,
            )
            for d, b, u in (
                (0.15, 0.1, 0.988),
                (0.15, 0.05, 0.964),
                (0.5, 1.0, 1.0),
                (0.5, 0.5, 0.964),
                (0.5, 1 / 3, 0.923),
                (0.5, 0.1, 0.818),
            )
        ],
    ),
    study.claim(
        50,
        "exponent of unfairness under synchronised losses: 2.5 - 1.5 alpha",
        "equation 3.27",
        *[
            Part(f"alpha = {a:.2f}", _value(theory.unfairness_exponent(a)), near(e, 1e-9), f"{e}", digits=2)
            for a, e in ((0.0, 2.5), (1 / 3, 2.0), (0.5, 1.75), (1.0, 1.0))
        ],
        *[
            Part(f"ratio at {r}", _value(r ** theory.unfairness_exponent()), near(r * r, 1e-9), f"{r * r}", digits=1)
            for r in (2, 3, 4)
        ],
    ),
    study.claim(
        51,
        "what TCP needs for high rates",
        "III, introduction",
        Part(
            "rate at p = 1e-5", _value(theory.mathis_rate(1500, 0.2, 1e-5) / 1e6), within(23.2, 0.005), "23.2", "Mbit/s"
        ),
        Part(
            "rate at p = 1e-7", _value(theory.mathis_rate(1500, 0.2, 1e-7) / 1e6), within(232, 0.005), "232.4", "Mbit/s"
        ),
        Part(
            "p for 1 Gbit/s, 1e-9", _value(theory.mathis_loss(1500, 0.2, 1e9) * 1e9), within(5.4, 0.01), "5.4", digits=2
        ),
        Part(
            "p for 10 Gbit/s, 1e-11",
            _value(theory.mathis_loss(1500, 0.2, 1e10) * 1e11),
            within(5.4, 0.01),
            "5.4",
            digits=2,
        ),
        Part(
            "packets per loss, 1e10",
            _value(1e-10 / theory.mathis_loss(1500, 0.2, 1e10)),
            within(1.85, 0.02),
            "1.85",
            digits=2,
        ),
        Part(
            "hours between losses",
            _value(1 / theory.mathis_loss(1500, 0.2, 1e10) * 1500 * 8 / 1e10 / 3600),
            within(6, 0.05),
            "6",
            "h",
        ),
    ),
    study.claim(
        52,
        "2.4 Gbit/s and 150 ms need a window of 30 000 segments: layer 15",
        "III.A.3.c",
        Part("window", _value(2.4e9 * 0.15 / 8 / 1500), near(30_000, 0.5), "30000", digits=0),
        Part("layer", _value(theory.layer_of(30_000)), between(15, 15), "15", digits=0),
    ),
    study.claim(
        97,
        "a cut of 35 % needs 0.54 of a bandwidth-delay product of buffer; half of one allows a third",
        "IV.B",
        Part("buffer", _value(theory.minimum_buffer(0.35)), near(0.54, HALF), "0.54", digits=3),
        Part("cut", _value(theory.largest_decrease(0.5)), near(1 / 3, 1e-9), "1/3", digits=4),
    ),
    study.claim(
        131,
        "the printed fairness indices follow from mean and sample deviation",
        "table IX",
        Part("largest difference of 30", _identity, at_most(0.001), "0", digits=4),
        Part(
            "table XII, n = 2", _value(1 / (1 + (14.47 / 480.61) ** 2 / 2)), near(0.9995, 0.00006), "0.9995", digits=4
        ),
    ),
    study.claim(
        132,
        "fifty transfers take fifty times the mean transfer",
        "tables VII, VIII",
        Part("largest difference", _transfers, at_most(0.003), "< 0.3 %", "%", 2),
    ),
)

EXPERIMENT = study.experiment(
    "analysis",
    "Closed forms of LTCP and PERT",
    __doc__,
    configurations,
    CLAIMS,
    where="III.A.1 to III.A.3, III.B, IV.B",
    figures=pictures,
    reps=1,
    tables=lambda _: {},
)
