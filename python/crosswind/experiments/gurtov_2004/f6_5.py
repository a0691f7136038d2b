"""How does TFRC take a handover between GPRS and UMTS, and which of its options or a notice of the new link help?

One TFRC flow of ns-2's kind (its increase is limited to about a packet per round-trip time for each report); at 30 s
the last hop becomes the other system. Options of the source's section 6.3: self-clocking, no history discounting,
three reports per round-trip time. Section 6.4: 20 packets of queue everywhere. Section 6.5: the receiver is told of
the new link and reports it for three round-trip times, with and without forgetting the old one afterwards; the sender
may then jump.

What the source printed: three reports per round-trip time improve aggressiveness and responsiveness by about 30 %;
self-clocking loses less; with the notice there is no underutilisation upwards and fewer losses downwards; without the
reset the old rate comes back. Upwards an overflow at 10 s ends slow start, and TFRC leaves much of UMTS unused;
downwards about 50 packets are sent and dropped before it slows down, and its rate fits after 20 s.

What may differ here: packets of 1000 bytes and ten start times instead of one trace (decision 0028), uplinks of 10 and
64 kbit/s; the profile `ns2-tfrc-2003` is that of ns-2 before October 2004 (decision 0027), `ns2-tfrc` that of ns-2.35.
The flows with a notice go by RFC 3448 instead, in every
reading: the source lets the sender jump to the new rate, and ns-2's limit of a packet per round-trip time for each
report would defeat the notice; their first rate is one packet per round-trip time as well. A rate that is never
carried until the end counts as carried then.
"""

from typing import Any

import numpy as np

from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.overlay import by_start, of_means
from crosswind.experiments.gurtov_2004.tfrc_handover import (
    DOWN,
    END_S,
    HANDOVER_S,
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
    tcp,
    tfrc,
    time_to_use,
)
from crosswind.reproduce import Results, Scenario, seeds

UMTS_BPS = SYSTEMS["UMTS"]["bps"]
GPRS_BPS = SYSTEMS["GPRS"]["bps"]


def configurations(
    preset: str = "ns2-tfrc-2003", packet_bytes: int = SEGMENT_BYTES, **reading: Any
) -> dict[str, Scenario]:
    """The two handovers with each option, and TCP for comparison with more queue; `reading` are keys of ns-2's TFRC."""

    def one(pair: tuple[str, str], flow: dict[str, Any], limit: int | None = None) -> Scenario:
        return handover("f6-5", pair, {"flow": flow}, limit)

    def plain(**keys: Any) -> dict[str, Any]:
        return tfrc(preset, packet_bytes, **reading, **keys)

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


@by_start
def _used(r: Results, rep: int, configuration: str) -> float:
    """Share of UMTS that is used from the handover to the end."""
    return carried_bps(r, configuration, "flow", HANDOVER_S, END_S, rep) / UMTS_BPS


@by_start
def _time_to(r: Results, rep: int, share: float, configuration: str) -> float:
    """Seconds from the handover until a share of UMTS is carried: the source gives no number for that."""
    return time_to_use(r, configuration, "flow", UMTS_BPS, share, rep=rep)


@by_start
def _drops(r: Results, rep: int, configuration: str) -> float:
    return drops_after(r, configuration, "flow", rep=rep)


def _first_cut(r: Results, rep: int) -> float:
    """When the allowed rate has fallen by a tenth for the first time after the handover to GPRS; the end, if never."""
    t, rate = r.series(label(DOWN), "allowed_rate_bps", "flow", rep)
    late = t[(t > HANDOVER_S) & (rate < 0.9 * allowed_at(r, label(DOWN), "flow", HANDOVER_S, rep))]
    return float(late[0]) if len(late) else END_S


@by_start
def _sent_before_cut(r: Results, rep: int) -> float:
    t = r.events(label(DOWN), "flow", "send", rep=rep)["t"]
    return float(((t >= HANDOVER_S) & (t < _first_cut(r, rep))).sum())


@by_start
def _dropped_before_cut(r: Results, rep: int) -> float:
    return drops_after(r, label(DOWN), "flow", end=_first_cut(r, rep), rep=rep)


@by_start
def _adequate(r: Results, rep: int) -> float:
    """Seconds from the handover until the rate fits the new link and stays there for five seconds."""
    t, rate = r.series(label(DOWN), "allowed_rate_bps", "flow", rep)
    fits = rate <= 1.1 * GPRS_BPS
    held = (t[i] for i in np.flatnonzero((t >= HANDOVER_S) & fits) if fits[(t >= t[i]) & (t < t[i] + 5)].all())
    return float(next(held, END_S) - HANDOVER_S)


