"""A scenario with one bottleneck and long flows in ns-2 and in Crosswind: the same totals at the same times of both.

ns-2 gets the lines, queues and flows of the scenario, and the start times that Crosswind drew. What has to be
translated (docs/validation.md has more):

* A drop-tail queue of N packets is one of `limit_` N+1 in ns-2.
* The jitter of a line that leaves a host is `overhead_` of the senders there.
* `packetSize_` is what a segment carries, but for Vegas, which adds no header: there it is the packet.
* Window and first slow-start threshold of a flow without a limit are so large that they never matter.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import crosswind as cw
from crosswind.results import Runs
from crosswind.scenario import Scenario
from validation.ns2.driver import HERE, TIMEOUT_S, Ns2Error

SCRIPT = HERE / "network.tcl"
BOTTLENECK = "bottleneck"
SEGMENT_BYTES, PACKET_BYTES = 1000, 1040
ENDLESS = {"Agent/TCP/Sack1": 100_000, "Agent/TCP/Vegas": 20_000}
"""Segments; ns-2's Vegas keeps a table of that size."""
SIZES = {"Agent/TCP/Sack1": SEGMENT_BYTES, "Agent/TCP/Vegas": PACKET_BYTES}
UNITS = {"Mbit/s": 1e6, "ms": 1e-3, "us": 1e-6, "s": 1.0, "packets": 1.0, "B": 1.0}
NS2_POLICIES: dict[str, Any] = {
    "windowInit_": 2,
    "rtxcur_init_": 3.0,
    "singledup_": 1,
}
"""Those of the preset `sack-2006`, most of which are ns-2's defaults."""
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Totals:
    """What a queue has seen since the start."""

    arrived: float
    drops: float
    sent_bytes: float
    byte_seconds: float


@dataclass
class Record:
    """One run."""

    rate_bps: float
    times_s: list[float] = field(default_factory=list)
    """When the totals were read."""
    queues: dict[str, list[Totals]] = field(default_factory=dict)
    """`forward` and `reverse` of the bottleneck."""
    flows: dict[str, list[float]] = field(default_factory=dict)
    """Segments that arrived (ns-2: that were acknowledged)."""
    samples: dict[str, Numbers] = field(default_factory=dict)
    """Packets in each queue, sampled after the first mark."""
    rtts_s: Numbers = field(default_factory=lambda: np.array([]))
    """Round trips of the watched flow after the first mark."""

    def rates(self, since: int = 0, until: int = -1) -> dict[str, float]:
        """Payload in bit/s of each flow between two marks."""
        span_s = self.times_s[until] - self.times_s[since]
        return {n: (x[until] - x[since]) * 8 * SEGMENT_BYTES / span_s for n, x in self.flows.items()}

    def usual(self) -> dict[str, float]:
        """Drop rate, queue, utilisation and Jain's index between the first mark and the last."""
        a, b = self.queues["forward"][0], self.queues["forward"][-1]
        span_s = self.times_s[-1] - self.times_s[0]
        rates = np.array(list(self.rates().values()))
        return {
            "drop rate (%)": 100 * (b.drops - a.drops) / (b.arrived - a.arrived),
            "queue (packets)": (b.byte_seconds - a.byte_seconds) / span_s / PACKET_BYTES,
            "utilisation (%)": 100 * (b.sent_bytes - a.sent_bytes) * 8 / span_s / self.rate_bps,
            "Jain": jain(rates),
        }


@dataclass(frozen=True)
class Looks:
    """What is read of a run."""

    marks_s: tuple[float, ...] = ()
    """Times of samples at which totals are read; none: the first sample and the last."""
    watched: str = ""
    """A flow whose round trips are of interest; its host has no other."""
    sample_s: float = 0.0
    """How far samples of the queues are apart; 0: none."""


def jain(rates: Numbers) -> float:
    """Jain's index."""
    return float(rates.sum() ** 2 / (rates.size * (rates**2).sum()))


def number(text: str) -> float:
    """`10 Mbit/s` in base units."""
    value, unit = text.split()
    return float(value) * UNITS[unit]


# -- Crosswind --------------------------------------------------------------------------------------------------------


def in_crosswind(scenario: Scenario, reps: int, looks: Looks) -> tuple[list[Record], list[dict[str, float]]]:
    """The records of all repetitions, and when each flow started (s)."""
    runs = cw.run({"it": scenario}, reps=reps, workers=1)
    flows = runs.flows()
    starts = [
        dict(flows.filter(pl.col("rep") == r).select("name", pl.col("open_ns") / 1e9).iter_rows()) for r in range(reps)
    ]
    return [_record(runs, r, looks) for r in range(reps)], starts


