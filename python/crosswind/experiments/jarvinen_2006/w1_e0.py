"""What happens to a short download that joins two long ones on a slow, error-free wireless last hop?

Two bulk transfers of 640 segments start together; a short transfer of 40 segments starts somewhere in the first 36 s.
Four configurations: Baseline TCP with a drop-tail queue (BL), Baseline TCP with RED and ECN (BL+ECN), Enhanced TCP
(initial window of four, shared slow-start threshold, F-RTO) with drop-tail (ETCP) and with RED and ECN (ETCP+ECN);
120 repetitions each, start times stratified over the 36 s, the same in every configuration.

What the source printed: the short transfer takes 26 s in BL, a little less with ECN, a quarter to a third less with
Enhanced TCP. Its fate in BL depends on when it starts: before the bulk flows overshoot, while they do, while they
recover, or after the queue has filled again.

What may differ here: the start times of the source are unknown beyond their range; the cache of shared thresholds is
flushed every 600 s of experiment time (the source's kernel threw entries away at unknown times); the router's limit is
in bytes. Repetitions with an elapsed time that never came (a connection given up) are left out of elapsed-time medians.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, metrics, parts, readings, study, testbed
from crosswind.reproduce import Measure, MissingDataError, Picture, Results, Scenario, measures
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w1-e0", ("third",), events=("third",))
START = "third_start_s"
THIRD = "third_elapsed_s"
CLASSES = {
    "below 2.5 s": (0.0, 2.5),
    "2.5 s to 8.2 s": (2.5, 8.2),
    "8.2 s to 15.5 s": (8.2, 15.5),
    "above 15.5 s": (15.5, 1e9),
}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The four configurations; `variant` names what differs from the suggested reading (testbed.Reading)."""
    return testbed.configurations(WORKLOAD, testbed.FOUR, variant)


def _class(name: str) -> pl.Expr:
    low, high = CLASSES[name]
    return (pl.col(START) >= low) & (pl.col(START) < high)


def _class_ratio(upper: str, lower: str) -> Measure:
    def ratio(a: Any, b: Any, axis: int) -> Any:
        return np.median(a, axis=axis) / np.median(b, axis=axis)

    return lambda r: stats.estimate(ratio, *(r.of("BL", THIRD, _class(c)) for c in (upper, lower)))


def _early_line(r: Results, configuration: str) -> tuple[Any, Any, Any, Any]:
    """Starts and elapsed times below and above 15 s, without missing values."""
    start, took = r.of(configuration, START), r.of(configuration, THIRD)
    ok = np.isfinite(start) & np.isfinite(took)
    start, took = start[ok], took[ok]
    early = start < 15.0
    if early.sum() < 3 or (~early).sum() < 3:
        raise MissingDataError("too few repetitions on one side of 15 s")
    return start[early], took[early], start[~early], took[~early]


def _early_spread(r: Results) -> Estimate:
    x, y, _, _ = _early_line(r, "ETCP")
    slope, offset = np.polyfit(x, y, 1)
    return stats.iqr(y - (slope * x + offset))


def _late_scatter(r: Results) -> Estimate:
    x, y, late_x, late_y = _early_line(r, "ETCP")
    slope, offset = np.polyfit(x, y, 1)
    return stats.quantile(late_y - (slope * late_x + offset), 0.75)


CLAIMS = {
    "J5": {f"W1 {c}": parts.identity(c) for c in testbed.FOUR},
    "J35": measures.each(("BL", "ETCP"), "overall_throughput")
    | {"ETCP against BL": measures.change("ETCP", "BL", "overall_throughput")},
    "J36": measures.each(testbed.FOUR, THIRD) | measures.steps(testbed.FOUR, THIRD),
    "J37": {
        "BL": measures.value("BL", THIRD, of=stats.iqr_of),
        "BL+ECN": measures.change("BL+ECN", "BL", THIRD, of=stats.iqr_of),
        "ETCP": measures.change("ETCP", "BL", THIRD, of=stats.iqr_of),
        "ETCP+ECN": measures.change("ETCP+ECN", "BL", THIRD, of=stats.iqr_of),
    }
    | measures.ratios(((c, "BL") for c in testbed.FOUR[1:]), THIRD, stats.iqr_of),
    "J38": {
        "maximum": measures.change("BL+ECN", "BL", THIRD, of=np.max),
        "upper quartile": measures.change("BL+ECN", "BL", THIRD, of=measures.upper),
    },
    "J39": {c: measures.value("BL", THIRD, where=_class(c)) for c in CLASSES}
    | {
        "8.2-15.5 s against below 2.5 s": _class_ratio("8.2 s to 15.5 s", "below 2.5 s"),
        "above 15.5 s against 8.2-15.5 s": _class_ratio("above 15.5 s", "8.2 s to 15.5 s"),
        "2.5-8.2 s against above 15.5 s": _class_ratio("2.5 s to 8.2 s", "above 15.5 s"),
    },
    "J40": {"ratio": _class_ratio("2.5 s to 8.2 s", "8.2 s to 15.5 s")},
    "J41": {"median": measures.change("BL+ECN", "BL", THIRD, where=pl.col(START) > 15.0)},
    "J42": {c: measures.share(lambda r, c=c: r.of(c, "last_window_timeout")) for c in ("BL", "BL+ECN")}  # type: ignore[misc]
    | {
        "BL+ECN minus BL": lambda r: stats.paired_differences(
            r.of("BL+ECN", "last_window_timeout"), r.of("BL", "last_window_timeout")
        )
    },
    "J43": {
        "BL+ECN against BL": measures.change("BL+ECN", "BL", "drops"),
        "ETCP against BL": measures.change("ETCP", "BL", "drops"),
    },
    "J44": {"faster, BL": measures.value("BL", "faster_elapsed_s")}
    | {f"faster, {c}": measures.change(c, "BL", "faster_elapsed_s") for c in testbed.FOUR[1:]}
    | {
        "slower, BL": measures.value("BL", "slower_elapsed_s"),
        "slower IQR, BL": measures.value("BL", "slower_elapsed_s", of=stats.iqr_of),
    },
    "J45": {c: measures.value(c, "utilisation") for c in ("BL", "ETCP")},
    "J46": {
        "spread around a line, starts below 15 s (IQR)": _early_spread,
        "above that line, starts from 15 s (upper quartile)": _late_scatter,
    },
    "J133": {
        f"{word}, {c}": measures.value("BL", THIRD, of=of, where=_class(c))
        for c in CLASSES
        for word, of in (("lower quartile", measures.lower), ("upper quartile", measures.upper))
    },
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 7a-d, 9, 11 and 12."""
    printed = {
        "7a": {"all": study.printed("J35")},
        "7b": {"third": study.printed("J36")},
        "7d": {x: {"BL": study.BOOK.number("J44", f"{x}, BL")} for x in metrics.BULK},
    }
    panels = {"7a": "overall", "7b": "third", "7c": "drops", "7d": "bulk"}
    out = boxes.pictures(r, "third", panels, printed=printed)
    what, axis = "Elapsed time of the third flow", "elapsed time (s)"
    for figure, limits, chosen in (
        ("9", [2.5, 8.2, 15.5], ["BL"]),
        ("11", [15.0], ["BL", "ETCP"]),
        ("12", [], ["ETCP", "ETCP+ECN"]),
    ):
        out.append(boxes.against_start(r, figure, what, chosen, "third", THIRD, axis, limits=limits))
    return out


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and a short one on an error-free 64 kbit/s last hop",
    variants=readings.TCP,
    headline=parts.headline("third_elapsed_s", "s", testbed.FOUR),
    partly=("J5",),
)
