"""How do SACK and DCR share a link when packets are reordered and dropped?

10 Mbit/s, 10 ms (a round trip of 24 ms), half of the flows SACK and half DCR. Figure 7: 10 % of the packets late,
congestion set by the buffer. Figure 8: congestion near 1.5 %, the share of late packets varies. Figure 9: 1 % late,
congestion near 1 %, 4 to 12 flows. 1000 s after 100 s of warm-up.

What the source printed: curves that are lost; in words: DCR clearly above SACK at low congestion, the gap narrows
with the drop rate; equal shares without reordering, two to three times SACK's with it (no share of late packets is
named); a gap that hardly depends on the number of flows.

What may differ here: the buffer that gives a drop rate is ours; the drop rates are reported beside the claims. Hosts
take up to one packet's time over each packet, as `overhead_` in the source's chapter V, and their queues hold 50
packets, as in ns-2: without that one flow, in step with the departures, keeps all others out of the full queue.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import f5_f6, nets, study
from crosswind.experiments.bhandarkar_2006.measures import mean_of
from crosswind.reproduce import Picture, Quantity, Results, Scenario, needed
from crosswind.reproduce.claims.quantities import largest, least, mean

BUFFERS = (400, 200, 120, 80, 50, 30, 20)
SHARES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
COUNTS = (4, 6, 8, 10, 12)
# Buffers that give about 1.5 % with twelve flows, and about 1 % with n.
BUFFER_F8 = 112
BUFFERS_F9 = {4: 25, 6: 52, 8: 80, 10: 106, 12: 131}


def _world(name: str, n: int, buffer: int, share: float, size: str) -> Scenario:
    line = nets.reordering(10, 10, nets.droptail(buffer), share)
    start = {"uniform": ["0 s", "10 s"]}
    half = n // 2
    flows = {"sack": nets.bulk("SACK", half, start), "dcr": nets.bulk("DCR", half, start)}
    # ns-2's queues hold 50 packets unless told otherwise.
    access = nets.host(10, 1, 10, queue=nets.droptail(50))
    seconds, left_out = study.span_s(size)
    return nets.dumbbell(name, line, access, flows, pairs=n, duration_s=seconds, warm_up_s=left_out)


def configurations(size: str = "full", **_: Any) -> dict[str, Scenario]:
    """`f7 <buffer>`, `f8 <share>`, `f9 <n>`."""
    out = {f"f7 {b}": _world(f"f7 {b}", 12, b, 0.1, size) for b in BUFFERS}
    out |= {f"f8 {s}": _world(f"f8 {s}", 12, BUFFER_F8, s, size) for s in SHARES}
    return out | {f"f9 {n}": _world(f"f9 {n}", n, BUFFERS_F9[n], 0.01, size) for n in COUNTS}


def quotient(label: str) -> Quantity:
    """Mean rate of DCR over SACK's."""
    return mean(label, "dcr_bps") / mean(label, "sack_bps")


def _drop_rates(r: Results) -> list[float]:
    return [r.mean(f"f7 {b}", "bottleneck_drop_rate") for b in BUFFERS]


def _low_congestion(r: Results) -> float:
    low = [quotient(f"f7 {b}")(r) for b, d in zip(BUFFERS, _drop_rates(r), strict=True) if d < 0.01]
    return min(needed(low, "no buffer with less than 1 % of drops"))


def _narrows(r: Results) -> bool:
    order = np.argsort(_drop_rates(r))
    ratios = np.array([quotient(f"f7 {b}")(r) for b in BUFFERS])[order]
    return all(b <= a * 1.1 for a, b in pairwise(ratios)) and ratios[-1] < ratios[0]


def _relative_loss(r: Results) -> bool:
    here = np.array([r.mean(f"f8 {s}", "sack_bps") for s in SHARES])
    alone = f5_f6.curve("f5", "SACK")(r.others["f5-f6"])
    some = np.array(SHARES) > 0
    return bool(np.all((here / here[0])[some] > (alone / alone[0])[some]))


def _spread(r: Results) -> float:
    """Largest deviation of the gap, in parts of a fair share, from its mean over the numbers of flows."""
    fair = nets.CEILING * 10e6
    gap = np.array([(r.mean(f"f9 {n}", "dcr_bps") - r.mean(f"f9 {n}", "sack_bps")) / (fair / n) for n in COUNTS])
    return float(np.abs(gap / gap.mean() - 1).max())


def pictures(r: Results) -> list[Picture]:
    """Figures 7, 8 and 9."""
    axes = {"f7": BUFFERS, "f8": SHARES, "f9": COUNTS}
    what = {"f7": "buffer (packets)", "f8": "share of late packets", "f9": "number of flows"}
    return [
        figures.bars(
            f,
            f"Mean throughput of SACK and DCR flows by {what[f]}.",
            {k.upper(): {f"{x}": r.mean(f"{f} {x}", f"{k}_bps") / 1e6 for x in xs} for k in ("sack", "dcr")},
            "Mbit/s",
        )
        for f, xs in axes.items()
    ]


RATIOS = {s: quotient(f"f8 {s}") for s in SHARES}
CLAIMS = {
    "B18": {"least ratio below 1 % drops": _low_congestion, "it falls (10 % noise: our number)": _narrows},
    "B19": {
        "ratio at 0 %": RATIOS[0.0],
        **{f"with {s:.1%} late": RATIOS[s] for s in SHARES[1:]},
        "rising from 0.1 %": lambda r: np.all(np.diff([RATIOS[s](r) for s in SHARES[1:]]) > 0),
        "least ratio from 1 %": least(RATIOS[s] for s in SHARES if s >= 0.01),
        "largest ratio from 1 %": largest(RATIOS[s] for s in SHARES if s >= 0.01),
        "drop rate at 0 %, reported": mean_of("f8 0.0", "bottleneck_drop_rate"),
    },
    "B20": {"at every share": _relative_loss},
    "B21": {
        "largest deviation from the mean gap": _spread,
        **{f"drop rate with {n}, reported": mean_of(f"f9 {n}", "bottleneck_drop_rate") for n in COUNTS},
    },
}

EXPERIMENT = study.experiment(
    __name__, "Reordering and congestion", where="figures 7 to 9", uses=("f5-f6",), quick=study.SHORT
)
