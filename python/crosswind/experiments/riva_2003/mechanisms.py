"""Do the parts of the testbed, each looked at alone, do what the source and the standards say?

RED's arithmetic as the kernel does it, driven with chosen backlogs (U3 to U5), and its average behind three transfers
(U2); the stream's packet counts; TCP's basic moves in single runs. Deterministic; run once. `crosswind explain`
tells of RED at length (`red-drop-probability`, `red-mark-spacing`, `red-average`, `red-idle`).

What may differ here: little is left open in these.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.experiments.riva_2003 import marks, parts, phenomena, readings, study, testbed
from crosswind.experiments.riva_2003.marks import GEOMETRIC_P, MANY, UNIFORM_P, geometric, picks, trace
from crosswind.reproduce import Picture, Results, Runs, Scenario, measured, measures, needed
from crosswind.reproduce.explain import Scene
from crosswind.stats import Estimate
from crosswind.theory import tc_red

MIXES = {"long": testbed.LONG, "short": testbed.SHORT, "brief": testbed.BRIEF}
ONE = "alone"
TAIL = "two losses in a window"
LATE = "last segments lost twice"
# How fast the window grows is not to depend on how soon the receiver answers.
ACK_EACH = {"delayed_ack": "0 ms", "quick_acks": 0, "delayed_ack_timer": "per-segment"}
BEHIND_RED = "three transfers behind RED"


def _single(variant: dict[str, Any], segments: int, **more: Any) -> Scenario:
    """One transfer over the last hop, from hosts that remember nothing."""
    reading = testbed.reading(**variant | {"memory": "none", "router": "anew", "jitter": "none"})
    flow = testbed.transfer(segments * testbed.MSS, 0.0, reading) | {"start": "0 s"}
    queue = testbed.shaper("TD", "1", reading)
    links = testbed.links(queue, reading)
    links["last-hop"] |= more
    return Scenario.from_dict(
        {"name": "mechanisms", "duration": "300 s", "link": links, "flow": {ONE: flow}, "record": {"events": "all"}}
    )


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Single transfers, and the three streams."""
    reading = testbed.reading(**variant)
    listed = {"type": "list", "packets": [10, 12], "counts": "data"}
    twice = {"type": "list", "packets": [30, 31], "counts": "data"}
    streams = {k: testbed.mixed(m, "TD+DS", 0.0, reading) for k, m in MIXES.items()}
    return {
        ONE: _single(variant, 60),
        TAIL: _single(variant | {"tcp": variant.get("tcp", {}) | ACK_EACH}, 60, loss=listed),
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
    return lambda _: effective(burst).w_q


def _bound(_: Results) -> float:
    """The largest weight that lets a burst of 50 packets pass below a threshold of 5 packets."""
    low, high = 1e-6, 0.5
    for _step in range(80):
        w = (low + high) / 2
        low, high = (w, high) if 51 + ((1 - w) ** 51 - 1) / w < 5 else (low, w)
    return low


def _uniform_p(_: Results) -> Estimate:
    """Chi-square test of the gaps against the uniform distribution on 1 to 100."""
    from scipy.special import chdtrc

    gaps = np.diff(picks(UNIFORM_P, MANY))
    counts = np.histogram(gaps, bins=np.linspace(0.5, 100.5, 11))[0]
    expected = counts.sum() / counts.size
    return stats.exact(float(chdtrc(counts.size - 1, ((counts - expected) ** 2 / expected).sum())), int(counts.sum()))


@measured
def _gaps(_: Results, positions: Any, of: Any) -> Estimate:
    """A number of the gaps between very many picks, whose sampling error is below the digits that are shown."""
    at = positions()
    return stats.exact(float(of(at)), at.size - 1)


def _uniform() -> Any:
    return picks(UNIFORM_P, MANY)


def _geometric() -> Any:
    return geometric(GEOMETRIC_P, MANY)


def _mean_gap(positions: Any) -> float:
    return float(np.diff(positions).mean())


def _stale(_: Results) -> float:
    """500 packets of 1000 B for long, then an arrival that finds 250."""
    backlog = np.full(400, 500_000, dtype=np.int64)
    backlog[-1] = 250_000
    avg, _verdict = trace(backlog, limit="1000000 B", min_th="400000 B", max_th="900000 B")
    return float(avg[-1] / 1000)


def _almost_full(_: Results) -> Estimate:
    n = 100_000
    return stats.exact(marks.share_selected(marks.MAX_TH - 1, n), n)


# ---- TCP and the stream ----------------------------------------------------------------------------------------------


def _sent(r: Results, c: str, kind: str = "send") -> pl.DataFrame:
    e = r.runs.events(flow=ONE).filter((pl.col("configuration") == c) & (pl.col("end") == "sender"))
    return e.filter((pl.col("kind") == kind) & ((pl.col("len") > 0) | ~pl.col("kind").is_in(["send", "retransmit"])))


def _gaps_of_acks(r: Results) -> Any:
    """The times between ACKs of a backlogged transfer, in seconds."""
    return np.diff((_sent(r, ONE, "ack")["time_ns"].to_numpy() / 1e9)[4:40])


def _off_multiples(r: Results) -> float:
    """How far those are from whole multiples of a packet's time, at most."""
    gaps = _gaps_of_acks(r) / testbed.PACKET_s
    return float(np.abs(gaps - np.maximum(np.round(gaps), 1)).max())


def _arrivals(r: Results) -> Any:
    """When full packets of the backlogged transfer reached the receiver, in seconds."""
    e = r.runs.events(flow=ONE).filter((pl.col("configuration") == ONE) & (pl.col("end") == "receiver"))
    return e.filter((pl.col("kind") == "receive") & (pl.col("len") == testbed.MSS))["time_ns"].to_numpy()[4:] / 1e9


def _spacing(r: Results) -> float:
    """Their mean distance; from the first of a burst to the first of the last one."""
    at = _arrivals(r)
    firsts = 1 + np.flatnonzero(np.diff(at) > testbed.PACKET_s / 2)
    return float((at[firsts[-1]] - at[firsts[0]]) / (firsts[-1] - firsts[0]))


def _times_on_grid(r: Results) -> Estimate:
    """Of the third transfer's transmission times at 2 and 5.5 s."""
    return parts.near_grid(measures.pooled(r, ["a/TD 2", "a/TD 5.5"], "third_xmit_s"))


def _first_flight(r: Results) -> float:
    t = _sent(r, ONE)["time_ns"].to_numpy()
    return float((t == t[0]).sum())


def _growth(r: Results) -> float:
    """Segments sent per ACK in slow start."""
    acks, sent = _sent(r, ONE, "ack")["time_ns"].to_numpy(), _sent(r, ONE)["time_ns"].to_numpy()
    acks = acks[1:11]
    return float(((sent >= acks[0]) & (sent <= acks[-1])).sum() / acks.size)


@measured
def _column(r: Results, c: str, column: str, flow: str = ONE) -> float:
    return r.flow(c, flow, column)


def _backoff(r: Results) -> float:
    """The second wait for one segment that is retransmitted by the timer twice, over the first."""
    again, fired = (_sent(r, LATE, k).filter(pl.col("seq") > 0) for k in ("retransmit", "timeout"))
    last = fired["seq"][-1]
    at = sorted({*again.filter(pl.col("seq") == last)["time_ns"], *fired.filter(pl.col("seq") == last)["time_ns"]})
    needed(len(at) >= 3, f"{len(at)} transmissions of the last segment")
    return (at[-1] - at[-2]) / (at[-2] - at[-3])


def _growth_after(r: Results) -> tuple[float, float]:
    """After a recovery: growth of the window in segments for each window acknowledged, and the mean window."""
    whole = r.runs.events(flow=ONE).filter((pl.col("configuration") == TAIL) & (pl.col("end") == "sender"))
    over = whole.filter(pl.col("kind") == "recovered")["time_ns"].max()
    after = whole.filter(pl.col("time_ns") > over)
    size, acked = (after.filter(pl.col("kind") == k).select("time_ns", pl.col("seq").alias(k)) for k in ("cwnd", "ack"))
    both = acked.join_asof(size, on="time_ns").drop_nulls()
    window, ack = (both[k].to_numpy().astype(float) for k in ("cwnd", "ack"))
    steps = np.flatnonzero(np.diff(window) > 0) + 1
    needed(steps.size >= 2, "the window does not grow after the recovery")
    first, last = steps[0], steps[-1]
    windows = (np.diff(ack[first : last + 1]) / window[first:last]).sum()
    growth = (window[last] - window[first]) / testbed.MSS / windows
    return float(growth), float(window[first:last].mean() / testbed.MSS)


def _over_kernel(r: Results) -> float:
    """That growth over w/(w+1): up to window + 1 ACKs are counted before the window grows."""
    growth, window = _growth_after(r)
    return growth * (window + 1) / window


CLAIMS = {
    "R9": {f"{k}, {unit}": _column(k, f"sent_{unit}", "udp") for unit in ("packets", "bytes") for k in MIXES},
    "R12": {
        "median gap": lambda r: stats.median(_gaps_of_acks(r)),
        "largest distance from a multiple": _off_multiples,
        "mean gap": _spacing,
        "gaps between departures within 1.5 ms of the grid": lambda r: parts.near_grid(np.diff(_arrivals(r))),
        "the third's transmission times within 1.5 ms of the grid": _times_on_grid,
    },
    "R66": {"burst 12": _weight(12), "burst 9": _weight(9)},
    "R67": _bound,
    "R68": {
        "uniform: chi-square test, p": _uniform_p,
        "uniform: mean gap": _gaps(_uniform, _mean_gap),
        "uniform: picks of 5000": lambda _: picks(UNIFORM_P).size,
        "geometric: picks of 5000": lambda _: geometric(GEOMETRIC_P).size,
        "uniform: variation": _gaps(_uniform, marks.variation),
        "geometric: variation": _gaps(_geometric, marks.variation),
        "geometric: mean gap": _gaps(_geometric, _mean_gap),
    },
    "R69": {"average": _stale, "minus 500 - 250/16": lambda r: _stale(r) - (500 - 250 / 16)},
    "R70": _almost_full,
    "R114": {
        "initial window": _first_flight,
        "segments per ACK in slow start": _growth,
        "two losses of a window: recoveries": _column(TAIL, "fast_recoveries"),
        "two losses of a window: timeouts": _column(TAIL, "timeouts"),
        "two losses of a window: retransmitted": _column(TAIL, "retransmitted_packets"),
        "after it: growth per window": lambda r: _growth_after(r)[0],
        "after it: growth per window, over w/(w+1)": _over_kernel,
        "last segment lost twice: second wait over the first": _backoff,
    },
}


def pictures_of(r: Results) -> list[Picture]:
    """Figures 3-2, 3-3 and 3-4."""
    scene = Scene(Runs({"sample": r.runs.table("sample")}, {}, {}))
    caption = "Queue behind which three transfers share the line, and RED's average of it (as Fig. 3-2)."
    followed = phenomena.queue_picture(scene, "fig-3-2", caption, {"average": BEHIND_RED})
    return [followed, tc_red.picture(effective(12)), marks.spacing()]


EXPERIMENT = study.experiment(
    __name__,
    "The parts, one by one",
    figures=pictures_of,
    variants={k: readings.ALL[k] for k in ("kernel", "former")},
    tables=lambda _: {},
    metrics={},
    reps=1,
    quick_reps=1,
    uses=("a",),
)
