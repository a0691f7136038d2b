"""What rate do BBR and CUBIC keep on a cellular channel that loses packets at random?

One flow for 60 s over 100 ms and a channel of 5.96 Mbit/s on average, with 0.1 and 1 % of random loss (CUBIC) and 0.1
to 50 % (BBR). As in the loss sweep, what leaves the line before the losses counts, retransmissions included.

What the source shows: four rates over a measured trace (Verizon LTE, from Mahimahi), in the replication on Linux 4.11.

What may differ here: **the channel is another one.** That trace is not in this repository. Here the rate is drawn
once, every 0.1 s for 60 s: a log-normal process of first order with the trace's mean, a coefficient of variation of
0.6 and a correlation of 2 s, the numbers of `scenarios/lte.toml`; it has no break. Agreement with the printed rates
would say something of the laws, none of that trace. BBR does not pace, as in the other rows of the replication. Five
repetitions.
"""

from typing import Any

import numpy as np

from crosswind.experiments.cardwell_2017 import study
from crosswind.experiments.cardwell_2017.losses import MINUTE, UNPACED
from crosswind.reproduce import Scenario, measures
from crosswind.scenario.traces import opportunities

MEAN_MBPS, VARIATION, CORRELATION_S, STEP_S = 5.96, 0.6, 2.0, 0.1
SEED, RTT_MS, LIMIT = 1, 100, "10000000 packets"
LOSSES = {"CUBIC": (0.1, 1), UNPACED: (0.1, 1, 5, 20, 50)}


def _rates() -> list[tuple[float, float]]:
    """(milliseconds, bits per second), one for each step and the end."""
    rng = np.random.default_rng(SEED)
    steps = round(MINUTE / STEP_S)
    keep, sigma = np.exp(-STEP_S / CORRELATION_S), np.sqrt(np.log1p(VARIATION**2))
    levels = np.empty(steps)
    level = rng.normal()
    for i, new in enumerate(rng.normal(size=steps)):
        level = keep * level + np.sqrt(1 - keep**2) * new
        levels[i] = level
    rates = np.exp(sigma * levels)
    rates *= MEAN_MBPS * 1e6 / rates.mean()
    return [(float(i * STEP_S * 1e3), float(rate)) for i, rate in enumerate([*rates, MEAN_MBPS * 1e6])]


def _cell(law: str, loss: float) -> str:
    return f"{law} {loss:g} %, cellular"


def configurations() -> dict[str, Scenario]:
    """One flow for each law and loss."""
    instants = opportunities(_rates())
    return {_cell(law, p): _scenario(law, p, instants) for law, losses in LOSSES.items() for p in losses}


def _scenario(law: str, loss: float, instants: list[int]) -> Scenario:
    line = study.line("100 Mbit/s", RTT_MS, LIMIT, loss / 100)
    reverse = line["reverse"] | {"type": "wire", "rate": line.pop("rate"), "delay": line["delay"]}
    line |= {"type": "trace", "opportunities_ms": instants, "reverse": reverse}
    return study.scenario(line, {"one": study.flow(law)}, MINUTE)


def _departures(law: str, loss: float) -> Any:
    return measures.value(_cell(law, loss), "departures", np.mean)


CLAIMS: dict[str, Any] = {
    "CA31": {f"{law.split()[0]} {p:g} %": _departures(law, p) for law, losses in LOSSES.items() for p in losses}
}

EXPERIMENT = study.STUDY.experiment(__name__, "Rates on a cellular channel", where="loss sweep", reps=5)
