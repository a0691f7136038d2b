"""How do TFRC and TCP share a last hop before and after a handover?

One TFRC flow and one TCP flow over GPRS and UMTS, the handover at 30 s (figure 6.6); and the testbed's handovers
between GPRS and WLAN (figures 6.2 and 6.3), there with a TFRC that never sends less than one packet per round-trip
time.

What the source printed: over the fast link TFRC gets 15 % of TCP's rate in the testbed; after WLAN to GPRS the TCP of
the testbed is starved while TFRC lasts; TFRC alone sends on during a handover where TCP pauses. Figure 6.6: upwards TCP
has 12 times TFRC's rate from an overflow at 5 s on, takes UMTS in about 10 s, and TFRC has not got its fair share by
60 s; downwards TCP is ahead after an overflow at 5 s, TFRC after the handover.

What may differ here: packets of 1000 bytes and ten start times over GPRS and UMTS (decision 0028). The handovers of the
testbed are the breaks and losses of table 6.1, over the rates and the queue that its chapter 3 gives; its TFRC is known
only by its minimum rate, its TCP by FACK. These runs go on for 60 s after the handover and have one start.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004 import overlay
from crosswind.experiments.gurtov_2004.overlay import by_start
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    REPS,
    SEGMENT_BYTES,
    TESTBED_BYTES,
    UP,
    allowed_at,
    arrivals,
    carried_bps,
    first_drop,
    handover,
    label,
    linux_tcp,
    tcp,
    testbed,
    tfrc,
)
from crosswind.reproduce import Measure, Quantity, Results, Scenario, measured, seeds

TO_WLAN = ("GPRS", "WLAN")
FROM_WLAN = ("WLAN", "GPRS")
LONG_S = 90.0


def configurations(
    preset: str = "ns2-tfrc-2003", packet_bytes: int = SEGMENT_BYTES, **reading: Any
) -> dict[str, Scenario]:
    """Both flows over each handover, each alone from WLAN to GPRS; `reading` are keys of ns-2's TFRC."""
    both = {"tfrc": tfrc(preset, packet_bytes, **reading), "tcp": tcp(packet_bytes)}
    real = {"tfrc": tfrc("testbed-tfrc", TESTBED_BYTES), "tcp": linux_tcp()}
    out = {label(p): handover("f6-6", p, both) for p in (UP, DOWN)}
    out |= {label(p): testbed("f6-3", p, real, LONG_S) for p in (TO_WLAN, FROM_WLAN)}
    out |= {label(FROM_WLAN, f): testbed(f"f6-{i}", FROM_WLAN, {f: real[f]}) for i, f in ((2, "tfrc"), (1, "tcp"))}
    return out


@by_start
def _carried(r: Results, rep: int, configuration: str, flow: str, start: float, end: float) -> float:
    return carried_bps(r, configuration, flow, start, end, rep)


def _ratio(configuration: str, start: float, end: float, flows: tuple[str, str] = ("tcp", "tfrc")) -> Measure:
    """The first flow's rate over the second's, means over the starts."""
    one, other = (_carried(configuration, flow, start, end) for flow in flows)
    return overlay.of_means(one, other, lambda a, b: a / np.maximum(b, 1.0))


def _share(configuration: str, start: float, end: float) -> Quantity:
    """TFRC's part of what both carry."""
    tcp, tfrc = (_carried(configuration, flow, start, end) for flow in ("tcp", "tfrc"))
    return 1 / (1 + tcp / tfrc.then(lambda x: np.maximum(x, 1.0)))


@by_start
def _first_drop(r: Results, rep: int, configuration: str) -> float:
    """When the bottleneck drops its first packet before the handover; the handover, if it drops none."""
    return first_drop(r, configuration, rep)


@by_start
def _adapts(r: Results, rep: int, flow: str) -> float:
    """Seconds after the handover to UMTS until the flow carries 80 % of its mean over the last ten seconds."""
    goal = 0.8 * carried_bps(r, label(UP), flow, END_S - 10, END_S, rep)
    e = arrivals(r, label(UP), flow, rep)
    t, total = e["t"].to_numpy(), np.concatenate(([0.0], np.cumsum(e["bytes"].to_numpy().astype(float))))
    for start in np.arange(HANDOVER_S, END_S - 2, 0.25):
        a, b = np.searchsorted(t, [start, start + 2])
        if (total[b] - total[a]) * 8 / 2 >= goal:
            return float(start + 2 - HANDOVER_S)
    return END_S - HANDOVER_S


