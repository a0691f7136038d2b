"""How do a web page and an audio stream fare together beside two long downloads when the last hop has errors?

The workload of W5 on the three ARQ links (see W1 on the same links), twelve configurations on each, 40 repetitions.

What the source printed: orders only. ECN alone makes pages faster than classes do; with classes marks hardly occur.

What may differ here: the history of states, as for W1; the classes' rates, as for W3.
"""

from typing import Any

import numpy as np

from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed, w5
from crosswind.experiments.jarvinen_2006.w5 import RESPONSE
from crosswind.reproduce import Picture, Results, Scenario, measures

WORKLOAD = w5.workload("w5-arq")
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.TWELVE)
ECN_OR_CLASSES = [(f"{t}+ECN", f"{t}+DS") for t in ("BL", "ETCP")]
ECN_BESIDE = [(f"{t}+DS+ECN", f"{t}+DS") for t in ("BL", "ETCP")]


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Thirty-six configurations: three links, twelve each."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


def _ninety_fifth(x: Any, axis: int = -1) -> Any:
    return np.quantile(x, 0.95, axis=axis)


CLAIMS = {
    "J13": {
        f"out of order, W5 {link}": measures.extreme(
            [f"{link} {c}" for c in testbed.TWELVE], "audio_out_of_order", np.sum
        )
        for link in testbed.LOSSY
    },
    "J122": measures.changes(ECN_OR_CLASSES, RESPONSE, front="r4 "),
    "J123": measures.changes(ECN_OR_CLASSES, RESPONSE, front="r2 ")
    | measures.changes(ECN_BESIDE, RESPONSE, front="r2 ", word=": median")
    | measures.changes(ECN_BESIDE, RESPONSE, _ninety_fifth, front="r2 ", word=": 95th percentile"),
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 40 to 42."""
    r4 = {
        "40a": "overall",
        "40b": "response",
        "40c": "stream",
        "40d": "bulk",
        "40e": "spurious",
        "40e-retransmissions": "vain",
        "40f": "drops",
    }
    return [
        *boxes.pictures(r, "page", r4, link="r4"),
        *boxes.pictures(r, "page", {"41a": "overall", "41b": "response"}, link="r2"),
        *boxes.pictures(r, "page", {"42a": "response", "42b": "stream"}, link="r1"),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows, a web page and an audio stream on a 64 kbit/s last hop with ARQ",
    variants=readings.ARQ,
    headline=parts.headline(RESPONSE, "s", LABELS),
    reps=w5.REPS,
    partly=("J13",),
)
