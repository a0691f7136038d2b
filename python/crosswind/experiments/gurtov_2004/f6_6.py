"""How do TFRC and TCP share a last hop before and after a handover?

One TFRC flow and one TCP flow over GPRS and UMTS, the handover at 30 s (figure 6.6); and the testbed's handovers
between GPRS and WLAN (figures 6.2 and 6.3), there with a TFRC that never sends less than one packet per round-trip
time.

What the source printed: over the fast link TFRC gets 15 % of TCP's rate in the testbed; after WLAN to GPRS the TCP of
the testbed is starved while TFRC lasts; TFRC alone sends on during a handover where TCP pauses. Figure 6.6 is
withheld.

What may differ here: packets of 1000 bytes and ten start times over GPRS and UMTS (decision 0028). The handovers of the
testbed are the breaks and losses of table 6.1, over the rates and the queue that its chapter 3 gives; its TFRC is known
only by its minimum rate, its TCP by FACK. These runs go on for 60 s after the handover and have one start.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    READINGS,
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
    sampled,
    tcp,
    testbed,
    tfrc,
)
from crosswind.reproduce import Measure, Results, Scenario

TO_WLAN = ("GPRS", "WLAN")
FROM_WLAN = ("WLAN", "GPRS")
LONG_S = 90.0


def configurations(preset: str = "ns2-tfrc-2003", packet_bytes: int = SEGMENT_BYTES) -> dict[str, Scenario]:
    """Both flows over each handover, and each alone from WLAN to GPRS."""
    both = {"tfrc": tfrc(preset, packet_bytes), "tcp": tcp(packet_bytes)}
    real = {"tfrc": tfrc("testbed-tfrc", TESTBED_BYTES), "tcp": linux_tcp()}
    out = {label(p): handover("f6-6", p, both) for p in (UP, DOWN)}
    out |= {label(p): testbed("f6-3", p, real, LONG_S) for p in (TO_WLAN, FROM_WLAN)}
    out |= {label(FROM_WLAN, f): testbed(f"f6-{i}", FROM_WLAN, {f: real[f]}) for i, f in ((2, "tfrc"), (1, "tcp"))}
    return out


def _ratio(r: Results, configuration: str, start: float, end: float, rep: int = 0) -> float:
    """TCP's rate over TFRC's."""
    return carried_bps(r, configuration, "tcp", start, end, rep) / max(
        carried_bps(r, configuration, "tfrc", start, end, rep), 1.0
    )


def _ratio_over_starts(configuration: str, start: float, end: float) -> Measure:
    def carried(flow: str) -> Any:
        return lambda r, rep: carried_bps(r, configuration, flow, start, end, rep)

    return overlay.means_over_starts(carried("tcp"), carried("tfrc"), lambda a, b: a / np.maximum(b, 1.0))


def _first_drop(configuration: str) -> Measure:
    """When the bottleneck drops its first packet before the handover; the handover, if it drops none."""
    return overlay.over_starts(lambda r, rep: first_drop(r, configuration, rep))


def _adapts(r: Results, flow: str, rep: int) -> float:
    """Seconds after the handover to UMTS until the flow carries 80 % of its mean over the last ten seconds."""
    goal = 0.8 * carried_bps(r, label(UP), flow, END_S - 10, END_S, rep)
    e = arrivals(r, label(UP), flow, rep)
    t, total = e["t"].to_numpy(), np.concatenate(([0.0], np.cumsum(e["bytes"].to_numpy().astype(float))))
    for start in np.arange(HANDOVER_S, END_S - 2, 0.25):
        a, b = np.searchsorted(t, [start, start + 2])
        if (total[b] - total[a]) * 8 / 2 >= goal:
            return float(start + 2 - HANDOVER_S)
    return END_S - HANDOVER_S


def _share(r: Results, rep: int) -> float:
    """TFRC's part of what both carry over UMTS in the last 5 s."""
    return 1 / (1 + _ratio(r, label(UP), END_S - 5, END_S, rep))


