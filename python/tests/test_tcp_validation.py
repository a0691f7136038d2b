"""DCTCP above a step: the claims can be judged, and alpha is what the theory says of a step."""

import pytest

from crosswind.experiments.tcp_validation import dctcp
from crosswind.run import run


def test_alpha_is_the_root_of_two_over_the_window_at_the_threshold() -> None:
    scenario = dctcp.configurations()["10 ms (RFC)"].with_({"duration": "12 s"})
    alpha = run(scenario).sample("marked_ratio", "one").sort("time_ns")["value"].to_numpy()
    # 11 ms of 50 Mbit/s are 46 packets: a millisecond waits.
    assert alpha[-30:].mean() == pytest.approx((2 / 46) ** 0.5, rel=0.25)
