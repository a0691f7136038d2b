"""Do the parts of the testbed, each looked at alone, do what the source and the standards say?

RED's arithmetic as the kernel does it, driven with chosen backlogs (U3 to U5), and its average behind three transfers
(U2); the stream's packet counts; TCP's basic moves in single runs. Deterministic; run once. `crosswind explain`
tells of RED at length (`red-drop-probability`, `red-mark-spacing`, `red-average`, `red-idle`).

What may differ here: little is left open in these.

Why a claim fails. **R12**: after 16 quick ACKs the receiver waits 40 ms (O-15), which sets one gap between
ACKs 0.48 packets beside a multiple; all others are multiples. `kernel` fails it for another reason: its shaper looks at
a class without credit when the clock ticks, every 10 ms, so that ACKs come 80 or 90 ms apart, in the mean 84; the
source's own transmission times lie on such a grid (decision 0016). It also fails **R114**: that kernel lets the window
grow once in cwnd + 1 ACKs, 0.87 segments per window instead of 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats, tc_red
from crosswind.claims import Band, Claim, MissingDataError, Part, at_least, at_most, between, near, within
from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import marks, phenomena, readings, study, testbed
from crosswind.experiments.riva_2003.marks import GEOMETRIC_P, MANY, UNIFORM_P, geometric, picks, trace
from crosswind.experiments.riva_2003.parts import chosen
from crosswind.explain import Scene
from crosswind.figures import Picture
from crosswind.runs import Runs
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

MIXES = {"long": testbed.LONG, "short": testbed.SHORT, "brief": testbed.BRIEF}
ONE = "alone"
TAIL = "two losses in a window"
LATE = "last segments lost twice"
BEHIND_RED = "three transfers behind RED"


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
        BEHIND_RED: phenomena.three_behind_red(),
        **streams,
    }


# ---- RED -------------------------------------------------------------------------------------------------------------


def effective(burst: int) -> tc_red.Effective:
    """What tc makes of the source's parameters with another burst."""
    words = f"limit 20000 min 5000 max 18000 avpkt 1000 burst {burst} probability 0.1 bandwidth 140kbit"
    return tc_red.effective(tc_red.parse(words.split(), kbit=1024))


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
    from scipy.special import chdtrc

    gaps = np.diff(picks(UNIFORM_P, MANY))
    counts = np.histogram(gaps, bins=np.linspace(0.5, 100.5, 11))[0]
    expected = counts.sum() / counts.size
    return stats.exact(float(chdtrc(counts.size - 1, ((counts - expected) ** 2 / expected).sum())), int(counts.sum()))


def _gaps(label: str, positions: Any, of: Any, accept: Band, printed: str, unit: str = "") -> Part:
    """A number of the gaps between very many picks, whose sampling error is below the digits that are shown."""

    def measure(_: Results) -> Estimate:
        at = positions()
        return stats.exact(float(of(at)), at.size - 1)

    return Part(label, measure, accept, printed, unit, 2)


def _uniform() -> Any:
    return picks(UNIFORM_P, MANY)


def _geometric() -> Any:
    return geometric(GEOMETRIC_P, MANY)


def _mean_gap(positions: Any) -> float:
    return float(np.diff(positions).mean())


def _stale(_: Results) -> Estimate:
    """500 packets of 1000 B for long, then an arrival that finds 250."""
    backlog = np.full(400, 500_000, dtype=np.int64)
    backlog[-1] = 250_000
    avg, _verdict = trace(backlog, limit="1000000 B", min_th="400000 B", max_th="900000 B")
    return stats.exact(float(avg[-1] / 1000))


def _almost_full(_: Results) -> Estimate:
    n = 100_000
    return stats.exact(marks.share_picked(marks.MAX_TH - 1, n), n)


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
    """The second wait for one segment that is sent again by the timer twice, over the first."""
    resent, fired = (_sent(r, LATE, k).filter(pl.col("seq") > 0) for k in ("resend", "timeout"))
    last = fired["seq"][-1]
    at = sorted({*resent.filter(pl.col("seq") == last)["time_ns"], *fired.filter(pl.col("seq") == last)["time_ns"]})
    if len(at) < 3:
        raise MissingDataError(f"{len(at)} transmissions of the last segment")
    return stats.exact((at[-1] - at[-2]) / (at[-2] - at[-3]))


