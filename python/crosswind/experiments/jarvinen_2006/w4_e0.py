"""What happens to an audio stream beside two long downloads on a slow, error-free wireless last hop?

Two bulk transfers of 640 segments; a constant-rate stream of 1147 packets of 76 bytes, one every 20 ms, starts
somewhere in the first 36 s. Eight configurations: Baseline or Enhanced TCP, one queue or a prioritised class for the
stream (DS), drop-tail or RED with ECN; 120 repetitions each.

What the source printed: without classes the stream loses 7 % of its packets in BL and twice that with ECN, because RED
drops what cannot be marked; with classes nothing, but its delay stays long: the link's own buffer lies below the
classes. Delay quantiles are taken over the packets of all repetitions, counts per repetition.

What may differ here: start times and the drop-tail limit in bytes (variant `packet-limit`).

Why claims fail. Measured here, by changing one thing at a time:

* **It is not the source's kernel that runs here (J94, J95, J96, J99).** With all rules of Linux 2.4's code at once
  (`linux-kernel`, see W1) the stream loses 60, 160, 46 and 142 packets (81, 187, 42, 146 printed), its median delay is
  2518 ms (2599 ms), drops are fewest for starts at 12 s as in Figure 28, and these four claims are met.
* **The admission rule of the router** is most of J94 and J95. If a queue takes only what fits, as the source says,
  small packets find room where segments do not: the stream loses 26, 145, 7 and 108 packets. With the rule of Linux
  2.4's code (`kernel-fifo`), which takes any packet while the backlog is not above the limit, it loses 94, 181, 42
  and 138. A limit in packets (`packet-limit`) makes BL lose 114 and halves its delay.
* **When the stream's class is metered.** If the shaper looks at packets when they could leave (`shaped-audio`), its
  bucket of one MTU overflows while the link takes nothing: the stream waits 2.5 s in the median, up to 5 s, and loses
  up to 117 packets with RED; J3, J9, J18 and J97 fail (decision 0009).
* **How full the queue is (J96, J99).** BL's stream waits for 2.9 s in the median, so ECN shortens it by more than
  printed, and drops do not fall as much after the overshoot: the bulk flows keep large windows (see W1).
* **Lost retransmissions (J98).** All timeouts without classes and ECN (55 in 60 repetitions of BL, 6 of ETCP) are of a
  segment whose retransmission found the queue full. RFC 3517 cannot see that, so the timer must; ACKs of other segments
  still arrive, and by the suggested rule that makes the timeout spurious. None is of a segment that had arrived. With
  all rules of Linux 2.4 there are 8: windows are smaller, so fewer retransmissions meet a full queue.
* **Bursts of repairs (J104).** The largest delay variation is 638 ms in BL, nine segments between two packets of the
  stream: when a SACK reveals the end of a row of losses, RFC 3517 takes them all for lost at once and lets as many
  resends go. At 349 ms the source's kernel let five go. Linux's moderation of the window (`linux-moderation`) makes it
  494 ms, and 350 ms in BL+DS+ECN, which is then within the band; nothing else in this workload moves. With Linux's
  recovery (`linux-recovery`), which learns of all losses at once, it is 1358 ms.
* **Standstill (J101).** The longest one of a bulk flow beside the stream is 14.8 s, after two timeouts; 0 B/s would
  need a third, 21 s of the stream's 23. RED's average is above its maximum for about 3 s at a time (`crosswind
  explain red-starves-audio`) and has come down by the second timeout; with the exponential damping (`exact-damping`
  of W1) the longest standstill is 16.1 s.
* **The first retransmission (J102).** It is dropped in 56 % of the repetitions, 84 % with all rules of Linux 2.4: with
  larger windows the average passes the maximum later, after the first retransmission has gone through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.claims import BrokenClaimError, Measure, MissingDataError, measures
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006 import metrics, parts, readings, stream, study, testbed
from crosswind.experiments.jarvinen_2006.stream import starts
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

WORKLOAD = testbed.Workload("w4-e0", ("audio",))
OVERALL, DROPS = "overall_throughput", "audio_drops"
WITH_DS = tuple(c for c in testbed.EIGHT if "+DS" in c)
WITHOUT = tuple(c for c in testbed.EIGHT if "+DS" not in c)
LOGGED = "ETCP+ECN"
LONG_RUN = 100
NEXT_TO_NOTHING_Bps = 0.5


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The eight configurations; two are logged for the claims on the first retransmission and the first drop."""
    out = testbed.configurations(WORKLOAD, testbed.EIGHT, variant)
    logged = {LOGGED: ["bulk"], "BL": ["bulk", "audio"]}
    return out | {c: out[c].with_({"record.events": flows}) for c, flows in logged.items()}


def _least_start(r: Results) -> Estimate:
    """Middle of the two seconds of starts, from 5 s on, in which the stream loses least."""
    edges = np.arange(5.0, 36.0, 2.0)
    medians = [np.median(x) if (x := starts(r, "BL", a, a + 2.0, DROPS)).size else np.inf for a in edges]
    return stats.exact(float(edges[int(np.argmin(medians))] + 1.0))


def _ratio(later: tuple[float, float], earlier: tuple[float, float]) -> Measure:
    return lambda r: stats.estimate(
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        starts(r, "BL", *later, DROPS),
        starts(r, "BL", *earlier, DROPS),
    )


