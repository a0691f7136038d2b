"""Who runs where during an emulation."""

import json
import os
import subprocess
import sys

import pytest

LOOK = """
import json, os, sys
from crosswind.emulate import processors
allowed = json.loads(sys.argv[1])
os.sched_setaffinity(0, allowed)
kept = processors.clear()
again = processors.clear()
child = os.popen("awk '/Cpus_allowed_list/ {print $2}' /proc/self/status").read().strip()
print(json.dumps({"kept": kept, "again": again, "child": child}))
"""


def look(allowed: list[int]) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, json.dumps(allowed)], capture_output=True, text=True, check=True, timeout=60
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


# With one processor there is none to give away; the test below is about that.
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor only")
def test_the_driver_gets_one_of_several_processors_for_itself() -> None:
    first, *_, last = sorted(os.sched_getaffinity(0))
    found = look([first, last])
    assert (found["kept"], found["again"]) == (last, last), "asked twice, it takes one away"
    assert found["child"] == str(first), "programs that are started afterwards keep off it"


def test_a_single_processor_is_shared() -> None:
    only = min(os.sched_getaffinity(0))
    found = look([only])
    assert found["kept"] is None
    assert found["child"] == str(only)
