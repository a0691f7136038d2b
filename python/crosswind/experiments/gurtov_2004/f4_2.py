"""What do a delay spike and a drop of the rate do to a sender without and with Eifel?

One connection over a slow link, everything logged. A spike that is longer than the timeout, nothing lost; and a
step of the rate from 300 to 10 kbit/s. Reno-SACK with timestamps, Eifel with option 1.

What the source shows: without Eifel the whole flight is sent again; with it one segment, then new data.

What may differ here: rate, delay and queue of the source's link are not given; decision 0028 says how the path of the
spike was chosen (36 kbit/s, 150 ms, 20 packets, a spike from 3 to 8 s in a slow start). For the step the segments have
1460 bytes: one of 1000 bytes takes 0.84 s at 10 kbit/s, so that ACKs restart a timer whose minimum is 1 s before it
expires, and there is no timeout at all (variant). Several-fold is taken to mean at least three times: the source gives
no number.
"""

from typing import Any

import numpy as np

from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import E1, EIFEL, FORMER_SPIKE, HEADERS, MSS, SLOW, Path, trace
from crosswind.reproduce import Picture, Results, Scenario, Variant

OFF, ON = "spike, off", "spike, on"
EVERY = "spike, off, every segment acknowledged"
STEP_OFF, STEP_ON = "step, off", "step, on"
STEP_AT_s = 4.0
FULL = EIFEL | {"spurious_response": "option-1"}
SEGMENT_BYTES = MSS + HEADERS


def _step(name: str, mss: int, tcp: dict[str, Any]) -> Scenario:
    sender = {"mss": f"{mss} B", "initial_ssthresh": f"{12 * mss} B", **tcp}
    link = {"rate": "300 kbit/s", "spikes": None}
    change = {"at": f"{STEP_AT_s:g} s", "link": "bottleneck", "direction": "forward", "set": {"rate": "10 kbit/s"}}
    return trace(name, sender, link, duration_s=40.0, path=SLOW, timeline=[change])


def configurations(step_mss: int = 1460, path: Path = E1) -> dict[str, Scenario]:
    """A spike and a step, without and with Eifel."""
    return {
        OFF: trace("f4-2a", {}, path=path),
        ON: trace("f4-3a", FULL, path=path),
        EVERY: trace("f4-2a-every", {"delayed_ack": "0 s"}, path=path),
        STEP_OFF: _step("f4-2b", step_mss, {}),
        STEP_ON: _step("f4-3b", step_mss, FULL),
    }


def _flight_at_timeout(r: Results, c: str) -> float:
    t = Trace(r, c)
    return t.flight(t.first("timeout"))


def _needless(r: Results, c: str) -> float:
    return Trace(r, c).value("unnecessary_resends_packets")


def _speed(r: Results) -> float:
    """Retransmissions per time at which the link sends a segment, while originals return."""
    t = Trace(r, EVERY)
    again = t.times("resend")
    again = again[(again > t.end_s) & (again < t.first("lost", after_s=t.end_s))]
    return float((len(again) - 1) / (again[-1] - again[0]) * SEGMENT_BYTES * 8 / t.rate_bps)


def _largest_burst(r: Results) -> float:
    """Most segments sent in answer to one ACK from the end of the spike to the first later loss."""
    t = Trace(r, ON)
    acks = t.times("ack")
    sent = t.times("send", "resend")
    sent = sent[(sent >= t.end_s) & (sent < t.first("lost", after_s=t.end_s))]
    index = np.searchsorted(acks, sent, side="right")
    return float(max(np.bincount(index))) if len(index) else float("nan")


def _sent_soon(t: Trace) -> float:
    return float(sum((s >= t.end_s) & (s < t.end_s + 1) for s in t.times("send")))


def _rtt(r: Results, c: str, after: float, until: float) -> float:
    e = Trace(r, c).events
    rtt = e.filter((e["kind"] == "rtt") & (e["time_ns"] > after * 1e9) & (e["time_ns"] <= until * 1e9))["seq"]
    return float(rtt.max()) / 1e9  # type: ignore[arg-type]


CLAIMS = {
    "G1": {
        "timeouts": lambda r: Trace(r, OFF).value("timeouts"),
        "needless less flight": lambda r: _needless(r, OFF) - _flight_at_timeout(r, OFF),
        "flight": lambda r: _flight_at_timeout(r, OFF),
    },
    "G2": {
        "needless": lambda r: _needless(r, ON),
        "needless less expiries": lambda r: _needless(r, ON) - Trace(r, ON).value("timeouts"),
        "judged spurious": lambda r: Trace(r, ON).value("spurious_detected"),
    },
    "G3": {"times the link's rate": _speed},
    "G4": {"RTT after / before": lambda r: _rtt(r, STEP_OFF, STEP_AT_s, 40) / _rtt(r, STEP_OFF, 1, STEP_AT_s)}
    | {f"spurious episodes, {c}": lambda r, c=c: Trace(r, c).value("spurious_episodes") for c in (STEP_OFF, STEP_ON)}
    | {
        "needless without Eifel": lambda r: _needless(r, STEP_OFF),
        "needless less expiries, Eifel": lambda r: _needless(r, STEP_ON) - Trace(r, STEP_ON).value("timeouts"),
    },
    "G5": {
        "most segments per ACK": _largest_burst,
        "segments sent in the first second after the spike": lambda r: _sent_soon(Trace(r, ON)),
    },
}


def pictures(r: Results) -> list[Picture]:
    """The four traces."""
    names = {OFF: "f4-2a", STEP_OFF: "f4-2b", ON: "f4-3a", STEP_ON: "f4-3b"}
    return [figure_of(r, c, name, f"{c.capitalize()}: segments and ACKs.", 40.0) for c, name in names.items()]


EXPERIMENT = study.experiment(
    __name__,
    "A delay spike and a step of the rate, without and with Eifel",
    where="figures 4.2 and 4.3, section 4.3.2",
    tables=transfers,
    variants={
        "former": Variant(FORMER_SPIKE, {"path": SLOW}),
        "small-segments": Variant("segments of 1000 bytes in the step as well", {"step_mss": 1000}),
    },
)
