"""Do the formulas of chapter 2 agree with their examples, and the laws of the laboratory with the formulas?

The source printed windows, loss rates and times of recovery in its text. Laws are driven alone, an ACK for each
segment, no packets (`crosswind.responses.drive`); FAST's queue and growth by ACKs are measured in small networks.

What may differ here: where the source's prose contradicts its formulas, the formulas hold (open points O4.1 to O4.3).
FAST keeps alpha in the queue beyond what it took for an empty path: flows that begin together agree on that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.claims import Band, Claim, Part, above, at_least, below, near, within
from crosswind.experiments.base import Results
from crosswind.experiments.igarashi import study
from crosswind.responses import drive
from crosswind.scenario import Scenario
from crosswind.stats import exact
from crosswind.theory import fast_paths as theory

MSS_BYTES = 1000
ALPHA = 50
EACH_ACK = "1 us"


def _fast(flows: int, buffer_packets: int) -> Scenario:
    """FAST flows that begin together on 100 Mbit/s and 50 ms."""
    tcp = {
        "preset": "sack-2006",
        "law": "fast",
        "fast": {"alpha": ALPHA, "gamma": 0.5},
        "pacing": "window",
        "initial_ssthresh": "100 kB",
    }
    return Scenario.from_dict(
        {
            "name": "fast",
            "duration": "40 s",
            "topology": {
                "template": "dumbbell",
                "access": {"rate": "1 Gbit/s", "delay": "0 ms", "queue": {"limit": "100000 packets"}},
                "bottleneck": {"rate": "100 Mbit/s", "delay": "25 ms", "queue": {"limit": f"{buffer_packets} packets"}},
            },
            "flow": {
                "f": {"from": "left", "to": "right", "count": flows, "workload": {"type": "bulk"}, "tcp": tcp},
            },
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
        **{f"ACK for {k}": _growth(k) for k in (1, 2, 4)},
    }


def number(
    label: str, value: Callable[[], float], accept: Band, published: str, unit: str = "", digits: int = 2
) -> Part:
    """Something that no run is needed for."""
    return Part(label, lambda _: exact(value()), accept, published, unit, digits)


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


def queued(configuration: str, flows: int) -> Callable[[Results], Any]:
    """Packets in the queue for each flow in the second half of a run, over alpha."""

    def measure(r: Results) -> Any:
        s = r.runs.only(configuration).sample("queue_mean_bytes", "bottleneck/forward").sort("rep", "time_ns")
        v, t = s["value"].to_numpy().reshape(-1, 2), s["time_ns"].to_numpy().reshape(-1, 2)
        second = (v[:, 1] * t[:, 1] - v[:, 0] * t[:, 0]) / (t[:, 1] - t[:, 0])
        return stats.median(second / (MSS_BYTES + 40) / flows / ALPHA)

    return measure


def total(configuration: str, column: str) -> Callable[[Results], npt.NDArray[np.float64]]:
    """The sum over the flows of a run."""

    def measure(r: Results) -> npt.NDArray[np.float64]:
        flows = r.runs.only(configuration).flows()
        return flows.group_by("rep", maintain_order=True).agg(pl.col(column).sum())[column].to_numpy()

    return measure


def growth(k: int) -> Callable[[Results], Any]:
    """Segments per round trip, times the segments that an ACK waits for."""

    def measure(r: Results) -> Any:
        w = r.runs.only(f"ACK for {k}", [0]).sample("cwnd_bytes", "f")["value"].to_numpy() / 1448
        return exact(float((w[-1] - w[0]) / (10 * (len(w) - 1)) * 0.1 * k))

    return measure


one = near(1.0, 0.05)


CLAIMS = (
    Claim(
        "IC1.1",
        "Standard TCP at 10 Gbit/s and 100 ms: window and loss rate (1 %)",
        "83 333 segments, 2.07e-10",
        (
            number("window", lambda: theory.needed_window(10e9, 0.1), within(83_333, 0.01), "83333", "segments", 0),
            number(
                "loss rate over 1e-10",
                lambda: theory.standard_loss(theory.needed_window(10e9, 0.1)) * 1e10,
                within(2.07, 0.01),
                "2.07",
            ),
        ),
    ),
    Claim(
        "IC1.2",
        "HSTCP: both ends of its response, and a and b at 83 000 segments (2 %)",
        "38 at 1e-3, 83 000 at 1e-7; 72, 0.1",
        (
            number("window at 1e-3", lambda: theory.hstcp_window(1e-3), within(38, 0.02), "38", "segments"),
            number("window at 1e-7", lambda: theory.hstcp_window(1e-7), within(83_000, 0.02), "83000", "segments", 0),
            number("a(83000)", lambda: theory.hstcp_increase(83_000), within(72, 0.02), "72"),
            number("b(83000)", lambda: theory.hstcp_decrease(83_000), within(0.1, 0.02), "0.1", digits=3),
            number("growth of the law at 83000", lambda: hstcp_growth(83_000), within(72, 0.02), "72"),
        ),
    ),
    Claim(
        "IC1.3",
        "HSTCP up to 38 segments is Standard TCP (exact)",
        "a = 1, b = 0.5",
        (
            number("a(38)", lambda: theory.hstcp_increase(38), near(1, 0), "1"),
            number("b(38)", lambda: theory.hstcp_decrease(38), near(0.5, 0), "0.5"),
            number("largest difference of the windows", small_windows, near(0, 1e-9), "0", "segments"),
        ),
    ),
    Claim(
        "IC1.4",
        "Scalable has back what a loss cost after 13.4 round trips at any window, Standard TCP after 27.8 min (5 %)",
        "13.4 RTT, 27.8 min",
        (
            number("formula", theory.scalable_recovery_rtts, within(13.4, 0.05), "13.4", "RTT"),
            number("the law at 1000 segments", lambda: recovery_rtts(1000), within(13.4, 0.05), "13.4", "RTT"),
            number("the law at 20 000 segments", lambda: recovery_rtts(20_000), within(13.4, 0.05), "13.4", "RTT"),
            number(
                "Standard, formula",
                lambda: theory.standard_recovery_s(500e6, 1e9, 0.2) / 60,
                within(27.8, 0.05),
                "27.8",
                "min",
            ),
        ),
    ),
    Claim(
        "IC1.5",
        "what a loss leaves of the window: Scalable and BIC 0.875, Standard 0.5 (exact)",
        "0.875, 0.5, 0.875",
        (
            number("Scalable", lambda: kept("scalable"), near(0.875, 1e-6), "0.875", digits=4),
            number("Standard", lambda: kept("reno"), near(0.5, 1e-6), "0.5", digits=4),
            number("BIC", lambda: kept("bic"), near(0.875, 1e-6), "0.875", digits=4),
        ),
    ),
    Claim(
        "IC1.6",
        "FAST closes half of the distance to alpha in a round trip, and flows that have room keep alpha each (5 %)",
        "half; alpha",
        (
            number("distance that is left", fast_gap, near(0.5, 0.025), "0.5", digits=3),
            Part("one flow: queue over alpha", queued("FAST alone", 1), one, "1", digits=3),
            Part("three flows: queue over alpha each", queued("FAST, three", 3), one, "1", digits=3),
            study.of_seeds("drops of the three", total("FAST, three", "drops_packets"), near(0, 0), "0", digits=0),
        ),
    ),
    Claim(
        "IC1.7",
        "FAST without room for n alpha packets loses packets again and again, and carries less",
        "losses; lower",
        (
            study.of_seeds("drops", total("FAST, little room", "drops_packets"), at_least(1), "> 0", digits=0),
            study.of_seeds("recoveries", total("FAST, little room", "fast_recoveries"), at_least(4), "many", digits=0),
            Part(
                "goodput over that with room",
                lambda r: stats.estimate(
                    lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
                    total("FAST, little room", "goodput_bps")(r),
                    total("FAST, three", "goodput_bps")(r),
                    pairing="paired",
                ),
                below(1.0),
                "< 1",
                digits=3,
            ),
        ),
    ),
    Claim(
        "IC1.8",
        "CUBIC is flat and back at the old window K seconds after a loss, whatever the round trip (exact; 1 %: steps)",
        "W(K) = W_max, growth 0",
        (
            number("window at K over W_max", lambda: cubic_at_k()[0], near(1, 0.01), "1", digits=3),
            number("growth at K over the mean before", lambda: cubic_at_k()[1], near(0, 0.05), "0", digits=3),
            number("40 ms over 20 ms at K/2", cubic_two_rtts, near(1, 0.01), "1", digits=3),
        ),
    ),
    Claim(
        "IC1.9",
        "H-TCP gains one segment per round trip in the first second after a loss, more afterwards",
        "1; more",
        (
            number("formula at 1 s", lambda: theory.htcp_increase(1.0), near(1, 0), "1"),
            number("formula at 2 s", lambda: theory.htcp_increase(2.0), above(1), "> 1"),
            number("the law until 0.9 s", lambda: htcp_growth(0.1, 0.9), near(1, 0.02), "1"),
            number("the law from 2 to 3 s", lambda: htcp_growth(2.0, 3.0), above(1), "> 1"),
        ),
    ),
    Claim(
        "IC1.10",
        "Standard TCP that counts ACKs gains 1/k segments per round trip with an ACK for k segments (5 %)",
        "1/k",
        tuple(Part(f"growth times {k}", growth(k), one, "1", digits=3) for k in (1, 2, 4)),
    ),
)

EXPERIMENT = study.experiment(
    "e1-1", "Formulas of fast long paths", __doc__, configurations, CLAIMS, where="chapter 2", reps=3, quick_reps=1
)