def _record(runs: Runs, rep: int, looks: Looks) -> Record:
    links = runs.links().filter((pl.col("rep") == rep) & (pl.col("link") == BOTTLENECK))
    out = Record(float(links.filter(pl.col("direction") == "forward")["rate_bps"][0]))
    sample = runs.sample().filter(pl.col("rep") == rep)
    known = sample["time_ns"].unique().sort()
    chosen = [round(1e9 * t) for t in looks.marks_s] or [known[0], known[-1]]
    for at in chosen:
        totals = sample.filter(pl.col("time_ns") == at)
        value = {(e, m): v for e, m, v in totals.select("entity", "metric", "value").iter_rows()}
        out.times_s.append(at / 1e9)
        for d in ("forward", "reverse"):
            of = {m: v for (e, m), v in value.items() if e == f"{BOTTLENECK}/{d}"}
            area = of.get("queue_mean_bytes", 0.0) * at / 1e9
            found = Totals(of["arrived_packets"], of.get("drops_packets", 0.0), of["sent_bytes"], area)
            out.queues.setdefault(d, []).append(found)
        for name in runs.flows().filter(pl.col("rep") == rep)["name"]:
            out.flows.setdefault(name, []).append((value.get((name, "size_bytes")) or 0.0) / SEGMENT_BYTES)
    late = pl.col("time_ns") > chosen[0]
    if looks.sample_s:
        for d in ("forward", "reverse"):
            of_queue = (pl.col("entity") == f"{BOTTLENECK}/{d}") & (pl.col("metric") == "queue_packets")
            out.samples[d] = sample.filter(of_queue & late)["value"].to_numpy()
    if looks.watched:
        own = runs.events(looks.watched, "rtt").filter((pl.col("rep") == rep) & (pl.col("end") == "sender"))
        out.rtts_s = own.filter(late)["seq"].to_numpy() / 1e9
    return out


# -- ns-2 -------------------------------------------------------------------------------------------------------------


