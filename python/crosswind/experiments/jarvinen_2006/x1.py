"""How short does the stream's delay become when the link buffers a single packet and TCP is held to the link's rate?

The workload of W4 on the error-free link of 64 kbit/s with Baseline TCP and a class for the stream; the link's send
buffer takes one packet and the class of TCP is shaped to the nominal rate of the link, so that packets wait in the
router, where the stream overtakes them. 120 repetitions (assumed: the source gives no number).

What the source printed: median 410 ms, upper quartile 446 ms, longest 596 ms; largest delay variation 141 ms.

What may differ here: three packets are still on their way between router and link buffer. The minimal buffer is one
MTU of bytes.
"""

from typing import Any

import numpy as np

from crosswind.experiments.jarvinen_2006 import parts, readings, stream, study, testbed
from crosswind.reproduce import Picture, Results, Scenario

WORKLOAD = testbed.Workload("x1", ("audio",))
LABEL, FREE = "LSB1 BL+DS", "LSB1 BL+DS, unshaped"


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The shaped class of the source, and for comparison one that takes what the stream leaves."""
    reading = testbed.Reading(**variant)
    return {
        LABEL: testbed.world(WORKLOAD, testbed.setting(LABEL, tcp_rate="link"), reading, LABEL),
        FREE: testbed.world(WORKLOAD, testbed.setting(LABEL), reading, FREE),
    }


CLAIMS = {
    "J105": {
        "median": stream.quantile(LABEL, "delay_ns", 0.5),
        "upper quartile": stream.quantile(LABEL, "delay_ns", 0.75),
        "longest": stream.extreme([LABEL], "audio_delay_max_ms", np.max),
        "largest delay variation": stream.extreme([LABEL], "audio_ipdv_max_ms", np.max),
        "median, unshaped": stream.quantile(FREE, "delay_ns", 0.5),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Distribution of the delay."""
    return [
        stream.delay_picture(
            "delay-x1", "One-way delay of the stream's packets, minimal link buffer.", r, [LABEL, FREE]
        )
    ]


EXPERIMENT = study.experiment(
    __name__,
    "Side experiment: audio at 64 kbit/s with a minimal link buffer",
    variants=readings.STREAM,
    headline=parts.headline("audio_delay_p50_ms", "ms", (LABEL, FREE), 0),
)
