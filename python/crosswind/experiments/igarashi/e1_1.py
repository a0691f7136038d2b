"""Do the formulas of chapter 2 agree with their examples, and the laws of the laboratory with the formulas?

The source printed windows, loss rates and times of recovery in its text. Laws are driven alone, an ACK for each
segment, no packets (`crosswind.theory.windows.drive`); FAST's queue and growth by ACKs are measured in small networks.

What may differ here: where the source's prose contradicts its formulas, the formulas hold (open points O4.1 to O4.3).
FAST keeps alpha in the queue beyond what it took for an empty path: flows that begin together agree on that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.experiments.igarashi import study
from crosswind.reproduce import Measure, Results, Scenario, measured, measures
from crosswind.theory import fast_paths as theory
from crosswind.theory.windows import drive

MSS_BYTES = 1000
ALPHA = 50
FAST = {"version": "published", "empty_growth": 2.0, "alpha": ALPHA, "gamma": 0.5}
EACH_ACK = "1 us"


def _fast(flows: int, buffer_packets: int) -> Scenario:
    """FAST flows that begin together on 100 Mbit/s and 50 ms."""
    tcp = {"preset": "sack-2006", "law": "fast", "fast": FAST, "grow_when": "always", "pacing": "window"}
    return Scenario.from_dict(
        {
            "name": "fast",
            "duration": "40 s",
            "topology": {
                "template": "dumbbell",
                "access": {"rate": "1 Gbit/s", "delay": "0 ms", "queue": {"limit": "100000 packets"}},
                "bottleneck": {"rate": "100 Mbit/s", "delay": "25 ms", "queue": {"limit": f"{buffer_packets} packets"}},
            },
            "flow": {"f": {"from": "left", "to": "right", "count": flows, "workload": {"type": "bulk"}, "tcp": tcp}},
            "record": {"sample": "20 s", "series": "totals"},
        }
    )


def _growth(segments: int) -> Scenario:
    """Standard TCP in congestion avoidance on a path without losses; an ACK for each so many segments."""
    tcp = {
        "preset": "linux-2.4-highspeed",
        "initial_window_segments": 100,
        "initial_ssthresh": "2000 B",
        "ack_every_segments": segments,
        "delayed_ack": "50 ms",
    }
    return Scenario.from_dict(
        {
            "name": "growth",
            "duration": "60 s",
            "link": {"path": {"from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "50 ms"}},
            "flow": {"f": {"from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": tcp}},
            "record": {"sample": "10 s"},
        }
    )


def configurations() -> dict[str, Scenario]:
    """FAST with room for what it wants and without, one flow and three; growth with an ACK for 1, 2 and 4 segments."""
    return {
        "FAST alone": _fast(1, 200),
        "FAST, three": _fast(3, 400),
        "FAST, little room": _fast(3, 60),
        "FAST, much room": _fast(1, 3000).with_({"duration": "4 s", "record": {"sample": "5 ms"}}),
        **{f"ACK for {k}": _growth(k) for k in (1, 2, 4)},
    }


def number(value: Callable[[], float]) -> Measure:
    """Something that no run is needed for."""
    return lambda _: value()


def trace(law: str, **how: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in seconds and window in segments of a law alone."""
    tcp = how.pop("tcp", {})
    out = drive({"law": law, **tcp}, sample=how.pop("sample", EACH_ACK), **how)
    return np.asarray(out["time_s"]), np.asarray(out["window"])


def kept(law: str) -> float:
    """The window after a loss over the window before."""
    _, w = trace(law, limit=1000, counted=200_000, tcp={"initial_ssthresh": "900 kB"})
    falls = np.flatnonzero(np.diff(w) < -1)
    return float(w[falls[-1] + 1] / w[falls[-1]])


def recovery_rtts(limit: int) -> float:
    """Round trips from a loss of Scalable TCP until it has the window before it; 100 ms each."""
    t, w = trace("scalable", limit=limit, counted=40 * limit, tcp={"initial_ssthresh": f"{limit} kB"})
    falls = np.flatnonzero(np.diff(w) < -1)
    first = falls[-2] if len(falls) > 1 else falls[-1]
    back = first + 1 + int(np.argmax(w[first + 1 :] >= limit))
    return float((t[back] - t[first]) / 0.1)