def in_ns2(
    program: str, scenario: Scenario, starts: Mapping[str, float], times_s: Sequence[float], seed: int, looks: Looks
) -> Record:
    """The same run in ns-2: flows start at the times given, totals are read at `times_s`."""
    lines = links(scenario.data)
    with tempfile.TemporaryDirectory(prefix="crosswind-ns2-") as folder:
        network, trace = Path(folder) / "network.tcl", Path(folder) / "watched.tr"
        network.write_text("\n".join(_commands(scenario.data, starts, times_s, looks)) + "\n")
        words = [str(network), str(seed), str(trace) if looks.watched else "", str(looks.sample_s)]
        done = subprocess.run(
            [program, str(SCRIPT), *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            raise Ns2Error(f"{scenario.name}: ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
        out = _read(done.stdout, Record(number(lines[BOTTLENECK]["rate"])))
        if looks.watched:
            at = list(starts).index(looks.watched)
            out.rtts_s = round_trips(trace.read_text().splitlines(), str(at), times_s[0])
    if len(out.times_s) != len(times_s):
        raise Ns2Error(f"{scenario.name}: {len(out.times_s)} of {len(times_s)} marks: {done.stderr.strip()[:500]}")
    return out


def links(data: Mapping[str, Any]) -> dict[str, Any]:
    """The lines of a scenario, those of a dumbbell written out."""
    if "topology" not in data:
        return dict(data["link"])
    t = data["topology"]
    out = {BOTTLENECK: {**t["bottleneck"], "from": "left", "to": "right"}}
    for k in range(1, t["pairs"] + 1):
        out[f"left-{k}"] = {**t["access"], "from": f"left-{k}", "to": "left"}
        out[f"right-{k}"] = {**t["access"], "from": "right", "to": f"right-{k}"}
    return out


def _commands(
    data: Mapping[str, Any], starts: Mapping[str, float], times_s: Sequence[float], looks: Looks
) -> Iterator[str]:
    lines = links(data)
    for line in lines.values():
        ends = (line["from"], line["to"])
        yield from _line(*ends, line, line["queue"])
        yield from _line(*reversed(ends), line, line.get("reverse", {}).get("queue", line["queue"]))
    ends = (lines[BOTTLENECK]["from"], lines[BOTTLENECK]["to"])
    yield f"watch forward {' '.join(ends)}"
    yield f"watch reverse {' '.join(reversed(ends))}"
    yield from _flows(data, lines, starts, looks)
    yield f"marks {' '.join(f'{t:.9f}' for t in times_s)}"


def _line(start: str, end: str, line: Mapping[str, Any], queue: Mapping[str, Any]) -> Iterator[str]:
    limit = round(number(queue["limit"]))
    words = f"line {start} {end} {number(line['rate']):.0f} {number(line['delay']):.9f}"
    if queue["type"] == "droptail":
        yield f"{words} DropTail {limit + 1}"
        return
    if queue["type"] != "red-ns2" or (queue["measure"], queue["drop_by"]) != ("packets", "packets"):
        raise ValueError(f"no translation for {queue}")
    marks = queue.get("ecn") == "mark"
    values: dict[str, Any] = {
        "bytes_": "false",
        "queue_in_bytes_": "false",
        "mean_pktsize_": number(queue["mean_packet"]),
        "thresh_": number(queue["min_th"]) if "min_th" in queue else 0,
        "maxthresh_": number(queue["max_th"]) if "max_th" in queue else 0,
        "q_weight_": {"capacity": 0, "rtt": -1}.get(queue["w_q"], queue["w_q"]),
        "linterm_": 1 / queue.get("max_p", 0.1),
        "adaptive_": int(queue.get("adaptive", False)),
        "setbit_": str(marks).lower(),
        "mark_p_": queue.get("mark_p", 0.1),
    }
    yield "red " + " ".join(f"{k} {v}" for k, v in values.items())
    yield f"{words} RED {limit}"


def _flows(
    data: Mapping[str, Any], lines: Mapping[str, Any], starts: Mapping[str, float], looks: Looks
) -> Iterator[str]:
    """Members of a group that sends from a side of a dumbbell take the hosts there in turns."""
    jitter = {line["from"]: number(line["jitter"]) for line in lines.values() if "jitter" in line}
    stops = {e["flow"]: number(e["at"]) for e in data.get("timeline", [])}
    pairs = data.get("topology", {}).get("pairs", 0)
    for n, (name, start_s) in enumerate(starts.items()):
        group = name if name in data["flow"] else name.rsplit("-", 1)[0]
        flow = data["flow"][group]
        hosts = [f"{flow[e]}-{n % pairs + 1}" if pairs else flow[e] for e in ("from", "to")]
        agent, sink = _agents(flow["tcp"])
        window = flow["tcp"].get("window_limit_segments", ENDLESS[agent])
        values = {
            **NS2_POLICIES,
            "minrto_": number(flow["tcp"].get("rto_min", "1 s")),
            "packetSize_": SIZES[agent],
            "window_": window,
            "overhead_": jitter.get(hosts[0], 0),
            "ecn_": int(flow["tcp"].get("ecn") == "on"),
        }
        keys = " ".join(f"{k} {v}" for k, v in values.items())
        yield f"flow {name} {' '.join(hosts)} {agent} {sink} {start_s:.9f} {stops.get(group, 0)} {keys}"
        if name == looks.watched:
            routers = {line["from"]: line["to"] for line in lines.values()}
            routers |= {line["to"]: line["from"] for line in lines.values()}
            yield from (f"traced {h} {routers[h]}" for h in hosts)


def _agents(tcp: Mapping[str, Any]) -> tuple[str, str]:
    known = {"preset", "law", "ecn", "window_limit_segments", "rto_min"}
    if tcp["preset"] != "sack-2006" or tcp.get("law", "vegas") != "vegas" or set(tcp) - known:
        raise ValueError(f"no translation for {tcp}")
    return ("Agent/TCP/Vegas", "Agent/TCPSink") if "law" in tcp else ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1")


def _read(text: str, out: Record) -> Record:
    samples: dict[str, list[tuple[float, float]]] = {}
    for line in text.splitlines():
        key, *words = line.split()
        if key == "mark":
            out.times_s.append(float(words[0]))
        elif key == "queue":
            out.queues.setdefault(words[0], []).append(Totals(*(float(w) for w in words[1:])))
        elif key == "flow":
            out.flows.setdefault(words[0], []).append(max(0.0, float(words[1])))
        elif key == "sample":
            samples.setdefault(words[0], []).append((float(words[1]), float(words[2])))
    out.samples = {d: np.array([n for t, n in of if t > out.times_s[0]]) for d, of in samples.items()}
    return out


def round_trips(lines: Sequence[str], flow: str, since_s: float) -> Numbers:
    """Of each acknowledgement that came back: its time less that of the transmission that it answers."""
    sent: dict[str, float] = {}
    answered: dict[str, float] = {}
    out, last = [], 0.0
    for words in (line.split() for line in lines):
        if len(words) < 12 or words[7] != flow:
            continue
        time_s, is_ack, packet = float(words[1]), words[4] == "ack", words[11]
        has_arrived = words[0] == "r" and words[3] == words[9].split(".")[0]
        if words[0] == "+":
            sent.setdefault(packet, time_s)
            answered.setdefault(packet, last)
        elif has_arrived and not is_ack:
            last = sent[packet]
        elif has_arrived and time_s > since_s:
            out.append(time_s - answered[packet])
    return np.array(out)
