"""What does the retransmission timer learn from a spurious timeout?

Reno without timestamps, with timestamps, and with timestamps and Eifel, one spike: timeout, smoothed round-trip
time, its variation and the samples over time.

What the source shows: without timestamps nothing is learnt, and the timeout is back at its old level at the first
new sample; with timestamps it jumps up and settles within about ten seconds, with a gap while duplicates come; with
Eifel there is no gap, and it falls more slowly.

What may differ here: as in the traces of figure 4.2. The source gives no number for near: within a quarter here.
Settled is the time from the timeout until the timer changes by less than a tenth in 2 s, for 5 s (longer than the gap
without samples); with the former band, the time until it is near its old value.
"""

from typing import Any

import numpy as np

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, timer_figure
from crosswind.experiments.gurtov_2004.worlds import EIFEL, MSS, trace
from crosswind.reproduce import MissingDataError, Picture, Results, Scenario, measured

PLAIN, STAMPED, EIFEL_ON = "no timestamps", "timestamps", "timestamps and Eifel"
RENO = {"recovery": "ns2-reno", "sack": "off"}
LAST_s = 80.0
NEAR, STEADY, STEP_s, HOLD_s = 0.25, 0.1, 2.0, 5.0


def configurations(path: str = "chosen", window: int = 50) -> dict[str, Scenario]:
    """Three timers."""
    tcp = RENO | {"window_limit_segments": window, "initial_ssthresh": f"{window * MSS} B"}
    return {
        PLAIN: trace("f4-7a", tcp | {"timestamps": "off"}, duration_s=LAST_s, path=path),
        STAMPED: trace("f4-7b", tcp, duration_s=LAST_s, path=path),
        EIFEL_ON: trace("f4-7c", tcp | EIFEL | {"spurious_response": "option-1"}, duration_s=LAST_s, path=path),
    }


def _before(r: Results, c: str) -> float:
    t, v = r.series(c, "rto_ns", "tcp")
    return float(v[t < Trace(r, c).spike_s][-1])


@measured
def _from_first_sample(r: Results, c: str) -> np.ndarray[Any, Any]:
    """The timeout, of its value before the spike, from the first sample on that follows the timer's expiry."""
    trace_ = Trace(r, c)
    samples = trace_.times("rtt")
    first = samples[samples > trace_.first("timeout")][0]
    t, v = r.series(c, "rto_ns", "tcp")
    return np.asarray(v[t > first] / _before(r, c))


@measured
def _back(r: Results, c: str) -> float:
    """Seconds from the timeout until the timer is near its value of before the spike again."""
    t, v = r.series(c, "rto_ns", "tcp")
    since = Trace(r, c).first("timeout")
    late, value = t[t > since], v[t > since]
    near = late[(late >= late[value.argmax()]) & (value <= (1 + NEAR) * _before(r, c))]
    return float(near[0] - since) if len(near) else float("nan")


@measured
def _settled(r: Results, c: str) -> np.ndarray[Any, Any]:
    """Seconds from the timeout until the timer is steady, and the timer then, of its value before the spike."""
    t, v = r.series(c, "rto_ns", "tcp")
    trace_ = Trace(r, c)
    expired = trace_.first("timeout")
    samples = trace_.times("rtt")
    for i in np.flatnonzero(t > samples[samples > expired][0]):
        held = (t >= t[i]) & (t <= t[i] + HOLD_s)
        later = np.interp(t[held] + STEP_s, t, v)
        if np.all(np.abs(later - v[held]) < STEADY * v[held]):
            return np.array([t[i] - expired, v[i] / _before(r, c)])
    raise MissingDataError("the timer is never steady")


EIFEL_SETTLED, SETTLED = _settled(EIFEL_ON), _settled(STAMPED)
CLAIMS = {
    "G27": {
        "no timestamps: at the first sample / before": _from_first_sample(PLAIN).then(lambda v: v[0]),
        "timestamps: highest from the first sample on / before": _from_first_sample(STAMPED).then(np.max),
        "timestamps: back after": _back(STAMPED),
        "Eifel later than timestamps alone": _back(EIFEL_ON) - _back(STAMPED),
        "timestamps: settled after": SETTLED.then(lambda x: x[0]),
        "timestamps: settled at / before": SETTLED.then(lambda x: x[1]),
        "Eifel settles later than timestamps alone": (EIFEL_SETTLED - SETTLED).then(lambda x: x[0]),
    }
}


def pictures(r: Results) -> list[Picture]:
    """The three timers."""
    names = {PLAIN: "f4-7a", STAMPED: "f4-7b", EIFEL_ON: "f4-7c"}
    return [timer_figure(r, c, name, f"Retransmission timer, Reno, {c}.", LAST_s) for c, name in names.items()]


EXPERIMENT = experiment(__name__, "The retransmission timer around a spurious timeout", where="figure 4.7")
