"""The benchmarks: their rows, how ratios are taken, what the command prints; all simulators are stand-ins."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crosswind.bench import PARTS, all_cells, dumbbell, instructions, many, peers, scale
from crosswind.bench.cell import Cell, Spec, fresh
from crosswind.bench.dumbbell import Peers
from crosswind.cli import main
from crosswind.errors import CrosswindError, InputError

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
KEYS = {"flows", "rate", "queue", "packets_per_cpu_s", "events_per_s", "bytes_per_flow", "ratio_ns2", "ratio_ns3"}


def answer(what: Spec, speed: float) -> dict[str, Any]:
    """What the engine says about one benchmark."""
    row = {"queue": f"{what.get('queue', 'droptail')} 721 packets", "packets": 1000, "events": 14_000, "cpu_s": 1.0}
    row |= {"build_cpu_s": 0.001, "flows": what["flows"], "simulated_s": 10.0, "added_bytes": 9e5}
    return {**row, "packets_per_cpu_s": speed, "events_per_s": 5e6, "bytes_per_flow": 900.0}


class Machine:
    """Three simulators: ours gets faster from round to round, ns-2 is always half as fast."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Cell | int]] = []
        self.scheduler: dict[Cell, str] = {}

    def fresh(self, what: Spec) -> dict[str, Any]:
        self.calls.append(("ours", what["flows"]))
        return answer(what, 1e6 * self._round("ours", what["flows"]))

    def speed(self, cell: Cell) -> float:
        self.calls.append(("ns2", cell))
        return 0.5e6 * self._round("ns2", cell)

    def _round(self, who: str, what: Cell | int) -> int:
        return self.calls.count((who, what))


@pytest.fixture
def machine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    m = Machine()
    monkeypatch.setattr(engine(), "bench", lambda _spec: "", raising=False)
    monkeypatch.setattr(dumbbell, "fresh", m.fresh)
    monkeypatch.setattr(scale, "fresh", m.fresh)
    monkeypatch.setattr(peers.Ns2, "find", classmethod(lambda _cls: m))
    monkeypatch.setattr(peers.Ns3, "build", classmethod(lambda _cls, _folder: None))
    return m


TEN = Cell(10, 100_000_000, "red")


def test_runs_alternate_and_ratios_are_taken_round_by_round(machine: Machine) -> None:
    (row,) = dumbbell.cases(3, [TEN])
    assert [who for who, _ in machine.calls] == ["ours", "ns2"] * 3
    assert row["packets_per_cpu_s"] == 2e6 and (row["packets_per_cpu_s_min"], row["packets_per_cpu_s_max"]) == (
        1e6,
        3e6,
    )
    assert row["ratio_ns2"] == 2.0 and row["ratio_ns3"] is None and "not installed" in row["ns3_note"]


def test_the_table_has_all_cells_and_filters_choose_among_them() -> None:
    cells = all_cells()
    assert len(cells) == 16 and len({(c.flows, c.rate_bps, c.queue) for c in cells}) == 16
    assert all_cells([10], ["1 Gbit/s"], ["red"]) == [Cell(10, 1_000_000_000, "red")]
    assert [c.flows for c in all_cells([7], [], ["droptail"])] == [7, 7]
    for wrong in ({"rates": ["1 Tbit/s"]}, {"queues": ["fifo"]}, {"flows": [0]}):
        with pytest.raises(InputError):
            all_cells(**wrong)


def test_a_peer_that_is_too_slow_leaves_a_reason_and_is_not_asked_again(machine: Machine) -> None:
    class Slow:
        asked = 0

        def speed(self, _cell: Cell) -> float:
            self.asked += 1
            raise peers.PeerError("was not ready after 60 s")

    slow = Slow()
    (row,) = dumbbell.side_by_side(Peers(None, slow), 3, [TEN])  # type: ignore[arg-type]
    assert (row["ratio_ns3"], row["ns3_note"], slow.asked) == (None, "was not ready after 60 s", 1)


def test_ns2_is_tried_with_every_scheduler_once_and_then_runs_with_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def speed(command: list[str], _timeout: float) -> float:
        asked.append(command[-2])
        return {"Splay": 1.0, "Calendar": 3.0, "Heap": 2.0}[command[-2]]

    monkeypatch.setattr(peers, "speed", speed)
    ns2 = peers.Ns2("ns")
    assert [ns2.speed(TEN), ns2.speed(TEN)] == [3.0, 3.0]
    assert asked == ["Splay", "Calendar", "Heap", "Calendar", "Calendar"] and ns2.scheduler == {TEN: "Calendar"}


def program(folder: Path, text: str) -> str:
    path = folder / "ns"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_output_of_another_simulator_is_read(tmp_path: Path) -> None:
    good = program(tmp_path, "print('bottleneck_packets 4000 cpu_s 0.002')")
    assert peers.speed([good], 60) == pytest.approx(2e6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import time; time.sleep(9)", "not ready"),
        ("raise SystemExit('no such queue')", "no such queue"),
        ("print('hello')", "no packets"),
    ],
)
def test_a_simulator_without_a_figure_says_why(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(peers.PeerError, match=why):
        peers.speed([program(tmp_path, text)], 0.5 if "sleep" in text else 60)


def test_ns3_stops_when_its_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "speed", lambda _command, _timeout: 1e4)
    ns3 = peers.Ns3(Path("bench"))
    assert ns3.speed(TEN) == 1e4
    ns3.left_s = 0.0
    with pytest.raises(peers.PeerError, match="used up"):
        ns3.speed(TEN)


