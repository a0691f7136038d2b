"""The speed benchmark: its rows, how ratios are taken, what the command prints; engine and ns-2 are stand-ins."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crosswind import bench
from crosswind.cli import main

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
KEYS = {"flows", "rate", "queue", "packets_per_cpu_s", "events_per_s", "bytes_per_flow", "ratio_ns2", "ratio_ns3"}


class Engines:
    """Both simulators: ours gets faster from run to run, ns-2 is twice as slow as ours in the same round."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def bench(self, flows: int, rate_bps: int, duration_s: float, acks: str) -> str:
        assert acks == "every-segment" and duration_s > 0
        self.calls.append(("ours", flows, rate_bps))
        speed = 1e6 * self._round("ours", flows, rate_bps)
        row = {"queue": "droptail 750000 B", "packets": 1000, "packets_per_cpu_s": speed, "events_per_s": 5e6}
        return json.dumps({**row, "bytes_per_flow": 900.0})

    def ns2(self, _program: str, flows: int, rate_bps: int, _seconds: float) -> float:
        self.calls.append(("ns2", flows, rate_bps))
        return 0.5e6 * self._round("ns2", flows, rate_bps)

    def _round(self, who: str, flows: int, rate_bps: int) -> int:
        return self.calls.count((who, flows, rate_bps))


@pytest.fixture
def engines(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engines:
    both = Engines()
    monkeypatch.setattr(engine(), "bench", both.bench, raising=False)
    monkeypatch.setattr(bench, "ns2_program", lambda: "ns")
    monkeypatch.setattr(bench, "run_ns2", both.ns2)
    monkeypatch.setattr(bench, "build_ns3", lambda _folder: None)
    return both


def test_runs_alternate_and_ratios_are_taken_round_by_round(engines: Engines) -> None:
    rows = list(bench.cases(3))
    assert [(r["flows"], r["rate"]) for r in rows] == [
        (f, r) for r in ("100 Mbit/s", "1000 Mbit/s") for f in (1, 10, 100, 1000)
    ]
    assert [who for who, _, _ in engines.calls[:6]] == ["ours", "ns2"] * 3
    assert all(r["packets_per_cpu_s"] == 2e6 and r["ratio_ns2"] == 2.0 and r["ratio_ns3"] is None for r in rows)


def test_without_ns2_ratios_are_empty(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ns2_program", lambda: None)
    assert all(r["ratio_ns2"] is None and r["ns2_packets_per_cpu_s"] is None for r in bench.cases(1))


def test_ns3_runs_once_a_cell_beside_the_first_of_our_runs(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "build_ns3", lambda folder: folder / "ns3-bench")
    asked: list[tuple[int, int]] = []

    def ns3(_program: Path, flows: int, rate_bps: int, _seconds: float) -> float:
        asked.append((flows, rate_bps))
        return 1e4

    monkeypatch.setattr(bench, "run_ns3", ns3)
    rows = list(bench.cases(2))
    assert len(asked) == len(set(asked)) == len(rows)
    assert all(r["ratio_ns3"] == 100.0 and r["ns3_packets_per_cpu_s"] == 1e4 for r in rows)


def test_progress_counts_every_run_of_every_cell(engines: Engines) -> None:
    seen: list[tuple[int, int]] = []
    list(bench.cases(2, lambda done, total: seen.append((done, total))))
    assert seen == [(n, 16) for n in range(1, 17)]


def test_the_command_prints_a_table_or_json_rows(engines: Engines, capsys: Capture) -> None:
    assert main(["bench", "--reps", "1"]) == 0
    out = capsys.readouterr().out
    assert "packets per CPU second" in out and "1,000,000" in out and "2.00" in out and "droptail 750000 B" in out
    assert main(["bench", "--reps", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 8 and all(set(r) >= KEYS for r in rows)


def test_an_engine_without_benchmark_is_named(engine: Engine, capsys: Capture) -> None:
    assert main(["bench"]) == 1
    assert "no benchmark" in capsys.readouterr().err


def test_the_output_of_ns2_is_read(tmp_path: Path) -> None:
    program = tmp_path / "ns"
    program.write_text(f"#!{sys.executable}\nprint('bottleneck_packets 4000 cpu_s 0.002')\n")
    program.chmod(0o755)
    assert bench.run_ns2(str(program), 1, 100_000_000, 1.0) == pytest.approx(2e6)
