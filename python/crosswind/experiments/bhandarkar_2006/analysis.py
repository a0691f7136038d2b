"""Do the closed forms of chapter III, and two of chapter IV, agree with the tables that they were printed in?

Tables I and X (layers, decreases, speed-ups), the minimum buffers, the exponents of unfairness, the examples of
TCP's limits, the identity behind the printed fairness indices, and growth of the law itself: one LTCP flow with K_R
= 1 from a window of 50 segments on a path without losses, its window sampled every round trip.

What the source printed: tables I, IX and X; equations 3.11 to 3.28; examples in the introduction of chapter III.

What may differ here: table I prints a speed-up of 1.00 for layer 2 with the fixed decrease, where its formula gives
3.33 (open point O21: the printed value is left out); the constant of equation 3.20 is that of equation 3.19 (O20).
Growth is that of continuous layers, so a layer takes delta_K ln((K+1)/K) round trips and not delta_K / K.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed
from crosswind.stats import Estimate, exact
from crosswind.theory import ltcp as theory

LAYERS = range(3, 9)


def configurations(**_: Any) -> dict[str, Scenario]:
    """One LTCP flow with K_R = 1 that begins in congestion avoidance at 50 segments; nothing is lost."""
    law = {"kr_ref": 1.0, "kr_exponent": 0.0}
    flow = nets.bulk("LTCP", initial_window_segments=50, initial_ssthresh="50000 B", ltcp=law)
    record = {"series": "gauges"}
    line, access = nets.wire(10_000, 48), nets.wire(10_000, 1)
    growth = nets.dumbbell("growth", line, access, {"one": flow}, duration_s=90, warm_up_s=0.1, record=record)
    return {"growth": growth}


@measured
def _largest(_: Results, column: str, formula: Callable[[int], float], first: int = 1) -> Estimate:
    """Largest difference between a column of table I or X and its formula."""
    rows = [r for r in study.rows("t1_layers.csv") if r[column] and int(r["k"]) >= first]
    return exact(max(abs(float(r[column]) - formula(int(r["k"]))) for r in rows), len(rows))


def window_over_time(results: Results) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in round trips and window in segments of the growing flow."""
    t, w = results.series("growth", "cwnd_bytes", "one")
    return t * 10, w / nets.PAYLOAD


@measured
def _growth(results: Results, k: int) -> float:
    t, w = window_over_time(results)
    needed(w.max() >= theory.layer_start(k), f"the window does not reach layer {k}")
    reached = np.interp([theory.THRESHOLD * 1.02, theory.layer_start(k)], w, t)
    first = theory.layer_length(2) * np.log((2 + 0.02 * 50 / 150) / 2)
    return (reached[1] - reached[0] + first) / theory.claim_time_continuous(k)


def _drops_at_most_one_layer(_: Results) -> float:
    wrong = 0
    for k in range(2, 60):
        for share in np.linspace(0, 0.999, 25):
            w = theory.layer_start(k) + share * theory.layer_length(k)
            variable = theory.beta_variable(k) * (1 - share) + theory.beta_variable(k + 1) * share
            betas = [variable, *([theory.BETA] if k <= 19 else [])]
            wrong += sum(theory.layer_of(w * (1 - b) + 1e-9) < k - 1 for b in betas)
    return wrong


def _sharing(_: Results) -> float:
    starts = [(1000.0, 10.0), (3000.0, 100.0), (50.0, 5000.0), (12_000.0, 4000.0)]
    return min(theory.two_flows(s, 20_000, 200)[-1] for s in starts)


def _monotone(_: Results) -> bool:
    jain = [theory.two_flows(s, 20_000, 60) for s in ((1000.0, 10.0), (3000.0, 100.0))]
    return all(b >= a - 1e-12 for j in jain for a, b in pairwise(j))


