"""What happens to an audio stream beside two long downloads when the last hop has errors?

The workload of W4 on the three ARQ links (see W1 on the same links), eight configurations on each, 120 repetitions.

On r4 classes save the stream from nearly all drops and two fifths of its median delay. On r2 it loses 8 % of its
packets in BL and 1.6 to 1.7 % with classes, which is what the link loses.

What may differ here: the history of states, and how long a confirmed packet holds the link's send buffer (variants
`short-hold` and `frozen-state`).
"""

from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.experiments.jarvinen_2006 import parts, readings, stream, study, testbed
from crosswind.reproduce import Measure, Picture, Results, Scenario, measured, measures
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w4-arq", ("audio",))
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.EIGHT)
R4 = tuple(f"r4 {c}" for c in testbed.EIGHT)
OVERALL, DROPS = "overall_throughput", "audio_missing"
DELAYED = ("r4 BL", "r4 BL+ECN", "r4 BL+DS", "r4 BL+DS+ECN", "r4 ETCP", "r4 ETCP+ECN", "r4 ETCP+DS", "r4 ETCP+DS+ECN")


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twenty-four configurations: three links, eight each."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


@measured
def _loss(r: Results, configuration: str) -> Estimate:
    return stats.median(r.of(configuration, DROPS) / testbed.STREAM_PACKETS)


def _longer(new: str, old: str) -> Measure:
    """The change of the longest delay of all packets."""
    return measures.change(new, old, "audio_delay_max_ms", of=np.max)


LOSING = ("BL", "BL+ECN", "ETCP", *(c for c in testbed.EIGHT if "+DS" in c))
CLAIMS = {
    "J13": {
        f"out of order, W4 {link}": measures.extreme(
            [f"{link} {c}" for c in testbed.EIGHT], "audio_out_of_order", np.sum
        )
        for link in testbed.LOSSY
    },
    "J106": measures.each(R4, DROPS)
    | measures.each(R4, DROPS, of=measures.upper, word=", upper quartile")
    | measures.each(R4, DROPS, of=np.max, word=", maximum")
    | {f"{c}, median delay": stream.quantile(c, "delay_ns", 0.5) for c in DELAYED}
    | {f"{c}, longest delay": stream.extreme([c], "audio_delay_max_ms", np.max) for c in DELAYED}
    | {f"{c} against r4 BL, median delay": stream.quantile_change(c, "r4 BL", 0.5) for c in DELAYED[1:]}
    | {f"{c} against r4 BL, longest delay": _longer(c, "r4 BL") for c in DELAYED[1:]},
    "J107": measures.each(R4, OVERALL) | parts.against(("r4 ETCP+DS", "r4 BL+DS+ECN"), R4, OVERALL),
    "J108": {c: _loss(f"r2 {c}") for c in LOSING},
    "J18": {
        f"largest count on {link}": stream.extreme(
            [f"{link} {c}" for c in testbed.EIGHT if "+DS" in c], "audio_drops", np.max
        )
        for link in testbed.LOSSY
    },
}


def _lost_on_r2(r: Results) -> Picture:
    """The loss of the stream, of which medians are printed."""
    groups = {c: {"stream": r.of(f"r2 {c}", DROPS) / testbed.STREAM_PACKETS * 100} for c in testbed.EIGHT}
    known = {"stream": {c: 100 * x for c, x in study.printed("J108").items()}}
    caption = "Loss of the stream on r2 (section 5.4.3): median, quartiles, range."
    return figures.quartile_bars("loss-34", caption, groups, "loss (%)", 0.0, printed=known)


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 33 to 35."""
    return [
        *stream.pictures(r, 33, "r4", testbed.EIGHT),
        *(p for p in stream.pictures(r, 34, "r2", testbed.EIGHT) if p.name[-1] not in "ef"),
        _lost_on_r2(r),
        *(p for p in stream.pictures(r, 35, "r1", testbed.EIGHT) if p.name[-1] not in "ef"),
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and an audio stream on a 64 kbit/s last hop with ARQ",
    variants=readings.ARQ,
    headline=parts.headline(DROPS, "missing", LABELS, 0),
    partly=("J13", "J18"),
)