def _less(r: Results) -> float:
    """TFRC's rate over TCP's in the 60 s after the handover of the testbed."""
    tcp, tfrc = (carried_bps(r, label(TO_WLAN), flow, HANDOVER_S, LONG_S) for flow in ("tcp", "tfrc"))
    return 1 / (tcp / max(tfrc, 1.0))


def _pause(flow: str) -> Quantity:
    """Longest time between two packets of a sender alone in the 20 s after the handover."""

    def longest(r: Results) -> float:
        t = np.sort(r.events(label(FROM_WLAN, flow), flow, "send", "retransmit")["t"].to_numpy())
        return float(np.max(np.diff(t[(t >= HANDOVER_S - 1) & (t <= HANDOVER_S + 20)])))

    return Quantity(longest)


@measured
def _sent(r: Results, flow: str) -> int:
    """Packets with data that leave a sender after the handover from WLAN, retransmitted or not."""
    return r.events(label(FROM_WLAN), flow, "send", "retransmit").filter(pl.col("t") >= HANDOVER_S).height


def _new_after_backoffs(r: Results) -> int:
    """New data of TCP that arrives after its second timeout behind the handover, while TFRC goes on."""
    timeouts = r.events(label(FROM_WLAN), "tcp", "timeout").filter(pl.col("t") > HANDOVER_S)["t"]
    got = r.events(label(FROM_WLAN), "tcp", "receive", end="receiver").filter(pl.col("len") > 0)
    new = got.filter(pl.col("seq") > pl.col("seq").cum_max().shift(1, fill_value=-1))
    return new.filter(pl.col("t") > float(timeouts[1])).height


def _fell(r: Results) -> float:
    t, rate = r.series(label(FROM_WLAN, "tfrc"), "allowed_rate_bps", "tfrc")
    lowest = rate[(t > HANDOVER_S) & (t < HANDOVER_S + 20)].min()
    return float(lowest / allowed_at(r, label(FROM_WLAN, "tfrc"), "tfrc", HANDOVER_S - 1))


CLAIMS = {
    "G65": {
        "TCP / TFRC in the 15 s before the handover": _ratio(label(UP), 15, HANDOVER_S),
        "time that TCP takes": seeds(_adapts("tcp")),
        "time that TFRC takes": seeds(_adapts("tfrc")),
        "share of TFRC in the last 5 s": seeds(_share(label(UP), END_S - 5, END_S)),
    },
    "G66": {
        "TCP / TFRC in the 15 s before": _ratio(label(DOWN), 15, HANDOVER_S),
        "TCP / TFRC in the 30 s after": _ratio(label(DOWN), HANDOVER_S, END_S),
    },
    "G91": {
        "both, GPRS: first drop": seeds(_first_drop(label(UP))),
        "both, UMTS: first drop": seeds(_first_drop(label(DOWN))),
    },
    "G73": {
        "TFRC, of TCP's rate in the 60 s after": _less,
        "TFRC, of TCP's rate over UMTS in the 30 s after": _ratio(label(UP), HANDOVER_S, END_S, ("tfrc", "tcp")),
    },
    "G76": {
        "longest pause of TFRC": _pause("tfrc"),
        "longest pause of TCP": _pause("tcp"),
        "rate of TFRC falls to": _fell,
    },
    "G77": {
        "TCP's part of the packets sent": _sent("tcp") / (_sent("tcp") + _sent("tfrc")),
        "new data of TCP that arrives after its first two back-offs": _new_after_backoffs,
        "packets of TFRC": _sent("tfrc"),
    },
}

EXPERIMENT = overlay.experiment(
    __name__,
    "TFRC and TCP over one last hop, before and after a handover",
    where="figures 6.2, 6.3 and 6.6",
    reps=REPS,
    partly=("G91",),
)
