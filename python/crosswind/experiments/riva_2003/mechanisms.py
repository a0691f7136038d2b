"""Do the parts of the testbed, each looked at alone, do what the source and the standards say?

RED's arithmetic as the kernel does it, driven with chosen backlogs (U1 to U5); the stream's packet counts; TCP's
basic moves in single runs. Deterministic; run once.

What may differ here: little is left open in these.

Why a claim fails. **R12**: after 16 quick ACKs the receiver waits 40 ms (O-15), which sets one gap between
ACKs 0.48 packets beside a multiple; all others are multiples. `kernel` acknowledges each segment at once and passes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from crosswind import figures, stats, tc_red
from crosswind.claims import Claim, MissingDataError, Part, at_least, at_most, between, near, within
from crosswind.core import core, has_hook
from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import readings, study, testbed
from crosswind.figures import PALETTE, Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

STEP_ns = 84_000_000
ARRIVALS = 5000
MIXES = {"long": testbed.LONG, "short": testbed.SHORT, "brief": testbed.BRIEF}
ONE = "alone"
TAIL = "two losses in a window"
LATE = "last segments lost twice"


def _single(variant: dict[str, Any], segments: int, **more: Any) -> Scenario:
    """One transfer over the last hop, from hosts that remember nothing."""
    reading = testbed.Reading(**variant | {"memory": "none", "jitter": "none"})
    flow = testbed.transfer(segments * testbed.MSS, 0.0, reading) | {"start": "0 s"}
    queue = testbed.shaper("TD", "1", reading)
    links = testbed.links(queue, reading)
    links["last-hop"] |= more
    return Scenario.from_dict(
        {"name": "mechanisms", "duration": "300 s", "link": links, "flow": {ONE: flow}, "record": {"events": "all"}}
    )


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Single transfers, and the three streams."""
    reading = testbed.Reading(**variant)
    listed = {"type": "list", "packets": [10, 12], "counts": "data"}
    twice = {"type": "list", "packets": [30, 31], "counts": "data"}
    streams = {k: testbed.mixed(m, "TD+DS", 0.0, reading) for k, m in MIXES.items()}
    return {
        ONE: _single(variant, 60),
        TAIL: _single(variant, 60, loss=listed),
        LATE: _single(variant, 30, loss=twice),
        **streams,
    }


# ---- RED -------------------------------------------------------------------------------------------------------------


def effective(burst: int) -> tc_red.Effective:
    """What tc makes of the source's parameters with another burst."""
    words = f"limit 20000 min 5000 max 18000 avpkt 1000 burst {burst} probability 0.1 bandwidth 140kbit"
    return tc_red.effective(tc_red.parse(words.split(), kbit=1024))


def trace(backlog: Any, **changes: Any) -> tuple[Any, Any]:
    """Average and verdict of the kernel's law after each arrival."""
    if not has_hook("red_trace"):
        raise MissingDataError("this engine has no red_trace")
    params = {k: v for k, v in testbed.leaf("RED", testbed.Reading()).items() if k not in ("type", "burst")}
    params |= {"w_q": testbed.weight(testbed.RedSet())} | changes
    n = len(backlog)
    times = np.arange(n, dtype=np.int64) * STEP_ns
    out = core().red_trace(
        json.dumps(params), 1, times, np.asarray(backlog, dtype=np.int64), np.zeros(n, dtype=np.uint8)
    )
    return np.asarray(out["avg_bytes"], dtype=float), np.asarray(out["verdict"], dtype=np.int64)


@cache
def picks(p_b: float, arrivals: int = ARRIVALS) -> Any:
    """Positions of the packets picked while the average stays where the probability is `p_b`."""
    law = {"min_th": "5000 B", "max_th": "15000 B", "max_p": 0.1, "max_p_rounding": "none"}
    level = 5000 + round(p_b / 0.1 * 10_000)
    settle = 400
    _, verdict = trace(np.full(settle + arrivals, level), **law)
    return np.flatnonzero(verdict[settle:] > 0)


@cache
def geometric(p: float, arrivals: int = ARRIVALS) -> Any:
    """The same with every arrival decided on its own."""
    return np.flatnonzero(np.random.default_rng(1).random(arrivals) < p)


def _weight(burst: int) -> Any:
    return lambda _: stats.exact(effective(burst).w_q)


def _bound(_: Results) -> Estimate:
    """The largest weight that lets a burst of 50 packets pass below a threshold of 5 packets."""
    low, high = 1e-6, 0.5
    for _step in range(80):
        w = (low + high) / 2
        low, high = (w, high) if 51 + ((1 - w) ** 51 - 1) / w < 5 else (low, w)
    return stats.exact(low)


