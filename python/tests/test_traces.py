"""Capacity traces as link input: Mahimahi's files and CSV, read right or refused with the line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crosswind as cw
from crosswind.errors import InputError
from crosswind.scenario import traces

ROOT = Path(__file__).resolve().parents[2]
CELLULAR = ROOT / "scenarios/cellular.toml"


def test_a_mahimahi_trace_is_read_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "x.trace"
    file.write_text("1\n1\n4\n\n9\n")
    assert traces.read(file) == [1, 1, 4, 9]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        ("3\n2\n", ":2: found `2`, below the one before"),
        ("3\nx\n", ":2: found `x`, no whole number"),
        ("0\n0\n", "ends at 0 ms"),
        ("a,b\n1,2\n", "columns a, b"),
        ("time_s,rate_mbps\n1,2\n1,3\n", ":3: found `1,3`, expected times that grow"),
        ("time_s,rate_mbps\n1,-2\n", "rates that are not negative"),
        ("time_s,rate_mbps\n1,2\n", "1 rows"),
        ("time_s,rate_mbps\n1,two\n", "expected numbers"),
    ],
)
def test_wrong_traces_are_refused_with_the_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(InputError) as e:
        traces.read(file)
    assert said in str(e.value)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 5e7)), min_size=1, max_size=30))
def test_the_opportunities_of_rates_carry_the_bits_of_the_rates(pieces: list[tuple[int, float]]) -> None:
    rates, at = [], 0.0
    for length_ms, bps in pieces:
        rates.append((at, bps))
        at += length_ms
    rates.append((at, 0.0))
    found = traces.opportunities(rates)
    bits = sum(length_ms * bps / 1e3 for length_ms, bps in pieces)
    assert found == sorted(found) and found[-1] >= round(at) - 1
    assert abs(len(found) * 1504 * 8 - bits) <= 2 * 1504 * 8


def test_the_contents_of_the_file_reach_the_engine_and_the_digest(tmp_path: Path, engine: Callable[..., Any]) -> None:
    (tmp_path / "a.trace").write_text("1\n5\n")
    link = '[link.x]\nfrom = "a"\nto = "b"\ntype = "trace"\ntrace = "a.trace"\n'
    text = f'name = "t"\n{link}[link.x.reverse]\ntype = "wire"\n'
    (tmp_path / "t.toml").write_text(text)
    s = cw.Scenario.load(tmp_path / "t.toml")
    before = s.digest()
    assert '"opportunities_ms": [1, 5]' in s.to_json() and '"trace": "a.trace"' not in s.to_json()
    (tmp_path / "a.trace").write_text("1\n6\n")
    assert s.digest() != before
    with pytest.raises(InputError, match="no such file"):
        s.with_({"link.x.trace": "b.trace"}).to_json()


@pytest.mark.engine
def test_a_download_over_a_trace_uses_what_the_trace_offers_and_no_more() -> None:
    s = cw.Scenario.load(CELLULAR)
    opportunities = traces.read(CELLULAR.parent / "cellular.trace")
    offered_bps = len(opportunities) * 1504 * 8 / (opportunities[-1] / 1e3)
    runs = cw.run(s)
    throughput = float(runs.flows()["throughput_bps"][0])
    assert 0.8 * offered_bps < throughput <= offered_bps
    gap = runs.sample("queue_delay_ns") if "queue_delay_ns" in runs.sample()["metric"] else runs.sample("queue_bytes")
    assert gap.height > 0
    again = cw.Scenario.from_dict(runs.manifest["scenarios"][0]["scenario"])
    assert cw.run(again).flows().drop("configuration").equals(runs.flows().drop("configuration"), null_equal=True)


def test_the_traces_of_the_shipped_scenarios_are_what_their_statistics_make() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/traces.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name, mean, variation in (("lte", 20, 0.6), ("5g", 120, 0.5), ("wifi", 60, 0.5)):
        lines = (ROOT / f"scenarios/{name}.csv").read_text(encoding="utf-8").splitlines()[2:-1]
        rates = np.array([float(line.partition(",")[2]) for line in lines])
        assert rates.mean() == pytest.approx(mean, rel=0.01) and rates.std() / mean == pytest.approx(variation, rel=0.3)
