"""What the source explains its results with, each as a run of its own. `crosswind explain` shows them."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.jarvinen_2006 import mechanisms, readings, testbed
from crosswind.reproduce import Picture, Scenario
from crosswind.reproduce.explain import Scene, told

phenomenon = told(__file__)

SHORT: tuple[testbed.Other, ...] = ("third",)
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
        "last_retransmission_s": max(
            (t for t in s.times_s("BL", "bulk-1", "retransmit") if t <= done), default=float("nan")
        ),
    }


OVERSHOOT = phenomenon(
    "slow-start-overshoot",
    _overshoot,
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


NOTCH = phenomenon(
    "start-time-notch",
    _notch,
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
        "vain": s.value("BL", "page/body", "unnecessary_retransmissions_packets"),
    }


SPURIOUS = phenomenon(
    "spurious-initial-timeout",
    _spurious,
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


BALANCING = phenomenon(
    "cbi-balancing",
    _balancing,
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


STARVING = phenomenon("red-starves-audio", _starving, _tell_starving, _show_starving)

# ---- F-RTO -----------------------------------------------------------------------------------------------------------

WINDOWS = {"spurious, F-RTO, IW 2": 2, "spurious, F-RTO, IW 4": 4}


def _frto() -> dict[str, Scenario]:
    every = mechanisms.configurations()
    return {k: every[k] for k in WINDOWS}


def _tell_frto(s: Scene) -> dict[str, float]:
    two, four = WINDOWS
    return {
        "vain_2": s.value(two, "one", "unnecessary_retransmissions_packets"),
        "vain_4": s.value(four, "one", "unnecessary_retransmissions_packets"),
        "detected_2": s.value(two, "one", "spurious_detected"),
        "detected_4": s.value(four, "one", "spurious_detected"),
        "timeout_s": s.first_s(four, "one", "timeout"),
    }


FRTO = phenomenon(
    "frto-window",
    _frto,
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


STALL = phenomenon(
    "arq-stall",
    _stall,
    _tell_stall,
    lambda s: [
        s.sequence(
            "arq-stall", "A download over a link with four retransmissions: steps are stalls.", "r4", "bulk-1", 60.0
        )
    ],
)

PHENOMENA = (OVERSHOOT, NOTCH, SPURIOUS, BALANCING, STARVING, FRTO, STALL)
