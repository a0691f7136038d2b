"""How fairly does a long download that starts late share a slow, error-free wireless last hop with two earlier ones?

Three bulk transfers of 640 segments; two start together, the third somewhere in the first 36 s. Four configurations as
in W1 (Baseline or Enhanced TCP; drop-tail or RED with ECN), 120 repetitions each with stratified start times.

What the source printed: in BL the late flow gets 1520 B/s of the 7500 B/s that the three share while all are active,
2292 B/s in ETCP+ECN; Jain's index over the three rises from 0.91 to 0.97; overall throughput hardly changes.

What may differ here: start times, cache flushes and RED's maximum probability, as described for W1. A repetition's
simultaneous throughput counts original transmissions between the first packet of the latest starter and the last
packet of the first flow to finish. The source says that ECN avoids one to two drops of every flow without saying with
which TCP, right after a sentence on Enhanced TCP: both are measured, and the claim (J61) asks it of both.
"""

from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed
from crosswind.reproduce import MissingDataError, Picture, Results, Scenario, measured, measures
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w2-e0", ("third",), third_bytes=testbed.BULK_BYTES, events=("third",))
SHARE = "simultaneous_third"
OTHERS = ("BL+ECN", "ETCP", "ETCP+ECN")
DEFAULT_SSTHRESH = 65535


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The four configurations; `variant` names what differs from the suggested reading (testbed.Reading)."""
    return testbed.configurations(WORKLOAD, testbed.FOUR, variant)


def _early_and_late(r: Results) -> tuple[Any, Any]:
    """Shares of third flows (BL) whose first drop hit a segment of round trip <= 3, and of round trip >= 5 or none."""
    share, first = r.of("BL", SHARE), r.of("BL", "first_drop_round")
    early, late = share[first <= 3], share[(first >= 5) | np.isnan(first)]
    if not early.size or not late.size:
        raise MissingDataError(f"{early.size} repetitions with a drop by round trip 3, {late.size} with none before 5")
    return early, late


def _opened_slowly(r: Results, configuration: str) -> Any:
    """Whether the third flow waits more than 3 s (the initial timeout) for the ACK of its first segment, and times out
    for nothing."""
    waited = r.of(configuration, "first_ack_s") > 3.0
    return waited & (r.of(configuration, "initial_timeout") > 0) & (r.of(configuration, "third_spurious") > 0)


@measured
def _slow_opening(r: Results, configuration: str) -> Estimate:
    slow = _opened_slowly(r, configuration)
    return stats.exact(float(slow.sum()), slow.size)


@measured
def _of_these_cold(r: Results, configuration: str) -> Estimate:
    """How many of the slow openings befall repetitions whose bulk flows found nothing remembered."""
    cold = r.of(configuration, "slower_ssthresh_initial") >= DEFAULT_SSTHRESH
    return stats.exact(float((_opened_slowly(r, configuration) & cold).sum()), int(cold.sum()))


def _fairness_after_slow_opening(r: Results) -> Estimate:
    hit, fairness = _opened_slowly(r, "ETCP"), r.of("ETCP", "jain")
    if not hit.any() or hit.all():
        raise MissingDataError(f"{int(hit.sum())} of {hit.size} repetitions have a spurious initial timeout")
    return stats.estimate(
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis), fairness[hit], fairness[~hit]
    )


CLAIMS = {
    "J55": measures.each(("BL", "ETCP"), "overall_throughput")
    | {"ETCP against BL": measures.change("ETCP", "BL", "overall_throughput")},
    "J56": measures.each(testbed.FOUR, SHARE) | measures.steps(testbed.FOUR, SHARE),
    "J57": measures.each(("BL", "ETCP+ECN"), "simultaneous_faster")
    | parts.best("BL", testbed.FOUR, "simultaneous_faster")
    | parts.least("ETCP+ECN", testbed.FOUR, "simultaneous_faster"),
    "J58": measures.each(testbed.FOUR, "jain")
    | measures.differences(zip(testbed.FOUR[1:], testbed.FOUR, strict=False), "jain", pairing="paired"),
    "J59": measures.each(testbed.FOUR, "jain", of=measures.lower)
    | measures.differences(((c, "BL") for c in OTHERS), "jain", of=measures.lower, pairing="paired"),
    "J60": {
        "simultaneous throughput, early against late": lambda r: stats.estimate(
            lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis) - 1.0, *_early_and_late(r)
        )
    },
    "J61": {"ETCP drops as a share of BL": measures.ratio(("ETCP", "drops"), ("BL", "drops"), pairing="paired")}
    | {
        f"drops avoided by ECN, {role} flow ({tcp} minus {tcp}+ECN)": measures.difference(
            tcp, f"{tcp}+ECN", f"{role}_drops", pairing="paired"
        )
        for tcp in ("BL", "ETCP")
        for role in ("faster", "slower", "third")
    },
    "J62": {
        "repetitions, ETCP": _slow_opening("ETCP"),
        "of these with a cold cache, ETCP": _of_these_cold("ETCP"),
        "Jain's index against other repetitions, ETCP": _fairness_after_slow_opening,
        "repetitions, ETCP+ECN": _slow_opening("ETCP+ECN"),
        "of these with a cold cache, ETCP+ECN": _of_these_cold("ETCP+ECN"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 16a-d and 17."""
    start, share = r.of("BL", "third_start_s"), r.of("BL", SHARE)
    first = r.of("BL", "first_drop_round")
    late = (first >= 4) | np.isnan(first)
    groups = {"first drop by round trip 3": (start[~late], share[~late]), "later, or none": (start[late], share[late])}
    printed = {
        "16a": {"all": study.printed("J55")},
        "16b": {"faster": study.printed("J57"), "third": study.printed("J56")},
        "16c": {"all": study.printed("J58")},
    }
    panels = {"16a": "overall", "16b": "shares", "16c": "jain", "16d": "drops"}
    return [
        *boxes.pictures(r, "third", panels, printed=printed),
        figures.scatter(
            "fig-17",
            "Simultaneous throughput of the third flow against its start, BL (Fig. 17).",
            groups,
            "start of the third flow (s)",
            "simultaneous throughput (B/s)",
        ),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Three bulk flows, one of them late, on an error-free 64 kbit/s last hop",
    variants=readings.TCP,
    headline=parts.headline(SHARE, "B/s", testbed.FOUR, 0),
)
