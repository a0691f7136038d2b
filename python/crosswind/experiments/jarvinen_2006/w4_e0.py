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

from crosswind import figures, stats
from crosswind.claims import Claim, MissingDataError, Part, at_least, at_most, below, between, near, within
from crosswind.experiments.base import Results, published
from crosswind.experiments.jarvinen_2006 import measures, parts, readings, stream, study, testbed
from crosswind.experiments.jarvinen_2006.parts import change_part, share_part, value_part
from crosswind.experiments.jarvinen_2006.stream import extreme_part, pooled_change, pooled_part, starts
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

P = published("w4_e0.csv", __file__)
WORKLOAD = testbed.Workload("w4-e0", ("audio",))
OVERALL, DROPS = "overall_throughput", "audio_drops"
WITH_DS = tuple(c for c in testbed.EIGHT if "+DS" in c)
WITHOUT = tuple(c for c in testbed.EIGHT if "+DS" not in c)
LOGGED = "ETCP+ECN"
LONG_RUN = 100
NEXT_TO_NOTHING_Bps = 0.5


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The eight configurations; the bulk flows of one are logged for the claim about its first retransmission."""
    out = testbed.configurations(WORKLOAD, testbed.EIGHT, variant)
    return {**out, LOGGED: out[LOGGED].with_({"record.events": ["bulk"]})}


def _least_start(r: Results) -> Estimate:
    """Middle of the two seconds of starts, from 5 s on, in which the stream loses least."""
    edges = np.arange(5.0, 36.0, 2.0)
    medians = [np.median(x) if (x := starts(r, "BL", a, a + 2.0, DROPS)).size else np.inf for a in edges]
    return stats.exact(float(edges[int(np.argmin(medians))] + 1.0))


def _ratio(later: tuple[float, float], earlier: tuple[float, float]) -> Any:
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


def _size_of(configuration: str) -> Any:
    """Bytes of the two bulk flows and of what arrived of the stream, by repetition."""
    return lambda r: (
        737_280 + (r.of(configuration, "audio_sent") - r.of(configuration, DROPS)) * testbed.STREAM_PACKET_BYTES
    )


def _drop_order() -> list[Part]:
    order = ("BL+ECN", "ETCP+ECN", "BL", "ETCP")
    return parts.falling(DROPS, order)


IDENTITIES = (
    Claim(
        "J2",
        "Least one-way delay of the stream at 64 kbit/s",
        "309 ms",
        [extreme_part("minimum", testbed.EIGHT, "audio_delay_min_ms", np.min, near(309.5, 2.5), "309 to 310 ms")],
    ),
    Claim(
        "J3",
        "Full rate of the stream by the metric's definition",
        "3803 B/s",
        [
            extreme_part(f"{word}, all DS", WITH_DS, "audio_throughput", of, near(3803, 1.0), "3803 B/s", "B/s")
            for word, of in (("minimum", np.min), ("maximum", np.max))
        ],
    ),
    Claim(
        "J4",
        "The stream's throughput follows from its drops",
        "3803 (1 - drops / 1147) B/s",
        [stream.rate_from_drops(testbed.EIGHT, testbed.STREAM_PACKETS, at_most(2.0))],
    ),
    Claim(
        "J6",
        "Delay variation at 64 kbit/s comes in steps of a segment: 72 k - 10.5 ms",
        "-11, 277, 349 ms",
        [
            stream.lattice_part(
                f"distance of the largest one from a step, {c}", c, "audio_ipdv_max_ms", 72.0, -10.5, at_most(1.0)
            )
            for c in ("BL", "BL+DS")
        ]
        + [value_part("back to back, BL", "BL", "audio_ipdv_p25_ms", near(-10.5, 1.0), -11, unit="ms")],
    ),
    Claim(
        "J8",
        "Longest delay of the stream without classes",
        "3404 ms; at most 3.47 s",
        [extreme_part("BL", ["BL"], "audio_delay_max_ms", np.max, between(3200, 3500), "3404 ms", digits=0)],
    ),
    Claim(
        "J9",
        "With classes the stream's delay is that of a full link buffer",
        "median 1819 ms, maximum 2008 ms",
        [
            pooled_part("median, BL+DS", "BL+DS", "delay_ns", 0.5, within(1819, 0.05), "1819 ms"),
            extreme_part(
                "maximum, BL+DS", ["BL+DS"], "audio_delay_max_ms", np.max, within(2008, 0.05), "2008 ms", digits=0
            ),
        ],
    ),
    Claim(
        "J18",
        "With classes the stream has no congestion drops",
        "0 in all DS cases",
        [extreme_part("largest count, all DS", WITH_DS, DROPS, np.max, at_most(0), "0", "", 0)],
    ),
)
CLAIMS = (
    Claim(
        "J5",
        "Overall throughput times elapsed time of the slower flow is the size of the objects",
        "737280 B and the received stream (W4)",
        [parts.identity_part(c, near(0.0, 0.003), "0 %", _size_of(c)) for c in testbed.EIGHT],
    ),
    *IDENTITIES,
    Claim(
        "J94",
        "Stream drops: BL+ECN > ETCP+ECN > BL > ETCP > 0 with classes",
        "187, 146, 81, 42, 0 of 1147",
        [
            *parts.table_parts(DROPS, "drops", P, 0.40, unit="", digits=0),
            *_drop_order(),
            extreme_part("largest count, all DS", WITH_DS, DROPS, np.max, at_most(0), "0", "", 0),
        ],
    ),
    Claim(
        "J95",
        "Throughput of the stream",
        "3535, 3182, 3664, 3319; 3803 B/s with classes",
        parts.table_parts("audio_throughput", "stream_throughput", P, 0.05, unit="B/s", digits=0),
    ),
    Claim(
        "J96",
        "One-way delay of the stream: ECN or classes shorten the median, not the maximum without classes",
        "2599 ms; -29 %, -30 %, -33 %; 309 and 3404 ms",
        [
            pooled_part("median, BL", "BL", "delay_ns", 0.5, within(2599, 0.15), "2599 ms"),
            pooled_change("BL+ECN", "BL+ECN", "BL", 0.5, near(-0.29, 0.10), "-29 %"),
            pooled_change("BL+DS", "BL+DS", "BL", 0.5, near(-0.30, 0.10), "-30 %"),
            pooled_change("ETCP+ECN", "ETCP+ECN", "BL", 0.5, near(-0.33, 0.10), "-33 %"),
            *(
                extreme_part(
                    f"maximum, {c}", [c], "audio_delay_max_ms", np.max, within(3404, 0.15), "3404 ms", digits=0
                )
                for c in WITHOUT
            ),
        ],
    ),
    Claim(
        "J97",
        "With classes ECN does not shorten the stream's delay",
        "about equal",
        [pooled_change("median, BL+DS+ECN against BL+DS", "BL+DS+ECN", "BL+DS", 0.5, at_least(-0.02), "0 %")],
    ),
    Claim(
        "J98",
        "No spurious timeouts without classes and ECN",
        "none",
        [
            extreme_part(f"largest count, {c}, {role}", [c], f"{role}_spurious", np.max, at_most(0), "0", "", 0)
            for c in ("BL", "ETCP")
            for role in measures.BULK
        ],
    ),
    Claim(
        "J99",
        "BL, Fig. 28: most drops for starts in the overshoot, fewest near 12 s (our number: 10 to 14 s), level after "
        "22 s (our number: 25 %)",
        "5-12 s >> 12-22 s; minimum at 12 s; flat",
        [
            Part("starts of 12-22 s against 5-12 s", _ratio((12, 22), (5, 12)), below(0.5), "< 1/2", "", 2),
            Part("start with the fewest drops", _least_start, near(12.0, 2.0), "12 s", "s"),
            Part("starts of 29-36 s against 22-29 s", _ratio((29, 36.1), (22, 29)), near(1.0, 0.25), "flat", "", 2),
        ],
    ),
    Claim(
        "J100",
        "BL+ECN: streams that start after 5 s often lose more than 100 packets in a row",
        "many repetitions",
        [
            share_part(
                "repetitions",
                "BL+ECN",
                lambda r: starts(r, "BL+ECN", 5, 99, "audio_loss_run_max") > LONG_RUN,
                at_least(0.25),
                "many",
            )
        ],
    ),
    Claim(
        "J101",
        "BL+ECN: the slower flow can come to a standstill while the stream runs",
        "minimum 0 B/s",
        [
            extreme_part(
                "minimum", ["BL+ECN"], "simultaneous_slower", np.min, at_most(NEXT_TO_NOTHING_Bps), "0 B/s", "B/s"
            )
        ],
    ),
    Claim(
        "J102",
        "ETCP+ECN, start after 15 s: the first retransmission is dropped",
        "every repetition",
        [share_part("dropped", LOGGED, _first_resend_dropped, at_least(1.0), "100 %")],
    ),
    Claim(
        "J103",
        "Overall throughput; ETCP a little above BL",
        "7903, 7897, 7906, 7902; 7940, 7934, 7941 B/s",
        [
            *parts.table_parts(OVERALL, OVERALL, P, 0.05, unit="B/s", digits=0),
            change_part("ETCP against BL", "ETCP", "BL", OVERALL, between(0.003, 0.008), 0.005),
        ],
    ),
    Claim(
        "J104",
        "Delay variation: quartiles -11 ms everywhere; largest 349, 277, 286 ms",
        "-11 ms; 277 to 349 ms",
        [
            *(
                value_part(f"{q} quartile, {c}", c, f"audio_ipdv_{x}_ms", near(-10.5, 1.0), -11, unit="ms")
                for c in testbed.EIGHT
                for q, x in (("lower", "p25"), ("upper", "p75"))
            ),
            *(
                extreme_part(f"largest, {c}", [c], "audio_ipdv_max_ms", np.max, between(200, 370), printed, digits=0)
                for c, printed in (("BL", "349 ms"), ("BL+DS+ECN", "277 ms"), ("ETCP+DS", "286 ms"))
            ),
        ],
    ),
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