def _first_resend_dropped(r: Results) -> npt.NDArray[np.bool_]:
    """For each repetition with a start after 15 s: whether the first retransmission after it was dropped."""
    log = r.runs.events()
    if log.is_empty():
        raise MissingDataError("no event log")
    start = dict(zip(range(10**6), r.of(LOGGED, "audio_start_s"), strict=False))
    hits = []
    for (rep,), part in log.filter(log["configuration"] == LOGGED).group_by(["rep"], maintain_order=True):
        if start[int(rep)] <= 15.0:
            continue
        rows = part.filter(part["time_ns"] > start[int(rep)] * 1e9).select("kind", "flow", "seq", "len").rows()
        first = next((i for i, x in enumerate(rows) if x[0] == "resend" and x[3] > 0), None)
        if first is not None:
            _, flow, seq, _ = rows[first]
            fate = next((x[0] for x in rows[first + 1 :] if x[0] in ("drop", "resend") and x[1:3] == (flow, seq)), "")
            hits.append(fate == "drop")
    if not hits:
        raise MissingDataError("nothing was retransmitted after the stream had started")
    return np.array(hits)


def _first_congestion(r: Results) -> npt.NDArray[np.float64]:
    """When the first packet is dropped after the stream's start, BL, starts after 14 s; nan where none is."""
    log = r.runs.events()
    if log.is_empty():
        raise BrokenClaimError("no events were recorded")
    dropped = log.filter((pl.col("configuration") == "BL") & (pl.col("kind") == "drop"))
    times = {rep: part["time_ns"].to_numpy() / 1e9 for (rep,), part in dropped.group_by(["rep"])}
    late = [(rep, start) for rep, start in enumerate(r.of("BL", "audio_start_s")) if start > 14.0]
    if not late:
        raise MissingDataError("no stream starts after 14 s")
    after = [t[t >= start] for rep, start in late for t in (times.get(rep, np.empty(0)),)]
    return np.array([t.min() if t.size else np.nan for t in after])


def _size_of(configuration: str) -> Any:
    """Bytes of the two bulk flows and of what arrived of the stream, by repetition."""
    return lambda r: (
        737_280 + (r.of(configuration, "audio_sent") - r.of(configuration, DROPS)) * testbed.STREAM_PACKET_BYTES
    )


CLAIMS = study.BOOK.claims(
    {
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
        | {"back to back, BL": measures.value("BL", "audio_ipdv_p25_ms")},
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
        },
        "J99": {
            "starts of 12-22 s against 5-12 s": _ratio((12, 22), (5, 12)),
            "start with the fewest drops": _least_start,
            "starts of 29-36 s against 22-29 s": _ratio((29, 36.1), (22, 29)),
        },
        "J100": {
            "repetitions, BL+ECN": measures.share(lambda r: starts(r, "BL+ECN", 5, 99, "audio_loss_run_max") > LONG_RUN)
        },
        "J101": {
            "minimum": stream.extreme(["BL+ECN"], "simultaneous_slower", np.min),
            "repetitions with next to nothing": measures.share(
                lambda r: r.of("BL+ECN", "simultaneous_slower") <= NEXT_TO_NOTHING_Bps
            ),
        },
        "J102": {
            f"dropped, {LOGGED}": measures.share(_first_resend_dropped),
            "first retransmission not dropped": measures.number(lambda r: ~_first_resend_dropped(r)),
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
            "repetitions without congestion": measures.number(lambda r: np.isnan(_first_congestion(r))),
            "repetitions with congestion before 15.7 s": measures.number(lambda r: _first_congestion(r) < 15.7),
        },
        "J135": {
            "faster": measures.value("BL", "faster_elapsed_s"),
            "faster, IQR": measures.value("BL", "faster_elapsed_s", of=stats.iqr_of),
            "slower": measures.value("BL", "slower_elapsed_s"),
        },
    },
    partly=("J2", "J5", "J18"),
)


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 27a-f and 28 to 32."""
    out = stream.pictures(r, 27, names=testbed.EIGHT)
    for name, figure, column, what, chosen in (
        ("fig-28", "Fig. 28", DROPS, "drops of the stream (packets)", ["BL"]),
        ("fig-29", "Fig. 29", "faster_elapsed_s", "elapsed time of the faster flow (s)", ["BL"]),
        ("fig-30", "Fig. 30", DROPS, "drops of the stream (packets)", ["BL", "ETCP"]),
        ("fig-31", "Fig. 31", "faster_elapsed_s", "elapsed time of the faster flow (s)", ["ETCP"]),
        ("fig-32", "Fig. 32", "faster_elapsed_s", "elapsed time of the faster flow (s)", ["ETCP+DS"]),
    ):
        points = {c: (r.of(c, "audio_start_s"), r.of(c, column)) for c in chosen}
        caption = f"{what.split(' (')[0].capitalize()} against the stream's start: {' and '.join(chosen)} ({figure})."
        out.append(figures.scatter(name, caption, points, "start of the stream (s)", what))
    return out


EXPERIMENT = study.experiment(
    "w4-e0",
    "Two bulk flows and an audio stream on an error-free 64 kbit/s last hop",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
    variants=readings.STREAM,
    headline=parts.headline(DROPS, "drops", testbed.EIGHT, 0),
)
