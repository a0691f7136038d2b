"""Load, sink and echo: what is sent is counted, and what it does to round trips is measured."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from test_emulate import emulates

from crosswind.cli import main
from crosswind.emulate import traffic
from crosswind.errors import EXIT_ENVIRONMENT


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture
def port() -> Iterator[int]:
    number = free_port()
    threading.Thread(target=traffic.sink, args=(number, "127.0.0.1"), daemon=True).start()
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", number)) == 0:
                break
        time.sleep(0.01)
    yield number


def test_flows_in_both_directions_are_counted_where_they_arrive(port: int) -> None:
    seen = traffic.load(traffic.Load("127.0.0.1", port, down=1, up=2, seconds=0.4, idle=0.1, interval=0.01))
    assert sorted(way for way, *_ in seen.flows) == ["down", "up", "up"] and not seen.failed
    assert all(total > 0 and took > 0 for _, total, took in seen.flows)
    assert seen.sent == 50 and 40 <= len(seen.echoes) <= 50
    assert all(0 < rtt < 1 for _, rtt in seen.echoes)


def test_a_flow_that_the_sink_closes_has_failed(
    port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacks_the_law(connection: socket.socket) -> None:
        with connection:
            if connection.recv(64).startswith(b"up"):
                while connection.recv(65536):
                    pass

    monkeypatch.setattr(traffic, "_serve", lacks_the_law)
    seen = traffic.load(traffic.Load("127.0.0.1", port, down=2, up=1, seconds=0.4, idle=0.0))
    assert not seen.flows and sorted(seen.failed) == [f"{way}: {traffic.CLOSED}" for way in ("down", "down", "up")]
    assert main(["load", "127.0.0.1", "--port", str(port), "--for", "0.2", "--idle", "0"]) == EXIT_ENVIRONMENT
    assert "closed by the sink" in capsys.readouterr().out


def test_echoes_before_and_beside_the_load_are_kept_apart() -> None:
    asked = traffic.Load("x", idle=2.0, seconds=10.0)
    seen = traffic.Seen(asked, 5, [(0.0, 0.01), (1.9, 0.02), (2.5, 9.0), (3.0, 0.1), (11.9, 0.3), (12.0, 9.0)])
    assert seen.phase("idle") == [0.01, 0.02]
    assert seen.phase("loaded") == [0.1, 0.3]
    found = seen.as_dict()
    assert found["loaded"]["p50_s"] == 0.1 and found["loaded"]["p99_s"] == 0.3
    assert found["responsiveness_rpm"] == pytest.approx(300)
    assert traffic.summary([])["p50_s"] is None


def test_a_host_without_a_sink_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "127.0.0.1", "--port", str(free_port()), "--for", "1"]) == EXIT_ENVIRONMENT
    assert "`crosswind sink` has to run there" in capsys.readouterr().err


def test_the_command_prints_a_table_and_json(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["load", "127.0.0.1", "--port", str(port), "--down", "1", "--for", "1.3", "--idle", "0.1"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "under load" in out and "down " in out and max(map(len, out.splitlines())) <= 80
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"][0]["direction"] == "down"


@emulates
def test_a_shell_has_a_sink_at_the_other_end_and_the_queue_decides_the_delay() -> None:
    def loaded(queue: str) -> float:
        words = ["shell", "--rate", "10Mbit/s", "--delay", "10ms", "--queue", queue, "--quiet", "--"]
        inside = [sys.executable, "-m", "crosswind", "load", "server", "--for", "4", "--idle", "0.5", "--json"]
        command = [sys.executable, "-m", "crosswind", *words, *inside]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return float(json.loads(done.stdout)["loaded"]["p50_s"])

    droptail, fair = loaded("droptail"), loaded("fq_codel")
    assert fair < 0.04 < droptail
