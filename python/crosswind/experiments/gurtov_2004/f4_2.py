"""What do a delay spike and a drop of the rate do to a sender without and with Eifel?

One connection over a slow link, everything logged. A spike that is longer than the timeout, nothing lost; and a
step of the rate from 300 to 10 kbit/s. Reno-SACK with timestamps, Eifel with option 1.

What the source shows: without Eifel the whole flight is retransmitted; with it one segment, then new data.

What may differ here: rate, delay and queue of the source's link are not given; decision 0028 says how the path of the
spike was chosen (36 kbit/s, 150 ms, 20 packets, a spike from 3 to 8 s in a slow start). For the step the segments have
1460 bytes: one of 1000 bytes takes 0.84 s at 10 kbit/s, so that ACKs restart a timer whose minimum is 1 s before it
expires, and there is no timeout at all (variant). Several-fold is taken to mean at least three times: the source gives
no number.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004.traces import NEEDLESS, Trace, experiment, figures_of, flow, traced
from crosswind.experiments.gurtov_2004.worlds import EIFEL, HEADERS, MSS, trace
from crosswind.reproduce import Scenario

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
    return trace(name, sender, link, duration_s=40.0, path="gprs", timeline=[change])


def configurations(step_mss: int = 1460, path: str = "chosen") -> dict[str, Scenario]:
    """A spike and a step, without and with Eifel."""
    return {
        OFF: trace("f4-2a", {}, path=path),
        ON: trace("f4-3a", FULL, path=path),
        EVERY: trace("f4-2a-every", {"delayed_ack": "0 s"}, path=path),
        STEP_OFF: _step("f4-2b", step_mss, {}),
        STEP_ON: _step("f4-3b", step_mss, FULL),
    }


@traced
def _flight_at_timeout(t: Trace) -> float:
    return t.flight(t.first("timeout"))


@traced
def _speed(t: Trace) -> float:
    """Retransmissions per time at which the link sends a segment, while originals return."""
    again = t.times("retransmit")
    again = again[(again > t.end_s) & (again < t.first("lost", after_s=t.end_s))]
    return float((len(again) - 1) / (again[-1] - again[0]) * SEGMENT_BYTES * 8 / t.rate_bps)


@traced
def _largest_burst(t: Trace) -> float:
    """Most segments sent in answer to one ACK from the end of the spike to the first later loss."""
    acks = t.times("ack")
    sent = t.times("send", "retransmit")
    sent = sent[(sent >= t.end_s) & (sent < t.first("lost", after_s=t.end_s))]
    index = np.searchsorted(acks, sent, side="right")
    return float(max(np.bincount(index))) if len(index) else float("nan")


@traced
def _sent_soon(t: Trace) -> float:
    return float(sum((s >= t.end_s) & (s < t.end_s + 1) for s in t.times("send")))


@traced
def _rtt(t: Trace, after: float, until: float) -> float:
    """The largest sample, in seconds."""
    at = pl.col("t").is_between(after, until, closed="right")
    return float(t.events.filter((pl.col("kind") == "rtt") & at)["seq"].max()) / 1e9  # type: ignore[arg-type]


CLAIMS = {
    "G1": {
        "timeouts": flow(OFF, "timeouts"),
        "needless less flight": flow(OFF, NEEDLESS) - _flight_at_timeout(OFF),
        "flight": _flight_at_timeout(OFF),
    },
    "G2": {
        "needless": flow(ON, NEEDLESS),
        "needless less expiries": flow(ON, NEEDLESS) - flow(ON, "timeouts"),
        "judged spurious": flow(ON, "spurious_detected"),
    },
    "G3": {"times the link's rate": _speed(EVERY)},
    "G4": {
        "RTT after / before": _rtt(STEP_OFF, STEP_AT_s, 40) / _rtt(STEP_OFF, 1, STEP_AT_s),
        **{f"spurious episodes, {c}": flow(c, "spurious_episodes") for c in (STEP_OFF, STEP_ON)},
        "needless without Eifel": flow(STEP_OFF, NEEDLESS),
        "needless less expiries, Eifel": flow(STEP_ON, NEEDLESS) - flow(STEP_ON, "timeouts"),
    },
    "G5": {
        "most segments per ACK": _largest_burst(ON),
        "segments sent in the first second after the spike": _sent_soon(ON),
    },
}

SHOWN = {OFF: "f4-2a", STEP_OFF: "f4-2b", ON: "f4-3a", STEP_ON: "f4-3b"}
pictures = figures_of(SHOWN, "{}: segments and ACKs.", 40.0)

EXPERIMENT = experiment(
    __name__,
    "A delay spike and a step of the rate, without and with Eifel",
    where="figures 4.2 and 4.3, section 4.3.2",
)