def _uniform_p(_: Results) -> Estimate:
    """Chi-square test of the gaps against the uniform distribution on 1 to 100."""
    from scipy.stats import chisquare

    gaps = np.diff(picks(0.01, 200_000))
    counts = np.histogram(gaps, bins=np.linspace(0.5, 100.5, 11))[0]
    return stats.exact(float(chisquare(counts).pvalue), int(counts.sum()))


def _gap_mean(_: Results) -> Estimate:
    return stats.mean(np.diff(picks(0.01, 200_000)))


def _variation(positions: Any) -> Estimate:
    return stats.estimate(lambda x, axis: np.std(x, axis=axis) / np.mean(x, axis=axis), np.diff(positions))


def _stale(_: Results) -> Estimate:
    """500 packets of 1000 B for long, then an arrival that finds 250."""
    backlog = np.full(400, 500_000, dtype=np.int64)
    backlog[-1] = 250_000
    avg, _verdict = trace(backlog, limit="1000000 B", min_th="400000 B", max_th="900000 B")
    return stats.exact(float(avg[-1] / 1000))


def _almost_full(_: Results) -> Estimate:
    law = {"min_th": "5000 B", "max_th": "15000 B", "max_p": 0.1, "max_p_rounding": "none"}
    _, verdict = trace(np.full(100_400, 14_999), **law)
    return stats.share(verdict[400:] > 0)


# ---- TCP and the stream ----------------------------------------------------------------------------------------------


def _sent(r: Results, c: str, kind: str = "send") -> pl.DataFrame:
    e = r.runs.events(flow=ONE).filter((pl.col("configuration") == c) & (pl.col("end") == "sender"))
    return e.filter((pl.col("kind") == kind) & ((pl.col("len") > 0) | ~pl.col("kind").is_in(["send", "resend"])))


def _ack_gaps(r: Results) -> Estimate:
    """How far the gaps between ACKs of a backlogged transfer are from whole multiples of a packet's time."""
    t = _sent(r, ONE, "ack")["time_ns"].to_numpy() / 1e9
    packet = testbed.PACKET_s
    gaps = np.diff(t[4:40]) / packet
    return stats.exact(float(np.abs(gaps - np.maximum(np.round(gaps), 1)).max()))


def _packet_time(r: Results) -> Estimate:
    t = _sent(r, ONE, "ack")["time_ns"].to_numpy() / 1e9
    return stats.median(np.diff(t[4:40]))


def _first_flight(r: Results) -> Estimate:
    t = _sent(r, ONE)["time_ns"].to_numpy()
    return stats.exact(float((t == t[0]).sum()))


def _growth(r: Results) -> Estimate:
    """Segments sent per ACK in slow start."""
    acks, sent = _sent(r, ONE, "ack")["time_ns"].to_numpy(), _sent(r, ONE)["time_ns"].to_numpy()
    acks = acks[1:11]
    return stats.exact(float(((sent >= acks[0]) & (sent <= acks[-1])).sum() / acks.size))


def _column(c: str, column: str) -> Any:
    def measure(r: Results) -> Estimate:
        f = r.runs.flows().filter((pl.col("configuration") == c) & (pl.col("name") == ONE))
        return stats.exact(float(f[column][0]))

    return measure


def _backoff(r: Results) -> Estimate:
    """The second wait for one segment over the first."""
    t = _sent(r, LATE, "timeout").filter(pl.col("seq") > 0)["time_ns"].to_numpy() / 1e9
    if t.size < 2:
        raise MissingDataError(f"{t.size} timeouts")
    return stats.exact(float(t.size))


def _stream(c: str, column: str) -> Any:
    def measure(r: Results) -> Estimate:
        f = r.runs.flows().filter((pl.col("configuration") == c) & (pl.col("name") == "udp"))
        return stats.exact(float(f[column][0]))

    return measure


