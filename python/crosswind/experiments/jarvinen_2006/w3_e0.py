"""How long does a web page take that is loaded beside two long downloads on a slow, error-free wireless last hop?

Two bulk transfers of 640 segments; an HTTP/1.0 page of a body and eight inline objects, each on a connection of its
own, at most four at a time, starts somewhere in the first 36 s. Eight configurations: Baseline or Enhanced TCP, one
queue or a class of its own for the page (DS), drop-tail or RED with ECN; 120 repetitions each.

What the source printed: 52 s in BL; ECN and above all DS shorten it, Enhanced TCP a little. With DS the page loses no
packets. In BL nearly every page has a spurious timeout, mostly of an initial window of its body or first objects.

What may differ here: as for W1. Rates of the classes are not printed: here each has half of the link and may borrow the
rest (variant `rates-above`), with equal quanta. Numbers of a page are sums over its nine connections.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed
from crosswind.reproduce import Picture, Results, Scenario, measured, measures, needed
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w3-e0", ("page",))
RESPONSE, OVERALL, FASTER = "page_response_s", "overall_throughput", "faster_elapsed_s"
SIDES = {"before": pl.col("page_start_s") < 20.0, "after": pl.col("page_start_s") >= 20.0}
VARIED = ("BL+ECN", "ETCP", "ETCP+DS", "BL+DS")
# All of the eight but BL+DS+ECN, of which no overall throughput is printed.
MEDIANS = testbed.EIGHT[:3] + testbed.EIGHT[4:]
ORDER = ("BL", "ETCP", "BL+ECN", "ETCP+ECN", "ETCP+DS", "BL+DS", "ETCP+DS+ECN", "BL+DS+ECN")
BY_OBJECT = "by object over all repetitions"
WITH_DS = tuple(c for c in testbed.EIGHT if "+DS" in c)


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The eight configurations; `variant` names what differs from the suggested reading (testbed.Reading)."""
    return testbed.configurations(WORKLOAD, testbed.EIGHT, variant)


def _objects(r: Results, configuration: str) -> pl.DataFrame:
    found = r.table("objects").filter(pl.col("configuration") == configuration)
    if found.is_empty():
        raise r.absent(f"page in {configuration}")
    return found


def by_object(r: Results, configuration: str, column: str) -> npt.NDArray[np.float64]:
    """Totals over all repetitions for the body (0) and the inline objects (1 to 8)."""
    t = _objects(r, configuration)
    return t.group_by("object").agg(pl.col(column).sum()).sort("object")[column].to_numpy().astype(float)


def named(counts: npt.NDArray[np.float64]) -> dict[str, float]:
    """Counts by object, for figures."""
    return dict(zip(("body", *map(str, range(1, 9))), counts, strict=True))


@measured
def _share_of(r: Results, column: str, objects: list[int]) -> Estimate:
    """What some objects have of a count of the page, BL."""
    mine, all_nine = (_objects_hit(r, "BL", x, column) for x in (objects, list(range(9))))
    needed(all_nine.sum(), "none at all")
    return stats.estimate(
        lambda a, b, axis: np.sum(a, axis=axis) / np.sum(b, axis=axis), mine, all_nine, pairing="paired"
    )


def _objects_hit(
    r: Results, configuration: str, number: list[int], column: str = "spurious"
) -> npt.NDArray[np.float64]:
    """Per repetition: spurious timeouts, or another count, of some objects of the page."""
    t = _objects(r, configuration).filter(pl.col("object").is_in(number))
    return t.group_by("rep").agg(pl.col(column).sum()).sort("rep")[column].to_numpy().astype(float)


def _late_body(r: Results) -> npt.NDArray[np.bool_]:
    late = r.of("BL", "page_start_s") > 20.0
    return _objects_hit(r, "BL", [0])[late] > 0


def _rising_with_start(r: Results) -> Estimate:
    start, count = r.of("ETCP", "page_start_s"), r.of("ETCP", "page_spurious")
    return stats.estimate(
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis), count[start > 20.0], count[start < 20.0]
    )


@measured
def _bulk_spurious(r: Results, configuration: str) -> npt.NDArray[np.bool_]:
    late = r.of(configuration, "page_start_s") > 32.0
    both = r.of(configuration, "faster_spurious") + r.of(configuration, "slower_spurious")
    return both[late] > 0


