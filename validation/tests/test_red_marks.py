"""What RED of ns-2 drops above the probability up to which it marks: the numbers in `crates/sim/tests/red_marks.rs`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from validation.ns2 import driver

SCRIPT = Path(driver.__file__).with_name("red_marks.tcl")
#: By seed from 1: packets dropped, and those of them that were selected at certainty; the others found a full queue.
DROPPED = [(102, 69), (67, 26), (101, 72), (93, 61), (95, 57), (52, 11), (101, 69), (93, 61)]


def drops(mark_p: float, seed: int) -> tuple[int, ...]:
    program = driver.ns2_program()
    assert program is not None
    command = [program, str(SCRIPT), str(mark_p), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return tuple(int(word) for word in done.stdout.split())


@pytest.mark.skipif(driver.ns2_program() is None, reason="ns-2 is not installed")
def test_ns2_drops_what_is_certain_and_what_finds_a_full_queue() -> None:
    assert [drops(1.0, seed) for seed in range(1, 9)] == DROPPED
    assert drops(0.1, 1) == (78, 78)


def test_the_numbers_of_the_other_test_are_these() -> None:
    full, certain = [all_ - selected for all_, selected in DROPPED], [selected for _, selected in DROPPED]
    assert (min(full), max(full), min(certain), max(certain)) == (29, 41, 11, 72)
    assert sum(all_ for all_, _ in DROPPED) / len(DROPPED) == 88
