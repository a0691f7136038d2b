"""Every queue of the registry is whole: header, oracle, conformance, reference, a row of the benchmark, emulation.

The other halves stand elsewhere: `tools/tidy.py` holds the form of headers, the conformance suite runs over all of them
(`crates/testkit/tests/conformance.rs`), and `test_emulate_queues.py` has each queue between real programs.
"""

from __future__ import annotations

import re

import pytest

import crosswind as cw
from crosswind.bench.instructions import QUEUES_OF_ALL

ROWS_OF_ALL = {row["name"]: row for row in cw.registry("queue")}
QUEUES = {name: row["doc"] for name, row in ROWS_OF_ALL.items()}
#: What a row of the benchmark is called where it is not the name of the queue.
ROWS = {"red-floyd-jacobson": "red", "red-linux": "red", "red-ns2": "red"}
#: Queues of the theses that no row times: drop-tail by another count, relatives of RED, schedulers like `htb`.
UNTIMED = {"bounded", "rio", "wred", "early-discard", "lpd", "rem", "pi", "tbf", "prio"}
#: Their laws are two lines; a test of the same file has them written out.
WRITTEN_OUT = {"pi", "rem"}
#: Without a law: the order of service follows from the classes.
BY_HAND = {"prio"}


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_says_where_it_comes_from_and_what_checks_it(name: str) -> None:
    doc = QUEUES[name]
    assert "**Source**" in doc and "**Idea**" in doc and "**Checked by**" in doc
    checks = doc.partition("**Checked by**")[2]
    assert "conformance suite" in checks
    if name in WRITTEN_OUT:
        assert "written out" in checks
    elif name not in BY_HAND:
        assert re.search(r"oracles? `\w+", checks), checks


@pytest.mark.parametrize("name", QUEUES)
def test_every_parameter_of_a_queue_is_explained_on_its_page(name: str) -> None:
    keys = ROWS_OF_ALL[name]["params"].get("properties", {})
    assert [k for k, v in keys.items() if not v.get("description") and "$ref" not in v] == []
    assert [k for k in keys if "default" not in keys[k] and f"`{k}`" not in QUEUES[name]] == []


def test_what_a_packet_costs_is_timed_for_every_queue_of_today() -> None:
    timed = set(QUEUES_OF_ALL)
    assert {n for n in QUEUES if ROWS.get(n, n) not in timed} == UNTIMED
