"""A stand-in for the compiled engine: made-up but plausible tables in the engine's shape, for tests of the Python side.

It knows a handful of keys, so that errors can be provoked; the real schema lives in the engine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

TOP = {"name", "title", "seed", "duration", "topology", "link", "flow", "record", "sharing"}


class ScenarioError(ValueError):
    """Same shape as the engine's error."""

    def __init__(self, path: str, found: str, expected: str, hint: str = "") -> None:
        super().__init__(f"{path}: found {found}, expected {expected}")
        self.path, self.found, self.expected, self.hint = path, found, expected, hint


class FakeCore:
    """Looks like `crosswind._core`. `stop_after` finished runs, of all calls, it pretends that Ctrl-C was pressed."""

    ScenarioError = ScenarioError

    def __init__(
        self, stop_after: int | None = None, breaks: Callable[[dict[str, Any], int], bool] | None = None
    ) -> None:
        self.stop_after = stop_after
        self.finished = 0
        #: Threads that simulate at once must not both make the last run.
        self.counting = threading.Lock()
        #: Which runs break down: scenario and repetition.
        self.breaks = breaks

    def version(self) -> str:
        return "0.1.0-fake"

    def schema(self) -> str:
        return json.dumps({"title": "Scenario", "type": "object", "additionalProperties": True})

    def registry(self) -> str:
        rows = [
            {
                "kind": "queue",
                "name": "droptail",
                "title": "Drop-tail queue",
                "doc": "# Drop-tail\n\nA limit.",
                "params": {"properties": {"limit": {"default": "1000 packets", "description": "Most it holds."}}},
            },
            {"kind": "queue", "name": "red-linux", "title": "RED of Linux", "doc": "# RED", "params": {}},
            {"kind": "preset", "name": "rfc", "title": "What the RFCs recommend", "doc": "", "params": {}},
        ]
        recorded = ("cwnd_bytes", "queue_bytes", "goodput_bps", "queue_delay_ns", "delay_ns", "rtt_ns")
        rows += [{"kind": "metric", "name": m, "title": m, "doc": "", "params": {}} for m in recorded]
        return json.dumps(rows)

    def validate(self, text: str) -> str:
        data = json.loads(text)
        for key in data:
            if key not in TOP:
                raise ScenarioError(key, f"`{key}`", "a known key", "did you mean `link`?" if key == "lnk" else "")
        for name, link in data.get("link", {}).items():
            rate = link.get("rate", "1 Mbit/s")
            if not isinstance(rate, str) or rate.startswith("-") or not rate.endswith("bit/s"):
                raise ScenarioError(f"link.{name}.rate", json.dumps(rate), "a positive rate with its unit")
        data.setdefault("seed", 1)
        return json.dumps(data)

    def run_many(
        self,
        scenarios: list[str],
        seed: int,
        reps: list[int],
        reps_total: int,
        workers: int,
        shuffle_ties: bool,  # noqa: FBT001 (the engine's signature)
        progress: Any,
        laws: dict[str, Any] | None = None,
        folder: str | None = None,
        block: int = 0,
    ) -> dict[str, Any]:
        assert not laws, "the stand-in knows no laws"
        table: dict[str, dict[str, list[Any]]] = {k: {} for k in ("run", "flow", "link", "sample", "event", "hist")}
        failed: list[tuple[int, int, str]] = []
        total, done, interrupted = len(scenarios) * len(reps), 0, False
        for i, text in enumerate(scenarios):
            for rep in reps:
                with self.counting:
                    if self.stop_after is not None and self.finished >= self.stop_after:
                        interrupted = True
                        continue
                    if self.breaks is not None and self.breaks(json.loads(text), rep):
                        failed.append((i, rep, "internal error: no way out"))
                        continue
                    self.finished += 1
                    # Whoever sees that it is finished finds it there, and told.
                    one_run(table, i, rep, reps_total, json.loads(text), seed)
                    done += 1
                    if progress is not None:
                        progress(done, total)
        columns = {k: {c: column(v) for c, v in t.items()} for k, t in table.items()}
        return {"tables": columns, "failed": failed, "interrupted": interrupted}


def column(values: list[Any]) -> Any:
    """Texts become a pair (codes, distinct texts), whole numbers an unsigned array where none is negative."""
    if values and isinstance(values[0], str):
        texts = list(dict.fromkeys(values))
        return np.array([texts.index(v) for v in values], dtype=np.uint32), texts
    array = np.array(values)
    return array.astype(np.uint64) if array.dtype.kind == "i" and (array >= 0).all() else array


def add(table: dict[str, list[Any]], **row: Any) -> None:
    for key, value in row.items():
        table.setdefault(key, []).append(value)


def members(data: dict[str, Any]) -> list[tuple[str, str]]:
    out = []
    for group, flow in data.get("flow", {}).items():
        count = flow.get("count", 1)
        out += [(group, group)] if count == 1 else [(f"{group}-{k + 1}", group) for k in range(count)]
    return out