def _identity(_: Results) -> Estimate:
    rows = study.rows("t9_jain.csv")
    n = [int(r["n"]) for r in rows]
    sd = [float(r["sd_mbps"]) / float(r["mean_mbps"]) for r in rows]
    jain = [1 / (1 + s * s * (k - 1) / k) for s, k in zip(sd, n, strict=True)]
    return exact(max(abs(j - float(r["jain"])) for j, r in zip(jain, rows, strict=True)), len(rows))


def _seconds(text: str) -> float:
    return sum(float(part) * unit for part, unit in zip(text.split(":"), (3600, 60, 1), strict=True))


def _transfers(_: Results) -> Estimate:
    pairs = [(_seconds(r["total"]), 50 * float(r["one_s"])) for r in study.rows("t7_t8.csv")]
    return exact(max(abs(total / fifty - 1) for total, fifty in pairs), len(pairs))


def _value(value: float) -> Quantity:
    return Quantity(lambda _: value)


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


LOSS_10G = theory.mathis_loss(1500, 0.2, 1e10)
CLAIMS = {
    "B42": {"largest difference": _largest("window", theory.layer_start)},
    "B43": {
        "largest difference": _largest("beta", theory.beta_variable),
        "0.15 below the bound up to 18": lambda _: all(theory.beta_bound(k) > 0.15 for k in range(1, 19)),
        "bound at 19": _value(theory.beta_bound(19)),
    },
    "B44": {
        "claiming": _largest("claim", theory.claim_speed_up),
        "recovery, fixed (from K = 3)": _largest("recovery_fixed", theory.recovery_speed_up, 3),
        "recovery, variable": _largest("recovery_variable", theory.recovery_speed_up_variable),
    },
    "B45": {
        **{f"K = {k}, over the integral": _growth(k) for k in LAYERS},
        "integral over equation 3.15, K = 8": _value(theory.claim_time_continuous(8) / theory.claim_time(8)),
    },
    "B46": {"violations": _drops_at_most_one_layer},
    "B47": {"Jain's index after 200 losses": _sharing, "it never falls": _monotone},
    "B49": {
        "buffer for 100 %, fixed": _value(theory.minimum_buffer(0.15)),
        **{
            f"utilisation, decrease {d}, buffer {b:.2f}": _value(theory.utilisation(d, b))
            for d, b in ((0.15, 0.1), (0.15, 0.05), (0.5, 1.0), (0.5, 0.5), (0.5, 1 / 3), (0.5, 0.1))
        },
    },
    "B50": {
        **{f"alpha = {a:.2f}": _value(theory.unfairness_exponent(a)) for a in (0.0, 1 / 3, 0.5, 1.0)},
        **{f"ratio at {r}": _value(r ** theory.unfairness_exponent()) for r in (2, 3, 4)},
    },
    "B51": {
        "rate at p = 1e-5": _value(theory.mathis_rate(1500, 0.2, 1e-5) / 1e6),
        "rate at p = 1e-7": _value(theory.mathis_rate(1500, 0.2, 1e-7) / 1e6),
        "p for 1 Gbit/s, 1e-9": _value(theory.mathis_loss(1500, 0.2, 1e9) * 1e9),
        "p for 10 Gbit/s, 1e-11": _value(LOSS_10G * 1e11),
        "packets per loss, 1e10": _value(1e-10 / LOSS_10G),
        "hours between losses": _value(1 / LOSS_10G * 1500 * 8 / 1e10 / 3600),
    },
    "B52": {"window": _value(2.4e9 * 0.15 / 8 / 1500), "layer": _value(theory.layer_of(30000))},
    "B97": {"buffer": _value(theory.minimum_buffer(0.35)), "cut": _value(theory.largest_decrease(0.5))},
    "B131": {"largest difference of 30": _identity, "table XII, n = 2": _value(1 / (1 + (14.47 / 480.61) ** 2 / 2))},
    "B132": {"largest difference": _transfers},
}

EXPERIMENT = study.experiment(
    __name__, "Closed forms of LTCP and PERT", where="III.A.1 to III.A.3, III.B, IV.B", reps=1, tables=lambda _: {}
)
