"""What happens to an audio stream beside two long downloads on a slow, error-free wireless last hop?

Two bulk transfers of 640 segments; a constant-rate stream of 1147 packets of 76 bytes, one every 20 ms, starts
somewhere in the first 36 s. Eight configurations: Baseline or Enhanced TCP, one queue or a prioritised class for the
stream (DS), drop-tail or RED with ECN; 120 repetitions each.

What the source printed: without classes the stream loses 7 % of its packets in BL and twice that with ECN, because RED
drops what cannot be marked; with classes nothing, but its delay stays long: the link's own buffer lies below the
classes. Delay quantiles are taken over the packets of all repetitions, counts per repetition.

What may differ here: start times and the drop-tail limit in bytes (variant `packet-limit`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import boxes, metrics, parts, readings, stream, study, testbed
from crosswind.experiments.jarvinen_2006.stream import starts
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures, needed
from crosswind.reproduce.claims import BrokenClaimError

WORKLOAD = testbed.Workload("w4-e0", ("audio",))
OVERALL, DROPS = "overall_throughput", "audio_drops"
WITH_DS = tuple(c for c in testbed.EIGHT if "+DS" in c)
WITHOUT = tuple(c for c in testbed.EIGHT if "+DS" not in c)
LOGGED = "ETCP+ECN"
LONG_RUN = 100
LEVELS_ms = {"back to back": -11.0} | {f"{k} segments between": 72.0 * k - 11.0 for k in (3, 4, 5)}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The eight configurations; two are logged for the claims on the first retransmission and the first drop."""
    out = testbed.configurations(WORKLOAD, testbed.EIGHT, variant)
    logged = {LOGGED: ["bulk"], "BL": ["bulk", "audio"]}
    return out | {c: out[c].with_({"record.events": flows}) for c, flows in logged.items()}


def _least_start(r: Results) -> float:
    """Middle of the two seconds of starts, from 5 s on, in which the stream loses least."""
    edges = np.arange(5.0, 36.0, 2.0)
    medians = [np.median(x) if (x := starts(r, "BL", a, a + 2.0, DROPS)).size else np.inf for a in edges]
    return float(edges[int(np.argmin(medians))] + 1.0)


def _ratio(later: tuple[float, float], earlier: tuple[float, float]) -> Measure:
    return lambda r: stats.estimate(
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        starts(r, "BL", *later, DROPS),
        starts(r, "BL", *earlier, DROPS),
    )


def _first_retransmission_dropped(r: Results) -> npt.NDArray[np.bool_]:
    """For each repetition with a start after 15 s: whether the first retransmission after it was dropped."""
    log = r.runs.events()
    needed(log, "no event log")
    start = dict(zip(range(10**6), r.of(LOGGED, "audio_start_s"), strict=False))
    hits = []
    for (rep,), part in log.filter(log["configuration"] == LOGGED).group_by(["rep"], maintain_order=True):
        if start[int(rep)] <= 15.0:
            continue
        rows = part.filter(part["time_ns"] > start[int(rep)] * 1e9).select("kind", "flow", "seq", "len").rows()
        first = next((i for i, x in enumerate(rows) if x[0] == "retransmit" and x[3] > 0), None)
        if first is not None:
            _, flow, seq, _ = rows[first]
            fate = next(
                (x[0] for x in rows[first + 1 :] if x[0] in ("drop", "retransmit") and x[1:3] == (flow, seq)), ""
            )
            hits.append(fate == "drop")
    needed(hits, "nothing was retransmitted after the stream had started")
    return np.array(hits)


def _first_congestion(r: Results) -> npt.NDArray[np.float64]:
    """When the first packet is dropped after the stream's start, BL, starts after 14 s; nan where none is."""
    log = r.runs.events()
    if log.is_empty():
        raise BrokenClaimError("no events were recorded")
    dropped = log.filter((pl.col("configuration") == "BL") & (pl.col("kind") == "drop"))
    times = {rep: part["time_ns"].to_numpy() / 1e9 for (rep,), part in dropped.group_by(["rep"])}
    late = [(rep, start) for rep, start in enumerate(r.of("BL", "audio_start_s")) if start > 14.0]
    needed(late, "no stream starts after 14 s")
    after = [t[t >= start] for rep, start in late for t in (times.get(rep, np.empty(0)),)]
    return np.array([t.min() if t.size else np.nan for t in after])


def _size_of(configuration: str) -> Any:
    """Bytes of the two bulk flows and of what arrived of the stream, by repetition."""
    return lambda r: (
        737_280 + (r.of(configuration, "audio_sent") - r.of(configuration, DROPS)) * testbed.STREAM_PACKET_BYTES
    )


def _spurious(r: Results) -> npt.NDArray[np.bool_]:
    """Repetitions, over both cells without classes and ECN, in which a bulk flow has a spurious timeout."""
    counts = [[r.of(c, f"{role}_spurious") for role in metrics.BULK] for c in ("BL", "ETCP")]
    return np.sum(counts, axis=1).ravel() > 0