@by_start
def _allowed(r: Results, rep: int, configuration: str, round_trips: int) -> float:
    """Allowed rate so many round-trip times of UMTS after the handover, of the new link."""
    at = HANDOVER_S + round_trips * SYSTEMS["UMTS"]["rtt_s"]
    return allowed_at(r, configuration, "flow", at, rep) / UMTS_BPS


@by_start
def _first_drop(r: Results, rep: int, configuration: str) -> float:
    return first_drop(r, configuration, rep)


ONE, THREE, OVER, TOLD, KEPT = (
    label(UP, w) for w in ("", "three reports", "overbuffered", "notice", "notice, no reset")
)
OF_TFRC = _used(OVER) - _used(ONE)
OF_TCP = _used(label(UP, "tcp overbuffered")) - _used(label(UP, "tcp"))
# When the last report that was made up has come, and five round-trip times after it.
LAST_FAKE, AFTER_FAKES = 4, 8
CLAIMS = {
    "G63": {
        "sent before the first cut": seeds(_sent_before_cut()),
        "dropped before it": seeds(_dropped_before_cut()),
        "time until the rate fits": seeds(_adequate()),
    },
    "G64": {"mean use": seeds(_used(ONE))},
    "G67": {
        "faster: time to carry 80 % of UMTS, one report over three, less 1": of_means(
            _time_to(0.8, ONE), _time_to(0.8, THREE), lambda a, b: a / b - 1
        ),
        "time saved until 80 % of UMTS is carried": of_means(
            _time_to(0.8, THREE), _time_to(0.8, ONE), lambda a, b: 1 - a / b
        ),
        "more carried in the 30 s after the handover": of_means(_used(THREE), _used(ONE), lambda a, b: a / b - 1),
        "time with one report": seeds(_time_to(0.8, ONE)),
    },
    "G68": {
        "drops with self-clocking, of those without": of_means(
            _drops(label(DOWN, "self-clocking")), _drops(label(DOWN))
        ),
        "drops without": seeds(_drops(label(DOWN))),
    },
    "G69": {
        "time to 90 %": seeds(_time_to(0.9, TOLD)),
        "time to 90 % without it": seeds(_time_to(0.9, ONE)),
        "use of UMTS to the end without it": seeds(_used(ONE)),
    },
    "G70": {"drops, of those without the notice": of_means(_drops(label(DOWN, "notice")), _drops(label(DOWN)))},
    "G71": {
        "allowed rate without the reset, of that with it": of_means(
            _allowed(KEPT, AFTER_FAKES), _allowed(TOLD, AFTER_FAKES)
        ),
        "allowed rate without the reset, of that at the last made-up report": of_means(
            _allowed(KEPT, AFTER_FAKES), _allowed(KEPT, LAST_FAKE)
        ),
        "with the reset, of UMTS": seeds(_allowed(TOLD, AFTER_FAKES)),
    },
    "G72": {
        "gain in use of UMTS, TFRC less TCP": seeds(OF_TFRC - OF_TCP),
        "gain of TFRC": seeds(OF_TFRC),
        "gain of TCP": seeds(OF_TCP),
    },
    "G91": {
        "TFRC, GPRS: first drop before the handover (30 s: none)": seeds(_first_drop(ONE)),
        "TFRC, UMTS: first drop": seeds(_first_drop(label(DOWN))),
    },
}

SHOWN = {"6-5a": ONE, "6-5b": label(DOWN), "6-7": THREE, "6-9a": TOLD, "6-9b": label(DOWN, "notice")}
# Times that the source prints: the first loss of slow start, and when the rate fits GPRS.
FIRST_LOSS_S = study.BOOK.number("G91", "TFRC, GPRS: first drop before the handover (30 s: none)")
FITS_S = HANDOVER_S + study.BOOK.number("G63", "time until the rate fits")
PRINTED = {"6-5a": {"first loss": FIRST_LOSS_S}, "6-5b": {"rate fits": FITS_S}}
pictures = overlay.time_sequences(SHOWN, "flow", "TFRC and a handover at 30 s, {}.", printed=PRINTED)

EXPERIMENT = overlay.experiment(
    __name__,
    "TFRC and ideal handovers between GPRS and UMTS: its options, more queue, a notice of the new link",
    where="figures 6.5, 6.7 and 6.9, sections 6.3 to 6.5",
    reps=REPS,
    partly=("G91",),
)