def _pause(r: Results, configuration: str, flow: str) -> float:
    """Longest time between two packets of the sender in the 20 s after the handover."""
    kinds = [overlay.events(r, configuration, flow, "send", "sender")["t"].to_numpy()]
    resent = r.runs.events(flow=flow, kind="resend")
    if flow == "tcp" and not resent.is_empty():
        kinds.append(overlay.events(r, configuration, flow, "resend", "sender")["t"].to_numpy())
    t = np.sort(np.concatenate(kinds))
    return float(np.max(np.diff(t[(t >= HANDOVER_S - 1) & (t <= HANDOVER_S + 20)])))


def _sent(r: Results, configuration: str, flow: str) -> int:
    """Packets with data that leave the sender after the handover, sent again or not."""
    e = r.runs.events(flow=flow).filter(pl.col("kind").is_in(["send", "resend"]) & (pl.col("end") == "sender"))
    e = e.filter(pl.col("rep") == 0)
    return e.filter((pl.col("configuration") == configuration) & (pl.col("time_ns") >= HANDOVER_S * 1e9)).height


def _starved(r: Results) -> float:
    tcp_packets, tfrc_packets = (_sent(r, label(FROM_WLAN), f) for f in ("tcp", "tfrc"))
    return tcp_packets / (tcp_packets + tfrc_packets)


def _new_after_backoffs(r: Results) -> int:
    """New data of TCP that arrives after its second timeout behind the handover, while TFRC goes on."""
    timeouts = overlay.events(r, label(FROM_WLAN), "tcp", "timeout", "sender").filter(pl.col("t") > HANDOVER_S)["t"]
    got = overlay.events(r, label(FROM_WLAN), "tcp", "receive", "receiver").filter(pl.col("len") > 0)
    new = got.filter(pl.col("seq") > pl.col("seq").cum_max().shift(1, fill_value=-1))
    return new.filter(pl.col("t") > float(timeouts[1])).height


def _fell(r: Results) -> float:
    t, rate = sampled(r, label(FROM_WLAN, "tfrc"), "tfrc", "allowed_rate_bps")
    lowest = rate[(t > HANDOVER_S) & (t < HANDOVER_S + 20)].min()
    return float(lowest / allowed_at(r, label(FROM_WLAN, "tfrc"), "tfrc", HANDOVER_S - 1))


CLAIMS = {
    "G65": {
        "TCP / TFRC in the 15 s before the handover": _ratio_over_starts(label(UP), 15, HANDOVER_S),
        "time that TCP takes": overlay.over_starts(lambda r, rep: _adapts(r, "tcp", rep)),
        "time that TFRC takes": overlay.over_starts(lambda r, rep: _adapts(r, "tfrc", rep)),
        "share of TFRC in the last 5 s": overlay.over_starts(_share),
    },
    "G66": {
        "TCP / TFRC in the 15 s before": _ratio_over_starts(label(DOWN), 15, HANDOVER_S),
        "TCP / TFRC in the 30 s after": _ratio_over_starts(label(DOWN), HANDOVER_S, END_S),
    },
    "G91": {"both, GPRS: first drop": _first_drop(label(UP)), "both, UMTS: first drop": _first_drop(label(DOWN))},
    "G73": {"TFRC, of TCP's rate in the 60 s after": lambda r: 1 / _ratio(r, label(TO_WLAN), HANDOVER_S, LONG_S)},
    "G76": {
        "longest pause of TFRC": lambda r: _pause(r, label(FROM_WLAN, "tfrc"), "tfrc"),
        "longest pause of TCP": lambda r: _pause(r, label(FROM_WLAN, "tcp"), "tcp"),
        "rate of TFRC falls to": _fell,
    },
    "G77": {
        "TCP's part of the packets sent": _starved,
        "new data of TCP that arrives after its first two back-offs": _new_after_backoffs,
        "packets of TFRC": lambda r: _sent(r, label(FROM_WLAN), "tfrc"),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "TFRC and TCP over one last hop, before and after a handover",
    where="figures 6.2, 6.3 and 6.6",
    tables=overlay.repetition,
    reps=REPS,
    variants=READINGS,
    partly=("G91",),
)
