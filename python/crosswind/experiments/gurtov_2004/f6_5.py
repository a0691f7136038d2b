"""How does TFRC take a handover between GPRS and UMTS, and which of its options or a notice of the new link help?

One TFRC flow of ns-2's kind (its increase is limited to about a packet per round-trip time for each report); at 30 s
the last hop becomes the other system. Options of the source's section 6.3: self-clocking, no history discounting,
three reports per round-trip time. Section 6.4: 20 packets of queue everywhere. Section 6.5: the receiver is told of
the new link and reports it for three round-trip times, with and without forgetting the old one afterwards; the sender
may then jump.

What the source printed: three reports per round-trip time improve aggressiveness and responsiveness by about 30 %;
self-clocking loses less; with the notice there is no underutilisation upwards and fewer losses downwards; without the
reset the old rate comes back. The numbers of figures 6.5a and 6.5b are withheld.

What may differ here: packets of 1500 bytes, uplinks of 10 and 64 kbit/s; the profile `ns2-tfrc-2003` is that of ns-2
before October 2004 (decision 0027). The notice is measured with `rfc3448`, which allows the jump that the source asks
for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.claims import MissingDataError, measures
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
    SYSTEMS,
    UP,
    allowed_at,
    carried_bps,
    drops_after,
    handover,
    label,
    notice,
    sampled,
    tcp,
    tfrc,
    time_to_use,
)
from crosswind.figures import Picture
from crosswind.scenario import Scenario

UMTS_BPS = SYSTEMS["UMTS"]["bps"]
GPRS_BPS = SYSTEMS["GPRS"]["bps"]


def configurations(preset: str = "ns2-tfrc-2003") -> dict[str, Scenario]:
    """The two handovers with each option, and TCP for comparison with more queue."""

    def one(pair: tuple[str, str], flow: dict[str, Any], limit: int | None = None) -> Scenario:
        return handover("f6-5", pair, {"flow": flow}, limit)

    out = {label(p): one(p, tfrc(preset)) for p in (UP, DOWN)}
    out[label(DOWN, "self-clocking")] = one(DOWN, tfrc(preset, conservative="on"))
    out[label(UP, "no discounting")] = one(UP, tfrc(preset, discounting="off"))
    out[label(UP, "three reports")] = one(UP, tfrc(preset, feedback_per_rtt=3))
    out[label(UP, "overbuffered")] = one(UP, tfrc(preset), 20)
    out[label(UP, "tcp")] = one(UP, tcp())
    out[label(UP, "tcp overbuffered")] = one(UP, tcp(), 20)
    for pair in (UP, DOWN):
        out[label(pair, "notice")] = one(pair, tfrc("rfc3448", notify=notice(pair[1])))
    out[label(UP, "notice, no reset")] = one(UP, tfrc("rfc3448", notify=notice(UP[1], "off")))
    return out


def _used(r: Results, configuration: str) -> float:
    """Share of UMTS that is used from the handover to the end."""
    return carried_bps(r, configuration, "flow", HANDOVER_S, END_S) / UMTS_BPS


def _time_to_adapt(r: Results, configuration: str) -> float:
    """Seconds from the handover until 80 % of UMTS is carried: the source gives no number for a rate that matches."""
    return time_to_use(r, configuration, "flow", UMTS_BPS, 0.8)


def _first_cut(r: Results, configuration: str) -> float:
    """When the allowed rate has fallen by a tenth for the first time."""
    t, rate = sampled(r, configuration, "flow", "allowed_rate_bps")
    before = allowed_at(r, configuration, "flow", HANDOVER_S)
    late = (t > HANDOVER_S) & (rate < 0.9 * before)
    if not late.any():
        raise MissingDataError("the rate is never cut")
    return float(t[late][0])


def _sent_before_cut(r: Results) -> int:
    t = overlay.events(r, label(DOWN), "flow", "send", "sender")["t"]
    return int(((t >= HANDOVER_S) & (t < _first_cut(r, label(DOWN)))).sum())


def _adequate(r: Results) -> float:
    """Seconds from the handover until the rate fits the new link and stays there for five seconds."""
    t, rate = sampled(r, label(DOWN), "flow", "allowed_rate_bps")
    fits = rate <= 1.1 * GPRS_BPS
    for i in np.flatnonzero((t >= HANDOVER_S) & fits):
        if fits[(t >= t[i]) & (t < t[i] + 5)].all():
            return float(t[i] - HANDOVER_S)
    raise MissingDataError("the rate never fits")


def _after_fakes(r: Results, configuration: str) -> float:
    """Allowed rate five round-trip times after the last report that was made up, of the new link."""
    rtt = SYSTEMS["UMTS"]["rtt_s"]
    return allowed_at(r, configuration, "flow", HANDOVER_S + 8 * rtt) / UMTS_BPS


def _at_last_fake(r: Results) -> float:
    """Allowed rate without the reset when the last made-up report has come, of the new link."""
    at = HANDOVER_S + 4 * SYSTEMS["UMTS"]["rtt_s"]
    return allowed_at(r, label(UP, "notice, no reset"), "flow", at) / UMTS_BPS


def _gain(r: Results, plain: str, over: str) -> float:
    return _used(r, over) - _used(r, plain)


CLAIMS = study.BOOK.claims(
    {
        "G63": {
            "sent before the first cut": measures.fact(_sent_before_cut),
            "dropped before it": measures.fact(
                lambda r: drops_after(r, label(DOWN), "flow", end=_first_cut(r, label(DOWN)))
            ),
            "time until the rate fits": measures.fact(_adequate),
        },
        "G64": {"mean use": measures.fact(lambda r: _used(r, label(UP)))},
        "G67": {
            "faster: time to carry 80 % of UMTS, one report over three, less 1": measures.fact(
                lambda r: _time_to_adapt(r, label(UP)) / _time_to_adapt(r, label(UP, "three reports")) - 1
            ),
            "time with one report": measures.fact(lambda r: _time_to_adapt(r, label(UP))),
            "more carried in the 30 s after the handover": measures.fact(
                lambda r: _used(r, label(UP, "three reports")) / _used(r, label(UP)) - 1
            ),
        },
        "G68": {
            "drops with self-clocking, of those without": measures.fact(
                lambda r: drops_after(r, label(DOWN, "self-clocking"), "flow") / drops_after(r, label(DOWN), "flow")
            ),
            "drops without": measures.fact(lambda r: drops_after(r, label(DOWN), "flow")),
        },
        "G69": {
            "time to 90 %": measures.fact(lambda r: time_to_use(r, label(UP, "notice"), "flow", UMTS_BPS)),
            "use of UMTS to the end without it": measures.fact(lambda r: _used(r, label(UP))),
        },
        "G70": {
            "drops, of those without the notice": measures.fact(
                lambda r: drops_after(r, label(DOWN, "notice"), "flow") / drops_after(r, label(DOWN), "flow")
            )
        },
        "G71": {
            "allowed rate without the reset, of that with it": measures.fact(
                lambda r: _after_fakes(r, label(UP, "notice, no reset")) / _after_fakes(r, label(UP, "notice"))
            ),
            "allowed rate without the reset, of that at the last made-up report": measures.fact(
                lambda r: _after_fakes(r, label(UP, "notice, no reset")) / _at_last_fake(r)
            ),
            "with the reset, of UMTS": measures.fact(lambda r: _after_fakes(r, label(UP, "notice"))),
        },
        "G72": {
            "gain in use of UMTS, TFRC less TCP": measures.fact(
                lambda r: (
                    _gain(r, label(UP), label(UP, "overbuffered"))
                    - _gain(r, label(UP, "tcp"), label(UP, "tcp overbuffered"))
                )
            ),
            "gain of TFRC": measures.fact(lambda r: _gain(r, label(UP), label(UP, "overbuffered"))),
        },
    }
)


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
    "f6-5",
    "TFRC and ideal handovers between GPRS and UMTS: its options, more queue, a notice of the new link",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 6.5, 6.7 and 6.9, sections 6.3 to 6.5",
    figures=pictures,
    tables=overlay.repetition,
    variants={"ns2-tfrc": Variant("TFRC of ns-2.35", {"preset": "ns2-tfrc"})},
)
