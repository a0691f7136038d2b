"""How does TFRC take a handover between GPRS and UMTS, and which of its options or a notice of the new link help?

One TFRC flow of ns-2's kind (its increase is limited to about a packet per round-trip time for each report); at 30 s
the last hop becomes the other system. Options of the source's section 6.3: self-clocking, no history discounting,
three reports per round-trip time. Section 6.4: 20 packets of queue everywhere. Section 6.5: the receiver is told of
the new link and reports it for three round-trip times, with and without forgetting the old one afterwards; the sender
may then jump.

What the source printed: three reports per round-trip time improve aggressiveness and responsiveness by about 30 %;
self-clocking loses less; with the notice there is no underutilisation upwards and fewer losses downwards; without the
reset the old rate comes back. The numbers of figures 6.5a and 6.5b are withheld.

What may differ here: packets of 1000 bytes and ten start times instead of one trace (decision 0028), uplinks of 10 and
64 kbit/s; the profile `ns2-tfrc-2003` is that of ns-2 before October 2004 (decision 0027), `ns2-tfrc` that of ns-2.35.
A rate that is never carried until the end counts as carried then.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    READINGS,
    REPS,
    SEGMENT_BYTES,
    SYSTEMS,
    UP,
    allowed_at,
    carried_bps,
    drops_after,
    first_drop,
    handover,
    label,
    notice,
    sampled,
    tcp,
    tfrc,
    time_to_use,
)
from crosswind.reproduce import Picture, Results, Scenario

UMTS_BPS = SYSTEMS["UMTS"]["bps"]
GPRS_BPS = SYSTEMS["GPRS"]["bps"]


def configurations(preset: str = "ns2-tfrc-2003", packet_bytes: int = SEGMENT_BYTES) -> dict[str, Scenario]:
    """The two handovers with each option, and TCP for comparison with more queue."""

    def one(pair: tuple[str, str], flow: dict[str, Any], limit: int | None = None) -> Scenario:
        return handover("f6-5", pair, {"flow": flow}, limit)

    def plain(**keys: Any) -> dict[str, Any]:
        return tfrc(preset, packet_bytes, **keys)

    out = {label(p): one(p, plain()) for p in (UP, DOWN)}
    out[label(DOWN, "self-clocking")] = one(DOWN, plain(conservative="on"))
    out[label(UP, "no discounting")] = one(UP, plain(discounting="off"))
    out[label(UP, "three reports")] = one(UP, plain(feedback_per_rtt=3))
    out[label(UP, "overbuffered")] = one(UP, plain(), 20)
    out[label(UP, "tcp")] = one(UP, tcp(packet_bytes))
    out[label(UP, "tcp overbuffered")] = one(UP, tcp(packet_bytes), 20)
    for pair in (UP, DOWN):
        out[label(pair, "notice")] = one(pair, tfrc("rfc3448", packet_bytes, notify=notice(pair[1])))
    out[label(UP, "notice, no reset")] = one(UP, tfrc("rfc3448", packet_bytes, notify=notice(UP[1], "off")))
    return out


Number = Callable[[Results, int], float]


def _used(configuration: str) -> Number:
    """Share of UMTS that is used from the handover to the end."""
    return lambda r, rep: carried_bps(r, configuration, "flow", HANDOVER_S, END_S, rep) / UMTS_BPS


def _time_to(share: float, configuration: str) -> Number:
    """Seconds from the handover until a share of UMTS is carried: the source gives no number for that."""
    return lambda r, rep: time_to_use(r, configuration, "flow", UMTS_BPS, share, rep=rep)


def _drops(configuration: str) -> Number:
    return lambda r, rep: drops_after(r, configuration, "flow", rep=rep)


def _first_cut(r: Results, rep: int) -> float:
    """When the allowed rate has fallen by a tenth for the first time after the handover to GPRS; the end, if never."""
    t, rate = sampled(r, label(DOWN), "flow", "allowed_rate_bps", rep)
    late = t[(t > HANDOVER_S) & (rate < 0.9 * allowed_at(r, label(DOWN), "flow", HANDOVER_S, rep))]
    return float(late[0]) if len(late) else END_S


def _sent_before_cut(r: Results, rep: int) -> float:
    t = overlay.events(r, label(DOWN), "flow", "send", "sender", rep)["t"]
    return float(((t >= HANDOVER_S) & (t < _first_cut(r, rep))).sum())


def _dropped_before_cut(r: Results, rep: int) -> float:
    return drops_after(r, label(DOWN), "flow", end=_first_cut(r, rep), rep=rep)


def _adequate(r: Results, rep: int) -> float:
    """Seconds from the handover until the rate fits the new link and stays there for five seconds."""
    t, rate = sampled(r, label(DOWN), "flow", "allowed_rate_bps", rep)
    fits = rate <= 1.1 * GPRS_BPS
    held = (t[i] for i in np.flatnonzero((t >= HANDOVER_S) & fits) if fits[(t >= t[i]) & (t < t[i] + 5)].all())
    return float(next(held, END_S) - HANDOVER_S)


def _after_fakes(configuration: str) -> Number:
    """Allowed rate five round-trip times after the last report that was made up, of the new link."""
    at = HANDOVER_S + 8 * SYSTEMS["UMTS"]["rtt_s"]
    return lambda r, rep: allowed_at(r, configuration, "flow", at, rep) / UMTS_BPS


def _at_last_fake(r: Results, rep: int) -> float:
    """Allowed rate without the reset when the last made-up report has come, of the new link."""
    at = HANDOVER_S + 4 * SYSTEMS["UMTS"]["rtt_s"]
    return allowed_at(r, label(UP, "notice, no reset"), "flow", at, rep) / UMTS_BPS


def _gain(plain: str, over: str) -> Number:
    before, after = _used(plain), _used(over)
    return lambda r, rep: after(r, rep) - before(r, rep)


THREE, OVER, TOLD = (label(UP, w) for w in ("three reports", "overbuffered", "notice"))
OF_TFRC = _gain(label(UP), OVER)
OF_TCP = _gain(label(UP, "tcp"), label(UP, "tcp overbuffered"))
means, mean = overlay.means_over_starts, overlay.over_starts
CLAIMS = {
    "G63": {
        "sent before the first cut": mean(_sent_before_cut),
        "dropped before it": mean(_dropped_before_cut),
        "time until the rate fits": mean(_adequate),
    },
    "G64": {"mean use": mean(_used(label(UP)))},
    "G67": {
        "faster: time to carry 80 % of UMTS, one report over three, less 1": means(
            _time_to(0.8, label(UP)), _time_to(0.8, THREE), lambda a, b: a / b - 1
        ),
        "time saved until 80 % of UMTS is carried": means(
            _time_to(0.8, THREE), _time_to(0.8, label(UP)), lambda a, b: 1 - a / b
        ),
        "more carried in the 30 s after the handover": means(_used(THREE), _used(label(UP)), lambda a, b: a / b - 1),
        "time with one report": mean(_time_to(0.8, label(UP))),
    },
    "G68": {
        "drops with self-clocking, of those without": means(_drops(label(DOWN, "self-clocking")), _drops(label(DOWN))),
        "drops without": mean(_drops(label(DOWN))),
    },
    "G69": {"time to 90 %": mean(_time_to(0.9, TOLD)), "use of UMTS to the end without it": mean(_used(label(UP)))},
    "G70": {"drops, of those without the notice": means(_drops(label(DOWN, "notice")), _drops(label(DOWN)))},
    "G71": {
        "allowed rate without the reset, of that with it": means(
            _after_fakes(label(UP, "notice, no reset")), _after_fakes(TOLD)
        ),
        "allowed rate without the reset, of that at the last made-up report": means(
            _after_fakes(label(UP, "notice, no reset")), _at_last_fake
        ),
        "with the reset, of UMTS": mean(_after_fakes(TOLD)),
    },
    "G72": {
        "gain in use of UMTS, TFRC less TCP": mean(lambda r, rep: OF_TFRC(r, rep) - OF_TCP(r, rep)),
        "gain of TFRC": mean(OF_TFRC),
        "gain of TCP": mean(OF_TCP),
    },
    "G91": {
        "TFRC, GPRS: first drop before the handover (30 s: none)": mean(lambda r, rep: first_drop(r, label(UP), rep)),
        "TFRC, UMTS: first drop": mean(lambda r, rep: first_drop(r, label(DOWN), rep)),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Time-sequence graphs around the handover (figures 6.5, 6.7 and 6.9)."""
    out = []
    for name, configuration in (
        ("6-5a", label(UP)),
        ("6-5b", label(DOWN)),
        ("6-7", label(UP, "three reports")),
        ("6-9a", label(UP, "notice")),
        ("6-9b", label(DOWN, "notice")),
    ):
        e = r.runs.only(configuration, [0]).events(flow="flow")
        out.append(figures.time_sequence(f"fig-{name}", f"TFRC and a handover at 30 s, {configuration}.", e))
    return out


EXPERIMENT = study.experiment(
    __name__,
    "TFRC and ideal handovers between GPRS and UMTS: its options, more queue, a notice of the new link",
    where="figures 6.5, 6.7 and 6.9, sections 6.3 to 6.5",
    tables=overlay.repetition,
    reps=REPS,
    variants=READINGS,
    partly=("G91",),
)
