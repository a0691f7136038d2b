"""What the source explains its results with, each as a run of its own. `crosswind explain` shows them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.jarvinen_2006 import mechanisms, readings, testbed
from crosswind.reproduce import Picture, Scenario
from crosswind.reproduce.explain import Phenomenon, Scene

SHORT: tuple[testbed.Other, ...] = ("third",)
INITIAL_TIMEOUT_s = 3.0
SUGGESTED = testbed.Reading()


def _world(
    label: str,
    others: tuple[testbed.Other, ...] = (),
    changes: Mapping[str, Any] | None = None,
    reading: testbed.Reading = SUGGESTED,
) -> Scenario:
    """A configuration of the testbed with everything logged."""
    one = testbed.world(testbed.Workload("phenomenon", others), testbed.setting(label), reading, label)
    return one.with_({"record.events": "all", "sharing": None, **(changes or {})})


# ---- slow-start overshoot --------------------------------------------------------------------------------------------


def _overshoot() -> dict[str, Scenario]:
    return {"BL": _world("BL")}


def _tell_overshoot(s: Scene) -> dict[str, float]:
    drop, learnt = s.first_s("BL", "bulk-1", "drop"), s.first_s("BL", "bulk-1", "recovery")
    done = s.first_s("BL", "bulk-1", "recovered")
    return {
        "drop_s": drop,
        "learnt_s": learnt,
        "blind_s": learnt - drop,
        "drops": sum(t <= done for t in s.times_s("BL", "bulk-1", "drop")),
        "last_resend_s": max((t for t in s.times_s("BL", "bulk-1", "resend") if t <= done), default=float("nan")),
    }


OVERSHOOT = Phenomenon(
    "slow-start-overshoot",
    "Slow start overshoots a deep queue",
    _overshoot,
    (
        "Two downloads start together over a 64 kbit/s link. In slow start every ACK lets two segments go, so "
        "each round trip doubles what is under way. The path holds some fifty packets: nine on the line and the "
        "way back, twenty in the link's buffer, three on their way to it, twenty in the router. When they are all "
        "taken, at {drop_s:.1f} s, the router drops its first packet; but the queue in front of the loss has to "
        "drain before the receiver can notice, and the news has to travel back. The sender learns of it at "
        "{learnt_s:.1f} s.",
        "For those {blind_s:.1f} s it goes on doubling, and about every second packet that it sends is dropped: "
        "{drops:.0f} packets of this flow alone. Repairing them takes until {last_resend_s:.0f} s, several round "
        "trips of one or two seconds. The loss is not the fault of a small queue, a larger one is overshot by "
        "more; what helps is a threshold that ends slow start in time (see cbi-balancing). RED does not help "
        "either: its average moves half way after 355 packets, and the whole overshoot is over after a hundred.",
    ),
    _tell_overshoot,
    lambda s: [
        s.sequence("slow-start-overshoot", "One of two downloads: the crosses are the overshoot.", "BL", "bulk-1", 30.0)
    ],
)

# ---- the notch -------------------------------------------------------------------------------------------------------

STARTS_s = {"in the overshoot": 6.0, "in the recovery": 10.0}
# With all rules of Linux 2.4, whose receive window leaves room in the queue after the overshoot, the notch is clear.
LINUX = testbed.Reading(**readings.COMMON["linux-kernel"].settings)


def _notch() -> dict[str, Scenario]:
    return {k: _world("BL", SHORT, {"flow.third.start": f"{t} s"}, LINUX) for k, t in STARTS_s.items()}


def _tell_notch(s: Scene) -> dict[str, float]:
    early, late = STARTS_s
    return {
        "early_s": s.value(early, "third", "elapsed_ns") / 1e9,
        "late_s": s.value(late, "third", "elapsed_ns") / 1e9,
        "early_drops": s.value(early, "third", "drops_packets"),
        "late_drops": s.value(late, "third", "drops_packets"),
        "early_timeouts": s.value(early, "third", "timeouts"),
    }


NOTCH = Phenomenon(
    "start-time-notch",
    "Four seconds later is faster: the notch",
    _notch,
    (
        "A short download of forty segments joins two long ones; all hosts follow the rules of Linux 2.4. If it "
        "starts 6 s after them it arrives in the middle of their slow-start overshoot: the queue is full, its own "
        "first windows are hit "
        "({early_drops:.0f} packets lost, {early_timeouts:.0f} timeouts), and with so few packets under way there "
        "are too few duplicate ACKs for a fast repair. It takes {early_s:.1f} s.",
        "If it starts at 10 s the long downloads have just learnt of their losses and have halved their windows. "
        "While they repair, the queue is short, and the newcomer slips through with {late_drops:.0f} lost packets "
        "in {late_s:.1f} s. Plotted against the start time, the elapsed time has a notch: bad while the queue "
        "overflows (2.5 to 8.2 s in the source), good for as long as the recovery lasts, and after that a matter "
        "of luck, because the queue is full again. A mean over start times hides all of this, which is why the "
        "experiments draw them stratified.",
    ),
    _tell_notch,
    lambda s: [
        s.sequence(f"start-time-notch-{i + 1}", f"The short download, started {k} ({t:g} s).", k, "third", t + 45.0)
        for i, (k, t) in enumerate(STARTS_s.items())
    ],
)

# ---- spurious timeout of the first window ----------------------------------------------------------------------------


def _spurious() -> dict[str, Scenario]:
    return {"BL": _world("BL", ("page",), {"flow.page.start": "29 s"})}


def _tell_spurious(s: Scene) -> dict[str, float]:
    sent = s.first_s("BL", "page/body", "send")
    e = s.events("BL", "page/body").filter((pl.col("kind") == "ack") & (pl.col("seq") > 1))
    return {
        "sent_s": sent,
        "timeout_s": s.first_s("BL", "page/body", "timeout"),
        "ack_s": min((t / 1e9 for t in e["time_ns"] if t / 1e9 > sent), default=float("nan")),
        "spurious": s.value("BL", "page/body", "avoidable_timeouts"),
        "vain": s.value("BL", "page/body", "unnecessary_resends_packets"),
    }


SPURIOUS = Phenomenon(
    "spurious-initial-timeout",
    "A timeout without any loss, on the first window",
    _spurious,
    (
        "A connection that has not measured a round trip yet waits 3 s for its first ACK. A full path of 64 "
        "kbit/s takes up to 3.8 s. So when a web page is opened beside two downloads that keep the queue full, "
        "the body's first segment, sent at {sent_s:.1f} s, is still waiting its turn when the timer expires at "
        "{timeout_s:.1f} s. Nothing is lost ({spurious:.0f} spurious timeouts on this connection); the ACK of the "
        "original arrives shortly after.",
        "The sender cannot tell. It halves its threshold, falls back to a window of one, and sends what is "
        "already on its way once more ({vain:.0f} packets in vain), through the very queue that made it wait. A "
        "page opens up to nine connections, each of which starts anew with 3 s; in the experiments almost every "
        "page met this. A class of its own for the page helps, because its queue is short, and so does ECN, "
        "because it shortens the queue for all. An initial window of four lets F-RTO recognise the mistake (see "
        "frto-window).",
    ),
    _tell_spurious,
    lambda s: [
        s.sequence(
            "spurious-initial-timeout", "The page's body, opened at 29 s: timeouts are dashed.", "BL", "page/body", 55.0
        )
    ],
)

# ---- shared thresholds -----------------------------------------------------------------------------------------------


def _balancing() -> dict[str, Scenario]:
    memory = {"persist": "across-repetitions", "gap": "19 s"}
    return {"BL": _world("BL"), "ETCP": _world("ETCP", (), {"sharing": memory})}


def _tell_balancing(s: Scene) -> dict[str, float]:
    out: dict[str, float] = {}
    for c in ("BL", "ETCP"):
        drops = [s.value(c, f"bulk-{i}", "drops_packets") for i in (1, 2)]
        took = [s.value(c, f"bulk-{i}", "elapsed_ns") / 1e9 for i in (1, 2)]
        out |= {f"{c}_drops": sum(drops), f"{c}_gap_s": abs(took[0] - took[1])}
    return {**out, "threshold": s.value("ETCP", "bulk-1", "ssthresh_initial_bytes") / testbed.MSS}


BALANCING = Phenomenon(
    "cbi-balancing",
    "A remembered threshold removes the overshoot and balances the flows",
    _balancing,
    (
        "Control blocks can be shared: a host remembers the slow-start threshold with which the last connection "
        "to a peer ended, and gives it to the next. In this run the server has served the mobile host before. "
        "Both downloads leave slow start at {threshold:.0f} segments instead of doubling until the queue "
        "overflows. Drops of the two together: {ETCP_drops:.0f} with the memory, {BL_drops:.0f} without.",
        "Since both flows leave slow start at the same window, neither has an advantage to keep: they finish "
        "{ETCP_gap_s:.1f} s apart here ({BL_gap_s:.1f} s without). The memory has two weak spots. It is only as "
        "good as the last connection: a very low threshold makes a long, slow start. And the operating system "
        "throws it away now and then; the next connection overshoots as ever, which is why a few runs in an "
        "experiment look like the old TCP. Connections that run at the same time learn nothing from each other.",
    ),
    _tell_balancing,
    lambda s: [
        s.sequence(f"cbi-balancing-{c.lower()}", f"The first download {what}.", c, "bulk-1", 40.0)
        for c, what in (("BL", "without a remembered threshold"), ("ETCP", "with one"))
    ],
    reps=3,
)

# ---- RED and the stream ----------------------------------------------------------------------------------------------


def _starving() -> dict[str, Scenario]:
    return {"BL+ECN": _world("BL+ECN", ("audio",), {"flow.audio.start": "16 s", "record.sample": "100 ms"})}


def _tell_starving(s: Scene) -> dict[str, float]:
    red = s.runs.sample("red_avg_bytes", "last-hop/forward")
    over = red.filter(pl.col("value") >= 5184.0)
    return {
        "drops": s.value("BL+ECN", "audio", "drops_packets"),
        "longest": s.value("BL+ECN", "audio", "loss_run_max_packets"),
        "over_s": over.height * 0.1,
        "marks": s.value("BL+ECN", "bulk-1", "marks_packets") + s.value("BL+ECN", "bulk-2", "marks_packets"),
    }


def _show_starving(s: Scene) -> Sequence[Picture]:
    lines: dict[str, Any] = {}
    for label, metric in (("queue", "queue_bytes"), ("RED's average", "red_avg_bytes")):
        part = s.runs.sample(metric, "last-hop/forward")
        part = part.filter(pl.col("time_ns") <= 60 * 10**9)
        lines[label] = (part["time_ns"].to_numpy() / 1e9, part["value"].to_numpy() / 1e3)
    lines["hard maximum"] = ([0.0, 60.0], [5.184, 5.184])
    return [
        figures.over_time(
            "red-starves-audio-queue", "The router's queue, RED's average and its hard maximum.", lines, "kB"
        ),
        s.sequence(
            "red-starves-audio", "One of the downloads: marks, drops, and what they lead to.", "BL+ECN", "bulk-1", 60.0
        ),
    ]


STARVING = Phenomenon(
    "red-starves-audio",
    "RED with ECN starves whoever cannot be marked",
    _starving,
    (
        "RED asks every packet to help keep the queue short. One that is ECN-capable is marked and goes on its "
        "way; one that is not is dropped. An audio stream over UDP is not, and neither is what TCP sends a second "
        "time. As long as the average lies between the two thresholds that costs the stream a packet now and "
        "then. Above the upper threshold RED acts on every packet: the downloads are marked ({marks:.0f} marks "
        "here) and still get through, and of the stream nothing does. In this run the average is above for "
        "{over_s:.0f} s, the stream loses {drops:.0f} of 1147 packets, {longest:.0f} of them in one row.",
        "The average gets there because it is slow. The overshoot of the downloads lifts it when the queue has "
        "long been short again, and a stream that joins takes almost half of the link, which the downloads notice "
        "one round trip, two seconds, later. It comes down as slowly, and while it is up every retransmission is "
        "dropped as well, so the downloads that could shorten the queue are busy with timeouts. A class of its "
        "own for the stream ends this; a gentler slope above the upper threshold would soften it.",
    ),
    _tell_starving,
    _show_starving,
)

# ---- F-RTO -----------------------------------------------------------------------------------------------------------

WINDOWS = {"spurious, F-RTO, IW 2": 2, "spurious, F-RTO, IW 4": 4}


def _frto() -> dict[str, Scenario]:
    every = mechanisms.configurations()
    return {k: every[k] for k in WINDOWS}


def _tell_frto(s: Scene) -> dict[str, float]:
    two, four = WINDOWS
    return {
        "vain_2": s.value(two, "one", "unnecessary_resends_packets"),
        "vain_4": s.value(four, "one", "unnecessary_resends_packets"),
        "detected_2": s.value(two, "one", "spurious_detected"),
        "detected_4": s.value(four, "one", "spurious_detected"),
        "timeout_s": s.first_s(four, "one", "timeout"),
    }


FRTO = Phenomenon(
    "frto-window",
    "F-RTO needs a window of three",
    _frto,
    (
        "F-RTO asks whether a timeout was a mistake. After it (here at {timeout_s:.1f} s) the sender repeats the "
        "first segment and then watches two ACKs. If the first one acknowledges new data, it sends two segments "
        "that it had not sent before, instead of repeating more. If the second one acknowledges new data too, "
        "that data must have arrived before the timeout: nothing was lost, and the sender carries on.",
        "Both ACKs must come from segments that were under way when the timer expired, and none may acknowledge "
        "all of them. With an initial window of two there are not enough: the second ACK either repeats the first "
        "or acknowledges everything, and F-RTO gives up ({detected_2:.0f} detected, {vain_2:.0f} packets repeated "
        "in vain). With four it works ({detected_4:.0f} detected). An initial window "
        "of at least three is therefore part of the cure for spurious timeouts of new connections, not only a way "
        "to start faster.",
    ),
    _tell_frto,
    lambda s: [
        s.sequence(f"frto-window-{n}", f"A slow line, initial window of {n}.", k, "one", 30.0)
        for k, n in WINDOWS.items()
    ],
)

# ---- ARQ stalls ------------------------------------------------------------------------------------------------------


def _stall() -> dict[str, Scenario]:
    return {"r4": _world("r4 BL")}


def _tell_stall(s: Scene) -> dict[str, float]:
    acks = s.times_s("r4", "bulk-1", "ack")
    gaps = [b - a for a, b in itertools.pairwise(acks)]
    longest = max(gaps, default=0.0)
    at = acks[gaps.index(longest) + 1] if gaps else 0.0
    return {
        "gap_s": longest,
        "at_s": at,
        "together": float(sum(at <= t < at + 0.05 for t in acks)),
        "rtt_max_s": s.value("r4", "bulk-1", "rtt_max_ns") / 1e9,
        "lost": s.value("r4", "bulk-1", "lost_packets"),
    }


STALL = Phenomenon(
    "arq-stall",
    "A link that repairs its errors makes them into delay",
    _stall,
    (
        "A link with persistent ARQ loses next to nothing ({lost:.0f} packets of this download), but each "
        "repetition of a frame takes 700 ms, and frames behind it have to wait, since the link delivers in order. "
        "For TCP an error is a silence: the longest one in this run is {gap_s:.1f} s without an ACK, until "
        "{at_s:.1f} s.",
        "When the frame is through, everything that had waited arrives at once: {together:.0f} ACKs within 50 ms, "
        "and the sender answers with a burst of as many new segments into the router's queue, which has not been "
        "idle either: unconfirmed frames hold their place in the link's buffer, so packets pile up in front of "
        "it. A stall thus makes the queue overflow earlier than the same load without errors would, in a row of "
        "drops when the way back was stalled, spread over a round trip when the way there was. The longest round "
        "trip was {rtt_max_s:.1f} s.",
    ),
    _tell_stall,
    lambda s: [
        s.sequence(
            "arq-stall", "A download over a link with four retransmissions: steps are stalls.", "r4", "bulk-1", 60.0
        )
    ],
)

PHENOMENA = (OVERSHOOT, NOTCH, SPURIOUS, BALANCING, STARVING, FRTO, STALL)
