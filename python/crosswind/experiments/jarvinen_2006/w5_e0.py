"""How do a web page and an audio stream fare together beside two long downloads, error-free at 64 kbit/s?

Two bulk transfers of 640 segments, the page of W3, and two bursts of the stream of W4; page and stream start
independently in the first 36 s. Twelve configurations: Baseline or Enhanced TCP; one queue, a class for the stream
(DS-U), or classes for stream, page and bulk (DS); drop-tail or RED with ECN. 40 repetitions, as in the source.

The source's shortest page is that of Enhanced TCP with ECN and one queue. A class for the stream alone lengthens the
page's time, classes for all shorten it, and cost it eight seconds against the same page without the stream.

What may differ here: as for W3 and W4. The stream's shaper meters packets as they arrive; metered when they could leave
(`shaped-audio`) the classes cost the stream packets, which the source excludes (decision 0009).
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, stream, study, testbed, w5
from crosswind.experiments.jarvinen_2006.w5 import RESPONSE
from crosswind.reproduce import Picture, Results, Scenario, measures, needed
from crosswind.stats import Estimate

WORKLOAD = w5.workload("w5-e0")
NAMES = testbed.TWELVE
LOGGED = "BL+DS-U+ECN"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The twelve configurations; the bulk flows of one are logged to tell its overshoot from later drops."""
    out = testbed.configurations(WORKLOAD, NAMES, variant)
    return {**out, LOGGED: out[LOGGED].with_({"record.events": ["bulk"]})}


def _only_overshoot(r: Results) -> Estimate:
    """Whether no bulk flow has a drop after the start of its first recovery, by repetition."""
    log = r.runs.events()
    needed(log, "no event log")
    log = log.filter(pl.col("configuration") == LOGGED)
    first = (
        log.filter(pl.col("kind").is_in(["recovery", "timeout"]))
        .group_by("rep", "flow")
        .agg(pl.col("time_ns").min().alias("learnt_ns"))
    )
    drops = log.filter((pl.col("kind") == "drop") & (pl.col("len") > 0)).join(first, on=["rep", "flow"], how="left")
    late = set(drops.filter(pl.col("time_ns") > pl.col("learnt_ns"))["rep"])
    return stats.share([rep not in late for rep in sorted(set(log["rep"]))])


BOTH = ("BL", "ETCP")
CLAIMS = {
    "J4": {"largest deviation, W5": stream.rate_from_drops(NAMES, 2 * testbed.STREAM_PACKETS)},
    "J18": {"largest count in W5": stream.extreme([c for c in NAMES if "+DS" in c], "audio_drops", np.max)},
    "J115": measures.each(NAMES, RESPONSE)
    | measures.each(NAMES, RESPONSE, of=stats.iqr_of, word=", IQR")
    | parts.changes(NAMES, "BL", RESPONSE),
    "J116": parts.changes(NAMES, "BL", RESPONSE)
    | measures.changes([(f"{t}+DS-U{ecn}", f"{t}{ecn}") for ecn in ("", "+ECN") for t in BOTH], RESPONSE),
    "J117": measures.each(NAMES, RESPONSE)
    | measures.differences((("ETCP+ECN", c) for c in NAMES if c != "ETCP+ECN"), RESPONSE, pairing="paired")
    | measures.changes([(f"{t}+ECN", f"{t}+DS+ECN") for t in BOTH], RESPONSE),
    "J118": {c: measures.difference(c, f"w3-e0/{c}", RESPONSE) for c in testbed.EIGHT},
    "J119": measures.each(NAMES, "audio_throughput"),
    "J120": {
        f"{what}, {c}": measures.value(c, f"page_{column}")
        for (what, column) in (("drops", "drops"), ("spurious timeouts", "spurious"), ("in vain", "unnecessary"))
        for c in ("BL", "BL+ECN", "ETCP")
    },
    "J121": {"share": _only_overshoot},
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 39a-f."""
    panels = {
        "39a": "overall",
        "39b": "response",
        "39c": "stream",
        "39d": "bulk",
        "39e": "spurious",
        "39e-retransmissions": "vain",
        "39f": "drops",
    }
    return boxes.pictures(r, "page", panels)


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows, a web page and an audio stream on an error-free 64 kbit/s last hop",
    variants=readings.STREAM,
    headline=parts.headline(RESPONSE, "s", NAMES),
    reps=w5.REPS,
    uses=("w3-e0",),
    partly=("J4", "J18"),
)
