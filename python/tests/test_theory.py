"""Closed forms against the tables that they were printed in, and against numbers of the standards."""

from __future__ import annotations

import csv
import doctest
import math
from itertools import pairwise
from pathlib import Path

import pytest

from crosswind.experiments import bhandarkar_2006
from crosswind.theory import ltcp, responses

DATA = Path(bhandarkar_2006.__file__).parent / "data"


def rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def test_layers_and_speed_ups_are_those_of_tables_1_and_10() -> None:
    for row in rows("t1_layers.csv"):
        k = int(row["k"])
        assert ltcp.layer_start(k) == float(row["window"])
        assert ltcp.beta_variable(k) == pytest.approx(float(row["beta"]), abs=5.1e-5)
        if row["claim"]:
            assert ltcp.claim_speed_up(k) == pytest.approx(float(row["claim"]), abs=0.0051)
            assert ltcp.recovery_speed_up_variable(k) == pytest.approx(float(row["recovery_variable"]), abs=0.0051)
        if row["recovery_fixed"] and k > 2:
            assert ltcp.recovery_speed_up(k) == pytest.approx(float(row["recovery_fixed"]), abs=0.0051)


def test_a_window_lies_in_the_layer_that_begins_below_it() -> None:
    for k in range(2, 60):
        assert ltcp.layer_of(ltcp.layer_start(k)) == k
        assert ltcp.layer_of(ltcp.layer_start(k) - 0.01) == k - 1
        assert ltcp.layer_start(k + 1) - ltcp.layer_start(k) == pytest.approx(ltcp.layer_length(k))


def test_the_continuous_law_claims_a_window_sooner_than_whole_layers() -> None:
    for k in range(3, 20):
        assert ltcp.claim_time_continuous(k) < ltcp.claim_time(k)
        # The integral of dw / (K + share) over the layers, step by step.
        w, t = ltcp.THRESHOLD, 0.0
        while k < 7 and w < ltcp.layer_start(k):
            here = ltcp.layer_of(w)
            w += 0.05 * (here + (w - ltcp.layer_start(here)) / ltcp.layer_length(here))
            t += 0.05
        assert k >= 7 or t == pytest.approx(ltcp.claim_time_continuous(k), rel=0.01)


def test_average_windows_are_those_of_the_analysis() -> None:
    for exponent, window in ((3, 125), (4, 497), (5, 1980), (6, 7882), (7, 31_379), (8, 124_922)):
        assert ltcp.average_window(10.0**-exponent) == pytest.approx(window, rel=0.005)


def test_a_saw_tooth_uses_what_the_thesis_says() -> None:
    for cut, buffer, share in ((0.5, 1.0, 1.0), (0.5, 0.5, 0.964), (0.5, 1 / 3, 0.923), (0.15, 0.1, 0.988)):
        assert ltcp.utilisation(cut, buffer) == pytest.approx(share, abs=6e-4)
    assert ltcp.utilisation(0.15, ltcp.minimum_buffer(0.15)) == 1.0
    assert ltcp.largest_decrease(ltcp.minimum_buffer(0.35)) == pytest.approx(0.35)


def test_tcp_loses_one_segment_per_cycle() -> None:
    assert ltcp.tcp_loss_per_cycle(14_423, 15_000) == pytest.approx(3.08e-9, rel=0.005)
    assert ltcp.tcp_loss_per_cycle(14_423, 5000) == pytest.approx(7.07e-9, rel=0.005)


def test_cubic_and_hstcp_have_the_windows_of_their_rfcs() -> None:
    # RFC 9438 tables 1 and 2 (round trips of 0.1 s and 0.01 s), RFC 3649 table 1.
    for loss, cubic_slow, cubic_fast, hstcp in (
        (1e-3, 38, 38, 38),
        (1e-4, 187, 120, 263),
        (1e-5, 1054, 379, 1795),
        (1e-6, 5926, 1200, 12_279),
        (1e-7, 33_325, 5926, 83_981),
    ):
        assert responses.cubic(loss, 0.1) == pytest.approx(cubic_slow, rel=0.04)
        assert responses.cubic(loss, 0.01) == pytest.approx(cubic_fast, rel=0.04)
        assert responses.hstcp(loss) == pytest.approx(hstcp, rel=0.02)


def test_every_response_falls_with_the_loss_rate() -> None:
    for name, response in responses.RESPONSES.items():
        windows = [response(10.0 ** (-k / 2), 0.1) for k in range(4, 15)]
        assert all(b > a and math.isfinite(b) for a, b in pairwise(windows)), name


def test_the_examples_in_the_docstrings_hold() -> None:
    for module in (ltcp, responses):
        assert doctest.testmod(module).failed == 0