CLAIMS = (
    Claim(
        "R9",
        "The stream sends 50 T + 1 packets of 132 B",
        "2001, 301, 251; 264.1, 39.7, 33.1 kB",
        [
            *(
                Part(f"{k}, packets", _stream(k, "sent_packets"), between(n, n), str(n), "", 0)
                for k, n in (("long", 2001), ("short", 301), ("brief", 251))
            ),
            *(
                Part(f"{k}, bytes", _stream(k, "sent_bytes"), between(n * 132, n * 132), f"{n * 132}", "B", 0)
                for k, n in (("long", 2001), ("short", 301), ("brief", 251))
            ),
        ],
    ),
    Claim(
        "R12",
        "A full packet takes 83.7 ms: ACKs of one backlogged transfer come at multiples of that",
        "83.7 ms",
        [
            Part("median gap", _packet_time, within(0.0837, 0.02), "0.0837 s", "s", 4),
            Part("largest distance from a multiple", _ack_gaps, at_most(0.05), "0", "packets", 3),
        ],
    ),
    Claim(
        "R66",
        "tc makes a weight of 1/16 of a burst of 12, and of 1/8 of 9",
        "1/16, 1/8",
        [
            Part("burst 12", _weight(12), between(1 / 16, 1 / 16), "0.0625", "", 4),
            Part("burst 9", _weight(9), between(1 / 8, 1 / 8), "0.125", "", 4),
        ],
    ),
    Claim(
        "R67",
        "Bound of the weight for a burst of 50 packets and a threshold of 5",
        "0.0042",
        [Part("weight", _bound, within(0.0042, 0.02), "0.0042", "", 5)],
    ),
    Claim(
        "R68",
        "Gaps between picks are uniform on 1 to 1/p_b; without the count geometric",
        "about 100 of 5000; variation 0.57 and 0.99",
        [
            Part("uniform: chi-square test, p", _uniform_p, at_least(0.01), "not rejected", "", 3),
            Part("uniform: mean gap", _gap_mean, within(50.5, 0.02), "50.5", "packets", 2),
            Part("uniform: picks of 5000", lambda _: stats.exact(picks(0.01).size), near(99, 12), "99", "", 0),
            Part("geometric: picks of 5000", lambda _: stats.exact(geometric(0.02).size), near(100, 20), "100", "", 0),
            Part("uniform: variation", lambda _: _variation(picks(0.01, 200_000)), near(0.57, 0.05), "0.57", "", 2),
            Part(
                "geometric: variation", lambda _: _variation(geometric(0.02, 200_000)), near(0.99, 0.05), "0.99", "", 2
            ),
            Part(
                "geometric: mean gap",
                lambda _: stats.mean(np.diff(geometric(0.02, 200_000))),
                within(50, 0.05),
                "50",
                "packets",
                2,
            ),
        ],
    ),
    Claim(
        "R69",
        "The average is stale after 250 departures without an arrival",
        "500 - 250 w_q, > 480",
        [
            Part("average", _stale, at_least(480), "> 480", "packets", 2),
            Part(
                "minus 500 - 250/16",
                lambda r: stats.exact(_stale(r).value - (500 - 250 / 16)),
                near(0.0, 0.1),
                "0",
                "packets",
                3,
            ),
        ],
    ),
    Claim(
        "R70",
        "Just below max_th with max_p 0.1 RED picks 1 of 5.5 arrivals",
        "0.18",
        [Part("share", _almost_full, within(1 / 5.5, 0.05), "0.18", "", 3)],
    ),
    Claim(
        "R114",
        "TCP: initial window 2, slow start, fast retransmit, no leaving on partial ACKs, timeouts that double",
        "as in the RFCs of the time",
        [
            Part("initial window", _first_flight, between(2, 2), "2", "segments", 0),
            Part("segments per ACK in slow start", _growth, between(1.9, 2.1), "2", "", 2),
            Part("two losses of a window: recoveries", _column(TAIL, "fast_recoveries"), between(1, 1), "1", "", 0),
            Part("two losses of a window: timeouts", _column(TAIL, "timeouts"), at_most(0), "0", "", 0),
            Part("two losses of a window: sent again", _column(TAIL, "resent_packets"), between(2, 2), "2", "", 0),
            Part("last segment lost: timeouts", _column(LATE, "timeouts"), at_least(1), ">= 1", "", 0),
        ],
    ),
)


@figures.styled
def spacing() -> Picture:
    """Figure 3-4: where packets are picked, uniform against geometric."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(4.9, 2.2))
    rows = (("with the count (p_b = 0.01)", picks(0.01)), ("without (p = 0.02)", geometric(0.02)))
    for ax, (label, at), colour in zip(axes, rows, PALETTE, strict=False):
        ax.plot(at, np.ones(at.size), linestyle="", marker="|", markersize=16, color=colour, label=label)
        ax.set_title(f"{label}: {at.size} of {ARRIVALS}", loc="left")
        ax.set_yticks([])
    axes[-1].set_xlabel("arrival")
    caption = "Packets that RED picks of 5000 arrivals at a constant average (Fig. 3-4): evenly spread, or in clusters."
    return Picture("fig-3-4", caption, caption, fig)


def pictures_of(_: Results) -> list[Picture]:
    """Figures 3-3 and 3-4."""
    return [tc_red.picture(effective(12)), spacing()]


EXPERIMENT = study.experiment(
    "mechanisms",
    "The parts, one by one",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    variants={"kernel": readings.ALL["kernel"]},
    tables=lambda _: {},
    reps=1,
    quick_reps=1,
)