def one_run(table: dict[str, Any], i: int, rep: int, total: int, data: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng([seed, rep])
    add(
        table["run"],
        scenario=i,
        rep=rep,
        seed=seed,
        end_ns=140_000_000_000,
        events=5000,
        packets=2000,
        peak_packets=40,
        wall_ns=1_000_000,
        outcome="all flows closed",
    )
    start_s = rng.permutation(total)[0] * 36.0 / total if total > 1 else 5.0
    for k, (name, group) in enumerate(members(data)):
        one_flow(table, i, rep, k, name, group, start_s if group == "third" else 0.0, rng, data)
    for name in data.get("link", {}):
        for direction in ("forward", "reverse"):
            add(
                table["link"],
                scenario=i,
                rep=rep,
                link=name,
                direction=direction,
                **{"from": "a", "to": "b"},
                sent_packets=2000,
                sent_bytes=1_000_000 + 10_000 * i,
                utilisation_ratio=0.97,
                drops_queue_full_packets=40 if direction == "forward" else 0,
                marks_packets=i,
                queue_mean_bytes=6000.0,
                queue_p95_bytes=11000.0,
                queue_max_bytes=11520,
                queue_delay_mean_ns=7e8,
                queue_delay_p50_ns=7e8,
                queue_delay_p95_ns=1.4e9,
                queue_delay_p99_ns=1.45e9,
                queue_delay_max_ns=1.5e9,
            )
            if data.get("record", {}).get("sample") and direction == "forward":
                for t in range(0, 1400):
                    value = 11520 * abs(np.sin(t / 90))
                    add(
                        table["sample"],
                        scenario=i,
                        rep=rep,
                        time_ns=t * 10**8,
                        entity=name,
                        metric="queue_bytes",
                        value=value,
                    )
                for low in range(0, 1500, 50):
                    add(
                        table["hist"],
                        scenario=i,
                        rep=rep,
                        entity=name,
                        metric="queue_delay_ns",
                        low=low * 10**6,
                        high=(low + 50) * 10**6,
                        count=1500 - low,
                    )


def one_flow(
    table: dict[str, Any],
    i: int,
    rep: int,
    k: int,
    name: str,
    group: str,
    start_s: float,
    rng: np.random.Generator,
    data: dict[str, Any],
) -> None:
    size = int(data["flow"][group].get("workload", {}).get("size", "343040 B").split()[0])
    elapsed_s = size / 7800 * 3 * rng.uniform(0.8, 1.0) + 3 + rng.uniform(0, 4) / (1 + i)
    start, elapsed = int(start_s * 1e9), int(elapsed_s * 1e9)
    add(
        table["flow"],
        scenario=i,
        rep=rep,
        flow=k,
        name=name,
        group=group,
        open_ns=start,
        close_ns=start + elapsed,
        elapsed_ns=elapsed,
        outcome="complete",
        size_bytes=size,
        goodput_bps=size * 8 / elapsed_s,
        throughput_bps=size * 8.6 / elapsed_s,
        sent_packets=700,
        sent_bytes=size,
        retransmitted_packets=20,
        retransmitted_bytes=10_000,
        timeouts=1,
        spurious_timeouts=int(start_s > 28),
        avoidable_timeouts=int(start_s > 28),
        spurious_detected=0,
        genuine_detected=0,
        spurious_episodes=0,
        genuine_episodes=0,
        fast_recoveries=2,
        ecn_reductions=0,
        drops_packets=int(rng.integers(10, 20)) // (1 + i),
        lost_packets=0,
        marks_packets=0,
        unnecessary_retransmissions_packets=1,
        out_of_order_packets=3,
        rtt_min_ns=7e8,
        rtt_mean_ns=2e9,
        rtt_p50_ns=2e9,
        rtt_p95_ns=3.4e9,
        rtt_p99_ns=3.5e9,
        rtt_max_ns=3.6e9,
        delay_p50_ns=1e9,
        delay_p95_ns=2e9,
        delay_p99_ns=2.5e9,
        delay_max_ns=3e9,
        simultaneous_Bps=2500 * rng.uniform(0.6, 1.1),
        cwnd_max_bytes=30000,
        ssthresh_initial_bytes=65535,
    )
    recorded(table, i, rep, k, name, group, start, rng, data)


def recorded(
    table: dict[str, Any],
    i: int,
    rep: int,
    k: int,
    name: str,
    group: str,
    start: int,
    rng: np.random.Generator,
    data: dict[str, Any],
) -> None:
    wanted = data.get("record", {}).get("events", [])
    if wanted == "all" or name in wanted or group in wanted:
        events(table["event"], i, rep, k, start, rng)
    if data.get("record", {}).get("sample"):
        for t in range(0, 1400, 2):
            cwnd = 2000 + (t * 37 + k * 5000) % 26000
            add(table["sample"], scenario=i, rep=rep, time_ns=t * 10**8, entity=name, metric="cwnd_bytes", value=cwnd)
            add(
                table["sample"],
                scenario=i,
                rep=rep,
                time_ns=t * 10**8,
                entity=name,
                metric="goodput_bps",
                value=21000 + 4000 * np.cos(t / 50 + k),
            )


def events(table: dict[str, list[Any]], i: int, rep: int, k: int, start: int, rng: np.random.Generator) -> None:
    def log(time_ns: int, kind: str, seq: int, length: int) -> None:
        row = {"scenario": i, "rep": rep, "time_ns": time_ns, "flow": k, "end": "sender", "kind": kind}
        add(table, **row, seq=1 + seq, len=length, aux=16)

    lost = int(rng.integers(2, 30))
    time = start
    for n in range(40):
        time = start + 680_000_000 * (1 + n // 4) + (n % 4) * 72_000_000
        log(time, "send", n * 536, 536)
        if n == lost:
            log(time, "drop", n * 536, 536)
        log(time + 680_000_000, "ack", min(n + 1, lost) * 536, 0)
    log(time + 3 * 10**9, "timeout", lost * 536, 0)
    log(time + 3 * 10**9, "retransmit", lost * 536, 536)