def hstcp_growth(window: int) -> float:
    """Segments that HSTCP gains in a round trip at a window."""
    t, w = trace("hstcp", counted=5 * window, sample="1 ms", tcp={"initial_ssthresh": f"{window} kB"})
    avoids = w >= window
    return float(np.polyfit(t[avoids] / 0.1, w[avoids], 1)[0])


def small_windows() -> float:
    """The largest difference between HSTCP and Standard TCP with losses at 36 segments."""
    (_, a), (_, b) = (trace(law, limit=36, counted=20_000) for law in ("hstcp", "reno"))
    return float(np.abs(a - b).max())


CUBIC = {"version": "2005", "s_max": 1e6, "friendly": "off", "fast_convergence": "off"}


def cubic_curve(rtt: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The window of CUBIC from its last loss at 1000 segments on, and the seconds since."""
    settings = {"cubic": CUBIC, "initial_ssthresh": "900 kB"}
    t, w = trace("cubic", limit=1000, counted=1_500_000, rtt=rtt, sample="1 ms", tcp=settings)
    falls = np.flatnonzero(np.diff(w) < -50)
    first, last = falls[-2] + 1, falls[-1]
    return t[first:last] - t[first], w[first:last]


def cubic_at_k() -> tuple[float, float]:
    """Window and growth in segments per second at K, over the window before the loss and over the mean growth to it."""
    t, w = cubic_curve("20 ms")
    k = theory.cubic_k(1000)
    near_k = np.abs(t - k) < 0.5
    slope = np.polyfit(t[near_k], w[near_k], 1)[0]
    return float(np.interp(k, t, w) / 1000), float(slope / (200 / k))


def cubic_two_rtts() -> float:
    """The window at K/2 with 40 ms over that with 20 ms."""
    k = theory.cubic_k(1000)
    slow, fast = (float(np.interp(k / 2, *cubic_curve(rtt))) for rtt in ("40 ms", "20 ms"))
    return slow / fast


def htcp_growth(low_s: float, high_s: float) -> float:
    """Segments per round trip of 100 ms that H-TCP gains between two times after its only loss."""
    settings = {"htcp": {"adaptive_backoff": "off"}, "initial_ssthresh": "900 kB"}
    t, w = trace("htcp", limit=1000, counted=60_000, tcp=settings)
    fall = np.flatnonzero(np.diff(w) < -1)[0] + 1
    since = t - t[fall]
    inside = (since > low_s) & (since < high_s) & (np.arange(len(t)) >= fall)
    return float(np.polyfit(since[inside] / 0.1, w[inside], 1)[0])


def fast_gap() -> float:
    """What is left after one step of the distance between the queue and alpha."""
    before, after = 1010.0, theory.fast_step(1010.0, 1000.0, ALPHA)
    return (ALPHA - (after - 1000)) / (ALPHA - (before - 1000) * 1000 / 1010)


def left_per_round(r: Results) -> float:
    """What one setting of the window leaves of the distance to alpha, on average from its peak to within alpha."""
    w = r.runs.only("FAST, much room", [0]).sample("cwnd_bytes", "f")["value"].to_numpy() / MSS_BYTES
    settings = w[np.concatenate([[True], np.diff(w) != 0])]
    gap = np.abs(settings - w[-1])[int(np.argmax(settings)) :]
    rounds = int(np.argmax(gap < ALPHA))
    return float((gap[rounds] / gap[0]) ** (1 / rounds))


@measured
def queued(r: Results, configuration: str, flows: int) -> Any:
    """Packets in the queue for each flow in the second half of a run, over alpha."""
    s = r.runs.only(configuration).sample("queue_mean_bytes", "bottleneck/forward").sort("rep", "time_ns")
    v, t = s["value"].to_numpy().reshape(-1, 2), s["time_ns"].to_numpy().reshape(-1, 2)
    second = (v[:, 1] * t[:, 1] - v[:, 0] * t[:, 0]) / (t[:, 1] - t[:, 0])
    return stats.median(second / (MSS_BYTES + 40) / flows / ALPHA)


@measured
def total(r: Results, configuration: str, column: str) -> npt.NDArray[np.float64]:
    """The sum over the flows of a run."""
    flows = r.runs.only(configuration).flows()
    return flows.group_by("rep", maintain_order=True).agg(pl.col(column).sum())[column].to_numpy()


@measured
def growth(r: Results, k: int) -> float:
    """Segments per round trip, times the segments that an ACK waits for."""
    w = r.runs.only(f"ACK for {k}", [0]).sample("cwnd_bytes", "f")["value"].to_numpy() / 1448
    return float((w[-1] - w[0]) / (10 * (len(w) - 1)) * 0.1 * k)


CLAIMS = {
    "IC1.1": {
        "window": number(lambda: theory.needed_window(10000000000.0, 0.1)),
        "loss rate over 1e-10": number(
            lambda: theory.standard_loss(theory.needed_window(10000000000.0, 0.1)) * 10000000000.0
        ),
    },
    "IC1.2": {
        "window at 1e-3": number(lambda: theory.hstcp_window(0.001)),
        "window at 1e-7": number(lambda: theory.hstcp_window(1e-07)),
        "a(83000)": number(lambda: theory.hstcp_increase(83000)),
        "b(83000)": number(lambda: theory.hstcp_decrease(83000)),
        "growth of the law at 83000": number(lambda: hstcp_growth(83000)),
    },
    "IC1.3": {
        "a(38)": number(lambda: theory.hstcp_increase(38)),
        "b(38)": number(lambda: theory.hstcp_decrease(38)),
        "largest difference of the windows": number(small_windows),
    },
    "IC1.4": {
        "formula": number(theory.scalable_recovery_rtts),
        "the law at 1000 segments": number(lambda: recovery_rtts(1000)),
        "the law at 20 000 segments": number(lambda: recovery_rtts(20000)),
        "Standard, formula": number(lambda: theory.standard_recovery_s(500000000.0, 1000000000.0, 0.2) / 60),
    },
    "IC1.5": {
        "Scalable": number(lambda: kept("scalable")),
        "Standard": number(lambda: kept("reno")),
        "BIC": number(lambda: kept("bic")),
    },
    "IC1.6": {
        "distance that is left": number(fast_gap),
        "distance that is left, in a run": left_per_round,
        "one flow: queue over alpha": queued("FAST alone", 1),
        "three flows: queue over alpha each": queued("FAST, three", 3),
        "drops of the three": measures.median(total("FAST, three", "drops_packets")),
    },
    "IC1.7": {
        "drops": measures.median(total("FAST, little room", "drops_packets")),
        "recoveries": measures.median(total("FAST, little room", "fast_recoveries")),
        "goodput over that with room": lambda r: stats.estimate(
            lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
            total("FAST, little room", "goodput_bps")(r),
            total("FAST, three", "goodput_bps")(r),
            pairing="paired",
        ),
    },
    "IC1.8": {
        "window at K over W_max": number(lambda: cubic_at_k()[0]),
        "growth at K over the mean before": number(lambda: cubic_at_k()[1]),
        "40 ms over 20 ms at K/2": number(cubic_two_rtts),
    },
    "IC1.9": {
        "formula at 1 s": number(lambda: theory.htcp_increase(1.0)),
        "formula at 2 s": number(lambda: theory.htcp_increase(2.0)),
        "the law until 0.9 s": number(lambda: htcp_growth(0.1, 0.9)),
        "the law from 2 to 3 s": number(lambda: htcp_growth(2.0, 3.0)),
    },
    "IC1.10": {f"growth times {k}": growth(k) for k in (1, 2, 4)},
}

EXPERIMENT = study.experiment(__name__, "Formulas of fast long paths", where="chapter 2", reps=3, quick_reps=1)