def _avoidance(r: Results) -> Estimate:
    """Growth of the window after a recovery, in segments for each window acknowledged, between two steps of it."""
    whole = r.runs.events(flow=ONE).filter((pl.col("configuration") == TAIL) & (pl.col("end") == "sender"))
    over = whole.filter(pl.col("kind") == "recovered")["time_ns"].max()
    after = whole.filter(pl.col("time_ns") > over)
    size, acked = (after.filter(pl.col("kind") == k).select("time_ns", pl.col("seq").alias(k)) for k in ("cwnd", "ack"))
    both = acked.join_asof(size, on="time_ns").drop_nulls()
    window, ack = (both[k].to_numpy().astype(float) for k in ("cwnd", "ack"))
    steps = np.flatnonzero(np.diff(window) > 0) + 1
    if steps.size < 2:
        raise MissingDataError("the window does not grow after the recovery")
    first, last = steps[0], steps[-1]
    windows = (np.diff(ack[first : last + 1]) / window[first:last]).sum()
    return stats.exact(float((window[last] - window[first]) / testbed.MSS / windows), int(last - first))


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
        chosen(
            "A full packet takes 83.7 ms: ACKs of one backlogged transfer come at multiples of that",
            "2 % of the time, 0.05 of a packet",
        ),
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
        chosen(
            "Gaps between picks are uniform on 1 to 1/p_b; without the count geometric",
            "p 0.01, means 2 and 5 %, variation 0.05",
        ),
        "about 100 of 5000; variation 0.57 and 0.99",
        [
            Part("uniform: chi-square test, p", _uniform_p, at_least(0.01), "not rejected", "", 3),
            _gaps("uniform: mean gap", _uniform, _mean_gap, within(50.5, 0.02), "50.5", "packets"),
            Part("uniform: picks of 5000", lambda _: stats.exact(picks(UNIFORM_P).size), near(99, 12), "99", "", 0),
            Part(
                "geometric: picks of 5000",
                lambda _: stats.exact(geometric(GEOMETRIC_P).size),
                near(100, 20),
                "100",
                "",
                0,
            ),
            _gaps("uniform: variation", _uniform, marks.variation, near(0.57, 0.05), "0.57"),
            _gaps("geometric: variation", _geometric, marks.variation, near(0.99, 0.05), "0.99"),
            _gaps("geometric: mean gap", _geometric, _mean_gap, within(50, 0.05), "50", "packets"),
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
        chosen("Just below max_th with max_p 0.1 RED picks 1 of 5.5 arrivals", "5 %"),
        "0.18",
        [Part("share", _almost_full, within(1 / 5.5, 0.05), "0.18", "", 3)],
    ),
    Claim(
        "R114",
        chosen(
            "TCP: initial window 2, slow start, avoidance, fast retransmit, recovery past partial ACKs, doubling waits",
            "5 to 10 %",
        ),
        "as in the RFCs of the time",
        [
            Part("initial window", _first_flight, between(2, 2), "2", "segments", 0),
            Part("segments per ACK in slow start", _growth, between(1.9, 2.1), "2", "", 2),
            Part("two losses of a window: recoveries", _column(TAIL, "fast_recoveries"), between(1, 1), "1", "", 0),
            Part("two losses of a window: timeouts", _column(TAIL, "timeouts"), at_most(0), "0", "", 0),
            Part("two losses of a window: sent again", _column(TAIL, "resent_packets"), between(2, 2), "2", "", 0),
            Part("after it: growth per window", _avoidance, within(1.0, 0.1), "1", "segments", 2),
            Part("last segment lost twice: second wait over the first", _backoff, within(2.0, 0.05), "2", "", 2),
        ],
    ),
)


def pictures_of(r: Results) -> list[Picture]:
    """Figures 3-2, 3-3 and 3-4."""
    scene = Scene(Runs({"sample": r.runs.table("sample")}, {}, {}))
    caption = "Queue behind which three transfers share the line, and RED's average of it (as Fig. 3-2)."
    followed = phenomena.queue_picture(scene, "fig-3-2", caption, {"average": BEHIND_RED})
    return [followed, tc_red.picture(effective(12)), marks.spacing()]


EXPERIMENT = study.experiment(
    "mechanisms",
    "The parts, one by one",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    variants={"kernel": readings.ALL["kernel"]},
    tables=lambda _: {},
    metrics={},
    reps=1,
    quick_reps=1,
)
