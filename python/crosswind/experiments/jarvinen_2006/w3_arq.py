"""Do classes, ECN and Enhanced TCP still shorten a web page's time when the last hop has errors?

The workload of W3 on the three ARQ links (see W1 on the same links), eight configurations on each, 120 repetitions.

On r4 pages take as long as without errors, with twice the spread, and classes with ECN shorten them by a third. On r2
they are a quarter faster than without errors, because errors slow the bulk flows; Enhanced TCP takes another fifth off
and leaves nothing for the router to improve; on r1 likewise.

What may differ here: the history of states, as for W1; the classes' rates, as for W3. Over twelve histories, 40
repetitions each, the overall throughput of BL on r2 is 0.832 of the error-free one (0.820 to 0.846; 0.83 printed).
"""

from itertools import pairwise
from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.w3_e0 import BY_OBJECT, by_object, named
from crosswind.reproduce import Picture, Results, Scenario, measured, measures, needed
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w3-arq", ("page",))
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.EIGHT)
R4, R2, R1 = (tuple(f"{link} {c}" for c in testbed.EIGHT) for link in testbed.LOSSY)
RESPONSE, OVERALL = "page_response_s", "overall_throughput"
ROUTERS = [(f"{tcp}+{router}", tcp) for tcp in ("BL", "ETCP") for router in ("ECN", "DS", "DS+ECN")]
# Without classes, and with.
PAIRS = (("BL+ECN", "BL"), ("BL+DS+ECN", "BL+DS"), ("ETCP+ECN", "ETCP"), ("ETCP+DS+ECN", "ETCP+DS"))
# The source's order of the response times on r4, from the shortest on.
SLOWER_AND_SLOWER = [f"r4 {c}" for c in ("BL+DS+ECN", "ETCP+DS+ECN", "ETCP+DS", "BL+DS", "ETCP+ECN", "BL+ECN", "ETCP")]


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twenty-four configurations: three links, eight each."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


@measured
def _spurious(r: Results, of: Any) -> Estimate:
    totals = by_object(r, "r4 BL", "spurious")
    needed(totals.all(), f"spurious timeouts by object: {', '.join(f'{x:.0f}' for x in totals)}")
    reps = r.of("r4 BL", RESPONSE).size
    return stats.exact(float(of(totals)) * (120 / reps if of is np.sum else 1.0), int(totals.sum()))


def _share_of_link(configuration: str) -> Any:
    return lambda r: stats.median(r.of(configuration, "simultaneous_page") / testbed.RATE_Bps[64])


CLAIMS = {
    "J85": measures.each(R4, RESPONSE)
    | measures.each(R4, RESPONSE, of=stats.iqr_of, word=", IQR")
    | {
        "BL against error-free BL": measures.change("r4 BL", "w3-e0/BL", RESPONSE),
        "IQR, BL over error-free BL": measures.ratio(("r4 BL", RESPONSE), ("w3-e0/BL", RESPONSE), stats.iqr_of),
    }
    | parts.changes(R4, "r4 BL", RESPONSE)
    | measures.differences(pairwise(SLOWER_AND_SLOWER), RESPONSE, pairing="paired"),
    "J86": measures.each(R4, OVERALL)
    | {"spread": parts.spread_of_medians(R4, OVERALL)}
    | parts.against(("r4 BL+DS+ECN", "r4 ETCP+DS"), R4, OVERALL),
    "J87": measures.each(R4, "slower_unnecessary"),
    "J88": {
        "total in 120 repetitions, BL": _spurious(np.sum),
        "most over fewest, by object": _spurious(lambda x: x.max() / x.min()),
    },
    "J89": measures.each({"BL": "r4 BL", "BL+ECN": "r4 BL+ECN"}, "page_drops")
    | {"BL+ECN minus BL": measures.difference("r4 BL+ECN", "r4 BL", "page_drops", pairing="paired")},
    "J90": {
        "BL": measures.value("r2 BL", RESPONSE),
        "BL against error-free BL": measures.change("r2 BL", "w3-e0/BL", RESPONSE),
        "ETCP against BL": measures.change("r2 ETCP", "r2 BL", RESPONSE),
    }
    | measures.changes((("ETCP+ECN", "ETCP"), ("ETCP+DS", "ETCP")), RESPONSE, front="r2 "),
    "J91": {"BL": measures.value("r2 BL", OVERALL), "ETCP against BL": measures.change("r2 ETCP", "r2 BL", OVERALL)}
    | parts.least("r2 BL+DS+ECN", R2, OVERALL),
    "J92": {"BL+DS minus BL": measures.difference("r1 BL+DS", "r1 BL", RESPONSE, pairing="paired")}
    | measures.changes(((c, "BL") for c in testbed.EIGHT[4:]), RESPONSE, front="r1 ")
    | {"spread of the four ETCP cases": parts.spread_of_medians(R1[4:], RESPONSE)},
    "J93": {"BL": _share_of_link("r1 BL"), "ETCP": _share_of_link("r1 ETCP")},
    "J129": measures.changes(PAIRS[::2], OVERALL, front="w1-arq/r4 ", before="W1 r4: ")
    | measures.changes(PAIRS, OVERALL, front="r2 ", before="r2: ")
    | measures.changes(PAIRS[::2], OVERALL, front="w2-arq/r4 ", before="W2 r4: ")
    | measures.changes(PAIRS, OVERALL, front="r4 ", before="W3 r4: ")
    | measures.changes(PAIRS, OVERALL, front="w4-arq/r4 ", before="W4 r4: "),
    "J132": measures.changes((("BL+ECN", "BL"), ("BL+DS", "BL")), RESPONSE, front="r1 ", before="page, ")
    | measures.changes(ROUTERS, RESPONSE, front="r1 ")
    | measures.changes(PAIRS, "audio_throughput", front="w4-arq/r1 ", before="stream's throughput, "),
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 24 to 26 and Table 10 as bars."""
    r4 = {"24a": "overall", "24b": "response", "24c": "bulk", "24d": "spurious", "24e": "lost", "24f": "shares"}
    r2 = {"25a": "overall", "25b": "response", "25c": "lost", "25d": "shares"}
    marks = {
        "24e": {"page, drops": study.printed("J89")},
        "25a": {"all": study.printed("J91")},
        "25b": {"page": study.printed("J90")},
    }
    counts = {"spurious timeouts": named(by_object(r, "r4 BL", "spurious"))}
    return [
        *boxes.pictures(r, "page", r4, link="r4", printed=marks),
        *boxes.pictures(r, "page", r2, link="r2", printed=marks),
        *boxes.pictures(r, "page", {"26a": "overall", "26b": "response"}, link="r1"),
        figures.bars("table-10", f"Spurious timeouts {BY_OBJECT}, BL on r4 (Table 10).", counts, "number"),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and a web page on a 64 kbit/s last hop with ARQ",
    variants=readings.ARQ,
    headline=parts.headline(RESPONSE, "s", LABELS),
    uses=("w1-arq", "w2-arq", "w3-e0", "w4-arq"),
)