CLAIMS = {
    "J2": {"64 kbit/s: minimum": stream.extreme(testbed.EIGHT, "audio_delay_min_ms", np.min)},
    "J3": {
        f"{word}, all DS": stream.extreme(WITH_DS, "audio_throughput", of)
        for (word, of) in (("minimum", np.min), ("maximum", np.max))
    },
    "J4": {"largest deviation over all repetitions": stream.rate_from_drops(testbed.EIGHT, testbed.STREAM_PACKETS)},
    "J6": {
        f"distance of the largest one from a step, {c}": stream.off_the_steps(c, "audio_ipdv_max_ms", 72.0, -10.5)
        for c in ("BL", "BL+DS")
    }
    | {"back to back, BL": measures.value("BL", "audio_ipdv_p25_ms")}
    | {word: stream.nearest(testbed.EIGHT, ms) for word, ms in LEVELS_ms.items()},
    "J8": {"BL": stream.extreme(["BL"], "audio_delay_max_ms", np.max)},
    "J9": {
        "median, BL+DS": stream.quantile("BL+DS", "delay_ns", 0.5),
        "maximum, BL+DS": stream.extreme(["BL+DS"], "audio_delay_max_ms", np.max),
    },
    "J18": {"largest count, all DS": stream.extreme(WITH_DS, DROPS, np.max)},
    "J5": {f"W4 {c}": parts.identity(c, _size_of(c)) for c in testbed.EIGHT},
    "J94": measures.each(WITHOUT, DROPS)
    | measures.steps(("BL+ECN", "ETCP+ECN", "BL", "ETCP"), DROPS)
    | {"largest count, all DS": stream.extreme(WITH_DS, DROPS, np.max)},
    "J95": measures.each(testbed.EIGHT, "audio_throughput"),
    "J96": {
        "median, BL": stream.quantile("BL", "delay_ns", 0.5),
        "BL+ECN": stream.quantile_change("BL+ECN", "BL", 0.5),
        "BL+DS": stream.quantile_change("BL+DS", "BL", 0.5),
        "ETCP+ECN": stream.quantile_change("ETCP+ECN", "BL", 0.5),
    }
    | {f"maximum, {c}": stream.extreme([c], "audio_delay_max_ms", np.max) for c in WITHOUT},
    "J97": {"median, BL+DS+ECN against BL+DS": stream.quantile_change("BL+DS+ECN", "BL+DS", 0.5)},
    "J98": {
        f"largest count, {c}, {role}": stream.extreme([c], f"{role}_spurious", np.max)
        for c in ("BL", "ETCP")
        for role in metrics.BULK
    }
    | {"repetitions with one": measures.number(_spurious)},
    "J99": {
        "starts of 12-22 s against 5-12 s": _ratio((12, 22), (5, 12)),
        "start with the fewest drops": _least_start,
        "starts of 29-36 s against 22-29 s": _ratio((29, 36.1), (22, 29)),
    },
    "J100": {
        "repetitions, BL+ECN": measures.share(lambda r: starts(r, "BL+ECN", 5, 99, "audio_loss_run_max") > LONG_RUN)
    },
    "J101": {"minimum": stream.extreme(["BL+ECN"], "simultaneous_slower", np.min)},
    "J102": {
        f"dropped, {LOGGED}": measures.share(_first_retransmission_dropped),
        "first retransmission not dropped": measures.number(lambda r: ~_first_retransmission_dropped(r)),
    },
    "J103": measures.each(testbed.EIGHT[:7], OVERALL)
    | measures.changes((("ETCP" + x, "BL" + x) for x in ("", "+ECN", "+DS")), OVERALL),
    "J104": {
        f"{q} quartile, {c}": measures.value(c, f"audio_ipdv_{x}_ms")
        for c in testbed.EIGHT
        for (q, x) in (("lower", "p25"), ("upper", "p75"))
    }
    | {f"largest, {c}": stream.extreme([c], "audio_ipdv_max_ms", np.max) for c in ("BL", "BL+DS+ECN", "ETCP+DS")},
    "J136": {
        # A repetition without congestion has no first one, which is not after 15.7 s either.
        "repetitions without congestion or with some before 15.7 s": measures.number(
            lambda r: ~(_first_congestion(r) >= 15.7)
        ),
        "of these without congestion": measures.number(lambda r: np.isnan(_first_congestion(r))),
    },
    "J135": {
        "faster": measures.value("BL", "faster_elapsed_s"),
        "faster, IQR": measures.value("BL", "faster_elapsed_s", of=stats.iqr_of),
        "slower": measures.value("BL", "slower_elapsed_s"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 27a-f and 28 to 32."""
    printed = {
        "a": {"all": study.printed("J103")},
        "b": {"stream": study.printed("J95")},
        "e": {x: {"BL": study.BOOK.number("J135", x)} for x in metrics.BULK},
    }
    out = stream.pictures(r, 27, names=testbed.EIGHT, printed=printed)
    drops, faster = ("Drops of the stream", DROPS), ("Elapsed time of the faster flow", "faster_elapsed_s")
    axes = {DROPS: "drops of the stream (packets)", "faster_elapsed_s": "elapsed time of the faster flow (s)"}
    for figure, (what, column), chosen in (
        ("28", drops, ["BL"]),
        ("29", faster, ["BL"]),
        ("30", drops, ["BL", "ETCP"]),
        ("31", faster, ["ETCP"]),
        ("32", faster, ["ETCP+DS"]),
    ):
        out.append(boxes.against_start(r, figure, what, chosen, "audio", column, axes[column]))
    return out


EXPERIMENT = study.experiment(
    __name__,
    "Two bulk flows and an audio stream on an error-free 64 kbit/s last hop",
    variants=readings.STREAM,
    headline=parts.headline(DROPS, "drops", testbed.EIGHT, 0),
    partly=("J2", "J4", "J5", "J18", "J101"),
)
