"""Many runs: what a second core brings, what the start of a run, recording and an answer of the studio cost."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from crosswind.core import core

Scenario = dict[str, Any]
Say = Callable[[str], None]

ROUNDS = 5


def small_run() -> Scenario:
    """A few thousand packets: two long downloads and a short one on a slow link."""
    flow = {"from": "server", "to": "mobile", "tcp": {"preset": "baseline-linux-2.4"}}
    return {
        "name": "small",
        "duration": "400 s",
        "link": {
            "lan": {"from": "server", "to": "router", "rate": "100 Mbit/s", "delay": "0 ms"},
            "last-hop": {
                "from": "router",
                "to": "mobile",
                "rate": "64 kbit/s",
                "delay": "300 ms",
                "queue": {"limit": "11520 B"},
                "reverse": {"queue": {"limit": "1000 packets"}},
            },
        },
        "flow": {
            "bulk": {**flow, "count": 2, "workload": {"type": "bulk", "size": "343040 B"}},
            "third": {**flow, "start": {"uniform": ["0 s", "36 s"]}, "workload": {"type": "bulk", "size": "21440 B"}},
        },
    }


def empty_run() -> Scenario:
    """The same network, over before anything has happened."""
    scenario = small_run()
    scenario["duration"] = "1 ns"
    scenario["flow"]["third"].pop("start")
    return scenario


def dumbbell(seconds: float) -> Scenario:
    """Ten endless flows at 100 Mbit/s."""
    return {
        "name": "recorded",
        "duration": f"{seconds} s",
        "topology": {
            "template": "dumbbell",
            "pairs": 10,
            "access": {"rate": "1 Gbit/s", "delay": "3 ms"},
            "bottleneck": {"rate": "100 Mbit/s", "delay": "24 ms", "queue": {"limit": "721 packets"}},
        },
        "flow": {
            "bulk": {
                "from": "left",
                "to": "right",
                "count": 10,
                "start": {"every": "100 ms"},
                "workload": {"type": "bulk"},
                "tcp": {"preset": "rfc", "mss": "1000 B"},
            }
        },
    }


def _run(scenario: Scenario, reps: int, workers: int) -> float:
    """Wall seconds of so many repetitions, columns in Python included."""
    text = json.dumps(scenario)
    began = time.perf_counter()
    core().run_many([text], 1, list(range(reps)), reps, workers, False, None)
    return time.perf_counter() - began


def _cpu(scenario: Scenario, reps: int = 1, folder: str | None = None) -> float:
    """Processor seconds of so many repetitions, all threads, columns in Python included."""
    text = json.dumps(scenario)
    began = time.process_time()
    core().run_many([text], 1, list(range(reps)), reps, 1, False, None, folder=folder)
    return time.process_time() - began


def cores(say: Say, reps: int = 1000) -> dict[str, Any]:
    """1000 small runs on one core and on two, in turns."""
    pairs = []
    for i in range(ROUNDS):
        say(f"round {i + 1} of {ROUNDS}: {reps} small runs on one core and on two")
        pairs.append((_run(small_run(), reps, 1), _run(small_run(), reps, 2)))
    speedups = [one / two for one, two in pairs]
    return {
        "runs": reps,
        "machine_cores": os.cpu_count(),
        "one_core_s": median(one for one, _ in pairs),
        "two_cores_s": median(two for _, two in pairs),
        "speedup": median(speedups),
        "speedup_min": min(speedups),
        "speedup_max": max(speedups),
    }


def start_cost(say: Say, reps: int = 20_000) -> dict[str, Any]:
    """What a run costs in which nothing happens: building the world, collecting its tables, merging them."""
    say(f"{ROUNDS} x {reps} empty runs")
    each_us = [_cpu(empty_run(), reps) / reps * 1e6 for _ in range(ROUNDS)]
    return {"runs": reps, "start_us": median(each_us), "start_us_min": min(each_us), "start_us_max": max(each_us)}


# Windows, round-trip times and the queue, as somebody asks for them who wants to look at the flows of `dumbbell`.
ASKED_FOR = ["bulk", "bottleneck"]
STEPS = ("1 s", "100 ms", "10 ms")


def recording(say: Say, seconds: float = 60.0) -> list[dict[str, Any]]:
    """The same run with nothing recorded and with each kind of record, in turns; the extra in per cent."""
    # The differences are small against what other work on the machine does to a run of a fraction of a second.
    rounds = 4 * ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        kinds: dict[str, Scenario] = {
            "nothing": {},
            **{f"flows and bottleneck every {step}": {"sample": step, "sampled": ASKED_FOR} for step in STEPS},
            **{f"flows and all 42 lines every {step}": {"sample": step} for step in STEPS},
            "events of all flows, to a file": {"events": "all", "event_file": "events.npy"},
            "packets of all flows, to a file": {"pcap": "packets.pcapng"},
        }
        measured: dict[str, list[float]] = {k: [] for k in kinds}
        for i in range(rounds):
            for kind, record in kinds.items():
                say(f"round {i + 1} of {rounds}: {kind}")
                measured[kind].append(_cpu({**dumbbell(seconds), "record": record}, folder=folder))
        bytes_written = {
            "events of all flows, to a file": (Path(folder) / "events.npy").stat().st_size,
            "packets of all flows, to a file": (Path(folder) / "packets.pcapng").stat().st_size,
        }
    return [_recorded(kind, measured[kind], measured["nothing"], bytes_written.get(kind)) for kind in kinds]


def _recorded(kind: str, with_it: list[float], without: list[float], written: int | None) -> dict[str, Any]:
    extra = [100 * (a / b - 1) for a, b in zip(with_it, without, strict=True)]
    return {
        "record": kind,
        "cpu_s": median(with_it),
        "extra_percent": median(extra),
        "extra_percent_min": min(extra),
        "extra_percent_max": max(extra),
        "written_bytes": written,
    }


def answers(say: Say, seconds: int = 30) -> dict[str, Any]:
    """Processor seconds of an answer of the studio: ten flows at 50 Mbit/s, its runs, tables and curves."""
    from crosswind import scenario
    from crosswind.studio.answer import Asked, Studio

    what = {**dumbbell(float(seconds)), "name": "answer"}
    what["topology"]["bottleneck"]["rate"] = "50 Mbit/s"
    studio, text, spent, packets = Studio(), scenario.Scenario.from_dict(what).to_toml(), [], 0
    for seed in range(ROUNDS):
        say(f"answer {seed + 1} of {ROUNDS} of the studio")
        before = time.process_time()
        packets = studio.answer(Asked(text, {}, seed))["packets"]
        spent.append(time.process_time() - before)
    return {
        "packets": packets,
        "answer_ms": median(spent) * 1e3,
        "answer_ms_min": min(spent) * 1e3,
        "answer_ms_max": max(spent) * 1e3,
    }
