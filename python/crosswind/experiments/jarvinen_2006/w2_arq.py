"""Is a long download that starts late still treated fairly when ARQ repairs the errors of the last hop?

The workload of W2 on the three ARQ links (see W1 on the same links): three bulk transfers of 640 segments, the third
starts somewhere in the first 36 s. Four configurations on each link, 120 repetitions.

On r4 spurious timeouts cost Baseline TCP whole windows, F-RTO saves them, and ECN lifts the least fair repetitions. On
r2 ECN helps only these, on r1 it changes nothing.

What may differ here: the history of states, as for W1.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed
from crosswind.reproduce import Measures, Picture, Results, Scenario, measures

WORKLOAD = testbed.Workload("w2-arq", ("third",), third_bytes=testbed.BULK_BYTES)
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.FOUR)
R4 = tuple(f"r4 {c}" for c in testbed.FOUR)
OVERALL = "overall_throughput"
ROLES = ("faster", "slower", "third")
PAIRS = (("BL+ECN", "BL"), ("ETCP+ECN", "ETCP"))


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twelve configurations: three links, four each."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


def tenth(x: Any, axis: int = -1) -> Any:
    """The tenth percentile along an axis."""
    return np.quantile(x, 0.10, axis=axis)


def _ninetieth(x: Any, axis: int = -1) -> Any:
    return np.quantile(x, 0.90, axis=axis)


def _tenth_parts(link: str, where: str) -> Measures:
    return measures.differences(PAIRS, "jain", tenth, "paired", front=link, before=f"{where}: ")


CLAIMS = {
    "J63": measures.each(R4, OVERALL)
    | measures.changes(pairwise(("r4 ETCP", "r4 ETCP+ECN", "r4 BL", "r4 BL+ECN")), OVERALL),
    "J64": measures.each(R4, "jain")
    | measures.each(R4, "jain", of=measures.lower, word=", lower quartile")
    | measures.each(R4, "jain", of=measures.upper, word=", upper quartile")
    | measures.differences(PAIRS, "jain", pairing="paired", front="r4 ")
    | {"BL minus error-free BL": measures.difference("r4 BL", "w2-e0/BL", "jain", pairing="paired")},
    "J65": measures.each(R4, "simultaneous_third")
    | measures.each(R4, "simultaneous_third", of=stats.iqr_of, word=", IQR")
    | measures.each(R4, "simultaneous_faster", word=", faster")
    | measures.each(R4, "simultaneous_slower", word=", slower")
    | {"BL against error-free BL": measures.change("r4 BL", "w2-e0/BL", "simultaneous_third")}
    | parts.changes(R4, "r4 BL", "simultaneous_third"),
    "J66": {
        f"{c}, {role}, {word}": measures.value(c, f"{role}_unnecessary", of=of)
        for role in ROLES
        for word, of in (("upper quartile", measures.upper), ("largest", np.max))
        for c in ("r4 BL", "r4 ETCP")
    }
    | {
        f"{role}, largest, ETCP against BL": measures.change("r4 ETCP", "r4 BL", f"{role}_unnecessary", of=np.max)
        for role in ROLES[1:]
    }
    | {"mean over all flows, ETCP against BL": measures.change("r4 ETCP", "r4 BL", "unnecessary", of=np.mean)},
    "J67": _tenth_parts("r2 ", "tenth percentile")
    | {
        f"{word}: {new} minus {old}": measures.difference(f"r2 {new}", f"r2 {old}", "jain", of=of, pairing="paired")
        for (new, old) in PAIRS
        for (word, of) in (("lower quartile", measures.lower), ("upper quartile", measures.upper))
    }
    | measures.changes(PAIRS, "simultaneous_faster", _ninetieth, front="r2 ", before="faster flow, 90th percentile: "),
    "J68": {
        f"{role}, {new} against {old}": measures.change(f"r1 {new}", f"r1 {old}", f"simultaneous_{role}")
        for new, old in PAIRS
        for role in ROLES
    },
    "J69": {f"error-free: {c}": measures.change(f"w2-e0/{c}", f"w1-e0/{c}", OVERALL) for c in testbed.FOUR}
    | {f"r4: {c}": measures.change(f"r4 {c}", f"w1-arq/r4 {c}", OVERALL) for c in testbed.FOUR},
    "J130": _tenth_parts("w2-e0/", "error-free") | _tenth_parts("r4 ", "r4"),
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 18 and 19."""
    r4 = {"18a": "overall", "18b": "shares", "18c": "jain", "18d": "both"}
    r2 = {"19a": "shares", "19b": "jain"}
    return [*boxes.pictures(r, "third", r4, link="r4"), *boxes.pictures(r, "third", r2, link="r2")]


EXPERIMENT = study.experiment(
    __name__,
    "Three bulk flows, one of them late, on a 64 kbit/s last hop with ARQ",
    variants=readings.ARQ,
    headline=parts.headline("simultaneous_third", "B/s", LABELS, 0),
    uses=("w1-e0", "w1-arq", "w2-e0"),
    partly=("J66",),
)
