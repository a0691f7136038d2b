"""Claims of [Ware 2019] on windows and time: when a flow is away, and when it has its share."""

import polars as pl
import pytest

from crosswind.experiments.ware_2019 import convergence, windows
from crosswind.run import run


def test_a_flow_is_away_until_its_window_is_nearly_full_again() -> None:
    flight, window = [90, 4, 4, 20, 60, 95, 99, 40], [100, 4, 4, 100, 100, 100, 100, 100]
    part = pl.DataFrame({"in_flight_bytes": flight, "cwnd_bytes": window, "is_small": [w == 4 for w in window]})
    # The last sample is short of its window for another reason: it does not follow a look.
    assert windows._away(part) == 4 / 8


def test_the_share_of_a_run_is_found_where_it_stays() -> None:
    scenario = convergence.configurations()["1 BDP"]
    row = convergence.tables(run(scenario))["repetition"].row(0, named=True)
    assert 0.6 < row["share"] < 1 and convergence.WINDOW_S <= row["there_s"] < convergence.SECONDS


def test_a_lone_flow_of_bbr_is_away_for_a_few_hundredths() -> None:
    flows = {"bbr": (1, windows.study.BBR)}
    scenario = windows.study.scenario(windows.PATH, 2, flows, 260, "20 ms", sampled=["bbr"])
    row = windows.tables(run(scenario))["repetition"].row(0, named=True)
    assert row["small"] == pytest.approx(0.03, abs=0.02) and row["held"] < 0.5, "alone it is paced, not held"
