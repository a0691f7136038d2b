"""The cases of RFC 7928 for queues, with numbers where the RFC leaves them open.

Sections are those of the RFC. What is ours: the rate (10 Mbit/s), 40 s or 120 s instead of 300 s, sizes of pages and
video frames, and the transports: Linux's Reno and CUBIC of today, with their initial window of ten segments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from crosswind.suites.case import Build, Case, Measure, Setting, Table, merged
from crosswind.suites.network import CUBIC, bulk, constant, dumbbell, pages, ping, video, voice

Scenarios = dict[str, Table]
# Loss rates of mild, medium and heavy congestion (section 8.2.1).
LEVELS = {"mild": 0.001, "medium": 0.005, "heavy": 0.01}
RTTS_ms = {
    "few": (5, 20, 50, 200, 400),
    "all": (5, 8, 10, 16, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 560),
}
#: Laws of growth that are faster than Reno's.
AGGRESSIVE = {"few": ("cubic", "scalable"), "all": ("cubic", "bic", "htcp", "hstcp", "scalable")}
OVERLOADS = {"few": ("1.1",), "all": ("1.1", "10")}
SPIKE = Measure("delay_max_ms", "largest delay (ms)")
FINISHED = Measure("finished_p50_ms", "transfers, median (ms)", digits=0)
PAGE = Measure("page_p50_ms", "page, median (ms)", digits=0)
MOS = Measure("mos", "call (MOS)", "higher", 2)
VOICE = Measure("voice_p99_ms", "call, p99 added (ms)")
LOST = Measure("stream_loss", "stream lost (%)", digits=2)
BEHIND = Measure("ratio", "share over that of Reno", digits=2)
RATIO = Measure("ratio", "share over that of 100 ms", "nearer", 2)


def flows_at(s: Setting, loss: float) -> int:
    """How many greedy flows make a loss rate: p = 0.76 n^2/S^2, S the packets on the path and in the buffer."""
    return max(1, round(math.sqrt(loss / 0.76) * (s.path_packets + s.limit_packets)))


def _friendly(s: Setting, queue: Table) -> Scenarios:
    return {"reno": dumbbell(s, queue, {"bulk": bulk(s)})}


def _windows(s: Setting, queue: Table) -> Scenarios:
    first, count = s.seconds / 4, max(3, int(s.seconds * 0.75 / 5) - 1)
    start = {"uniform": [f"{first:g} s", f"{s.seconds - 5:g} s"]}
    short = bulk(s, count=count, start=start, workload={"type": "bulk", "size": "140 kB"})
    return {
        f"iw{w}": dumbbell(s, queue, {"bulk": bulk(s), "short": merged(short, {"tcp": {"initial_window_segments": w}})})
        for w in (3, 10)
    }


def _aggressive(s: Setting, queue: Table) -> Scenarios:
    return {law: dumbbell(s, queue, {"bulk": bulk(s, preset=CUBIC, tcp={"law": law})}) for law in AGGRESSIVE[s.detail]}


def _unresponsive(s: Setting, queue: Table) -> Scenarios:
    # What is ten times as fast as the line would be held up by links that are no faster.
    wide = {"1.1": s, "10": replace(s, rate_bps=2 * s.rate_bps)}
    made = {x: dumbbell(wide[x], queue, {"stream": constant(s, float(x))}) for x in OVERLOADS[s.detail]}
    return {x: merged(t, {"link": {"bottleneck": {"rate": f"{s.rate_bps} bit/s"}}}) for x, t in made.items()}


def _background(s: Setting, queue: Table) -> Scenarios:
    def lesser(target: str) -> Table:
        return bulk(s, tcp={"law": "ledbat++", "ledbat": {"target": target}}, start={"uniform": ["4 s", "5 s"]})

    beside = {t: dumbbell(s, queue, {"bulk": bulk(s), "other": lesser(t)}) for t in ("60 ms", "5 ms")}
    return {"alone": dumbbell(s, queue, {"other": lesser("60 ms")}), **beside}


def _with_friendly(s: Setting, queue: Table) -> Scenarios:
    return {"0.8": dumbbell(s, queue, {"bulk": bulk(s), "stream": constant(s, 0.8)})}


def _round_trips(s: Setting, queue: Table) -> Scenarios:
    flows = {"bulk": bulk(s, rtt_ms=100)}
    return {f"{r} ms": dumbbell(s, queue, {**flows, "other": bulk(s, rtt_ms=r)}) for r in RTTS_ms[s.detail]}


def _bursts(s: Setting, queue: Table) -> Scenarios:
    web, stream = {"web": pages(s, 4.0)}, {"stream": constant(s, 0.1)}
    mixes = {
        "web, stream": {**web, **stream},
        "web, stream, bulk": {**web, **stream, "bulk": bulk(s)},
        "video, web, stream": {**web, **stream, **video(s)},
        "all": {**web, **stream, **video(s), "bulk": bulk(s)},
    }
    return {name: dumbbell(s, queue, flows) for name, flows in mixes.items()}


def _steady(s: Setting, queue: Table) -> Scenarios:
    return {name: dumbbell(s, queue, {"bulk": bulk(s, count=flows_at(s, p))}) for name, p in LEVELS.items()}


def _varying(s: Setting, queue: Table) -> Scenarios:
    mild, medium, heavy = (flows_at(s, p) for p in LEVELS.values())
    step = min(20.0, s.seconds / 6)
    groups = {
        "bulk": bulk(s, count=mild),
        "medium": bulk(s, count=max(1, medium - mild), workload={"type": "bulk", "sending": "off"}),
        "heavy": bulk(s, count=max(1, heavy - medium), workload={"type": "bulk", "sending": "off"}),
    }

    def turns(flow: str, first: float, word: str) -> Table:
        at = {"first": f"{first:g} s", "every": f"{3 * step:g} s"}
        return {"at": at, "flow": flow, "set": {"sending": word}}

    plan = [turns("medium", step, "on"), turns("heavy", 2 * step, "on")]
    plan += [turns(flow, 3 * step, "off") for flow in ("medium", "heavy")]
    return {"rising": {**dumbbell(s, queue, groups), "timeline": plan}}


def _capacity(every_s: float) -> Build:
    def build(s: Setting, queue: Table) -> Scenarios:
        def to(first: float, rate: int) -> Table:
            at = {"first": f"{first:g} s", "every": f"{2 * every_s:g} s"}
            return {"at": at, "link": "bottleneck", "direction": "forward", "set": {"rate": f"{rate} bit/s"}}

        # The links before it must be faster than its larger rate.
        fast = replace(s, rate_bps=5 * s.rate_bps)
        scenario = dumbbell(fast, queue, {"bulk": bulk(s, count=2)})
        plan = [to(every_s, s.rate_bps // 2), to(2 * every_s, fast.rate_bps)]
        return {f"every {every_s:g} s": {**scenario, "timeline": plan}}

    return build


def _mix(s: Setting, queue: Table, *, reverse: Table | None = None) -> Scenarios:
    flows = {"bulk": bulk(s, preset=CUBIC, count=5), "web": pages(s, 4.0), "call": voice(s), **video(s, 0.2)}
    flows["back"] = {**voice(s), "from": "right", "to": flows["call"]["from"]}
    return {"mix": dumbbell(s, queue, flows, reverse=reverse)}


def _both_ways(s: Setting, queue: Table) -> Scenarios:
    n = flows_at(s, LEVELS["mild"])
    there = bulk(s, count=n)
    back = {**bulk(s, count=n), "from": "right", "to": there["from"]}
    return {"mild": dumbbell(s, queue, {"bulk": there, "back": back}, reverse=queue)}


def _two_queues(s: Setting, queue: Table) -> Scenarios:
    n = max(2, flows_at(s, LEVELS["mild"]) // 2 * 2) // 2
    scenario = dumbbell(s, queue, {"bulk": bulk(s, count=n), "cross": bulk(s, count=n)})
    second = {**scenario["link"]["bottleneck"], "from": "right", "to": "end"}
    scenario["link"]["second"] = second
    scenario["flow"]["bulk"]["to"] = "end"
    scenario["flow"]["far-cross"] = {**scenario["flow"]["cross"], "from": "right", "to": "end"}
    other = {"type": "codel" if queue.get("type") != "codel" else "pie", "limit": f"{s.limit_packets} packets"}
    another = merged(scenario, {"link": {"second": {}}})
    another["link"]["second"]["queue"] = other
    return {"same queue twice": scenario, f"{other['type']} behind it": another}


def _ecn(s: Setting, queue: Table) -> Scenarios:
    n = max(2, flows_at(s, LEVELS["medium"]))
    marked = {"tcp": {"ecn": "on"}}
    all_of_them = {"bulk": merged(bulk(s, count=n), marked)}
    half = {"bulk": merged(bulk(s, count=n // 2), marked), "other": bulk(s, count=n // 2)}
    return {"all": dumbbell(s, queue, all_of_them), "half": dumbbell(s, queue, half)}


def _scheduled(s: Setting, queue: Table) -> Scenarios:
    classes = {"voice": {"prio": 0, "queue": {"type": "droptail"}}, "rest": {"prio": 1, "queue": queue}}
    voices = {"class": "voice", "dscp": "EF"}
    under = {"type": "prio", "class": classes, "filter": [voices], "default": "rest"}
    in_turn = {name: {"queue": inner["queue"]} for name, inner in classes.items()}
    in_turns = {**under, "type": "drr", "class": in_turn}
    flows = {"bulk": bulk(s, preset=CUBIC, count=4), "call": voice(s)}
    kinds = {"alone": queue, "under priority": under, "under DRR": in_turns}
    return {kind: dumbbell(s, held, flows) for kind, held in kinds.items()}


def _rrul(s: Setting, queue: Table) -> Scenarios:
    start = {"uniform": ["5 s", "6 s"]}
    there = bulk(s, preset=CUBIC, count=4, start=start)
    back = {**there, "from": "right", "to": there["from"]}
    scenario = dumbbell(s, queue, {"bulk": there, "back": back, "ping": ping(s)}, reverse=queue)
    scenario["record"]["events"] = ["ping"]
    return {"four and four": scenario}


PINGED = (
    Measure("loaded_p50_ms", "ping under load, median (ms)"),
    Measure("loaded_p95_ms", "ping under load, p95 (ms)"),
    Measure("rpm", "round trips a minute", "higher", 0),
)

CASES: Sequence[Case] = (
    Case(
        "friendly", "5.1.1", "One TCP-friendly sender", "How long does one Reno flow wait in its own queue?", _friendly
    ),
    Case(
        "windows",
        "5.1.2",
        "Short transfers into a loaded queue",
        "How long does a transfer of 100 segments take, with an initial window of 3 or 10?",
        _windows,
        (FINISHED,),
    ),
    Case(
        "aggressive",
        "5.2",
        "Aggressive senders",
        "Does the delay stay where it was when a window grows faster?",
        _aggressive,
    ),
    Case(
        "unresponsive",
        "5.3.1",
        "A stream above the capacity",
        "Is the delay bounded when nobody listens?",
        _unresponsive,
        (LOST,),
    ),
    Case(
        "unresponsive-tcp",
        "5.3.2",
        "A stream beside TCP",
        "What do a deaf stream of 80 % and a Reno flow leave each other?",
        _with_friendly,
        (LOST,),
    ),
    Case(
        "less-than-best-effort",
        "5.4",
        "Less than best effort",
        "Does a flow that wants only what is left (LEDBAT++, by its target) stay behind one of Reno?",
        _background,
        (BEHIND,),
    ),
    Case(
        "rtt-fairness",
        "6",
        "Fairness between round trips",
        "How does a flow with another round trip share with one of 100 ms?",
        _round_trips,
        (RATIO,),
    ),
    Case(
        "bursts",
        "7.2",
        "Bursts",
        "Does the queue take the bursts of pages and video frames?",
        _bursts,
        (PAGE, LOST, SPIKE),
    ),
    Case("steady", "8.2.2-4", "Steady congestion", "How does the delay depend on the number of flows?", _steady),
    Case("varying", "8.2.5", "Varying congestion", "Does it stay stable while flows come and go?", _varying, (SPIKE,)),
    Case(
        "capacity",
        "8.2.6",
        "Sudden changes of the capacity",
        "How far does the delay shoot up when the rate falls to a tenth?",
        _capacity(6.0),
        (SPIKE,),
    ),
    Case(
        "capacity-fast",
        "8.2.6",
        "Fast changes of the capacity",
        "Does it keep up when the rate changes ten times a second?",
        _capacity(0.1),
        (SPIKE,),
    ),
    Case(
        "mix",
        "9.1",
        "A mix of traffic",
        "What do calls, pages and video get beside five transfers?",
        _mix,
        (PAGE, MOS, VOICE),
    ),
    Case(
        "both-ways",
        "9.2",
        "Load in both directions",
        "Does load on the way back change what the way there carries?",
        _both_ways,
    ),
    Case(
        "two-queues",
        "10",
        "Two of these queues in a row",
        "Does the flow that passes both starve?",
        _two_queues,
        (RATIO,),
    ),
    Case("ecn", "4.5", "ECN", "Does marking save losses, and do senders without ECN get their share?", _ecn, (RATIO,)),
    Case("scheduling", "4.6", "Under a scheduler", "Does it work as the queue of a class?", _scheduled, (MOS, VOICE)),
    Case(
        "rrul",
        "9.2",
        "Latency under load, as Flent's RRUL asks",
        "What does a ping see beside four transfers each way?",
        _rrul,
        PINGED,
    ),
)
CASES_BY_ID = {c.id: c for c in CASES}
