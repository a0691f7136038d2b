"""What remains of the short download's gains when the last hop has errors that ARQ repairs fully, partly or hardly?

The workload of W1 on the three ARQ links: at most four (r4), two (r2) or one (r1) retransmissions by the link, 700 ms
each. Residual errors are rare on r4 and frequent on r1. The four configurations of W1, 120 repetitions each; the
history of good and bad states is the same in all configurations.

What the source printed: numbers for r4 only. Overall throughput is 85 % of the error-free one and varies a lot;
Enhanced TCP and ECN shorten the third flow nearly as much as without errors. On r2 and r1 Enhanced TCP still helps,
ECN does not any more.

What may differ here: the history of states. The source used one, which is lost; here one is drawn from the seed and
each repetition takes its stretch of it, the same in all configurations. Over twelve such histories, 40 repetitions
each, the overall throughput of BL on r4 is 0.853 of the error-free one (0.846 to 0.859; 0.85 printed).
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.aftermath import needless_retransmissions
from crosswind.reproduce import Measure, Measures, Picture, Results, Scenario, measures, needed
from crosswind.reproduce.claims import BrokenClaimError
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w1-arq", ("third",), events=("third",))
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.FOUR)
OVERALL, THIRD = "overall_throughput", "third_elapsed_s"
R4 = tuple(f"r4 {c}" for c in testbed.FOUR)
LOGGED = "r4 BL"
AGAINST = (("r4 BL", OVERALL), ("w1-e0/BL", OVERALL))


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twelve configurations: three links, four each; in one all flows are logged, for what follows timeouts."""
    out = testbed.configurations(WORKLOAD, LABELS, variant)
    return out | {LOGGED: out[LOGGED].with_({"record.events": ["bulk", "third"]})}


def _of_spurious_flows(r: Results) -> float:
    """Share of BL's unnecessary retransmissions that belong to flows with a spurious timeout."""
    flows = r.runs.flows()
    needed(flows, "no flow table")
    bl = flows.filter(flows["configuration"] == "r4 BL")
    wasted = bl["unnecessary_retransmissions_packets"].to_numpy().astype(float)
    needed(wasted.any(), "nothing was retransmitted in vain")
    return wasted[bl["spurious_timeouts"].to_numpy() > 0].sum() / wasted.sum()


def _after_spurious(r: Results) -> Estimate:
    """The share of needless retransmissions that were made after a spurious timeout and before its recovery ended."""
    log = r.runs.events().filter(pl.col("configuration") == LOGGED)
    if log.is_empty():
        raise BrokenClaimError("no events were recorded")
    every, after = needless_retransmissions(log)
    needed(every, "nothing was retransmitted in vain")
    return stats.exact(after / every, every)


def _gain(link: str) -> tuple[str, str]:
    return (f"{link} ETCP", f"{link} BL") if link != "e0" else ("w1-e0/ETCP", "w1-e0/BL")


def _gain_below(link: str) -> Measure:
    """Enhanced TCP's gain in overall throughput on r1 minus that on another link."""
    cells = [(name, OVERALL) for name in (*_gain("r1"), *_gain(link))]
    return measures.joined(cells, lambda m: m[0] / m[1] - m[2] / m[3], pairing="paired")


def _faster_and_steadier(link: str) -> Measures:
    new, old = f"{link} ETCP", f"{link} BL"
    return {
        "third flow, ETCP against BL: median": measures.change(new, old, THIRD),
        "third flow, ETCP against BL: IQR": measures.change(new, old, THIRD, of=stats.iqr_of),
    }


CLAIMS = {
    "J47": measures.steps(["r4 ETCP", "r4 ETCP+ECN", "r4 BL", "r4 BL+ECN"], OVERALL)
    | {
        "spread": parts.spread_of_medians(R4, OVERALL),
        "BL, ratio to the error-free link": measures.ratio(*AGAINST, pairing="paired"),
    }
    | measures.each(R4, OVERALL),
    "J48": {
        "BL, IQR": measures.value("r4 BL", OVERALL, of=stats.iqr_of),
        "BL, IQR against the error-free link": measures.ratio(*AGAINST, of=stats.iqr_of, pairing="paired"),
    },
    "J49": {"BL against the error-free link": measures.change("r4 BL", "w1-e0/BL", THIRD)}
    | {c: measures.change(f"r4 {c}", "r4 BL", THIRD) for c in testbed.FOUR[1:]}
    | measures.steps(R4, THIRD),
    "J50": {c: measures.change(f"r4 {c}", "r4 BL", THIRD, of=stats.iqr_of) for c in ("BL+ECN", "ETCP+ECN")}
    | measures.ratios(((f"r4 {c}", "r4 BL") for c in ("BL+ECN", "ETCP+ECN")), THIRD, stats.iqr_of),
    "J51": {
        "ETCP against BL, mean per repetition": measures.change("r4 ETCP", "r4 BL", "unnecessary", of=np.mean),
        "of flows with a spurious timeout, BL": _of_spurious_flows,
        "after spurious timeouts, BL": _after_spurious,
    },
    "J52": {"gap, ETCP against BL": measures.change("r4 ETCP", "r4 BL", "bulk_gap_s")},
    "J53": _faster_and_steadier("r2")
    | {
        "overall throughput, BL+ECN against BL": measures.change("r2 BL+ECN", "r2 BL", OVERALL),
        "overall throughput, ETCP+ECN against ETCP": measures.change("r2 ETCP+ECN", "r2 ETCP", OVERALL),
    },
    "J54": _faster_and_steadier("r1")
    | {f"gain on r1 minus gain on {link}": _gain_below(link) for link in ("e0", "r4", "r2")}
    | {"overall throughput, ETCP against BL": measures.change("r1 ETCP", "r1 BL", OVERALL)}
    | {f"marks per repetition, {c}": measures.value(f"r1 {c}", "marks", of=np.mean) for c in ("BL+ECN", "ETCP+ECN")},
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 13 to 15."""
    out = boxes.pictures(r, "third", {"13c": "bulk", "13d": "both"}, link="r4")
    for link, n in (("r4", 13), ("r2", 14), ("r1", 15)):
        known = {f"{n}a": {"all": study.printed("J47", "r4")}} if link == "r4" else {}
        out += boxes.pictures(r, "third", {f"{n}a": "overall", f"{n}b": "third"}, link=link, printed=known)
    return out


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and a short one on a 64 kbit/s last hop with ARQ",
    variants=readings.ARQ,
    headline=parts.headline(THIRD, "s", LABELS),
    uses=("w1-e0",),
)
