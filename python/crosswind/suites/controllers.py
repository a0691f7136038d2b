"""The questions of RFC 9743 (BCP 133) for a congestion controller, as scenarios.

Sections are those of the RFC, which gives no numbers: rates, round trips, buffers and lengths are ours. A subject is a
`tcp` table. Its greedy flows are the group `bulk`; beside others they are `other`, and the others `bulk`, so that a
ratio above one says that the subject takes more. Built for nobody (an empty table), a case that has others holds only
those: what they had without the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crosswind.suites.case import PACKET_B, Case, Measure, Setting, Table, merged
from crosswind.suites.network import BOTTLENECK_MS, CUBIC, bulk, constant, dumbbell, host, pages, video, voice

Scenarios = dict[str, Table]
RENO = "linux-6"
USE = Measure("utilisation", "use (%)", "higher", 1)
DELAY = Measure("delay_p95_ms", "p95 delay (ms)")
SPIKE = Measure("delay_max_ms", "largest delay (ms)")
DROPPED = Measure("dropped", "dropped (%)", digits=2)
JAIN = Measure("jain", "Jain's index", "higher", 3)
RATIO = Measure("ratio", "ratio", "nearer", 2)
HARM = Measure("harm", "harm (%)", digits=1)
CONVERGED = Measure("converged_s", "fair after (s)")
OFFERED = Measure("offered", "offered (%)")
FINISHED = Measure("finished_p50_ms", "transfers (ms)", digits=0)
LAST = Measure("finished_max_ms", "last (ms)", digits=0)
PAGE = Measure("page_p50_ms", "pages (ms)", digits=0)
MOS = Measure("mos", "call (MOS)", "higher", 2)
VOICE = Measure("voice_p99_ms", "call, p99 added (ms)")
DELIVERED = Measure("delivered", "delivered (%)", "higher", 1)
# What others lose by the subject: the column of their own runs without it, and whether more of it is better.
HARMED: Mapping[str, tuple[str, str]] = {"beside": ("bulk_bps", "higher"), "pages": ("page_p50_ms", "lower")}
AGAIN = Measure("retransmitted", "retransmitted (%)", digits=2)
POLICED = 0.25


def fifo(s: Setting, paths: float) -> Table:
    """A drop-tail queue of so many bandwidth-delay products, of four packets at least."""
    return {"type": "droptail", "limit": f"{max(4, round(paths * s.path_packets))} packets"}


def _one(s: Setting, tcp: Table, queue: Table, **more: Any) -> Table:
    return dumbbell(s, queue, {"bulk": bulk(s, tcp=tcp, **more)})


def _buffers(*paths: float) -> Callable[[Setting, Table], Scenarios]:
    def build(s: Setting, tcp: Table) -> Scenarios:
        return {f"{p:g} BDP": _one(s, tcp, fifo(s, p)) for p in paths}

    return build


def _wired(s: Setting, tcp: Table) -> Scenarios:
    paths = {"2 Mbit/s, 100 ms": (2e6, 100.0), "100 Mbit/s, 20 ms": (1e8, 20.0)}
    sized = {n: replace(s, rate_bps=int(rate), rtt_ms=rtt, seconds=s.seconds) for n, (rate, rtt) in paths.items()}
    return {n: _one(one, tcp, fifo(one, 1.0)) for n, one in sized.items()}


def _collapse(s: Setting, tcp: Table) -> Scenarios:
    """From a tenth of the time on the line loses what it did not lose before."""
    out = {}
    for share in (0.1, 0.3):
        lossy = {"loss": {"type": "uniform", "probability": 0.0}}
        scenario = merged(_one(s, tcp, fifo(s, 1.0)), {"link": {"bottleneck": lossy}})
        at = {"at": f"{s.seconds / 10:g} s", "link": "bottleneck", "direction": "forward"}
        out[f"{100 * share:g} % lost"] = {
            **scenario,
            "timeline": [{**at, "set": {"loss": {"probability": share}}}],
        }
    return out


def _high_loss(s: Setting, tcp: Table) -> Scenarios:
    return {"8 flows, 10 packets": _one(s, tcp, {"type": "droptail", "limit": "10 packets"}, count=8)}


def _fairness(s: Setting, tcp: Table) -> Scenarios:
    return {f"{n} flows": _one(s, tcp, fifo(s, 1.0), count=n) for n in (2, 8)}


def _late(s: Setting, tcp: Table) -> Scenarios:
    flows = {"bulk": bulk(s, tcp=tcp), "other": bulk(s, tcp=tcp, start=f"{s.seconds / 3:g} s")}
    scenario = dumbbell(s, fifo(s, 1.0), flows)
    scenario["record"]["sampled"] += list(flows)
    return {"one beside one": scenario}


def _round_trips(s: Setting, tcp: Table) -> Scenarios:
    flows = {"bulk": bulk(s, tcp=tcp, rtt_ms=20), "other": bulk(s, tcp=tcp, rtt_ms=100)}
    return {"20 and 100 ms": dumbbell(s, fifo(s, 1.0), flows)}


def _starvation(s: Setting, tcp: Table) -> Scenarios:
    """One of two equal flows sees a delay that wanders by a fifth of the round trip on its own access link."""
    jitter_ms = s.rtt_ms / 5
    near = s.rtt_ms - jitter_ms / 2
    scenario = dumbbell(s, fifo(s, 1.0), {"bulk": bulk(s, tcp=tcp), "other": bulk(s, tcp=tcp, rtt_ms=near)})
    scenario["link"][f"access-{host(near)[1:]}ms"] |= {"type": "reordering", "jitter": f"{jitter_ms:g} ms"}
    return {"one path jitters": scenario}


def _short(s: Setting, tcp: Table) -> Scenarios:
    count = max(3, int((s.seconds - 7.0) / 2))
    quiet = {"every": "2 s"}
    out = {}
    for size in ("20 kB", "200 kB"):
        short = bulk(s, tcp=tcp, count=count, start=quiet, workload={"type": "bulk", "size": size})
        out[f"{size} alone"] = dumbbell(s, fifo(s, 1.0), {"short": short})
        out[f"{size} beside one"] = dumbbell(s, fifo(s, 1.0), {"short": short, "bulk": bulk(s, tcp=tcp)})
    return out


def _beside(s: Setting, tcp: Table) -> Scenarios:
    others = {
        "CUBIC, 0.5 BDP": (CUBIC, 0.5), "CUBIC, 2 BDP": (CUBIC, 2.0), "CUBIC, 8 BDP": (CUBIC, 8.0),
        "Reno, 2 BDP": (RENO, 2.0),
    }  # fmt: skip
    return {
        name: dumbbell(s, fifo(s, size), _with(tcp, {"other": bulk(s, tcp=tcp)}, {"bulk": bulk(s, preset=preset)}))
        for name, (preset, size) in others.items()
    }


def _with(tcp: Table, ours: Table, theirs: Table) -> Table:
    return {**ours, **theirs} if tcp else theirs


def _call(s: Setting, tcp: Table) -> Scenarios:
    return {"1 BDP": dumbbell(s, fifo(s, 1.0), {"bulk": bulk(s, tcp=tcp), "call": voice(s), **video(s, 0.2)})}


def _pages(s: Setting, tcp: Table) -> Scenarios:
    return {"1 BDP": dumbbell(s, fifo(s, 1.0), _with(tcp, {"bulk": bulk(s, tcp=tcp)}, {"web": pages(s, 4.0)}))}


def _wireless(s: Setting, tcp: Table) -> Scenarios:
    plain = _one(s, tcp, fifo(s, 1.0))
    out = {}
    for share in (0.001, 0.01):
        lossy = {"loss": {"type": "uniform", "probability": share, "counts": "data"}}
        out[f"{100 * share:g} % lost"] = merged(plain, {"link": {"bottleneck": lossy}})
    # A cell: the rate falls to a third and comes back, every second.
    at = {"link": "bottleneck", "direction": "forward"}
    out["rate falls to a third"] = {
        **plain,
        "timeline": [
            {**at, "at": {"first": f"{first:g} s", "every": "1 s"}, "set": {"rate": f"{round(s.rate_bps * r)} bit/s"}}
            for first, r in ((0.5, 1 / 3), (1.0, 1.0))
        ],
    }
    return out


def _managed(s: Setting, tcp: Table) -> Scenarios:
    limit = f"{4 * s.path_packets} packets"
    return {
        q: _one(s, tcp, {"type": q, "limit": limit}, count=2) for q in ("codel", "pie", "fq-codel")
    }  # fmt: skip


def _ecn(s: Setting, tcp: Table) -> Scenarios:
    asked = tcp if "ecn" in tcp or "prague" in str(tcp.get("preset")) else {**tcp, "ecn": "on"}
    limit = f"{4 * s.path_packets} packets"
    return {"codel": _one(s, asked, {"type": "codel", "limit": limit}, count=2)}


def _policer(s: Setting, tcp: Table) -> Scenarios:
    """A quarter of the line is let through, in bursts of 100 ms of that rate; what is above is dropped."""
    rate = POLICED * s.rate_bps
    meter = {"type": "token-bucket", "cir": f"{rate:.0f} bit/s", "cbs": f"{round(rate / 80)} B"}
    contract = {"domain": "d", "flow": ["bulk"], "meter": meter, "green": "keep", "yellow": "drop"}
    scenario = _one(s, tcp, fifo(s, 1.0))
    return {"a quarter": {**scenario, "domain": {"d": {"nodes": ["left"]}}, "contract": {"c": contract}}}


def _delays(s: Setting, tcp: Table) -> Scenarios:
    """The path becomes half a round trip longer, and as short as before, every four seconds."""
    at = {"link": "bottleneck", "direction": "forward"}
    plan = [
        {**at, "at": {"first": f"{first} s", "every": "8 s"}, "set": {"delay": f"{delay:g} ms"}}
        for first, delay in ((4, BOTTLENECK_MS + s.rtt_ms / 2), (8, BOTTLENECK_MS))
    ]
    return {"half again as long": {**_one(s, tcp, fifo(s, 1.0)), "timeline": plan}}


def _satellite(s: Setting, tcp: Table) -> Scenarios:
    far = replace(s, rtt_ms=600.0)
    return {"600 ms": _one(far, tcp, fifo(far, 0.5))}


def _reordered(s: Setting, tcp: Table) -> Scenarios:
    scenario = _one(s, tcp, fifo(s, 1.0))
    late = {"type": "reordering", "share": 0.02, "late_mean": f"{s.rtt_ms / 4:g} ms", "late_deviation": "2 ms"}
    scenario["link"][f"access-{s.rtt_ms:g}ms"] |= late
    return {"2 % late": scenario}


def _burst(s: Setting, tcp: Table) -> Scenarios:
    stream = merged(
        {**constant(s, 0.8), "start": f"{s.seconds / 3:g} s"},
        {"workload": {"packets": round(3 * 0.8 * s.rate_bps / 8 / PACKET_B)}},
    )
    return {"3 s of 80 %": dumbbell(s, fifo(s, 1.0), {"bulk": bulk(s, tcp=tcp), "stream": stream})}


def _steps(s: Setting, tcp: Table) -> Scenarios:
    step = s.seconds / 6
    at = {"link": "bottleneck", "direction": "forward"}
    plan = [
        {**at, "at": {"first": f"{first:g} s", "every": f"{2 * step:g} s"}, "set": {"rate": f"{rate} bit/s"}}
        for first, rate in ((step, s.rate_bps // 4), (2 * step, s.rate_bps))
    ]
    return {"to a quarter and back": {**_one(s, tcp, fifo(s, 4.0)), "timeline": plan}}


def _incast(s: Setting, tcp: Table) -> Scenarios:
    """32 servers answer at once with 64 kB each, behind a switch port of 1 Gbit/s with 128 packets, ten times."""
    rack = replace(s, rate_bps=1_000_000_000, rtt_ms=4.0)
    answer: Table = {
        "workload": {"type": "bulk", "size": "64 kB"},
        "start": {"uniform": ["1 s", "1.0002 s"]},
        "count": 32,
    }
    scenario = dumbbell(
        rack, {"type": "droptail", "limit": "128 packets"}, {"short": bulk(rack, tcp=tcp, **answer)}, seconds=10.0
    )
    for link in scenario["link"].values():
        link["delay"] = "25 us"
    return {"32 of 64 kB": scenario}


def _two_queues(s: Setting, tcp: Table) -> Scenarios:
    flows = {"bulk": bulk(s, tcp=tcp), "cross": bulk(s, tcp=tcp)}
    scenario = dumbbell(s, fifo(s, 1.0), flows)
    scenario["link"]["second"] = {**scenario["link"]["bottleneck"], "from": "right", "to": "end"}
    scenario["flow"]["bulk"]["to"] = "end"
    scenario["flow"]["far-cross"] = {**scenario["flow"]["cross"], "from": "right", "to": "end"}
    return {"two in a row": scenario}


def _reverse(s: Setting, tcp: Table) -> Scenarios:
    there = bulk(s, tcp=tcp)
    back = {**there, "from": "right", "to": there["from"]}
    return {"one each way": dumbbell(s, fifo(s, 1.0), {"bulk": there, "back": back}, reverse=fifo(s, 1.0))}


def _case(id: str, where: str, title: str, question: str, build: Any, *measures: Measure) -> Case:
    return Case(id, where, title, question, build, measures)


#: The first measure of a case is the answer to its question.
CASES: Sequence[Case] = (
    _case("tail-drop", "6.1", "Tail-drop queues", "Does a flow fill the line?", _buffers(0.25, 1.0), USE, DELAY),
    _case("bufferbloat", "5.1.2", "A buffer too large", "How long does it make packets wait?", _buffers(8.0), DELAY,
          USE),
    _case("wired", "6.3", "Wired paths", "Does it fill slow and fast lines?", _wired, USE, DELAY),
    _case("collapse", "5.1.1", "Congestion collapse", "How much does it send into a line that loses so much?",
          _collapse, OFFERED, AGAIN),
    _case("high-loss", "5.1.3", "High packet loss", "How much is dropped where many flows have few packets each?",
          _high_loss, DROPPED, USE),
    _case("fairness", "5.1.4", "Fairness within", "Do equal flows get equal shares?", _fairness, JAIN, USE),
    _case("late-comer", "5.1.4", "A late comer", "How long until a second flow has four fifths of its share?", _late,
          CONVERGED, JAIN),
    _case("round-trips", "5.1.4", "Round trips", "What does a flow of 100 ms get beside one of 20 ms?", _round_trips,
          RATIO),
    _case("starvation", "5.1.4", "Starvation", "What is left to a flow whose delay wanders?", _starvation, RATIO),
    _case("short", "5.1.5", "Short flows", "How long does a short transfer take?", _short, FINISHED),
    _case("beside", "5.2.1", "Beside CUBIC and Reno", "How does it share with what is there already?", _beside, RATIO,
          HARM, DELAY),
    _case("call", "5.2.2", "Real-time traffic", "How does a call sound beside it?", _call, MOS, VOICE, USE),
    _case("pages", "5.2.3", "Short flows of others", "How long do pages of CUBIC take beside a greedy flow?", _pages,
          PAGE, HARM),
    _case("wireless", "6.4", "Wireless paths", "Does it fill a line that loses packets, or whose rate changes?",
          _wireless, USE, DELAY),
    _case("aqm", "7.1", "Active queue management", "How long do packets wait where a queue controls the delay?",
          _managed, DELAY, USE),
    _case("ecn", "7.1", "ECN", "Does it answer marks before anything is dropped?", _ecn, DROPPED, DELAY, USE),
    _case("policer", "7.2", "A policer", "How much of a policed rate does it use, at which loss?", _policer, DELIVERED,
          AGAIN),
    _case("varying-delay", "7.3", "Varying delay", "Does it keep up when the path becomes longer?", _delays, USE,
          DELAY),
    _case("satellite", "7.5", "High delay", "Does it fill a geostationary path?", _satellite, USE, DELAY),
    _case("reordering", "7.7", "Reordering", "Does it take late packets for lost ones?", _reordered, USE, AGAIN),
    _case("burst", "7.8", "Transient events", "Does it come back after a burst of others?", _burst, USE, SPIKE),
    _case("steps", "7.9", "Sudden changes of the path", "How far does the delay shoot up when the rate falls?", _steps,
          SPIKE, USE),
    _case("incast", "7.11", "Incast", "When has the last of 32 answers come?", _incast, LAST, FINISHED),
    _case("two-queues", "6.3", "Two bottlenecks", "What does the flow that crosses both get?", _two_queues, RATIO),
    _case("reverse", "6.3", "Reverse traffic", "Does load on the way back empty the way there?", _reverse, USE, DELAY),
)  # fmt: skip
