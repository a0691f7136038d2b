"""Queues beside ns-3: what is claimed to be the same is, and a queue that is slightly another one is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from validation.ns3 import queues


def program(folder: Path) -> Path:
    built = queues.build(folder)
    if built is None:
        pytest.skip("ns-3 or g++ is not installed (Debian: apt-get install libns3-dev g++)")
    return built


def of(name: str) -> queues.Case:
    return next(c for c in queues.CASES if c.name == name)


def test_the_same_packets_are_dropped_or_marked_and_a_wrong_target_is_noticed(tmp_path: Path) -> None:
    built = program(tmp_path)
    for name, least in (("codel-heavy", 1000), ("fq-codel-heavy", 1000), ("cobalt-marks", 200)):
        case = of(name)
        right = queues.compare(case, built)
        assert right.verdict == "same" and len(right.ours) > least, name
        wrong = replace(case, queue=case.queue | {"interval": "101 ms"})
        assert queues.compare(wrong, built).verdict == "differs", name


def test_a_device_below_a_queue_takes_packets_when_that_of_ns3_does(tmp_path: Path) -> None:
    built = program(tmp_path)
    for name in ("codel-device", "codel-device-heavy"):
        case = of(name)
        assert queues.compare(case, built).verdict == "same", name
        plain = tuple(a for a in case.attributes if a not in queues.NS3_DEVICE)
        for packets, hold_ms in ((1, 1), (3, 1), (40, 10), (40, 1000), (100, 300)):
            here, there = queues.below(packets, hold_ms)
            other = replace(case, device=here, attributes=(*plain, *there))
            assert queues.compare(other, built).verdict == "same", (name, packets, hold_ms)
        for wrong in ({"device_limits": "linux"}, {"device_limits": "none"}, {"device_hold": "21 ms"}):
            assert queues.compare(replace(case, device={**case.device, **wrong}), built).verdict == "differs", wrong


def test_without_ns3_it_says_so_and_skips(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(queues, "HEADERS", tmp_path / "nowhere")
    assert queues.main(["--no-write"]) == 0
    assert f"{len(queues.CASES)} comparisons of queues were SKIPPED" in capsys.readouterr().err


def test_the_page_says_what_is_claimed_and_why_others_differ() -> None:
    rows = [
        queues.Compared(of("codel-steady"), 9, [(1, 1)], [(1, 1)]),
        queues.Compared(of("codel-mixed"), 9, [(1, 1)], [(1, 2)]),
        queues.Compared(of("codel-rfc"), 9, [(1, 1), (2, 2)], [(1, 1), (3, 2)]),
        queues.Compared(of("pie-mixed"), 9, [(1, 1), (2, 2)], [(1, 1), (3, 2)], is_explained=True),
        queues.Compared(of("pie-marks"), 9, [(1, 1)], [(2, 1)]),
    ]
    assert [r.verdict for r in rows] == ["same", "differs", "close", "explained", "differs"]
    page = queues.page(rows)
    assert "1 of 2 cases that are claimed" in page and "| drop 2 | other random numbers" in page
    assert "1 of 2 that differ are explained" in page


def test_differences_are_explained_by_the_ways_that_are_named_and_by_no_fewer(tmp_path: Path) -> None:
    built = program(tmp_path)
    for name in ("codel-marks", "fq-codel-sparse", "fq-codel-marks"):
        case = of(name)
        assert queues.compare(case, built).verdict == "explained", name
        for way in case.ways:
            fewer = replace(case, ways=tuple(w for w in case.ways if w != way) or ("none",))
            assert queues.compare(fewer, built).verdict == "differs", (name, way)