CLAIMS = {
    "J5": {f"W3 {c}": parts.identity(c) for c in testbed.EIGHT},
    "J70": {"BL": measures.value("BL", RESPONSE)}
    | measures.differences(zip(ORDER[1:], ORDER, strict=False), RESPONSE, pairing="paired"),
    "J71": {
        "median": measures.change("BL+DS", "BL", RESPONSE),
        "maximum": measures.change("BL+DS", "BL", RESPONSE, of=np.max),
        "IQR": measures.change("BL+DS", "BL", RESPONSE, of=stats.iqr_of),
        "IQR, BL+DS": measures.value("BL+DS", RESPONSE, of=stats.iqr_of),
    }
    | measures.ratios([("BL+DS", "BL")], RESPONSE, stats.iqr_of),
    "J72": {"IQR": measures.change("BL+DS+ECN", "BL+DS", RESPONSE, of=stats.iqr_of)}
    | measures.ratios([("BL+DS+ECN", "BL+DS")], RESPONSE, stats.iqr_of),
    "J73": {
        "spurious timeouts, body to object 3": _share_of("spurious", [0, 1, 2, 3]),
        "spurious timeouts, with 7 and 8": _share_of("spurious", [0, 1, 2, 3, 7, 8]),
        "spurious timeouts, objects 4 to 6": _share_of("spurious", [4, 5, 6]),
        "drops, body to object 3": _share_of("drops", [0, 1, 2, 3]),
        "drops, body": _share_of("drops", [0]),
        "drops, object 8": _share_of("drops", [8]),
    },
    "J74": {"with one, BL": measures.share(lambda r: r.of("BL", "page_spurious") > 0)},
    "J75": {
        "with one, start after 20 s, BL": measures.share(_late_body),
        "late pages without one": measures.number(lambda r: ~_late_body(r)),
    },
    "J76": {f"drops, maximum, {c}": measures.value(c, "page_drops", of=np.max) for c in WITH_DS}
    | {
        "spurious timeouts, upper quartile, BL+DS": measures.value("BL+DS", "page_spurious", of=measures.upper),
        "spurious timeouts, median, ETCP+DS": measures.value("ETCP+DS", "page_spurious"),
    },
    "J77": {
        "object 3, ETCP+DS": measures.share(lambda r: _objects_hit(r, "ETCP+DS", [3]) > 0),
        "a later object, ETCP+DS": measures.share(lambda r: _objects_hit(r, "ETCP+DS", [4, 5, 6, 7, 8]) > 0),
    },
    "J78": {
        "median": measures.value("ETCP", "page_spurious"),
        "start after 20 s minus before": _rising_with_start,
        "start below 2 s: repetitions without, ETCP": measures.share(
            lambda r: r.of("ETCP", "page_spurious", pl.col("page_start_s") < 2.0) == 0
        ),
    },
    "J79": measures.each(MEDIANS, OVERALL)
    | {
        "ETCP against BL": measures.change("ETCP", "BL", OVERALL),
        "spread of the medians": parts.spread_of_medians(MEDIANS, OVERALL),
    },
    "J80": {
        f"minimum, {tcp}+DS+ECN against {tcp}+DS": measures.change(f"{tcp}+DS+ECN", f"{tcp}+DS", OVERALL, of=np.min)
        for tcp in ("BL", "ETCP")
    },
    "J81": measures.each(ORDER, "simultaneous_page") | measures.steps(ORDER, "simultaneous_page"),
    "J82": {c: measures.change(c, "BL", FASTER, of=stats.iqr_of) for c in VARIED}
    | measures.ratios(((c, "BL") for c in VARIED), FASTER, stats.iqr_of),
    "J83": {
        f"{word}, start {side} 20 s": measures.value("ETCP", FASTER, of=of, where=where)
        for word, of in (("IQR", stats.iqr_of), ("minimum", np.min))
        for side, where in SIDES.items()
    },
    "J84": {
        "repetitions, BL+DS": measures.share(_bulk_spurious("BL+DS")),
        "repetitions, BL+DS+ECN": measures.share(_bulk_spurious("BL+DS+ECN")),
    },
    "J137": {
        "repetitions with one of another object, the seventh too": measures.number(
            lambda r: _objects_hit(r, "BL+DS", [0, 1, 2, 4, 5, 6, 7, 8]) > 0
        ),
        "of these with one of the seventh": measures.number(lambda r: _objects_hit(r, "BL+DS", [7]) > 0),
    },
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 20a-f, 23 and Table 8 as bars."""
    panels = {"20a": "overall", "20b": "response", "20c": "bulk", "20d": "spurious", "20d-retransmissions": "vain"}
    panels |= {"20e": "drops", "20f": "shares"}
    printed = {
        "20a": {"all": study.printed("J79")},
        "20b": {"page": study.printed("J70")},
        "20f": {"page": study.printed("J81")},
    }
    columns = {"spurious timeouts": "spurious", "drops": "drops"}
    counts = {what: named(by_object(r, "BL", column)) for what, column in columns.items()}
    return [
        *boxes.pictures(r, "page", panels, printed=printed),
        boxes.against_start(
            r, "23", "Spurious timeouts of a page", ["ETCP"], "page", "page_spurious", "spurious timeouts"
        ),
        figures.bars("table-8", f"Spurious timeouts and drops {BY_OBJECT}, BL (Table 8).", counts, "number"),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and a web page on an error-free 64 kbit/s last hop",
    variants=readings.PAGE,
    headline=parts.headline(RESPONSE, "s", testbed.EIGHT),
    partly=("J5", "J71", "J83"),
)