def test_the_command_prints_a_table_or_json_rows(machine: Machine, capsys: Capture) -> None:
    assert main(["bench", "--reps", "1", "--queue", "red"]) == 0
    out = capsys.readouterr().out
    assert "packets per CPU second" in out and "1,000,000" in out and "2.00" in out and "red 721 packets" in out
    assert main(["bench", "--reps", "1", "--json", "--alone"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 16 and all(set(r) >= KEYS for r in rows) and rows[0]["ratio_ns2"] is None


def test_an_engine_without_benchmark_is_named(engine: Engine, capsys: Capture) -> None:
    assert main(["bench"]) == 3
    assert "no benchmark" in capsys.readouterr().err


def test_an_unknown_part_is_refused_with_those_there_are(machine: Machine, capsys: Capture) -> None:
    assert main(["bench", "--only", "everything"]) == 2
    assert "recording" in capsys.readouterr().err


def test_the_page_holds_every_part_with_figures_and_data(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(many, "_run", lambda _scenario, reps, workers: reps * 1e-4 / workers)
    monkeypatch.setattr(many, "_cpu", lambda _scenario, reps: reps * 1e-4)
    monkeypatch.setattr(many, "recording", lambda _say, _seconds: [recorded(None), recorded(10**7)])
    answered = {"packets": 12_345, "answer_ms": 5.0, "answer_ms_min": 4.0, "answer_ms_max": 6.0}
    monkeypatch.setattr(many, "answers", lambda _say, _seconds: answered)
    monkeypatch.setattr(instructions, "missing", lambda: "instruction counts need the package valgrind")
    monkeypatch.setattr(Machine, "run", lambda _self, _cell, _seconds, _name: 0.25e6, raising=False)
    machine.scheduler[Cell(1, 1_000_000_000, "droptail")] = "Heap"
    assert main(["bench", "--reps", "1", "--quick", "--report", str(tmp_path)]) == 0
    text = (tmp_path / "performance.md").read_text()
    for head in ("Beside ns-2", "Crowds", "A long run", "Many runs", "Recording", "need the package valgrind"):
        assert head in text, head
    assert {p.name for p in (tmp_path / "images").iterdir()} == {f"cost-{n}.svg" for n in ("flows", "hops", "window")}
    data = json.loads((tmp_path / "performance.json").read_text())
    assert set(data) == {"dumbbell", *PARTS}
    assert data["cores"]["result"]["speedup"] == pytest.approx(2.0)
    assert data["start"]["result"]["start_us"] == pytest.approx(100.0)
    assert data["answers"]["result"] == answered and "computes for an answer" in text
    assert text.count("*Measured on") == 1 and "quick runs, 1 of each" in text
    # Some parts anew: the others stay, and the page tells them apart.
    monkeypatch.setattr(many, "_cpu", lambda _scenario, reps: reps * 2e-4)
    assert main(["bench", "--only", "start", "--quick", "--report", str(tmp_path)]) == 0
    again = json.loads((tmp_path / "performance.json").read_text())
    assert list(again) == list(data) and again["dumbbell"] == data["dumbbell"]
    assert again["start"]["result"]["start_us"] == pytest.approx(200.0)
    assert (tmp_path / "performance.md").read_text().count("*Measured on") == 3
    (tmp_path / "performance.json").write_text("{")
    assert main(["bench", "--only", "start", "--quick", "--report", str(tmp_path)]) == 0
    assert list(json.loads((tmp_path / "performance.json").read_text())) == ["start"]


def recorded(written: int | None) -> dict[str, Any]:
    extra = {"extra_percent": 1.0, "extra_percent_min": 0.5, "extra_percent_max": 2.0}
    return {"record": "something", "cpu_s": 1.0, **extra, "written_bytes": written}


def test_a_failing_benchmark_names_its_reason() -> None:
    with pytest.raises(CrosswindError, match="unknown field"):
        fresh({"flow": 1})


def test_a_benchmark_runs_in_a_process_of_its_own() -> None:
    row = fresh({"flows": 20, "rate": "10 Mbit/s", "duration": "2 s", "traffic": "idle"})
    assert row["packets"] == 60 and row["flows"] == 20 and row["bytes_per_flow"] > 0


def test_recording_compares_with_the_run_of_the_same_round() -> None:
    row = many._recorded("samples", [1.1, 2.2], [1.0, 2.0], None)
    assert row["extra_percent"] == pytest.approx(10.0) and row["extra_percent_max"] == pytest.approx(10.0)


def test_instruction_counts_are_compared_with_the_reference() -> None:
    row = instructions.compared("hop", "a hop", 110.0, 100.0)
    assert row["change_percent"] == pytest.approx(10.0) and row["note"] is None
    assert instructions.compared("hop", "a hop", 110.0, None)["note"] == "no reference stored"


def test_the_count_of_one_repetition_has_no_share_of_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "missing", lambda: None)
    monkeypatch.setattr(instructions, "build", lambda: Path("hot_paths"))
    monkeypatch.setattr(instructions, "count", lambda _program, _path, n: (5_000_000 + 150 * n, n))
    rows = instructions.measure(lambda _what: None)
    assert [r["instructions"] for r in rows] == [150.0] * len(instructions.PATHS)
    monkeypatch.setattr(instructions, "count", lambda _program, path, n: ((300 if path == "cake" else 150) * n, n))
    relative = {r["queue"]: r["relative"] for r in instructions.queues(lambda _what: None)}
    assert relative["droptail"] == relative["fq-pie"] == 1.0 and relative["cake"] == 2.0 and "drr" in relative
    monkeypatch.setattr(instructions, "count", lambda _program, path, n: ((300 if "bbr3+" in path else 150) * n, n))
    senders = {(r["sender"], r["queue"]): r["relative"] for r in instructions.senders(lambda _what: None)}
    assert senders["reno", "dualpi2"] == senders["prague", "dualpi2"] == 1.0 and senders["bbr3", "droptail"] == 2.0
