"""What happens to an audio stream beside two long downloads at 384 kbit/s, and with hardly any buffer in the link?

Two bulk transfers of 1920 segments and the audio stream, which starts somewhere in the first 13.5 s, on an error-free
link of 384 kbit/s and 200 ms. The router's queue is 20 packets (B20) or 80 (B80). Eight configurations with B20, the
four without ECN with B80, all of them again with the link's send buffer cut to one packet (LSB1); 120 repetitions.

What the source printed: Baseline TCP loses packets of the stream in the overshoot only, Enhanced TCP none; the stream's
delay with classes is that of the link's buffer, and is low and steady without it. B80 with ECN could not be measured:
the average stays above the maximum threshold and every retransmission is dropped. Here these configurations are run.

What may differ here: with B80, RED keeps its thresholds of 3 and 9 packets. A run counts as stalled when its slower
bulk flow takes more than twice as long as without ECN, or never ends.
"""

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, parts, readings, stream, study, testbed
from crosswind.reproduce import Picture, Results, Scenario, measures, needed
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w4h", ("audio",), bulk_bytes=1920 * testbed.MSS)
PLAIN = tuple(c for c in testbed.EIGHT if not c.endswith("+ECN"))
NORMAL = (*(f"B20 {c}" for c in testbed.EIGHT), *(f"B80 {c}" for c in PLAIN))
MINIMAL = tuple(f"LSB1 {c}" for c in NORMAL)
INFEASIBLE = ("B80 BL+ECN",)
LABELS = (*NORMAL, *MINIMAL, *INFEASIBLE)
OVERALL, DROPS = "overall_throughput", "audio_drops"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twelve configurations, the same with a minimal link buffer, and the one that the source could not finish."""
    return testbed.configurations(WORKLOAD, LABELS, variant, speed=384)


def _stalled(r: Results) -> Any:
    took = r.of("B80 BL+ECN", "slower_elapsed_s")
    usual = np.nanmedian(r.of("B80 BL", "slower_elapsed_s"))
    return ~(took <= 2.0 * usual) | (r.of("B80 BL+ECN", "unfinished") > 0)


def _run_length(r: Results) -> Estimate:
    lengths = r.of("B20 BL", "audio_loss_run_median")
    lengths = lengths[r.of("B20 BL", DROPS) > 0]
    needed(lengths, "no drops")
    return stats.median(lengths)


def _at_five(r: Results) -> Estimate:
    medians = [np.nanmedian(r.of(c, "audio_ipdv_p50_ms")) for c in NORMAL]
    return stats.exact(float(np.mean([abs(m - 5.6) <= 1.0 for m in medians])), len(medians))


CLAIMS = {
    "J2": {"384 kbit/s: minimum": stream.extreme(NORMAL, "audio_delay_min_ms", np.min)},
    "J7": {
        f"distance of the median from a step, {c}": stream.off_the_steps(c, "audio_ipdv_p50_ms", 12.0, -18.42)
        for c in ("B20 BL", "B20 BL+DS", "B80 BL+DS")
    }
    | {
        f"{k} segment{'s' if k > 1 else ''} between": stream.nearest(("B20 BL", "B80 BL+DS"), 12.0 * k - 19.0)
        for k in (1, 2, 3)
    },
    "J109": {
        "BL": measures.value("B20 BL", OVERALL),
        "ETCP": measures.value("B20 ETCP", OVERALL),
        "ETCP against BL": measures.change("B20 ETCP", "B20 BL", OVERALL),
    },
    "J110": {
        "largest count, BL": stream.extreme(["B20 BL"], DROPS, np.max),
        "rank correlation of drops and start, BL": measures.rank_correlation(
            lambda r: r.of("B20 BL", DROPS), lambda r: r.of("B20 BL", "audio_start_s")
        ),
        "largest count, DS": stream.extreme([c for c in NORMAL if "+DS" in c], DROPS, np.max),
        "median, ETCP": measures.value("B20 ETCP", DROPS),
        "drops in a row, BL": _run_length,
    },
    "J111": {"stalled repetitions, B80 BL+ECN": measures.share(_stalled)},
    "J112": {"share of configurations at 5 ms": _at_five}
    | {f"median, {c}": measures.value(c, "audio_ipdv_p50_ms") for c in ("B80 BL+DS", "B80 ETCP+DS")}
    | {f"upper quartile, {c}": measures.value(c, "audio_ipdv_p75_ms") for c in ("B80 BL+DS", "B80 ETCP+DS")},
    "J113": {
        f"gap, ETCP against BL, {b}": measures.change(f"{b} ETCP", f"{b} BL", "bulk_gap_s") for b in ("B20", "B80")
    },
    "J114": {
        f"median delay, {b} BL+DS, against the normal buffer": measures.change(
            f"LSB1 {b} BL+DS", f"{b} BL+DS", "audio_delay_p50_ms"
        )
        for b in ("B20", "B80")
    }
    | {
        f"median delay, ETCP+DS against BL+DS, {b}": measures.change(
            f"LSB1 {b} ETCP+DS", f"LSB1 {b} BL+DS", "audio_delay_p50_ms"
        )
        for b in ("B20", "B80")
    }
    | {
        f"upper quartile of the delay, ETCP+DS against BL+DS, {b}": measures.change(
            f"LSB1 {b} ETCP+DS", f"LSB1 {b} BL+DS", "audio_delay_p75_ms"
        )
        for b in ("B20", "B80")
    }
    | {f"95th percentile, {c}": stream.quantile(c, "delay_ns", 0.95) for c in ("LSB1 B20 BL+DS", "LSB1 B80 BL+DS")}
    | {
        f"overall throughput, B80 against B20, {c}": measures.change(f"LSB1 B80 {c}", f"LSB1 B20 {c}", OVERALL)
        for c in PLAIN
    },
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 36 to 38."""
    known = {"36a": {"all": {f"B20 {c}": v for c, v in study.printed("J109").items()}}}
    panels = {"36a": "overall", "36b": "drops", "36c": "bulk", "36d": "stream", "36e": "delay", "36f": "ipdv"}
    out = boxes.pictures(r, "audio", panels, only=NORMAL, printed=known)
    least = {"38a": "overall", "38b": "stream", "38c": "delay", "38d": "ipdv"}
    out += boxes.pictures(r, "audio", least, only=MINIMAL, where=", minimal link buffer")
    few = [c for c in MINIMAL if "+ECN" not in c]
    axis, chosen = "drops of the stream (packets)", ["B20 BL", "B80 BL"]
    return [
        *out,
        boxes.against_start(r, "37", "Drops of the stream", chosen, "audio", DROPS, axis),
        stream.delay_picture("delay-38", "One-way delay of the stream's packets, minimal link buffer.", r, few),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and an audio stream at 384 kbit/s, with a normal and a minimal link buffer",
    variants=readings.STREAM,
    headline=parts.headline(DROPS, "drops", NORMAL, 0),
    partly=("J2",),
)
